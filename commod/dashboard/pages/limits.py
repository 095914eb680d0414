"""The sections of the Limits page: what K changes could do at best, what COMMOD and the others do with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED_STYLE
from commod.charts.limits import BOUND_STYLE, CURRENT_STYLE, PRICES, plot_limits, plot_price
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.service import get, submit
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.text.figures import FAIRNESS_TITLES
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views import controls
from commod.dashboard.views import frame as layout
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.chart import draw
from commod.dashboard.views.methods import label_of, styles_of
from commod.dashboard.views.model import train
from commod.dashboard.views.table import Table
from commod.experiments import Sweep, points_of
from commod.experiments.limits import MAX_POINTS, Limits, best_within
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.metrics.figures import CRITERIA
from commod.metrics.pareto import undominated

# Drawn if nothing else is chosen: COMMOD, and what takes a few seconds.
QUICK = ("commod", "lpp", "oracle_lpp", "oracle")
BUDGETS = tuple(i / 100 for i in range(1, 31))
LEVELS = {
    "demographic_parity": (*(i / 100 for i in range(50, 100, 5)), 0.99),
    "equalized_odds": (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
}


@dataclass
class Asked:
    """What this session asks of the page."""

    budget: float = 0.05
    levels: dict[str, float] = field(default_factory=dict)  # by criterion; the usual one where there is none


def _from_link() -> Asked:
    fairness = session.current().fairness
    budget = _nearest(BUDGETS, st.query_params.get("budget", ""))
    level = _nearest(LEVELS[fairness], st.query_params.get("level", ""))
    return Asked(budget or Asked.budget, {} if level is None else {fairness: level})


_asked = PageState("limits", _from_link)


def _nearest(grid: tuple[float, ...], text: str) -> float | None:
    try:
        number = float(text[:20])
    except ValueError:
        return None
    return min(grid, key=lambda value: abs(value - number)) if math.isfinite(number) else None


def link() -> dict[str, str]:
    """What of the page goes into the address."""
    asked = _asked()
    level = asked.levels.get(session.current().fairness)
    return {"budget": f"{asked.budget:g}"} | ({} if level is None else {"level": f"{level:g}"})


def ask(settings: Settings, limits: Limits) -> tuple[float, float]:
    """The two sliders: how many decisions may change, and how fair it is to be."""
    asked = _asked()
    levels = LEVELS[settings.fairness]
    if settings.fairness == "demographic_parity":
        usual, title = 0.8, "P-Rule asked for, at least"
    else:
        usual, title = 0.5 * limits.at(0.0), "Mistreatment asked for, at most"
    wanted = asked.levels.get(settings.fairness, usual)
    level = min(levels, key=lambda value: abs(value - wanted))
    keys = {"budget": "limits_budget", "level": f"limits_level_{settings.fairness}"}
    for name, value in (("budget", asked.budget), ("level", level)):
        st.session_state.setdefault(keys[name], value)

    def take(name: str) -> None:
        if name == "budget":
            asked.budget = st.session_state[keys[name]]
        else:
            asked.levels[settings.fairness] = st.session_state[keys[name]]

    left, right = st.columns(2, gap="large")
    budget = left.select_slider(
        "Decisions that may change, at most",
        BUDGETS,
        format_func=lambda value: f"{value:.0%}",
        key=keys["budget"],
        on_change=take,
        args=("budget",),
        help=tip("budget"),
    )
    level = right.select_slider(
        title, levels, format_func=lambda value: f"{value:g}", key=keys["level"], on_change=take, args=("level",)
    )
    return float(budget), float(level)


def _name(settings: Settings) -> str:
    return "a P-Rule" if settings.fairness == "demographic_parity" else "mistreatment"


def _wish(settings: Settings, level: float) -> str:
    return f"{_name(settings)} of {level:g} or {'more' if settings.fairness == 'demographic_parity' else 'less'}"


def sentence(settings: Settings, limits: Limits, sweeps: dict[str, Sweep], budget: float, level: float) -> str:
    """The picture read out."""
    name, people = _name(settings), limits.people
    upward = settings.fairness == "demographic_parity"
    flips = int(budget * people + 1e-9)
    known = "group" if upward else "group and outcome"
    words = (
        f"With {budget:.0%} of the decisions changed ({flips:,} of {people:,}), nobody can do better than {name} of "
        f"**{limits.at(budget):.3f}**, even knowing everyone's {known}; f starts at {limits.at(0.0):.3f}."
    )
    if "commod" in sweeps:
        best = best_within(sweeps["commod"].points, settings.fairness, budget)
        assert best is not None  # λ_fair = 0 changes nobody
        figure = best[FAIRNESS_FIGURES[settings.fairness]]
        words += (
            f" COMMOD, which is not told the group, reaches **{figure:.3f}** "
            f"(with {best['change_rate']:.1%} changed, accuracy {best['accuracy']:.1%})."
        )
    reached = CRITERIA[settings.fairness].is_met(limits.curve["fairness"], level)
    wish = _wish(settings, level)
    wish = wish[0].upper() + wish[1:]
    if not reached.any():
        return f"{words} {wish} takes more than {limits.curve['change_rate'].iloc[-1]:.0%}."
    row = limits.curve[reached].iloc[0]
    if row["changes"] == 0:
        return f"{words} {wish}: f is that fair already."
    words += f" {wish} takes at least **{row['change_rate']:.1%}** ({row['changes']:,.0f} people)"
    if "commod" in sweeps:
        points = sweeps["commod"].points
        fair = points[CRITERIA[settings.fairness].is_met(points[FAIRNESS_FIGURES[settings.fairness]], level)]
        own = "does not get there" if fair.empty else f"needs {fair['change_rate'].min():.1%}"
        words += f"; COMMOD {own}"
    return f"{words}."


def _frame(settings: Settings, sweeps: dict[str, Sweep], result: FitResult) -> pd.DataFrame:
    """Models to be drawn, with the current one and f, on test."""
    figure = FAIRNESS_FIGURES[settings.fairness]
    points = points_of(sweeps.values())
    columns = ["label", "change_rate", "fairness", "accuracy", "settings"]
    rows = []
    if not points.empty:
        points = points.assign(label=points["method"].map(label_of), fairness=points[figure])
        rows = points[columns].to_dict("records")
    for label, place, words in ((DEPLOYED_STYLE.label, 0, "unchanged"), (CURRENT_STYLE.label, -1, in_words(settings))):
        at = result.path.iloc[place]
        rows.append({"label": label, "settings": words, **{name: at[name] for name in columns[1:4]}})
    return pd.DataFrame(rows).assign(kind="model")


def _frontier(points: pd.DataFrame, upward: bool) -> pd.DataFrame:
    """The fairest model with at most so many changes, as steps."""
    gain = points["fairness"] if upward else -points["fairness"]
    best = points[undominated(gain, -points["change_rate"])].sort_values("change_rate").drop_duplicates("change_rate")
    return best[["change_rate", "fairness"]].assign(kind="frontier")


def _by_percent(curve: pd.DataFrame) -> pd.DataFrame:
    """A curve to be read: its first point in every percent of changes."""
    percent = (100 * curve["change_rate"]).astype(int)
    return curve[~pd.concat([curve["kind"], percent], axis=1).duplicated()]


def _end(limits: Limits, frame: pd.DataFrame, budget: float) -> float:
    """End of the axis of changes: what is asked, where all is fair, and COMMOD's models are on it."""
    fair = 0.0 if limits.fair_from is None else limits.fair_from / limits.people
    own = frame.loc[frame["label"].isin([label_of("commod"), CURRENT_STYLE.label]), "change_rate"].max()
    last = max(1.25 * budget, 1.15 * fair, 1.05 * own)
    return float(min(limits.curve["change_rate"].iloc[-1], math.ceil(last * 20) / 20))


def region(
    settings: Settings,
    limits: Limits,
    sweeps: dict[str, Sweep],
    result: FitResult,
    place: Any,
    budget: float,
    level: float,
    *,
    final: bool = False,
) -> None:
    """The reachable region, and who gets how far into it; once all is there, with the table behind it."""
    upward = settings.fairness == "demographic_parity"
    frame = _frame(settings, sweeps, result)
    start = limits.at(0.0)
    low, high = (max(0.0, math.floor((start - 0.08) * 20) / 20), 1.0) if upward else (0.0, math.ceil(start * 22) / 20)
    most = _end(limits, frame, budget)
    thin = np.unique(np.linspace(0, len(limits.curve) - 1, MAX_POINTS).round().astype(int))
    parts = [
        limits.curve.iloc[thin].assign(kind="bound"),
        frame[frame["fairness"].between(low, high) & (frame["change_rate"] <= most)],
        pd.DataFrame([{"kind": "budget", "change_rate": budget}, {"kind": "level", "fairness": level}]),
    ]
    if "commod" in sweeps:
        parts.append(_frontier(frame[frame["label"] == label_of("commod")], upward))
    title = FAIRNESS_TITLES[FAIRNESS_FIGURES[settings.fairness]]
    columns = {
        "label": ("Model", ""),
        "settings": ("Setting", ""),
        "change_rate": ("Decisions changed", ".1%"),
        "fairness": (title, ".3f"),
    }

    def rows() -> pd.DataFrame:
        bound = _by_percent(limits.curve[limits.curve["change_rate"] <= most].assign(kind="bound"))
        return pd.concat([parts[1], bound.assign(label=BOUND_STYLE.label)], ignore_index=True)

    table = Table("Limit and models as a table", "limits_table", columns, rows)
    edge = "above" if upward else "below"
    known = "group is" if upward else "group and outcome are"
    hidden = len(frame) - len(parts[1])
    less = f" {hidden} models that change more, or are less fair than f, are not drawn." if hidden else ""
    own = " Orange line: the fairest COMMOD model with at most so many changes." if "commod" in sweeps else ""
    with place.container():
        st.markdown(sentence(settings, limits, sweeps, budget, level))
        st.html(html_legend((BOUND_STYLE, *styles_of(sweeps), CURRENT_STYLE, DEPLOYED_STYLE)))
        wide, narrow = st.columns([3, 2], gap="medium")
        with wide:
            draw(
                plot_limits,
                pd.concat(parts, ignore_index=True),
                alt="Fairness against decisions changed: the exact bound and models.",
                table=table if final else table.title,
                caption="On test. Blue line: the best that so many flips of f's decisions can do when everyone's "
                f"{known} known, counted exactly; {edge} it nobody gets. Dashed: what you ask for.{own} Hollow (○): "
                f"needs the group at predict.{less}",
                styles=styles_of(sweeps),
                fairness_title=title,
                low=low,
                high=high,
                most=most,
                upward=upward,
            )
        with narrow:
            _best_table(settings, limits, sweeps, budget, title)


def _best_table(settings: Settings, limits: Limits, sweeps: dict[str, Sweep], budget: float, title: str) -> None:
    st.markdown(f"**The fairest with at most {budget:.0%} changed**")
    rows = [["Nobody can do better", f"{limits.at(budget):.3f}", f"{budget:.1%}", "–"]]
    for name, sweep in sweeps.items():
        best = best_within(sweep.points, settings.fairness, budget)
        if best is None:
            rows.append([label_of(name), "–", f"over {budget:.0%}", "–"])
            continue
        figure = best[FAIRNESS_FIGURES[settings.fairness]]
        changed = f"{best['change_rate']:.1%}" if best["change_rate"] > 0 else "0, as f"
        rows.append([label_of(name), f"{figure:.3f}", changed, f"{best['accuracy']:.1%}"])
    headings = {"Method": "", title.split(" (")[0]: title, "Changed": tip("change_rate"), "Accuracy": tip("accuracy")}
    st.html(
        html_table(headings, rows, caption=f"The fairest models with at most {budget:.0%} of the decisions changed")
    )


def price(
    settings: Settings,
    sweeps: dict[str, Sweep],
    result: FitResult,
    limits: Limits,
    budget: float,
    level: float,
) -> None:
    """What accuracy this fairness must cost, by changes."""
    upward = settings.fairness == "demographic_parity"
    models = _frame(settings, sweeps, result)
    most = _end(limits, models, budget)
    asked = _wish(settings, level)
    st.header(f"The price of {asked}")
    if CRITERIA[settings.fairness].is_met(limits.at(0.0), level):
        st.info("f is that fair already: nothing has to change.", icon=":material/info:")
        return
    curves = result_of(tasks.price(settings, level, most))
    models = models.assign(difference=models["accuracy"] - result.path["accuracy"].iloc[0])
    models = models[CRITERIA[settings.fairness].is_met(models["fairness"], level) & (models["change_rate"] <= most)]
    if curves.empty:
        st.info(f"With {most:.0%} of the decisions changed, {asked} cannot be reached.", icon=":material/info:")
        return
    frame = pd.concat(
        [
            curves.rename(columns={"known": "kind"}),
            models,
            pd.DataFrame([{"kind": "budget", "change_rate": budget}]),
        ],
        ignore_index=True,
    )
    # Hindsight goes up to all errors mended: cut where it leaves what models can do far below.
    top = max(0.02, float(models["difference"].max() if len(models) else 0.0)) + 0.03
    bottom = min(-0.02, float(frame["difference"].min()))
    low, high = math.floor(bottom * 50) / 50, math.ceil(top * 50) / 50
    frame = frame[frame["difference"].between(low, high) | (frame["kind"] == "budget")]
    st.markdown(_price_words(curves, models, asked, with_commod="commod" in sweeps))
    dotted = "" if not upward else f" Dotted: {PRICES['scores'].lower()}, the people nearest to one half first."
    columns = {
        "label": ("Model", ""),
        "settings": ("Setting", ""),
        "change_rate": ("Decisions changed", ".1%"),
        "points": ("Accuracy against f (points)", "+.1f"),
    }

    def rows() -> pd.DataFrame:
        drawn = frame.assign(points=100 * frame["difference"])
        lines = _by_percent(drawn[drawn["kind"].isin(PRICES)])
        return pd.concat([drawn[drawn["kind"] == "model"], lines.assign(label=lines["kind"].map(PRICES))])

    draw(
        plot_price,
        frame,
        alt="Accuracy against f by decisions changed, at the fairness asked for.",
        table=Table("Prices as a table", "price_table", columns, rows),
        caption=f"On test. Solid: {PRICES['labels'].lower()}, so that flips mend errors; it leaves the picture at the "
        f"top.{dotted} Points: models that are fair enough.",
        styles=styles_of(sweeps),
        low=low,
        high=high,
        most=most,
    )


def _price_words(curves: pd.DataFrame, models: pd.DataFrame, asked: str, *, with_commod: bool) -> str:
    cheapest = curves[curves["known"] == "scores"]
    parts = []
    if cheapest.empty:
        first = curves.iloc[0]
        parts.append(
            f"In hindsight, with {first['change_rate']:.1%} changed, {asked} goes with "
            f"{100 * first['difference']:+.1f} points of accuracy."
        )
    else:
        first, best = cheapest.iloc[0], cheapest.loc[cheapest["difference"].idxmax()]
        parts.append(
            f"By f's own scores and knowing the group, {asked} costs about {-100 * best['difference']:.1f} points of "
            f"accuracy (with {best['change_rate']:.1%} changed), or {-100 * first['difference']:.1f} with the fewest "
            f"changes, {first['change_rate']:.1%}."
        )
    own = models[models["label"] == label_of("commod")]
    if with_commod and own.empty:
        parts.append("No COMMOD model of the sweep is that fair.")
    elif with_commod:
        best = own.loc[own["difference"].idxmax()]
        change = 100 * best["difference"]
        verb = f"loses {-change:.1f}" if change < 0 else f"gains {change:.1f}"
        parts.append(f"The most accurate such COMMOD model {verb} points (with {best['change_rate']:.1%} changed).")
    return " ".join(parts)


def propositions(settings: Settings, limits: Limits) -> None:
    """What the paper's propositions say here, and from where on they do not hold as printed."""
    title = "The paper's propositions, held against the exact count"
    with st.expander(title, key="limits_propositions", on_change="rerun"):
        people = limits.people
        fails = limits.printed_fails_from
        if settings.fairness == "demographic_parity":
            assert limits.switching_point is not None
            st.markdown(
                f"**Switching point** K_s = {limits.switching_point:,} ({limits.switching_point / people:.1%} of the "
                "people): the fewest changes after which the disfavoured group no longer has the smaller rate."
            )
            name, says = "4.4", "all changes raise the disfavoured group, or all lower the other"
        else:
            name, says = "4.5", "all changes go to the one gap, and the one group, in which a change moves a rate most"
        where = (
            "It is the best there is as far as this curve goes."
            if fails is None
            else f"Here it is the best there is up to K = {fails - 1:,}; from K = {fails:,} ({fails / people:.1%}) on "
            "it is not: a gap is closed, a group has nobody left to change, or the last change overshoots."
        )
        st.markdown(f"**Proposition {name}** as printed: {says}. {where}")


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/limits.py")
    st.title("How few changes could do it?")
    st.markdown(
        "Before a method is asked, it can be counted what **any** rule could do by changing so many of **f**'s "
        "decisions. Then see how near to that limit COMMOD and the others come."
    )
    settings = session.current()
    training = submit(tasks.fit(settings))
    controls.sidebar()
    controls.notices()
    head = st.container()
    bound = result_of(tasks.limits(settings), st.empty(), "Counting the limit")
    budget, level = ask(settings, bound)
    names = sweeps.choose_methods(settings, usual=QUICK)
    session.keep_link(**sweeps.link(), **link())
    progress = st.empty()
    picture = st.empty()
    below = st.empty()
    with head, training:
        result = train(settings, training)
    if result is None:
        st.stop()

    def paint(found: dict[str, Sweep], *, final: bool = False) -> None:
        """Draw what there is."""
        region(settings, bound, found, result, picture, budget, level, final=final)

    if not any(get(tasks.sweep(name, settings)) for name in names):
        paint({})  # the bound is there before any method is
    found = sweeps.collect(settings, names, progress, paint, stale=(below,))
    paint(found, final=True)
    with below.container():
        price(settings, found, result, bound, budget, level)
        propositions(settings, bound)
