"""The Limits page's two sliders, its answer, and the picture and table of who gets how far."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED, with_labels
from commod.charts.limits import BLIND_STYLE, BOUND_STYLE, plot_limits
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.text.verdicts import ONE_WAY
from commod.dashboard.views.chart import Table, draw
from commod.dashboard.views.methods import label_of, own_method, styles_of
from commod.dashboard.views.points import Swept, as_rows, point_columns, rests_on
from commod.experiments.limits import Limits, best_within
from commod.experiments.segments import mark_frontiers
from commod.metrics.figures import FIGURES, Criterion
from commod.models.competitors import METHODS

BUDGETS = tuple(i / 100 for i in range(1, 31))
LEVELS = {
    "demographic_parity": (*(i / 100 for i in range(50, 100, 5)), 0.99),
    "equalized_odds": (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
}
# Of the picture, in pixels, and points of a limit in it.
HEIGHT, MAX_POINTS = 400, 400


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


def _slider(place: Any, title: str, name: str, grid: tuple[float, ...], form: str, about: str, usual: float) -> float:
    """A slider that keeps its value when its page is left."""
    asked = _asked()
    nearest = min(grid, key=lambda value: abs(value - asked.get(name, usual)))
    key = f"limits_{name}"
    shown = mirrored(key, st.session_state.get(key, nearest), lambda value: asked.update({name: value}))
    return float(place.select_slider(title, grid, format_func=lambda value: format(value, form), help=about, **shown))


def ask(criterion: Criterion, limits: Limits) -> tuple[float, float]:
    """The two sliders: how many decisions may change, and how fair it is to be."""
    left, right = st.columns(2, gap="medium")
    figure, usual = criterion.figure, 0.8 if criterion.upward else 0.5 * limits.at(0.0)
    title = f"How fair? {figure.short_title} {criterion.side}"
    about = f"{figure.meaning} {tip('level')}"
    level = _slider(left, title, f"level_{criterion.name}", LEVELS[criterion.name], "g", about, usual)
    return _slider(right, "How many changes? At most", "budget", BUDGETS, ".0%", tip("budget"), 0.05), level


@dataclass(frozen=True)
class DrawnLimits(Swept):
    """The same with the limits, what is asked, and the current model."""

    limits: Limits
    blind: pd.DataFrame  # `blind_limits_of`; empty until it is there, and where it is not defined
    budget: float
    level: float
    result: FitResult

    def is_fair(self, frame: pd.DataFrame) -> Any:
        """Whether rows are as fair as is asked."""
        return self.criterion.is_met(frame["fairness"], self.level)

    @cached_property
    def models(self) -> pd.DataFrame:
        """Each method's fairest models by number of changes, f and the current one, as rows of the picture."""
        scene, parts = self.result.scene, []
        if not self.points.empty:
            rows = as_rows(self.points, self.criterion.name)
            rows = mark_frontiers(rows, self.criterion.gain(rows["fairness"]))
            parts.append(rows[rows["best"]].assign(chosen=False))
        for label, name, settings, decisions in (
            (DEPLOYED, "f", "unchanged", scene.decisions_test),
            (label_of(own_method(self.settings)), "g", in_words(self.settings), self.result.decisions),
        ):
            figures = scene.figures(decisions)
            row = {"label": label, "name": name, "settings": settings, "best": False, "chosen": name == "g"}
            row |= {"fairness": figures[self.criterion.figure_name]}
            parts.append(pd.DataFrame([row | {key: figures[key] for key in ("accuracy", "change_rate")}]))
        return pd.concat(parts, ignore_index=True).assign(id=-1)

    @cached_property
    def most(self) -> float:
        """End of the axis of changes: what is asked, where all is fair, and COMMOD's models are on it."""
        fair = 0.0 if self.limits.fair_from is None else self.limits.fair_from / self.limits.people
        own = self.models.loc[self.models["label"] == label_of(own_method(self.settings)), "change_rate"].max()
        last = max(1.25 * self.budget, 1.15 * fair, 1.05 * own)
        return float(min(self.limits.curve["change_rate"].iloc[-1], math.ceil(last * 20) / 20))

    @property
    def lines(self) -> pd.DataFrame:
        """The limits, up to the end of the axis."""
        curve = self.limits.curve
        thin = np.unique(np.linspace(0, len(curve) - 1, MAX_POINTS).round().astype(int))
        drawn = pd.concat(
            [
                self.blind.assign(kind="blind", label=BLIND_STYLE.label),
                curve.iloc[thin].assign(kind="bound", label=BOUND_STYLE.label),
            ]
        )
        return drawn[drawn["change_rate"] <= self.most].assign(name=lambda frame: frame["label"])


def answer(here: DrawnLimits, more: str = "") -> str:
    """How many changes the fairness asked for takes, of any method and of COMMOD; then `more`."""
    limits, wish = here.limits, here.criterion.wish(here.level) + ONE_WAY[here.settings.direction]
    reached = limits.curve[here.is_fair(limits.curve)]
    if reached.empty:
        most = limits.curve["change_rate"].iloc[-1]
        return f"**No method reaches {wish} by changing {most:.0%} of the decisions.**"
    first = reached.iloc[0]
    if first["changes"] == 0:
        return f"**f has {wish} already.** Nothing must change."
    least = f"at least {first['changes']:,.0f} of {limits.people:,} decisions ({first['change_rate']:.1%}) must change"
    words = [f"For {wish}, **{least}**, whatever the method."]
    for name, sweep in here.sweeps.items():
        if METHODS[name].is_commod:
            fair = here.criterion.is_met(sweep.points[here.criterion.figure_name], here.level)
            changed = sweep.points.loc[fair, "change_rate"].min()
            own = f"needs {changed * limits.people:,.0f} ({changed:.1%})" if fair.any() else "does not get there"
            words.append(f"{METHODS[name].title} {own}.")
    return " ".join([*words, more]).strip()


def region(here: DrawnLimits, place: Any, *, final: bool = False) -> None:
    """How far any method can get and who gets how far, as a picture and a table; once all is there, with all values."""
    criterion, models, lines = here.criterion, here.models[here.models["change_rate"] <= here.most], here.lines
    figure = criterion.figure
    known = pd.concat([models, lines])["fairness"]
    low, high = float(known.min()), float(known.max())
    room = 0.06 * (high - low)  # for f and its name
    ends = (low - room, high) if criterion.upward else (low, high + room)
    frame = pd.concat([models.assign(kind="model"), lines.assign(best=True)], ignore_index=True)
    rounded = frame.round({"fairness": 2})  # limits that end alike keep their order
    frame["label_at"] = with_labels(rounded, x="change_rate", y="fairness", ends=ends, height=HEIGHT)["label_at"]
    frame["best"] = (frame["kind"] == "model") & ~frame["chosen"].eq(True)
    asked = [
        {"kind": "level", "fairness": here.level, "name": f"{figure.short_title} {here.level:g}"},
        {"kind": "budget", "change_rate": here.budget, "name": f"{here.budget:.0%} changed"},
    ]
    styles = styles_of({*here.sweeps, own_method(here.settings)})
    columns = point_columns(criterion.name, label="Model", settings="Setting")
    with place.container():
        st.html(html_legend((BOUND_STYLE, *[BLIND_STYLE] * (not here.blind.empty), *styles), narrow=True))
        table = Table("Limit and models as a table", "limits_table", columns, lambda: _by_percent(frame))
        draw(
            plot_limits,
            pd.concat([frame, pd.DataFrame(asked)], ignore_index=True),
            alt="Fairness against decisions changed: the limit of any method, and each method's fairest models.",
            table=table if final else table.title,
            caption=_caption(here),
            styles=styles,
            strong=label_of(own_method(here.settings)),
            fairness_title=here.fairness_title,
            fairness_range=ends,
            most_changes=here.most,
            upward=criterion.upward,
            height=HEIGHT,
        )
        _best_table(here)


def _by_percent(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the picture; of a limit the first in every percent of changes."""
    percent = frame["change_rate"].mul(100).astype(int).where(frame["kind"] != "model", -1 - frame.index)
    return frame[~pd.concat([frame["kind"], percent], axis=1).duplicated()]


def _caption(here: DrawnLimits) -> str:
    known = "group and record" if here.criterion.by_label else "group"
    blind = "" if here.blind.empty else f" {tip('limits_blind')}"
    return f"{tip('limits_how', known=known)}{blind} {rests_on(here.result.scene)}".strip()


def _best_table(here: DrawnLimits) -> None:
    """Who is fairest with so many changes."""
    budget, figure = here.budget, here.criterion.figure
    st.markdown(
        f"**How fair with at most {int(budget * here.limits.people + 1e-9):,} decisions changed ({budget:.0%})?**"
    )
    f = here.models[here.models["label"] == DEPLOYED].iloc[0]
    rows = [
        ["f, nothing changed", figure.show(f["fairness"]), f"{f['accuracy']:.1%}"],
        [BOUND_STYLE.label, figure.show(here.limits.at(budget)), "–"],
    ]
    if not here.blind.empty:
        expected = float(np.interp(budget, here.blind["change_rate"], here.blind["fairness"]))
        rows.append([BLIND_STYLE.label, figure.show(expected), "–"])
    for name, sweep in here.sweeps.items():
        best = best_within(sweep.points, here.criterion.name, budget)
        found = ["–", "–"] if best is None else [figure.show(best[figure.name]), f"{best['accuracy']:.1%}"]
        rows.append([label_of(name), *found])
    headings = ["", figure.axis_title, FIGURES["accuracy"].short_title]
    st.html(html_table(headings, rows, caption=f"The fairest with at most {budget:.0%} of the decisions changed"))
