"""Models as points of charts: their rows, the columns of their tables, and the table that two pages draw."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts import MethodStyle
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.views.methods import label_of, name_of, styles_of
from commod.experiments import Scene, Sweep, points_of
from commod.experiments.sweep import rows_in_words
from commod.metrics.figures import CRITERIA, FIGURES, Criterion


def point_columns(fairness: str, **words: str) -> dict[str, tuple[str, str]]:
    """Columns of a table of points: those of `words` with their headings, then fairness, accuracy and changes."""
    fair, accuracy, changed = CRITERIA[fairness].figure, FIGURES["accuracy"], FIGURES["change_rate"]
    return {
        **{name: (heading, "") for name, heading in words.items()},
        "fairness": (fair.axis_title, fair.format),
        "accuracy": (f"{accuracy.title} on test", accuracy.format),
        "change_rate": (changed.title, changed.format),
    }


def as_rows(points: pd.DataFrame, fairness: str, *more: str) -> pd.DataFrame:
    """Points of sweeps as rows of a chart: what is drawn and told of them, the criterion's figure as ``fairness``."""
    own = CRITERIA[fairness].figure_name
    columns = ["label", "name", "method", *more, "settings", "fairness", own, "accuracy", "change_rate", "best"]
    named = {"label": points["method"].map(label_of), "name": points["method"].map(name_of)}
    return points.assign(**named, fairness=points[own])[columns]


def rests_on(scene: Scene) -> str:
    """What has to be known of the rows behind the points, and which groups are too small to be compared."""
    return escape_markdown(" ".join(text for text in (rows_in_words(scene), scene.basis, scene.left_out) if text))


@dataclass(frozen=True)
class Swept:
    """Sweeps of methods on a scene, to be drawn."""

    settings: Settings
    sweeps: dict[str, Sweep]

    @property
    def criterion(self) -> Criterion:
        return CRITERIA[self.settings.fairness]

    @property
    def fairness_title(self) -> str:
        return self.criterion.figure.axis_title

    @property
    def styles(self) -> tuple[MethodStyle, ...]:
        return styles_of(self.sweeps)

    @cached_property
    def points(self) -> pd.DataFrame:
        return points_of(self.sweeps.values())


def draw_cells(
    cells: pd.DataFrame,
    methods: Iterable[str],
    headings: Mapping[tuple[int, int], str],
    words: Callable[[Mapping[Any, Any]], str],
    *,
    caption: str,
    label: Callable[[str], str] = label_of,
) -> None:
    """A table of methods by cell of fairness and accuracy, the fewest changes shaded; a dash where there is no model.

    `cells` come from `mark_fewest`, `headings` names their places, `words` writes a cell, `label` a method.
    """
    known = {(cell["method"], cell["fairness_q"], cell["accuracy_q"]): cell for cell in cells.to_dict("records")}
    rows, marked = [], set()
    for i, method in enumerate(methods):
        found = [known.get((method, *place)) for place in headings]
        rows.append([label(method), *("–" if cell is None else words(cell) for cell in found)])
        marked |= {(i, j) for j, cell in enumerate(found, start=1) if cell is not None and cell["fewest"]}
    columns = ["Method", *headings.values()]
    st.html(html_table(columns, rows, caption=caption, marked=marked, dense=len(columns) > 9))
