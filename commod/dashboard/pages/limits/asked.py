"""What is asked on the Limits page, and what there is to be drawn of it."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.compare import DEPLOYED_STYLE
from commod.charts.limits import CURRENT_STYLE
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.methods import label_of, own_method
from commod.dashboard.views.points import Swept, as_rows, point_columns
from commod.experiments import Sweep
from commod.experiments.biased import figures_if_missed
from commod.experiments.limits import Limits
from commod.metrics.figures import Criterion

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
    budget = _slider(left, "Decisions that may change, at most", "budget", BUDGETS, ".0%")
    return budget, _slider(right, title, f"level_{criterion.name}", LEVELS[criterion.name], "g", usual)


@dataclass(frozen=True)
class Drawn(Swept):
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

    @property
    def has_fewest(self) -> bool:
        """Whether the fewest changes of a rule that is fully fair are in the picture."""
        return self.limits.fewest is not None and 0 < self.limits.fewest <= self.most

    def blind_at(self, column: str = "fairness") -> float:
        """That bound at the budget, or another column of it."""
        return float(np.interp(self.budget, self.blind["change_rate"], self.blind[column]))

    @cached_property
    def models(self) -> pd.DataFrame:
        """All models, f and the current one on test."""
        columns = ["label", "change_rate", "fairness", "accuracy", "settings"]
        rows = [] if self.points.empty else as_rows(self.points, self.criterion.name)[columns].to_dict("records")
        scene, told = (
            self.result.scene,
            {DEPLOYED_STYLE.label: "unchanged", CURRENT_STYLE.label: in_words(self.settings)},
        )
        for (label, settings), decisions in zip(
            told.items(), (scene.decisions_test, self.result.decisions), strict=True
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
