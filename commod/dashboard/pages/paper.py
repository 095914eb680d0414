"""The sections of the Paper page: each reads a committed result and puts the printed numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import MethodStyle, palette, plot_by_depth, plot_calibration, plot_methods, plot_scatter
from commod.dashboard.state import session
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views import frame as layout
from commod.dashboard.views.chart import draw
from commod.dashboard.views.methods import label_of, styles_of
from commod.dashboard.views.points import (
    SCORE_COLUMNS,
    as_rows,
    draw_cells,
    draw_segments,
    lead_in_words,
    point_columns,
)
from commod.dashboard.views.table import Table
from commod.datasets import TASKS
from commod.experiments.figures import tree_f1_by_depth
from commod.experiments.paper import DATASETS, sensitivity_table, table1
from commod.experiments.printed import FIGURE2, METHOD_ROWS, TABLE1_CELLS
from commod.experiments.results import read_result, results_directory
from commod.experiments.segments import PAPER_SEGMENTS, Segments, in_segments, mark_fewest, quartiles_of
from commod.experiments.sweep import as_points
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS

DP = "demographic_parity"
OWN_QUARTILES = "quartiles of our own AdvDebias"
MARKS = {"better": "▼ better", "equal": "= equal", "worse": "▲ worse", "": ""}


@lru_cache(maxsize=16)
def _result(name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    return read_result(results_directory() / f"{name}.parquet")


def result(name: str, data: str | None = None) -> pd.DataFrame | None:
    """A result (that has models of a data set), or None and a sentence that says how to make it."""
    try:
        frame = _result(name)[0]
    except ValueError as error:
        st.warning(str(error), icon=":material/warning:")
        return None
    if data is not None and data not in set(frame["dataset"]):
        st.warning(
            f"{name}.parquet was made without {TASKS[data].title}: make it with 'python -m commod paper {name}'.",
            icon=":material/warning:",
        )
        return None
    return frame


def versions() -> str:
    """How the results were made."""
    try:
        about = _result("table1")[1]
    except ValueError:
        return ""
    packages = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return f"{about['splits']} splits; Python {about['python']}, {packages}."


# ---- Table 1, Figures 1, 5, 6 and 7 ----


@lru_cache(maxsize=16)
def _table1(data: str, criterion: str, segments: Segments) -> pd.DataFrame:
    return mark_fewest(table1(_result("table1")[0], data, criterion, segments))


def tables(data: str, criterion: str) -> None:
    """Change rates by cell, beside the printed ones."""
    models = result("table1", data)
    if models is None:
        return
    definitions = {cuts.source: cuts for cuts in PAPER_SEGMENTS[data, criterion]}
    own = models[(models["dataset"] == data) & (models["fairness"] == criterion) & (models["method"] == "adv_debias")]
    definitions[OWN_QUARTILES] = quartiles_of(own, criterion, OWN_QUARTILES)
    source = st.selectbox("Segments", list(definitions), key=f"paper_segments_{data}_{criterion}")
    cells = _table1(data, criterion, definitions[source])
    main = source == next(iter(definitions))
    printed = main and criterion == DP
    st.markdown(_verdict(cells, printed=printed))
    shown = list(TABLE1_CELLS) if printed else sorted({*zip(cells["fairness_q"], cells["accuracy_q"], strict=True)})

    def words(cell: Mapping[Any, Any]) -> str:
        text = f"{cell['change_rate']:.3f}\n[{cell['low']:.2f}, {cell['high']:.2f}] of {cell['splits']}"
        if printed and pd.notna(cell["printed"]):
            text += f"\npaper {cell['printed']:.2f}: {MARKS[cell['verdict']]}"
        return text

    draw_cells(
        cells,
        [name for name in METHOD_ROWS if name in set(cells["method"])],
        shown,
        words,
        heading="Q{} fairness, Q{} accuracy",
        caption="Change rates",
    )
    st.caption(
        "Mean share of decisions changed over the splits with a model there, its 95 % interval, and how many those "
        "are, beside the print. Better: fewer changes than printed; equal: the printed number lies in our interval; "
        "worse: more. Shaded: fewest among the methods that need no group. A dash: no model of ours. "
        "In the cell next to f (Q1 fairness, Q4 accuracy) the mean tells most of all how many weak settings "
        "a sweep has."
    )
    _pictures(models, data, criterion, definitions[source])


def _verdict(cells: pd.DataFrame, *, printed: bool) -> str:
    text = f"{lead_in_words(cells)}."
    if printed:
        own = cells[cells["method"] == "commod"]
        known = own[own["printed"].notna()]
        at_most = int((known["change_rate"] <= known["printed"] + 0.005).sum())
        worse = int((known["verdict"] == "worse").sum())
        missing = len(TABLE1_CELLS) - len(known)
        text = (
            f"COMMOD is at or below the printed number in **{at_most} of {len(TABLE1_CELLS)}** cells; it is worse by "
            f"more than chance in {worse}" + (f", and has no model in {missing}" if missing else "") + f". {text}"
        )
    return text


def _pictures(models: pd.DataFrame, data: str, criterion: str, cuts: Segments) -> None:
    figure = CRITERIA[criterion].figure
    here = models[(models["dataset"] == data) & (models["fairness"] == criterion) & (models["error"] == "")]
    names = [name for name in METHOD_ROWS if name in set(here["method"])]
    frame = as_rows(as_points(here), criterion, "split").assign(id=-1, chosen=False)
    styles = styles_of(names)
    columns = point_columns(criterion, label="Method", split="Split", settings="Setting")
    st.subheader("Figure 7: fairness against accuracy")
    st.html(html_legend(styles))
    draw(
        plot_methods,
        frame,
        alt="Accuracy against fairness of every model on every split.",
        table=Table("Models of Figure 7 as a table", "figure7_table", columns),
        caption="Every model on every split; bold: not beaten by another of its method, on any split.",
        styles=styles,
        fairness_title=figure.axis_title,
        legend=False,
        height=400,
    )
    st.subheader("Figure 1: changes at equal fairness")
    frame = in_segments(frame, cuts, criterion)
    low, high = frame["accuracy"].quantile([0.02, 1.0])
    draw_segments(
        frame[frame["accuracy"] >= low].assign(best=True),
        [f"Q{q}: {figure.short_title} {cuts.fairness_range(q, criterion)}" for q in range(1, 5)],
        criterion,
        lambda q: Table(f"Models of Figure 1, Q{q} as a table", f"figure1_q{q}_table", columns),
        styles=styles,
        most_changes=float(np.ceil(frame["change_rate"].max() * 20) / 20),
        accuracy_range=(float(np.floor(low * 50) / 50), float(np.ceil(high * 50) / 50)),
        lines=False,
    )


# ---- single figures ----


def example() -> None:
    """Figure 2."""
    frame = result("figure2")
    if frame is None:
        return
    figures = frame[frame["part"] == "figure"].set_index("name")["value"]
    names = {"p_rule": "P-Rule", "accuracy": "accuracy", "change_rate": "share changed"}
    listed = "; ".join(f"{words} {figures[name]:.2f} (paper {FIGURE2[name]:.2f})" for name, words in names.items())
    st.markdown(
        f"The COMMOD model with two concepts whose P-Rule on test is nearest to the printed one (λ_fair "
        f"{figures['lambda_fair']:g}): {listed}. f: P-Rule {figures['p_rule_f']:.2f} (paper {FIGURE2['p_rule_f']:.2f})."
    )
    rows = []
    for concept, part in frame[frame["concept"] != ""].groupby("concept"):
        loadings = part[part["part"] == "loading"].sort_values("value", key=abs, ascending=False).head(5)
        changed = part[part["part"] == "changed"].set_index("name")["value"]
        weight = part.loc[part["part"] == "weight", "value"].iloc[0]
        rows.append(
            [
                str(concept),
                f"{weight:+.2f}",
                ", ".join(
                    f"{row.name_} {row.value:+.2f}" for row in loadings.rename(columns={"name": "name_"}).itertuples()
                ),
                *(f"{changed[name]:.1%}" if name in changed else "–" for name in ("who show it most", "others")),
            ]
        )
    names_ = ("Concept", "Weight in r", "Its five largest features", "Changed, of those who show it most", "of others")
    st.html(html_table(dict.fromkeys(names_, ""), rows, caption="Concepts", text={2}))
    st.caption(
        "The paper prints concepts about age and one crime category, with shares of 1.0 and 0.0, and 0.0 and 0.08."
    )


def _scatter(x_title: str, y_title: str, *, x: str = ".1%", y: str = ".2f") -> dict[str, tuple[str, str]]:
    """Columns of the table behind `plot_scatter`."""
    fixed = {"label": ("Method", ""), "split": ("Split", ""), "settings": ("Setting", "")}
    return {**fixed, "x": (x_title, x), "y": (y_title, y)}


def _by_depth(title: str) -> dict[str, tuple[str, str]]:
    """Columns of the table behind `plot_by_depth`."""
    names = {"mean": f"{title}, mean of the splits", "low": "One standard deviation below", "high": "above"}
    return {"label": ("Method", ""), "depth": ("Depth", ""), **{key: (words, ".3f") for key, words in names.items()}}


def concepts() -> None:
    """Figure 3."""
    models = result("table1", "law_school")
    if models is None:
        return
    here = models[(models["dataset"] == "law_school") & (models["fairness"] == DP) & (models["change_rate"] > 0)]
    here = here[here["method"].isin(["commod", "frappe"])].dropna(subset=["concept_size"])
    base = here.assign(label=here["method"].map(label_of), x=here["change_rate"])
    left, right = st.columns(2, gap="large")
    for place, column, name, title in (
        (left, "concept_redundancy", "Redundancy", "Redundancy (signed Jaccard index)"),
        (right, "concept_size", "Concept weights", "Concept weights that are not null"),
    ):
        with place:
            draw(
                plot_scatter,
                base.assign(y=base[column]),
                alt=f"{title} against the share of changed decisions, COMMOD and FRAPPE.",
                table=Table(f"{name} as a table", f"figure3_{column}_table", _scatter("Decisions changed", title)),
                styles=styles_of(["commod", "frappe"]),
                x_title="Decisions changed (%)",
                y_title=title,
            )
    means = here.groupby("method")[["concept_redundancy", "concept_size"]].mean()
    st.markdown(
        f"Mean redundancy {means.loc['commod', 'concept_redundancy']:.2f} against FRAPPE's "
        f"{means.loc['frappe', 'concept_redundancy']:.2f}; {means.loc['commod', 'concept_size']:.1f} weights against "
        f"{means.loc['frappe', 'concept_size']:.1f}. Both with two concepts. (The paper shows curves without numbers: "
        "COMMOD below in redundancy and sparser at every number of changes.)"
    )


def trees(data: str) -> None:
    """Figure 4."""
    models = result("table1", data)
    if models is None:
        return
    frame = tree_f1_by_depth(models, data)
    names = ["commod", "frappe", "adv_debias"]
    means = frame.groupby(["method", "depth"])["f1"].agg(["mean", "std"]).reset_index()
    means = means.assign(
        label=means["method"].map(label_of),
        low=(means["mean"] - means["std"]).clip(lower=0),
        high=(means["mean"] + means["std"]).clip(upper=1),
    )
    draw(
        plot_by_depth,
        means,
        alt="F1 of a tree on the changes by its depth, three methods.",
        table=Table("Figure 4 as a table", "figure4_table", _by_depth("F1 on test")),
        styles=styles_of(names),
        y_title="F1 on test",
    )
    table = means.pivot_table(index="depth", columns="method", values="mean")
    ahead = int((table["commod"] > table[["frappe", "adv_debias"]].max(axis=1)).sum())
    figures = frame.drop_duplicates(["split", "method"]).groupby("method")[["p_rule", "accuracy", "change_rate"]].mean()
    near = "; ".join(
        f"{METHODS[name].title}: P-Rule {figures.loc[name, 'p_rule']:.2f}, "
        f"accuracy {figures.loc[name, 'accuracy']:.1%}, {figures.loc[name, 'change_rate']:.1%} changed, "
        f"F1 at depth 3 {table.loc[3, name]:.2f}"
        for name in names
    )
    st.markdown(f"COMMOD is ahead at **{ahead} of {len(table)}** depths. Matched models, means over splits: {near}.")


def sensitivity() -> None:
    """The regressions of Section 6.4."""
    models = result("sensitivity")
    if models is None:
        return
    table = _sensitivity()
    names = {"change_rate": "Share changed", "accuracy": "Accuracy of g", "p_rule": "P-Rule of g"}
    rows = [
        [
            TASKS[row.dataset].title,
            row.range,
            names[row.figure],
            f"{row.r_squared:.3f}",
            f"{row.printed:.2f}",
            "at least the paper's" if round(row.r_squared, 2) >= row.printed else "below the paper's",
        ]
        for row in table.itertuples()
    ]
    headings = ("Data set", "Range of λ_fair", "Regressed", "R², ours", "R², paper", "Verdict")
    st.html(html_table(dict.fromkeys(headings, ""), rows, caption="Regressions", text={1, 2, 5}))
    st.caption(
        "Each figure of g on P-Rule and accuracy of f, λ_ratio and λ_fair, over splits and a grid. Ours acts at larger "
        "λ_fair than the paper's (its adversary is solved, not trained): below 1.5 few decisions change, so both "
        "ranges are shown. Our solver has no seed: what is left unexplained is which people fall into a split."
    )


@lru_cache(maxsize=1)
def _sensitivity() -> pd.DataFrame:
    return sensitivity_table(_result("sensitivity")[0])


_ARCHITECTURES = (
    MethodStyle("Linear ratio", palette.G, "circle"),
    MethodStyle("Network as ratio", palette.F, "square"),
)


def architectures() -> None:
    """Figure 8."""
    models = result("figure8")
    if models is None:
        return
    linear = models["settings"].str.contains("linear")
    frame = models.assign(
        label=np.where(linear, "Linear ratio", "Network as ratio"), x=models["p_rule"], y=models["accuracy"]
    )
    draw(
        plot_scatter,
        frame,
        alt="Accuracy against P-Rule of linear ratios and of networks.",
        table=Table(
            "Figure 8 as a table", "figure8_table", _scatter("P-Rule (1 is fair)", "Accuracy", x=".3f", y=".1%")
        ),
        styles=_ARCHITECTURES,
        x_title="P-Rule (1 is fair)",
        y_title="Accuracy on test",
        percent=False,
        zero=False,
    )
    fair = frame[frame["p_rule"] >= 0.6].groupby("label")[["p_rule", "accuracy"]].mean()
    listed = "; ".join(
        f"{name}: {row['accuracy']:.1%} at a mean P-Rule of {row['p_rule']:.2f}" for name, row in fair.iterrows()
    )
    st.markdown(f"Mean accuracy of models with a P-Rule of 0.6 or more: {listed}. The paper finds the two alike.")


def calibration() -> None:
    """Figure 9."""
    frame = result("figure9")
    if frame is None:
        return
    draw(
        plot_calibration,
        frame.assign(label=frame["method"].map(label_of)),
        alt="Mean score of g by score of f, COMMOD and AdvDebias.",
        table=Table("Figure 9 as a table", "figure9_table", SCORE_COLUMNS),
        styles=styles_of(["commod", "adv_debias"]),
    )
    moves = frame.drop_duplicates("method").set_index("method")["score_move"]
    st.markdown(
        f"Mean move of the scores of those whose decision stays: COMMOD {moves['commod']:.3f}, AdvDebias "
        f"{moves['adv_debias']:.3f} (split 0, matched)."
    )


def posthoc() -> None:
    """Figure 10."""
    frame = result("figure10")
    if frame is None:
        return
    depths = sorted(frame.loc[frame["depth"] > 0, "depth"].unique())
    rows = []
    for name, label in (("COMMOD", "COMMOD"), ("FRAPPE + tree", "FRAPPE, its correction by a tree")):
        part = frame[frame["model"] == name]
        for depth in depths:
            values = part["p_rule"] if name == "COMMOD" else part.loc[part["depth"] == depth, "p_rule"]
            mean, sd = values.mean(), values.std()
            rows.append({"label": label, "depth": depth, "mean": mean, "low": mean - sd, "high": min(mean + sd, 1.0)})
    styles = (
        MethodStyle("COMMOD", palette.METHODS["commod"], "circle"),
        MethodStyle("FRAPPE, its correction by a tree", palette.METHODS["frappe"], "triangle-up"),
    )
    draw(
        plot_by_depth,
        pd.DataFrame(rows),
        alt="P-Rule of FRAPPE, its correction replaced by a tree, by depth, beside COMMOD.",
        table=Table("Figure 10 as a table", "figure10_table", _by_depth("P-Rule")),
        styles=styles,
        y_title="P-Rule (1 is fair)",
    )
    means = frame[frame["model"] != "FRAPPE + tree"].groupby("model")["p_rule"].mean()
    by_depth = frame[frame["depth"] > 0].groupby("depth")["p_rule"].mean()
    listed = ", ".join(f"{value:.2f} at depth {depth}" for depth, value in by_depth.items())
    st.markdown(
        f"Mean P-Rule over splits: COMMOD {means['COMMOD']:.2f}, FRAPPE itself {means['FRAPPE']:.2f}, FRAPPE with a "
        f"tree in place of its correction {listed}. (COMMOD has no depth: its line is one model.)"
    )


def choose() -> tuple[str, str]:
    """Data set and criterion of the tables: from the link, else those of the session where the paper has them."""
    here = session.current()
    asked = st.query_params.get("paper", "").split(",")
    starts = {"paper_data": (here.data, DATASETS, asked[0]), "paper_criterion": (here.fairness, CRITERIA, asked[-1])}
    for key, (usual, known, wanted) in starts.items():
        if key not in st.session_state:
            st.session_state[key] = wanted if wanted in known else usual if usual in known else next(iter(known))
    left, right = st.columns(2, gap="medium")
    data = left.selectbox("Data set", DATASETS, format_func=lambda name: TASKS[name].title, key="paper_data")
    criterion = right.selectbox(
        "Criterion", list(CRITERIA), format_func=lambda name: CRITERIA[name].label, key="paper_criterion"
    )
    session.keep_link(paper=f"{data},{criterion}")
    return data, criterion


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/paper.py")
    st.title("The paper, recomputed")
    st.markdown(
        "Every number here was measured by `python -m commod paper` and is read from the files in `data/results`; only "
        "what is called *paper* is typed from the print. Where it does not come out as printed, it says so."
    )
    st.header("Table 1: changes at equal fairness and accuracy")
    data, criterion = choose()
    tables(data, criterion)
    st.header("Figure 2: two concepts on COMPAS")
    example()
    st.header("Figure 3: concepts of COMMOD and of FRAPPE (Law School)")
    concepts()
    st.header("Figure 4: can a tree tell who changed?")
    trees(data)
    st.header("Figure 8: a linear ratio or a network (Law School)")
    architectures()
    st.header("Figure 9: what becomes of the scores (Law School)")
    calibration()
    st.header("Figure 10: post-hoc trees or built-in concepts (Law School)")
    posthoc()
    st.header("Does the seed matter? The regressions of Section 6.4")
    sensitivity()
    st.caption(versions())
