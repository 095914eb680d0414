"""The Limits page: what K changes could do at best, what COMMOD and the others do with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED_STYLE
from commod.charts.limits import BOUND_STYLE, CURRENT_STYLE, PRICES, plot_limits, plot_price
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.text.verdicts import ONE_WAY
from commod.dashboard.views import controls, frame
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.chart import draw
from commod.dashboard.views.methods import label_of
from commod.dashboard.views.model import train
from commod.dashboard.views.points import Swept, as_rows, point_columns, rests_on
from commod.dashboard.views.table import Table
from commod.experiments import Sweep
from commod.experiments.limits import MAX_POINTS, Limits, best_within
from commod.metrics.figures import CRITERIA, FIGURES, Criterion
from commod.metrics.pareto import undominated

# Drawn if nothing else is chosen: COMMOD, and what takes a few seconds.
QUICK = ("commod", "lpp", "oracle_lpp", "oracle")
BUDGETS = tuple(i / 100 for i in range(1, 31))
LEVELS = {
    "demographic_parity": (*(i / 100 for i in range(50, 100, 5)), 0.99),
    "equalized_odds": (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
}
# By criterion, the number of the paper's proposition and what it says.
PROPOSITIONS = {
    "demographic_parity": ("4.4", "all changes raise the disfavoured group, or all lower the other"),
    "equalized_odds": ("4.5", "all changes go to the one gap, and the one group, in which a change moves a rate most"),
}


# ---- what is asked ----


def _from_link() -> dict[str, float]:
    level = f"level_{session.current().fairness}"
    asked = {"budget": _nearest(BUDGETS, st.query_params.get("budget", ""))}
    asked[level] = _nearest(LEVELS[session.current().fairness], st.query_params.get("level", ""))
    return {"budget": 0.05} | {name: value for name, value in asked.items() if value is not None}


# By name of the slider; a level is asked of each criterion.
_asked = PageState("limits", _from_link)


def _nearest(grid: tuple[float, ...], text: str) -> float | None:
    try:
        number = float(text[:20])
    except ValueError:
        return None
    return min(grid, key=lambda value: abs(value - number)) if math.isfinite(number) else None


def link() -> dict[str, str]:
    """What of the page goes into the address."""
    names = {"budget": "budget", f"level_{session.current().fairness}": "level"}
    return {short: f"{_asked()[name]:g}" for name, short in names.items() if name in _asked()}


def _slider(place: Any, title: str, name: str, grid: tuple[float, ...], form: str, usual: float = 0.0) -> float:
    """A slider that keeps its value when its page is left."""
    asked, key = _asked(), f"limits_{name}"
    wanted = asked.get(name, usual)
    st.session_state.setdefault(key, min(grid, key=lambda value: abs(value - wanted)))
    return float(
        place.select_slider(
            title,
            grid,
            format_func=lambda value: format(value, form),
            key=key,
            on_change=lambda: asked.update({name: st.session_state[key]}),
            help=tip("budget") if name == "budget" else None,
        )
    )


def ask(criterion: Criterion, limits: Limits) -> tuple[float, float]:
    """The two sliders: how many decisions may change, and how fair it is to be."""
    left, right = st.columns(2, gap="large")
    usual = 0.8 if criterion.upward else 0.5 * limits.at(0.0)
    title = f"{criterion.figure.short_title} asked for, {criterion.side}"
    budget = _slider(left, "Decisions that may change, at most", "budget", BUDGETS, ".0%")
    return budget, _slider(right, title, f"level_{criterion.name}", LEVELS[criterion.name], "g", usual)


@dataclass(frozen=True)
class Drawn(Swept):
    """The same with the bound, what is asked, and the current model."""

    limits: Limits
    budget: float
    level: float
    result: FitResult

    def show(self, value: float) -> str:
        """A value of the criterion's figure."""
        return self.criterion.figure.show(value)

    def is_fair(self, frame: pd.DataFrame) -> Any:
        """Whether rows are as fair as is asked."""
        return self.criterion.is_met(frame["fairness"], self.level)

    @cached_property
    def models(self) -> pd.DataFrame:
        """All models, f and the current one on test."""
        columns = ["label", "change_rate", "fairness", "accuracy", "settings"]
        rows = [] if self.points.empty else as_rows(self.points, self.criterion.name)[columns].to_dict("records")
        path = self.result.path[columns[1:4]].to_dict("records")
        rows.append({"label": DEPLOYED_STYLE.label, **path[0], "settings": "unchanged"})
        rows.append({"label": CURRENT_STYLE.label, **path[-1], "settings": in_words(self.settings)})
        return pd.DataFrame(rows).assign(kind="model")

    @property
    def own(self) -> pd.DataFrame:
        """COMMOD's of them."""
        return self.models[self.models["label"] == label_of("commod")]

    @cached_property
    def most(self) -> float:
        """End of the axis of changes: what is asked, where all is fair, and COMMOD's models are on it."""
        fair = 0.0 if self.limits.fair_from is None else self.limits.fair_from / self.limits.people
        own = self.models.loc[self.models["label"].isin([label_of("commod"), CURRENT_STYLE.label]), "change_rate"].max()
        last = max(1.25 * self.budget, 1.15 * fair, 1.05 * own)
        return float(min(self.limits.curve["change_rate"].iloc[-1], math.ceil(last * 20) / 20))

    def columns(self, *names: str) -> dict[str, tuple[str, str]]:
        """Of a table behind a picture."""
        columns = point_columns(self.criterion.name, label="Model", settings="Setting")
        return {name: columns[name] for name in ("label", "settings", "change_rate", *names)}


def _by_percent(curve: pd.DataFrame) -> pd.DataFrame:
    """A curve to be read: its first point in every percent of changes."""
    percent = (100 * curve["change_rate"]).astype(int)
    return curve[~pd.concat([curve["kind"], percent], axis=1).duplicated()]


# ---- the reachable region ----


def sentence(here: Drawn) -> str:
    """The picture read out."""
    limits, budget, criterion = here.limits, here.budget, here.criterion
    known = "group and outcome" if criterion.by_label else "group"
    kept = ONE_WAY[here.settings.direction]
    count = int(budget * limits.people + 1e-9)
    words = (
        f"With {budget:.0%} of the decisions changed{kept} ({count:,} of {limits.people:,}), "
        f"nobody can do better than {criterion.noun} of **{here.show(limits.at(budget))}**, even knowing everyone's "
        f"{known}; f starts at {here.show(limits.at(0.0))}."
    )
    if "commod" in here.sweeps:
        best = best_within(here.sweeps["commod"].points, criterion.name, budget)
        assert best is not None  # λ_fair = 0 changes nobody
        words += (
            f" COMMOD, which is not told the group, reaches **{here.show(best[criterion.figure_name])}** "
            f"(with {best['change_rate']:.1%} changed, accuracy {best['accuracy']:.1%})."
        )
    reached = limits.curve[here.is_fair(limits.curve)]
    wish = criterion.wish(here.level)
    wish = wish[0].upper() + wish[1:]
    if reached.empty:
        return f"{words} {wish} takes more than {limits.curve['change_rate'].iloc[-1]:.0%}."
    first = reached.iloc[0]
    if first["changes"] == 0:
        return f"{words} {wish}: f is that fair already."
    words += f" {wish} takes at least **{first['change_rate']:.1%}** ({first['changes']:,.0f} people)"
    if "commod" in here.sweeps:
        fair = here.own[here.is_fair(here.own)]
        own = "does not get there" if fair.empty else f"needs {fair['change_rate'].min():.1%}"
        words += f"; COMMOD {own}"
    return f"{words}."


def region(here: Drawn, place: Any, *, final: bool = False) -> None:
    """The reachable region, and who gets how far into it; once all is there, with the table behind it."""
    limits, criterion, most = here.limits, here.criterion, here.most
    start = limits.at(0.0)
    low, high = 0.0, math.ceil(start * 22) / 20
    if criterion.upward:
        low, high = max(0.0, math.floor((start - 0.08) * 20) / 20), 1.0
    thin = np.unique(np.linspace(0, len(limits.curve) - 1, MAX_POINTS).round().astype(int))
    models = here.models[here.models["fairness"].between(low, high) & (here.models["change_rate"] <= most)]
    parts = [
        limits.curve.iloc[thin].assign(kind="bound"),
        models,
        pd.DataFrame([{"kind": "budget", "change_rate": here.budget}, {"kind": "level", "fairness": here.level}]),
    ]
    if "commod" in here.sweeps:  # its fairest model with at most so many changes, as steps
        steps = here.own[undominated(criterion.gain(here.own["fairness"]), -here.own["change_rate"])]
        steps = steps.sort_values("change_rate").drop_duplicates("change_rate")
        parts.append(steps[["change_rate", "fairness"]].assign(kind="frontier"))

    def rows() -> pd.DataFrame:
        bound = _by_percent(limits.curve[limits.curve["change_rate"] <= most].assign(kind="bound"))
        return pd.concat([models, bound.assign(label=BOUND_STYLE.label)], ignore_index=True)

    table = Table("Limit and models as a table", "limits_table", here.columns("fairness"), rows)
    edge = "above" if criterion.upward else "below"
    known = "group and outcome are" if criterion.by_label else "group is"
    hidden = len(here.models) - len(models)
    rest_on = rests_on(here.result.scene)
    less = f" {hidden} models that change more, or are less fair than f, are not drawn." if hidden else ""
    own = " Orange line: the fairest COMMOD model with at most so many changes." if "commod" in here.sweeps else ""
    with place.container():
        st.markdown(sentence(here))
        st.html(html_legend((BOUND_STYLE, *here.styles, CURRENT_STYLE, DEPLOYED_STYLE)))
        wide, narrow = st.columns([3, 2], gap="medium")
        with wide:
            draw(
                plot_limits,
                pd.concat(parts, ignore_index=True),
                alt="Fairness against decisions changed: the exact bound and models.",
                table=table if final else table.title,
                caption="On test. Blue line: the best that so many flips of f's decisions can do when everyone's "
                f"{known} known, counted exactly; {edge} it nobody gets. Dashed: what you ask for.{own} Hollow (○): "
                f"needs the group at predict.{less} {rest_on}",
                styles=here.styles,
                fairness_title=here.fairness_title,
                low=low,
                high=high,
                most=most,
                upward=criterion.upward,
            )
        with narrow:
            _best_table(here)


def _best_table(here: Drawn) -> None:
    budget, figure = here.budget, here.criterion.figure
    st.markdown(f"**The fairest with at most {budget:.0%} changed**")
    rows = [["Nobody can do better", here.show(here.limits.at(budget)), f"{budget:.1%}", "–"]]
    for name, sweep in here.sweeps.items():
        best = best_within(sweep.points, here.criterion.name, budget)
        if best is None:
            rows.append([label_of(name), "–", f"over {budget:.0%}", "–"])
            continue
        changed = f"{best['change_rate']:.1%}" if best["change_rate"] > 0 else "0, as f"
        rows.append([label_of(name), here.show(best[figure.name]), changed, f"{best['accuracy']:.1%}"])
    headings = {"Method": "", figure.title: figure.axis_title}
    headings |= {other.short_title: other.meaning for other in (FIGURES["change_rate"], FIGURES["accuracy"])}
    caption = f"The fairest models with at most {budget:.0%} of the decisions changed"
    st.html(html_table(headings, rows, caption=caption))


# ---- the price ----


def price(here: Drawn) -> None:
    """What accuracy this fairness must cost, by changes."""
    criterion, most = here.criterion, here.most
    asked = criterion.wish(here.level)
    st.header(f"The price of {asked}")
    if criterion.is_met(here.limits.at(0.0), here.level):
        st.info("f is that fair already: nothing has to change.", icon=":material/info:")
        return
    curves = result_of(tasks.price(here.settings, here.level, most))
    if curves.empty:
        st.info(f"With {most:.0%} of the decisions changed, {asked} cannot be reached.", icon=":material/info:")
        return
    models = here.models.assign(difference=here.models["accuracy"] - here.result.path["accuracy"].iloc[0])
    models = models[here.is_fair(models) & (models["change_rate"] <= most)]
    dashed = pd.DataFrame([{"kind": "budget", "change_rate": here.budget}])
    frame = pd.concat([curves.rename(columns={"known": "kind"}), models, dashed], ignore_index=True)
    # Hindsight goes up to all errors mended: cut where it leaves what models can do far below.
    top = max(0.02, float(models["difference"].max() if len(models) else 0.0)) + 0.03
    bottom = min(-0.02, float(frame["difference"].min()))
    low, high = math.floor(bottom * 50) / 50, math.ceil(top * 50) / 50
    leaves = "; it leaves the picture at the top" if (frame["difference"] > high).any() else ""
    frame = frame[frame["difference"].between(low, high) | (frame["kind"] == "budget")]
    st.markdown(_price_words(curves, models, asked, with_commod="commod" in here.sweeps))
    counted = _counted(curves, here.limits.people, most)
    dotted = f" Dotted: {PRICES['scores'].lower()}, the people nearest to f's cut-off first."
    columns = here.columns() | {"points": ("Accuracy against f (points)", "+.1f")}

    def rows() -> pd.DataFrame:
        drawn = frame.assign(points=100 * frame["difference"])
        lines = _by_percent(drawn[drawn["kind"].isin(PRICES)])
        return pd.concat([drawn[drawn["kind"] == "model"], lines.assign(label=lines["kind"].map(PRICES))])

    draw(
        plot_price,
        frame,
        alt="Accuracy against f by decisions changed, at the fairness asked for.",
        table=Table("Prices as a table", "price_table", columns, rows),
        caption=f"On test. Solid: {PRICES['labels'].lower()}, so that flips mend errors{leaves}."
        f"{'' if criterion.by_label else dotted} Points: models that are fair enough.{counted}",
        styles=here.styles,
        low=low,
        high=high,
        most=most,
    )


def _counted(curves: pd.DataFrame, people: int, most: float) -> str:
    """What of the test rows, or of the changes, the lines are counted on; empty if it is all."""
    rows, last = int(curves["people"].iloc[0]), float(curves["change_rate"].max())
    if rows < people:
        return f" Lines: counted on {rows:,} of the {people:,} test rows, as many of each group, outcome and decision."
    return f" Lines: counted up to {last * people:,.0f} changes." if last < most - 1.0 / people else ""


def _price_words(curves: pd.DataFrame, models: pd.DataFrame, asked: str, *, with_commod: bool) -> str:
    cheapest = curves[curves["known"] == "scores"]
    if cheapest.empty:
        first = curves.iloc[0]
        words = (
            f"In hindsight, with {first['change_rate']:.1%} changed, {asked} goes with "
            f"{100 * first['difference']:+.1f} points of accuracy."
        )
    else:
        first, best = cheapest.iloc[0], cheapest.loc[cheapest["difference"].idxmax()]
        words = (
            f"By f's own scores and knowing the group, {asked} costs about {-100 * best['difference']:.1f} points of "
            f"accuracy (with {best['change_rate']:.1%} changed)"
        )
        same = best["change_rate"] == first["change_rate"]
        fewest = f", or {-100 * first['difference']:.1f} with the fewest changes, {first['change_rate']:.1%}"
        words += "." if same else f"{fewest}."
    own = models[models["label"] == label_of("commod")]
    if not with_commod:
        return words
    if own.empty:
        return f"{words} No COMMOD model of the sweep is that fair."
    best = own.loc[own["difference"].idxmax()]
    change = 100 * best["difference"]
    verb = f"loses {-change:.1f}" if change < 0 else f"gains {change:.1f}"
    return f"{words} The most accurate such COMMOD model {verb} points (with {best['change_rate']:.1%} changed)."


# ---- the paper's propositions ----


def propositions(criterion: Criterion, limits: Limits, *, one_way: bool, two_groups: bool) -> None:
    """What the paper's propositions say here, and from where on they do not hold as printed."""
    title = "The paper's propositions, held against the exact count"
    with st.expander(title, key="limits_propositions", on_change="rerun"):
        fails, switch = limits.printed_fails_from, limits.switching_point
        if switch is not None:
            st.markdown(
                f"**Switching point** K_s = {switch:,} ({switch / limits.people:.1%} of the people): the fewest "
                "changes after which the disfavoured group no longer has the smaller rate."
            )
        where = (
            "It is the best there is as far as this curve goes."
            if fails is None
            else f"Here it is the best there is up to K = {fails - 1:,}; from K = {fails:,} "
            f"({fails / limits.people:.1%}) on it is not: a gap is closed, a group has nobody left to change, or the "
            "last change overshoots."
        )
        if one_way:
            where = "It is about changes in both directions; the curve above is not."
        if not two_groups:
            where = "It is about two groups; the curve above, of more, is counted."
        name, says = PROPOSITIONS[criterion.name]
        st.markdown(f"**Proposition {name}** as printed: {says}. {where}")


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/limits.py")
    st.title("How few changes could do it?")
    st.markdown(
        "Before a method is asked, it can be counted what **any** rule could do by changing so many of **f**'s "
        "decisions. Then see how near to that limit COMMOD and the others come."
    )
    settings = session.current()
    training = submit(tasks.fit(settings))
    controls.sidebar()
    controls.notices()
    with training:
        result = train(settings, training)
    if result is None or training.failed:  # the last good model is of other sliders, or of another f
        st.stop()
    bound = result_of(tasks.limits(settings), st.empty(), "Counting the limit")
    budget, level = ask(CRITERIA[settings.fairness], bound)
    one_way = settings.direction != "both"
    if one_way:
        names: list[str] = []
        st.caption("In one direction only, as g on Explore: the methods change decisions both ways and are left out.")
    else:
        names = sweeps.choose_methods(settings, usual=QUICK)
    session.keep_link(**sweeps.link(), **link())
    found = sweeps.known(settings, names)
    waits = len(found) < len(names)
    progress = st.empty()
    picture = sweeps.place(waits=waits)
    below = sweeps.place(waits=waits)

    def paint(found: dict[str, Sweep], *, final: bool = False) -> Drawn:
        """Draw what there is."""
        here = Drawn(settings, found, bound, budget, level, result)
        region(here, picture, final=final)
        return here

    if waits and not found:
        paint({})  # the bound is there before any method is
    found = sweeps.collect(settings, names, found, progress, paint)
    here = paint(found, final=True)
    with below.container():
        price(here)
        propositions(here.criterion, bound, one_way=one_way, two_groups=not result.has_many_groups)
