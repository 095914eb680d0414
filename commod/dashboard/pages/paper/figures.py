"""The paper's other figures, recomputed from committed results."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import MethodStyle, palette, plot_by_depth, plot_calibration, plot_scatter
from commod.dashboard.pages.paper.table import read
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.methods import label_of, styles_of
from commod.datasets import TASKS
from commod.experiments.paper import sensitivity_table
from commod.experiments.paper_figures import tree_f1_by_depth
from commod.experiments.paper_numbers import FIGURE2
from commod.metrics.figures import FIGURES
from commod.models.competitors import METHODS


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper: the committed result that it needs, with models of `data`, if that is one of many sets."""

    title: str
    result: str
    draw: Callable[[pd.DataFrame], None]
    data: str = ""


def paper_figures(data: str) -> tuple[PaperFigure, ...]:
    """All of them, in the order of the paper; Figure 4 is there for every data set."""
    return (
        PaperFigure("Figure 2: two concepts on COMPAS", "figure2", _example),
        PaperFigure("Figure 3: concepts of COMMOD and of FRAPPE (Law School)", "table1", _concepts, "law_school"),
        PaperFigure("Figure 4: can a tree tell who changed?", "table1", partial(_trees, data=data), data),
        PaperFigure("Figure 8: a linear ratio or a network (Law School)", "figure8", _architectures),
        PaperFigure("Figure 9: what becomes of the scores (Law School)", "figure9", _calibration),
        PaperFigure("Figure 10: post-hoc trees or built-in concepts (Law School)", "figure10", _posthoc),
        PaperFigure("Does the seed matter? The regressions of Section 6.4", "sensitivity", _sensitivity),
    )


def _example(frame: pd.DataFrame) -> None:
    figures = frame[frame["part"] == "figure"].set_index("name")["value"]

    def beside(*names: str) -> str:
        parts = []
        for name in names:
            figure = FIGURES[name.removesuffix("_f")]
            form = ".0%" if figure.percent else ".2f"
            parts.append(f"{figure.short_in_sentence} {figures[name]:{form}} (paper {FIGURE2[name]:{form}})")
        return ", ".join(parts)

    st.markdown(
        "COMMOD explains its changes by concepts, features that go together. This is the model with two concepts whose "
        f"P-Rule is nearest to the printed one (λ_fair {figures['lambda_fair']:g}). g: "
        f"{beside('p_rule', 'accuracy', 'change_rate')}. f: {beside('p_rule_f', 'accuracy_f')}."
    )
    rows = []
    for concept, part in frame[frame["concept"] != ""].groupby("concept"):
        weight, loadings, changed = (
            part[part["part"] == kind].set_index("name")["value"] for kind in ("weight", "loading", "changed")
        )
        largest = loadings.sort_values(key=abs, ascending=False).head(5)
        rows.append(
            [
                str(concept),
                f"{weight.iloc[0]:+.2f}",
                ", ".join(f"{name} {value:+.2f}" for name, value in largest.items()),
                *(f"{changed[name]:.1%}" if name in changed else "–" for name in ("who show it most", "others")),
            ]
        )
    names_ = ("Concept", "Weight in r", "Its five largest features", "Changed, of those who show it most", "of others")
    st.html(html_table(names_, rows, caption="Concepts", text={2}))
    st.caption("In the paper: a concept about age, which changes 100% and 0%, and one about a crime, 0% and 8%.")


# ---- a point for each model ----


def _scatter_columns(x: tuple[str, str], y: tuple[str, str]) -> dict[str, tuple[str, str]]:
    return {"label": ("Method", ""), "split": ("Split", ""), "settings": ("Setting", ""), "x": x, "y": y}


def _concepts(models: pd.DataFrame) -> None:
    here = models[(models["dataset"] == "law_school") & (models["fairness"] == "demographic_parity")]
    here = here[here["method"].isin(["commod", "frappe"]) & (here["change_rate"] > 0)].dropna(subset=["concept_size"])
    axes = {
        "concept_redundancy": ("Redundancy", "Redundancy (signed Jaccard index)"),
        "concept_size": ("Concept weights", "Concept weights that are not null"),
    }
    own, frappe = (here.loc[here["method"] == name, list(axes)].mean() for name in ("commod", "frappe"))
    st.markdown(
        "Concepts are easier to read with fewer weights and less overlap. On average, two of COMMOD's overlap by "
        f"{own['concept_redundancy']:.2f} and have {own['concept_size']:.1f} weights; two of FRAPPE's overlap by "
        f"{frappe['concept_redundancy']:.2f} and have {frappe['concept_size']:.1f}. The paper finds the same."
    )
    for place, (column, (name, title)) in zip(st.columns(2, gap="large"), axes.items(), strict=True):
        columns = _scatter_columns(("Decisions changed", ".1%"), (title, ".2f"))
        with place:
            draw(
                plot_scatter,
                here.assign(label=here["method"].map(label_of), x=here["change_rate"], y=here[column]),
                alt=f"{title} against the share of changed decisions, COMMOD and FRAPPE.",
                table=Table(f"{name} as a table", f"figure3_{column}_table", columns),
                styles=styles_of(["commod", "frappe"]),
                x_title="Decisions changed (%)",
                y_title=title,
            )


def _architectures(models: pd.DataFrame) -> None:
    styles = (MethodStyle("Linear ratio", palette.G, "circle"), MethodStyle("Network as ratio", palette.F, "square"))
    p_rule, accuracy = FIGURES["p_rule"], FIGURES["accuracy"]
    labels = np.where(models["settings"].str.contains("linear"), *(style.label for style in styles))
    frame = models.assign(label=labels, x=models["p_rule"], y=models["accuracy"])
    columns = _scatter_columns((p_rule.axis_title, p_rule.format), (accuracy.title, accuracy.format))
    fair = frame[frame["p_rule"] >= 0.6].groupby("label")[["p_rule", "accuracy"]].mean().iterrows()
    listed = "; ".join(f"{name}: accuracy {row['accuracy']:.1%}, P-Rule {row['p_rule']:.2f}" for name, row in fair)
    st.markdown(
        "COMMOD's correction is a weighted sum of features. Would a network do better? Means of the models with a "
        f"P-Rule of 0.6 or more: {listed}. The paper finds the two alike."
    )
    draw(
        plot_scatter,
        frame,
        alt="Accuracy against P-Rule of linear ratios and of networks.",
        table=Table("Figure 8 as a table", "figure8_table", columns),
        styles=styles,
        x_title=p_rule.axis_title,
        y_title="Accuracy on test",
        percent=False,
        zero=False,
    )


# ---- by depth of a tree ----


def _draw_by_depth(
    frame: pd.DataFrame, value: str, name: str, *, alt: str, styles: tuple[MethodStyle, ...], y_title: str
) -> None:
    """Means of a column over splits by ``label`` and ``depth``, with one standard deviation to either side.

    `name` is what the picture is called, and the table behind it.
    """
    means = frame.groupby(["label", "depth"])[value].agg(["mean", "std"]).reset_index()
    means["low"] = (means["mean"] - means["std"]).clip(lower=0)
    means["high"] = (means["mean"] + means["std"]).clip(upper=1)
    columns = {
        "label": ("Method", ""),
        "depth": ("Depth", ""),
        "mean": (f"{y_title.partition(' (')[0]}, mean of the splits", ".3f"),
        "low": ("One standard deviation below", ".3f"),
        "high": ("above", ".3f"),
    }
    table = Table(f"{name} as a table", f"{name.lower().replace(' ', '_')}_table", columns)
    draw(plot_by_depth, means[list(columns)], alt=alt, table=table, styles=styles, y_title=y_title)


# Columns of `tree_f1_by_depth`: how the picture is called, and what the trees are.
TREES = {
    "f1": ("Figure 4", "Trees without weights"),
    "f1_balanced": ("Figure 4 class-weighted", "Trees in which those who changed weigh as much as all others"),
}


def _trees(models: pd.DataFrame, *, data: str) -> None:
    names = ["commod", "frappe", "adv_debias"]
    frame = tree_f1_by_depth(models, data)
    figures = frame.drop_duplicates(["split", "method"]).groupby("method")[["p_rule", "accuracy", "change_rate"]].mean()
    near = "; ".join(
        f"{METHODS[name].title}: P-Rule {figures.loc[name, 'p_rule']:.2f}, "
        f"accuracy {figures.loc[name, 'accuracy']:.1%}, {figures.loc[name, 'change_rate']:.1%} changed"
        for name in names
    )
    st.markdown(
        "A small tree is asked who changed. At an F1 of 1 it finds all of them and nobody else. The three models are "
        f"about as fair and accurate; means over splits: {near}."
    )
    for place, (column, (name, which)) in zip(st.columns(2, gap="large"), TREES.items(), strict=True):
        table = frame.pivot_table(index="depth", columns="method", values=column)
        ahead = int((table["commod"] > table[["frappe", "adv_debias"]].max(axis=1)).sum())
        with place:
            st.markdown(f"**{which}**: COMMOD is ahead at **{ahead} of {len(table)}** depths.")
            _draw_by_depth(
                frame.assign(label=frame["method"].map(label_of)),
                column,
                name,
                alt=f"F1 of a tree on the changes by its depth, three methods. {which}.",
                styles=styles_of(names),
                y_title="F1 on test",
            )
    st.caption("Few decisions change, so a tree without weights may say “unchanged” of everybody, which is an F1 of 0.")


def _posthoc(frame: pd.DataFrame) -> None:
    styles = (
        MethodStyle("COMMOD", palette.COMMOD, "circle"),
        MethodStyle("FRAPPE, its correction by a tree", styles_of(["frappe"])[0].colour, "triangle-up"),
    )
    own, trees = (frame[frame["model"] == name] for name in ("COMMOD", "FRAPPE + tree"))
    depths = trees[["depth"]].drop_duplicates()
    whole = frame.loc[frame["model"] == "FRAPPE", "p_rule"].mean()
    st.markdown(
        "Another method, FRAPPE, can be explained afterwards, by a tree. If the tree told all, it could take the "
        f"place of FRAPPE's correction, and the P-Rule would stay {whole:.2f}. COMMOD needs no tree (a line: it has "
        "no depth). Means over splits."
    )
    parts = [own.drop(columns="depth").merge(depths, how="cross"), trees]  # COMMOD has no depth: its line is one model
    _draw_by_depth(
        pd.concat(part.assign(label=style.label) for part, style in zip(parts, styles, strict=True)),
        "p_rule",
        "Figure 10",
        alt="P-Rule of FRAPPE, its correction replaced by a tree, by depth, beside COMMOD.",
        styles=styles,
        y_title=FIGURES["p_rule"].axis_title,
    )


# ---- scores, and the regressions ----


def _calibration(frame: pd.DataFrame) -> None:
    styles = styles_of(["commod", "adv_debias"])
    moves = frame.drop_duplicates("method").set_index("method")["score_move"]
    columns = {"label": ("Method", ""), "mean_f": ("Mean score of f", ".3f"), "mean_g": ("Mean score of g", ".3f")}
    columns |= {"sd_g": ("Standard deviation of g's", ".3f"), "count": ("People", ",.0f")}
    st.markdown(
        "On the dashed line g's scores are f's. Scores of those whose decision stays move, on average, by "
        f"{100 * moves['commod']:.1f} percentage points by COMMOD, {100 * moves['adv_debias']:.1f} by AdvDebias "
        "(one split, models about as fair)."
    )
    st.html(html_legend(styles))
    draw(
        plot_calibration,
        frame.assign(label=frame["method"].map(label_of)),
        alt="Mean score of g by score of f, COMMOD and AdvDebias.",
        table=Table("Figure 9 as a table", "figure9_table", columns),
        styles=styles,
        strong=label_of("commod"),
    )


@lru_cache(maxsize=1)
def _regressions() -> pd.DataFrame:
    return sensitivity_table(read("sensitivity")[0])


def _sensitivity(_: pd.DataFrame) -> None:
    names = {"change_rate": "Share changed", "accuracy": "Accuracy of g", "p_rule": "P-Rule of g"}
    rows = [
        [
            TASKS[row.dataset].title,
            row.range,
            names[row.figure],
            f"{row.r_squared:.3f}",
            f"{row.printed:.2f}",
        ]
        for row in _regressions().itertuples()
    ]
    headings = ("Data set", "Range of λ_fair", "Regressed", "R², ours", "R², paper")
    st.markdown(tip("regressions"))
    st.html(html_table(headings, rows, caption="Regressions", text={1, 2}))
