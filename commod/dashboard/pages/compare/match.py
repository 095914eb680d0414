"""The Match section of the Compare page: one COMMOD model beside the nearest of every rival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import plot_calibration, plot_overlap, plot_who_changed
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import figures_of_base
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings, defaults
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views.chart import draw
from commod.dashboard.views.methods import choose_model, label_of, state, styles_of
from commod.dashboard.views.table import Table
from commod.datasets import load_task
from commod.experiments import Sweep
from commod.experiments.match import NEAR_ACCURACY, Match, near_fairness
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.experiments.sweep import fairness_gain
from commod.explain.concepts import in_percent
from commod.models.competitors import METHODS

MATCHED = "Models matched"
# Of the table behind `plot_calibration`.
SCORES = {
    "label": ("Method", ""),
    "mean_f": ("Mean score of f", ".3f"),
    "mean_g": ("Mean score of g", ".3f"),
    "sd_g": ("Standard deviation of g's", ".3f"),
    "count": ("People", ",.0f"),
}


def _choose(settings: Settings, sweep: Sweep, chosen: int) -> None:
    points = sweep.points
    gain = fairness_gain(points, settings.fairness)
    # All that a click can choose, or the keyboard could not; what another model beats comes after the rest.
    shown = points.drop_duplicates([FAIRNESS_FIGURES[settings.fairness], "accuracy", "change_rate"])
    options = sorted({*shown.index, chosen}, key=lambda i: (not points["best"][i], gain[i]))
    key = f"model_{settings.problem()}"
    st.session_state[key] = chosen
    name = "P-Rule" if settings.fairness == "demographic_parity" else "mistreatment"
    figure = points[FAIRNESS_FIGURES[settings.fairness]]
    here = (settings.lambda_fair, settings.lambda_ratio)

    def words(i: int) -> str:
        cell = sweep.models[i].cell
        same = ", as on Explore" if (cell.value, dict(cell.others)["lambda_ratio"]) == here else ""
        same += "" if points["best"][i] else " (beaten by another)"
        return (
            f"{name} {figure[i]:.3f}, accuracy {points['accuracy'][i]:.1%}, {points['change_rate'][i]:.1%} changed: "
            f"{points['settings'][i]}{same}"
        )

    st.selectbox(
        "COMMOD model to match (or click one in the first chart)",
        options,
        format_func=words,
        key=key,
        on_change=lambda: choose_model(sweep, st.session_state[key]),
    )


def match(settings: Settings, sweeps: dict[str, Sweep], chosen: int | None) -> dict[str, Callable[[], Any]]:
    """One COMMOD model beside the nearest of every rival; returns what makes its charts, by name, to take them away."""
    st.header("Match: the same fairness and accuracy, another method", anchor="match")
    if chosen is None or len(sweeps) < 2:
        if state().stopped:
            st.info(
                "COMMOD and another method have to be in before they can be matched: go on.", icon=":material/info:"
            )
        else:
            st.info("Choose COMMOD and at least one other method to match their models.", icon=":material/info:")
        return {}
    _choose(settings, sweeps["commod"], chosen)
    found: Match = result_of(tasks.match(settings, sweeps, chosen))
    table = found.table
    st.markdown(_sentence(table, settings))
    _match_table(table, settings)
    left, right = st.columns(2, gap="large")
    ranks = {label_of(name): i for i, name in enumerate(table["method"])}
    labels = {METHODS[name].title: label_of(name) for name in table["method"]}
    with left:
        st.subheader("Who changed")
        groups = load_task(settings.data).groups
        who = _who_rows(table, groups)
        draw(
            plot_who_changed,
            who,
            alt="People changed by method, group and direction.",
            table=MATCHED,
            caption="People of the test part. Right: to the decision that favours them; left: to the other one.",
            groups=groups,
        )
    with right:
        st.subheader("The same people?")
        pairs = found.overlaps.assign(
            label=found.overlaps["title"].map(labels), other=found.overlaps["other"].map(labels)
        )
        pairs = pairs.assign(rank=pairs["label"].map(ranks), other_rank=pairs["other"].map(ranks))
        columns = {"label": ("Method", ""), "other": ("Another", ""), "overlap": ("Changed by both, of either", ".0%")}
        draw(
            plot_overlap,
            pairs,
            alt="Share of changed people that two methods have in common.",
            table=Table("Same people as a table", "match_people_table", columns),
            caption="Of the people changed by either of two methods, how many are changed by both.",
        )
    st.subheader("What becomes of the scores")
    calibration = found.calibration.assign(label=found.calibration["title"].map(labels))
    scored = {name: sweep for name, sweep in sweeps.items() if label_of(name) in set(calibration["label"])}
    draw(
        plot_calibration,
        calibration,
        alt="Mean score of g by score of f for each method.",
        table=Table("Scores as a table", "match_scores_table", SCORES),
        caption="On the dashed line g is as sure as f was. A method that only moves the decisions it changes stays "
        "near it; methods without probabilities are not drawn.",
        styles=styles_of(scored),
    )
    return {
        "Who changed": lambda: plot_who_changed(who, groups=groups),
        "Same people": lambda: plot_overlap(pairs),
        "Scores": lambda: plot_calibration(calibration, styles=styles_of(scored)),
    }


def _sentence(table: pd.DataFrame, settings: Settings) -> str:
    own = table.iloc[0]
    figure = FAIRNESS_FIGURES[settings.fairness]
    of_f = figures_of_base(settings.scene())[figure]
    text = f"COMMOD changes **{own['changed']:,}** decisions here. "
    if (own[figure] < of_f) if figure == "p_rule" else (own[figure] > of_f):
        text += f"This model is less fair than f ({own[figure]:.3f} against {of_f:.3f}) on test. "
    near = table.iloc[1:][table["comparable"].iloc[1:]]
    if len(near):
        rivals = "; ".join(f"{METHODS[row.method].title} {row.changed:,}{_than(row, own)}" for row in near.itertuples())
        within = near_fairness(settings.fairness, of_f)
        text += (
            f"At about the same fairness (±{within:.2g}) and accuracy (±{100 * NEAR_ACCURACY:.0f} points): {rivals}. "
        )
    far = [METHODS[name].title for name in table["method"].iloc[1:] if name not in set(near["method"])]
    if far:
        text += (
            f"{', '.join(far)} {'has' if len(far) == 1 else 'have'} no model that near: the nearest is in the table."
        )
    return text


def _than(row: Any, own: pd.Series) -> str:
    """How a rival's number of changes compares with COMMOD's."""
    if row.difference_low <= 0 <= row.difference_high:
        return " (the difference may be chance)"
    if not own["changed"]:
        return ""
    times = row.changed / own["changed"]
    return f" ({times:.1f} times as many)" if times > 1 else f" (fewer, {times:.1f} times)"


def _match_table(table: pd.DataFrame, settings: Settings) -> None:
    figure = FAIRNESS_FIGURES[settings.fairness]
    groups = load_task(settings.data).groups
    rows = []
    for row in table.to_dict("records"):
        rows.append(
            [
                label_of(row["method"]),
                f"{row[figure]:.3f}",
                in_percent(row["accuracy"]),
                in_percent(row["change_rate"]),
                f"{row['changed']:,}",
                f"{row['better_0']:,} / {row['worse_0']:,}",
                f"{row['better_1']:,} / {row['worse_1']:,}",
                _or_dash(row["overlap"], ".0%"),
                _or_dash(row["tree_f1"], ".2f"),
                _or_dash(row["score_move"], ".3f"),
                _or_dash(row["concept_size"], ".0f"),
                _or_dash(row["concept_redundancy"], ".2f"),
                row["settings"],
            ]
        )
    headings = {
        "Method": "",
        "P-Rule" if figure == "p_rule" else "Mistreatment": "",
        "Accuracy": "",
        "Changed": tip("change_rate"),
        "People": tip("people_changed"),
        f"{groups[0]}: better / worse": tip("to_and_from"),
        f"{groups[1]}: better / worse": tip("to_and_from"),
        "Same people": tip("same_people"),
        f"Tree F1 (depth {settings.depth})": tip("f1"),
        "Score move": tip("score_move"),
        "Concept weights": tip("concept_weights"),
        "Redundancy": tip("concept_weights"),
        "Setting": "",
    }
    near = [bool(value) for value in table["comparable"]]
    marked = {(i, 0) for i, value in enumerate(near) if value}
    st.html(html_table(headings, rows, caption=MATCHED, marked=marked, text={12}))
    st.caption(
        "Shaded: near COMMOD's fairness and accuracy. *Same people*: of those changed by COMMOD or this method, "
        "changed by both. *Tree F1*: how well a tree of so many questions, one after the other, tells who changed (1: "
        "perfectly). *Score move*: mean |g − f| of the scores of those whose decision stays. *Redundancy*: features "
        "that two concepts share with the same sign. A dash: the method has no probabilities, or no concepts."
    )


def _or_dash(value: float, form: str) -> str:
    return "–" if np.isnan(value) else f"{value:{form}}"


def _who_rows(table: pd.DataFrame, groups: tuple[str, str]) -> pd.DataFrame:
    rows = []
    for rank, row in enumerate(table.itertuples()):
        for s, group in enumerate(groups):
            for direction, sign in (("better", 1), ("worse", -1)):
                people = sign * getattr(row, f"{direction}_{s}")
                rows.append((label_of(row.method), rank, group, people, f"{direction} off"))
    return pd.DataFrame(rows, columns=["label", "rank", "group", "people", "direction"])


def open_in_explore(settings: Settings, sweeps: dict[str, Sweep], chosen: int | None) -> None:
    """A button that takes the matched model to the Explore page."""
    if chosen is None or len(sweeps) < 2:
        return
    cell = sweeps["commod"].models[chosen].cell
    usual = defaults(settings.data)
    others: dict[str, Any] = {"lambda_concepts": usual.lambda_concepts, "k": usual.k, **dict(cell.others)}
    target = replace(settings, lambda_fair=cell.value, **others)
    free = session.can_go_to(target)
    if st.button(
        "Open this COMMOD model on the Explore page",
        icon=":material/tune:",
        disabled=not free,
        help=None if free else tip("frozen"),
    ):
        session.go_to(target)
        st.switch_page("app.py")
