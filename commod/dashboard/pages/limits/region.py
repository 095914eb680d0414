"""The Limits page's reachable region and price: what is asked, who gets how far, and what accuracy it must cost."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED_STYLE
from commod.charts.limits import (
    ASKED_STYLE,
    BLIND_STYLE,
    BOUND_STYLE,
    CURRENT_STYLE,
    OWN_STYLE,
    PRICES,
    plot_limits,
    plot_price,
)
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.text.verdicts import ONE_WAY
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.methods import label_of, own_method
from commod.dashboard.views.points import Swept, as_rows, point_columns, rests_on
from commod.experiments import Sweep
from commod.experiments.biased import figures_if_missed
from commod.experiments.limits import MAX_POINTS, Limits, best_within
from commod.metrics.counts import undominated
from commod.metrics.figures import FIGURES, Criterion
from commod.models.competitors import METHODS, Method
from commod.uploads.limits import count_of
from commod.wording import with_capital

BUDGETS = tuple(i / 100 for i in range(1, 31))
LEVELS = {
    "demographic_parity": (*(i / 100 for i in range(50, 100, 5)), 0.99),
    "equalized_odds": (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
}


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
    asked, about = _asked(), tip("budget") if name == "budget" else None
    nearest = min(grid, key=lambda value: abs(value - asked.get(name, usual)))
    key = f"limits_{name}"
    shown = mirrored(key, st.session_state.get(key, nearest), lambda value: asked.update({name: value}))
    return float(place.select_slider(title, grid, format_func=lambda value: format(value, form), help=about, **shown))


def ask(criterion: Criterion, limits: Limits) -> tuple[float, float]:
    """The two sliders: how many decisions may change, and how fair it is to be."""
    left, right = st.columns(2, gap="medium")
    usual = 0.8 if criterion.upward else 0.5 * limits.at(0.0)
    title = f"{criterion.figure.short_title} asked for, {criterion.side}"
    level = _slider(left, title, f"level_{criterion.name}", LEVELS[criterion.name], "g", usual)
    return _slider(right, "Decisions that may change, at most", "budget", BUDGETS, ".0%"), level


@dataclass(frozen=True)
class DrawnLimits(Swept):
    """The same with the bound, what is asked, and the current model."""

    limits: Limits
    blind: pd.DataFrame  # `blind_limits_of`; empty until it is there, and where it is not defined
    budget: float
    level: float
    result: FitResult
    missed: float = 0.0  # of the disadvantaged group's favourable outcomes, by the record

    def show(self, value: float) -> str:
        """A value of the criterion's figure."""
        return self.criterion.figure.show(value)

    def is_fair(self, frame: pd.DataFrame) -> Any:
        """Whether rows are as fair as is asked."""
        return self.criterion.is_met(frame["fairness"], self.level)

    @property
    def has_blind(self) -> bool:
        """Whether there is a bound for rules that are not told the group."""
        return not self.blind.empty

    def blind_at(self, column: str = "fairness") -> float:
        """That bound at the budget, or another column of it."""
        return float(np.interp(self.budget, self.blind["change_rate"], self.blind[column]))

    @cached_property
    def models(self) -> pd.DataFrame:
        """All models, f and the current one on test."""
        columns = ["label", "change_rate", "fairness", "accuracy", "settings"]
        rows = [] if self.points.empty else as_rows(self.points, self.criterion.name)[columns].to_dict("records")
        scene = self.result.scene
        for label, settings, decisions in (
            (DEPLOYED_STYLE.label, "unchanged", scene.decisions_test),
            (CURRENT_STYLE.label, in_words(self.settings), self.result.decisions),
        ):
            figures = figures_if_missed(scene, decisions, self.missed)
            measured = {"change_rate": figures["change_rate"], "fairness": figures[self.criterion.figure_name]}
            rows.append({"label": label, **measured, "accuracy": figures["accuracy"], "settings": settings})
        return pd.DataFrame(rows).assign(kind="model")

    @property
    def own(self) -> pd.DataFrame:
        """COMMOD's of them, in the form of the sliders."""
        return self.models[self.models["label"] == self.form]

    @property
    def form(self) -> str:
        """COMMOD in the form of the sliders, as it is called in the picture."""
        return label_of(own_method(self.settings))

    @property
    def own_sweep(self) -> Sweep | None:
        """Its sweep, if it is drawn."""
        return self.sweeps.get(own_method(self.settings))

    @cached_property
    def most(self) -> float:
        """End of the axis of changes: what is asked, where all is fair, and COMMOD's models are on it."""
        fair = 0.0 if self.limits.fair_from is None else self.limits.fair_from / self.limits.people
        own = self.models.loc[self.models["label"].isin([self.form, CURRENT_STYLE.label]), "change_rate"].max()
        last = max(1.25 * self.budget, 1.15 * fair, 1.05 * own)
        return float(min(self.limits.curve["change_rate"].iloc[-1], math.ceil(last * 20) / 20))

    def columns(self, *names: str) -> dict[str, tuple[str, str]]:
        """Of a table behind a picture."""
        columns = point_columns(self.criterion.name, label="Model", settings="Setting")
        return {name: columns[name] for name in ("label", "settings", "change_rate", *names)}


def by_percent(curve: pd.DataFrame) -> pd.DataFrame:
    """A curve to be read: its first point in every percent of changes."""
    percent = (100 * curve["change_rate"]).astype(int)
    return curve[~pd.concat([curve["kind"], percent], axis=1).duplicated()]


def answer(here: DrawnLimits, more: str = "") -> str:
    """How many changes the fairness asked for takes, of any rule and of COMMOD; then `more`."""
    limits, criterion = here.limits, here.criterion
    wish = criterion.wish(here.level)
    reached = limits.curve[here.is_fair(limits.curve)]
    if reached.empty:
        return f"**{with_capital(wish)} takes more than {limits.curve['change_rate'].iloc[-1]:.0%} of the decisions.**"
    first = reached.iloc[0]
    if first["changes"] == 0:
        return f"**f has {wish} already.** Nothing must change."
    rate = f"**at least {first['changes']:,.0f} of {limits.people:,} decisions ({first['change_rate']:.1%})**"
    words = [f"For {wish}{ONE_WAY[here.settings.direction]}, {rate} must change, whatever the method."]
    for name in (name for name in here.sweeps if METHODS[name].is_commod):
        fair = here.models[(here.models["label"] == label_of(name)) & here.is_fair(here.models)]
        least = fair["change_rate"].min()
        own = "does not get there" if fair.empty else f"needs {least * limits.people:,.0f} ({least:.1%})"
        words.append(f"{METHODS[name].in_sentence} {own}.")
    return " ".join([*words, more]).strip()


def blind_sentence(here: DrawnLimits, sweep: Sweep) -> str:
    """How much of the distance to the limit is that of a `sweep` of COMMOD, and how much is not knowing the group."""
    show, bound, blind = here.show, here.limits.at(here.budget), here.blind_at()
    best = best_within(sweep.points, here.criterion.name, here.budget)
    assert best is not None  # λ_fair = 0 changes nobody
    own, form = float(best[here.criterion.figure_name]), METHODS[own_method(here.settings)].in_sentence
    if own > blind:
        return f"{form} is beyond what a rule that guesses can expect, by {show(own - blind)}, which may be chance."
    if bound - own < 0.005:
        return f"{form} is at the limit."
    unseen = max(0.0, bound - blind)
    return (
        f"{form} is {show(max(bound, blind) - own)} short of the limit: {show(unseen)} because it does "
        f"not see the group, {show(blind - own)} for other reasons."
    )


def region(here: DrawnLimits, place: Any, *, final: bool = False) -> None:
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
    if here.has_blind:
        parts.append(here.blind.assign(kind="blind"))
    if here.own_sweep is not None:  # its fairest model with at most so many changes, as steps
        steps = here.own[undominated(criterion.gain(here.own["fairness"]), -here.own["change_rate"])]
        steps = steps.sort_values("change_rate").drop_duplicates("change_rate")
        parts.append(steps[["change_rate", "fairness"]].assign(kind="frontier"))

    def rows() -> pd.DataFrame:
        bound = by_percent(limits.curve[limits.curve["change_rate"] <= most].assign(kind="bound"))
        lines = [bound.assign(label=BOUND_STYLE.label)]
        if here.has_blind:
            lines.append(by_percent(here.blind.assign(kind="blind", label=BLIND_STYLE.label)))
        return pd.concat([models, *lines], ignore_index=True)

    table = Table("Limit and models as a table", "limits_table", here.columns("fairness"), rows)
    with place.container():
        lines = [BOUND_STYLE, *[BLIND_STYLE] * here.has_blind]
        lines += [*[replace(OWN_STYLE, label=OWN_STYLE.label.format(here.form))] * (here.own_sweep is not None)]
        st.html(html_legend((*lines, ASKED_STYLE)))
        st.html(html_legend((*here.styles, CURRENT_STYLE, DEPLOYED_STYLE)))
        wide, narrow = st.columns([3, 2], gap="medium")
        with wide:
            draw(
                plot_limits,
                pd.concat(parts, ignore_index=True),
                alt="Fairness against decisions changed: the exact bound and models.",
                table=table if final else table.title,
                caption=_caption(here, hidden=len(here.models) - len(models)),
                styles=here.styles,
                fairness_title=here.fairness_title,
                low=low,
                high=high,
                most=most,
                upward=criterion.upward,
            )
        with narrow:
            _best_table(here)
            if here.has_blind and here.own_sweep is not None:
                st.expander("Why not nearer to the limit?").markdown(blind_sentence(here, here.own_sweep))
            elif final and not here.has_blind:
                st.caption(
                    "The limit of rules that guess the group is drawn for demographic parity of two groups only."
                )


def _caption(here: DrawnLimits, hidden: int) -> str:
    """What the legend does not say; `hidden` models are not drawn."""
    known = "group and record" if here.criterion.by_label else "group"
    less = f" Not drawn: {count_of(hidden, 'model')} off the axes." if hidden else ""
    dotted = (
        " Dotted: what a rule can expect that guesses the group (by gradient boosting), with an interval. "
        "Chance can lift the interval, or a model, above a line."
        if here.has_blind
        else ""
    )
    return (
        f"On test. The limit is exact, and takes everyone's {known} as known.{dotted} ○: needs the group.{less} "
        f"{rests_on(here.result.scene)}"
    )


def _best_table(here: DrawnLimits) -> None:
    budget, figure = here.budget, here.criterion.figure
    count = int(budget * here.limits.people + 1e-9)
    st.markdown(f"**The fairest with at most {count:,} decisions changed ({budget:.0%})**")
    rows = [
        ["f", here.show(here.limits.at(0.0)), "0", f"{_of_f(here):.1%}"],
        ["The limit of any rule", here.show(here.limits.at(budget)), f"{budget:.1%}", "–"],
    ]
    if here.has_blind:
        low, high = (here.show(here.blind_at(end)) for end in ("low", "high"))
        expected = f"{here.show(here.blind_at())}\n[{low}, {high}]"
        rows.append(["The limit to expect, group guessed", expected, f"{budget:.1%}", "–"])
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


def _of_f(here: DrawnLimits) -> float:
    """Accuracy of f."""
    return float(here.models.loc[here.models["label"] == DEPLOYED_STYLE.label, "accuracy"].iloc[0])


def price(here: DrawnLimits) -> None:
    """What accuracy this fairness must cost, by changes."""
    criterion, most = here.criterion, here.most
    asked = criterion.wish(here.level)
    st.header(f"The price of {asked}, in accuracy")
    if criterion.is_met(here.limits.at(0.0), here.level):
        st.info("f is that fair already: nothing has to change.", icon=":material/info:")
        return
    curves = result_of(tasks.price(here.settings, here.level, most, here.missed), st.empty(), "Counting the price")
    if curves.empty:
        st.info(f"With {most:.0%} of the decisions changed, {asked} cannot be reached.", icon=":material/info:")
        return
    models = here.models.assign(difference=here.models["accuracy"] - _of_f(here))
    models = models[here.is_fair(models) & (models["change_rate"] <= most)]
    dashed = pd.DataFrame([{"kind": "budget", "change_rate": here.budget}])
    frame = pd.concat([curves.rename(columns={"known": "kind"}), models, dashed], ignore_index=True)
    # Hindsight goes up to all errors mended: cut where it leaves what models can do far below.
    top = max(0.02, float(models["difference"].max() if len(models) else 0.0)) + 0.03
    bottom = min(-0.02, float(frame["difference"].min()))
    low, high = math.floor(bottom * 50) / 50, math.ceil(top * 50) / 50
    leaves = "; its line leaves the chart at the top" if (frame["difference"] > high).any() else ""
    frame = frame[frame["difference"].between(low, high) | (frame["kind"] == "budget")]
    st.markdown(_price_words(curves, models, asked, METHODS[own_method(here.settings)]))
    counted = _counted(curves, here.limits.people, most)
    st.html(html_legend((*[style for name, style in PRICES.items() if (curves["known"] == name).any()], ASKED_STYLE)))
    st.html(html_legend(here.styles))
    columns = here.columns() | {"points": ("Accuracy minus f's (percentage points)", "+.1f")}

    def rows() -> pd.DataFrame:
        drawn = frame.assign(points=100 * frame["difference"])
        lines = by_percent(drawn[drawn["kind"].isin(PRICES)])
        return pd.concat(
            [drawn[drawn["kind"] == "model"], lines.assign(label=lines["kind"].map(lambda kind: PRICES[kind].label))]
        )

    draw(
        plot_price,
        frame,
        alt="Accuracy against f by decisions changed, at the fairness asked for.",
        table=Table("Prices as a table", "price_table", columns, rows),
        caption=f"On test, fair enough models only. Who knows the record can also correct errors{leaves}.{counted}",
        styles=here.styles,
        low=low,
        high=high,
        most=most,
    )


def _counted(curves: pd.DataFrame, people: int, most: float) -> str:
    """What of the test rows, or of the changes, the lines are counted on; empty if it is all."""
    rows, last = int(curves["people"].iloc[0]), float(curves["change_rate"].max())
    if rows < people:
        return f" Lines: counted on {rows:,} of the {people:,} test rows, as many of each group, record and decision."
    return f" Lines: counted up to {last * people:,.0f} changes." if last < most - 1.0 / people else ""


def _price_words(curves: pd.DataFrame, models: pd.DataFrame, asked: str, form: Method) -> str:
    cheapest = curves[curves["known"] == "scores"]
    if cheapest.empty:
        first = curves.iloc[0]
        words = (
            f"In hindsight, with {first['change_rate']:.1%} changed, {asked} goes with "
            f"{100 * first['difference']:+.1f} percentage points of accuracy."
        )
    else:
        best = cheapest.loc[cheapest["difference"].idxmax()]
        words = (
            f"A rule that knows f's scores and everyone's group pays about **{-100 * best['difference']:.1f}** "
            f"percentage points of accuracy (with {best['change_rate']:.1%} changed)."
        )
    own = models[models["label"] == form.title]
    if own.empty:  # which is said at the top of the page
        return words
    best = own.loc[own["difference"].idxmax()]
    change = 100 * best["difference"]
    verb = f"loses **{-change:.1f}**" if change < 0 else f"gains **{change:.1f}**"
    changed = f"{verb} (with {best['change_rate']:.1%} changed)"
    return f"{words} The most accurate model of {form.in_sentence} that is as fair {changed}."
