"""The Match section of the Compare page: one COMMOD model beside the nearest of every rival."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts import plot_share_by_group, plot_who_changed
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of, scene_of
from commod.dashboard.pages.compare.sense import begin_table
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings, described, limits_in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.methods import choose_model, label_of, on_explore, state
from commod.experiments import Scene, Sweep
from commod.experiments.match import NEAR_ACCURACY, Match, near_fairness
from commod.experiments.sweep import fairness_gain
from commod.metrics.figures import CRITERIA
from commod.uploads.limits import count_of


def match(
    settings: Settings, sweeps: dict[str, Sweep], chosen: int | None
) -> tuple[dict[str, Callable[[], Any]], Callable[[], None]]:
    """One COMMOD model beside the nearest of every rival.

    Returns what makes its charts, by name, to take them away; and what ends the section, to be called last.
    """
    st.header("Match one COMMOD model", anchor="match")
    if chosen is None or len(sweeps) < 2:
        missing = (
            "COMMOD and another method have to be in before they can be matched: go on."
            if state().stopped
            else "Choose COMMOD and at least one other method to match their models."
        )
        st.info(missing, icon=":material/info:")
        return {}, lambda: None
    _choose(settings, sweeps["commod"], chosen)
    found: Match = result_of(tasks.match(settings, sweeps, chosen))
    scene = scene_of(settings)
    of_f = scene.figures(scene.decisions_test)[CRITERIA[settings.fairness].figure_name]
    text = match_in_words(found.table, settings.fairness, of_f)
    finish = begin_table(settings, scene, sweeps, found, text + _reference(settings, found, len(scene.test)))
    st.subheader("Who changed")
    chart = _draw_who(found, scene)
    _open_in_explore(settings, sweeps["commod"], chosen)
    return {"Who changed": chart}, finish


def _choose(settings: Settings, sweep: Sweep, chosen: int) -> None:
    points, figure = sweep.points, CRITERIA[settings.fairness].figure
    gain = fairness_gain(points, settings.fairness)
    # All that a click can choose, or the keyboard could not; what another model beats comes after the rest.
    shown = points.drop_duplicates([figure.name, "accuracy", "change_rate"])
    options = sorted({*shown.index, chosen}, key=lambda i: (not points["best"][i], gain[i]))
    key = f"model_{settings.problem()}"
    st.session_state[key] = chosen

    def words(i: int) -> str:
        cell, point = sweep.models[i].cell, points.loc[i]
        same = ", as on Explore" if on_explore(settings, cell) == settings else ""
        same += "" if point["best"] else " (beaten by another)"
        return (
            f"{figure.short_in_sentence} {figure.show(point[figure.name])}, accuracy {point['accuracy']:.1%}, "
            f"{point['change_rate']:.1%} changed: {point['settings']}{same}"
        )

    st.selectbox(
        "COMMOD model to match (or click one in the first chart)",
        options,
        format_func=words,
        key=key,
        on_change=lambda: choose_model(sweep, st.session_state[key]),
    )
    cell = sweep.models[chosen].cell
    own, tuned = on_explore(settings, cell), "lambda_concepts" in dict(cell.others)
    here, there = (f"λ_concepts {each.lambda_concepts:g} and k {each.k}" for each in (own, settings))
    if here != there:
        why = "λ_concepts was chosen on training folds" if tuned else "these are the data set's own"
        st.caption(f"COMMOD's models here are trained at {here} ({why}); Explore's at {there}.")
    if settings.update != own.update:
        st.caption(f"Explore shows another form of COMMOD ({described(settings, 'model')['update']}).")
    if settings.free() != settings:
        st.caption(f"COMMOD's models here are not limited; Explore's is: {escape_markdown(limits_in_words(settings))}")


def match_in_words(table: pd.DataFrame, fairness: str, of_f: float) -> str:
    """Whether others have a model near the chosen one; the table says how they compare.

    `table` is that of a `Match`; `of_f` is f's value of the criterion's figure.
    """
    figure, text = CRITERIA[fairness].figure, ""
    if figure.is_better(of_f, table.iloc[0][figure.name]):
        text = f"This COMMOD model is less fair than f ({figure.show(of_f)}) on test. "
    near, gap = int(table["comparable"].iloc[1:].sum()), f"{near_fairness(fairness, of_f):.2g}"
    within = f"within {gap} of COMMOD's {figure.short_in_sentence} and {100 * NEAR_ACCURACY:.0f} points of its accuracy"
    if not near:
        return f"{text}No other method has a model {within}, so what differs may be due to either. "
    return f"{text}Shaded: methods with a model {within} ({near} of {len(table) - 1}). "


def _reference(settings: Settings, found: Match, n_test: int) -> str:
    """The fewest changes with which anybody gets as fair as the chosen model, the group known."""
    own, figure = found.table.iloc[0], CRITERIA[settings.fairness].figure
    (fewest,) = result_of(tasks.fewest_at(settings, (float(own[figure.name]),)))
    if not fewest:
        return ""
    return (
        f"At best, a rule that knows f's scores and everyone's group gets as fair with about "
        f"{count_of(round(fewest * n_test), 'change')} ({fewest:.1%}): a bound, not a method. "
    )


def chance_in_words(found: Match) -> str:
    """How much it depends on the method who gets changed, among models that are as fair and as accurate."""
    alike = int(found.table["comparable"].sum())
    if alike < 2:
        return ""
    return (
        f" The {alike} models that are about as fair and as accurate change {found.by_one:.1%} of the people between "
        f"them, but only {found.by_all:.1%} are changed by all: for the rest it depends on the method."
    )


def _draw_who(found: Match, scene: Scene) -> Callable[[], Any]:
    """Who changed by method and group; returns what makes the chart."""
    groups, sizes = scene.task.groups, scene.test.sensitive.value_counts()
    rows = [
        (label_of(row["method"]), rank, groups[s], row[f"better_{s}"], row[f"worse_{s}"], size)
        for rank, row in enumerate(found.table.to_dict("records"))
        for s, size in sizes.items()
    ]
    who = pd.DataFrame(rows, columns=["label", "rank", "group", "better", "worse", "count"])
    who["share"] = (who["better"] + who["worse"]) / who["count"]
    own = who[who["rank"] == 0].sort_values("share", ascending=False, kind="stable")["group"]
    who["group_rank"] = who["group"].map({group: rank for rank, group in enumerate(own)})
    plot: Callable[..., Any] = plot_who_changed
    how: dict[str, Any] = {"groups": groups}
    caption = "People of the test part. Right: to the decision that favours them; left: to the other one."
    if len(groups) > 2:
        plot, how = plot_share_by_group, {"most": max(0.05, float(who["share"].max()))}
        caption = "Percentage of each group that changed, on test. The group that COMMOD changes most comes first."
    columns = {
        "label": ("Method", ""),
        "group": ("Group", ""),
        "better": ("Better off", ","),
        "worse": ("Worse off", ","),
    }
    columns |= {"share": ("Changed, of the group", ".1%"), "count": ("People", ",")}
    table = Table("Who changed as a table", "match_who_table", columns)
    draw(
        plot,
        who,
        alt="People changed by method and group.",
        table=table,
        caption=caption + chance_in_words(found),
        **how,
    )
    return partial(plot, who, **how)


def _open_in_explore(settings: Settings, sweep: Sweep, chosen: int) -> None:
    """A button that takes the matched model to the Explore page."""
    target = on_explore(settings, sweep.models[chosen].cell)
    free = session.can_go_to(target)
    if st.button(
        "Open this COMMOD model on the Explore page",
        icon=":material/tune:",
        disabled=not free,
        help=None if free else tip("frozen"),
    ):
        session.go_to(target)
        st.switch_page("app.py")
