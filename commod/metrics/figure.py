"""A figure of a model: its name and formula, how it is written, and which direction is better."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from commod.metrics.counts import Counts, counts_of_codes, sizes_of_groups
from commod.metrics.fairness import Extremes, Values
from commod.metrics.small_groups import compared_groups


@dataclass(frozen=True)
class Figure:
    """A figure of a model, or of the change from f to g.

    Parameters
    ----------
    name, title : str
        Its row in `compare_decisions`, and how it is written in full, capitalised.
    meaning : str
        In a sentence or two: its tooltip, and its entry in the glossary, to which ``glossary.toml`` may add more.
    formula : callable
        From counts to values over their leading axes: ``(..., groups, label, prediction)`` for a figure of one model,
        ``(..., groups, label, f, g)`` for one of the change. By group it adds an axis, that of the groups. A `Share`
        of people has Wilson's interval; an `Extremes` leaves out small groups: see `of_counts`.
    direction : {1, -1, 0}
        Whether more of it is better, less of it, or neither.
    percent : bool
        Whether it is a share, written in percent; its differences are in points.
    of_change, unchanged : bool, float
        Whether it belongs to the pair (f, g), and its value where nothing changes.
    by_group : str
        For one figure per group: how their rows begin (``positive_rate`` for ``positive_rate_0, …``). `title` then has
        a gap ``{group}``. Any title may have ``{positive}`` and ``{negative}``, the names of the outcomes.
    needs_labels, needs_positives : bool
        Whether every group compared must have rows of either label, or a positive decision; otherwise it is left out.
    most : float
        The largest value that it can have; the smallest is 0.
    key : bool
        Whether it also stands in tiles, saved runs and the teacher's notes. It is then one number: no `by_group`.
    short, fair : str
        Its title where there is little room, and the value at which it is fair, as written behind the title.
    of_scores : bool
        Whether it is one of scores, which counts of decisions do not tell: it has no formula.
    """

    name: str
    title: str
    meaning: str
    formula: Callable[[Counts], Values]
    direction: Literal[1, -1, 0] = 0
    percent: bool = False
    of_change: bool = False
    unchanged: float = 0.0
    by_group: str = ""
    needs_labels: bool = False
    needs_positives: bool = False
    most: float = 1.0
    key: bool = False
    short: str = ""
    fair: str = ""
    of_scores: bool = False

    def __post_init__(self) -> None:
        if self.key and self.by_group:
            raise ValueError(f"The figure {self.name!r} is one for each group: it cannot be a key figure.")

    def of_counts(self, counts: Counts, rows: Any = None) -> Values:
        """Its value from counts; an extreme leaves out groups that are too small (`commod.metrics.small_groups`).

        `rows`: how many each group has; default, what the counts (or the first draw) say, which weights do not.
        """
        return self.formula(self.counted(counts, rows))

    def of_decisions(self, codes: Any, n_groups: int, y: Any, decided: Any, weight: Any = None) -> float:
        """Its value for one model's decisions, rows as in `counts_of_codes`; NaN where a group lacks a label."""
        counts = counts_of_codes(codes, n_groups, y, decided, weight=weight)
        rows = counts if weight is None else counts_of_codes(codes, n_groups, y, decided)
        with np.errstate(invalid="ignore"):  # 0 / 0
            return float(self.of_counts(counts, sizes_of_groups(rows)))

    def counted(self, counts: Counts, rows: Any = None) -> Counts:
        """Of counts, those of the groups that play a part in the figure."""
        if not isinstance(self.formula, Extremes):
            return counts
        axis = -4 if self.of_change else -3
        if rows is None:
            rows = counts.reshape(-1, *counts.shape[axis:])[0].sum(axis=tuple(range(axis + 1, 0)))
        kept = compared_groups(rows)
        return counts if kept.all() else counts.compress(kept, axis=axis)

    def rows_of(self, values: Values) -> dict[str, Values]:
        """Values by row of `compare_decisions`: the figure's own, or one for each group (the last axis)."""
        if not self.by_group:
            return {self.name: values}
        return {f"{self.by_group}_{i}": values[..., i] for i in range(values.shape[-1])}

    @property
    def short_title(self) -> str:
        return self.short or self.title

    @property
    def in_sentence(self) -> str:
        """The title as it stands within a sentence."""
        return _in_sentence(self.title)

    @property
    def short_in_sentence(self) -> str:
        """The short title as it stands within a sentence."""
        return _in_sentence(self.short_title)

    @property
    def axis_title(self) -> str:
        """The title with the value at which it is fair."""
        return f"{self.title} ({self.fair} is fair)" if self.fair else self.title

    @property
    def fairer(self) -> str:
        """Which way along an axis is fairer."""
        return "" if not self.fair else "fairer →" if self.direction > 0 else "← fairer"

    @property
    def format(self) -> str:
        """For `format` and for charts; `show` also writes a minus as such."""
        return ".1%" if self.percent else ".3f"

    def is_better(self, value: float, than: float) -> bool:
        """Whether a value is better than another; where neither direction is better, never."""
        return self.direction * (value - than) > 0

    def show(self, value: float) -> str:
        """A value as it is written everywhere: ``71.9%`` or ``0.569``."""
        return _minus(f"{value:{self.format}}")

    def show_difference(self, value: float) -> str:
        """A difference of two values: ``+1.2 points`` or ``+0.123``."""
        return _minus(f"{100 * value:+z.1f} points" if self.percent else f"{value:+z.3f}")  # z: no minus before 0.0

    def show_interval(self, low: float, high: float, *, difference: bool = False) -> str:
        """An interval in brackets; its unit is that of the value in front of it."""
        show = self.show_difference if difference else self.show
        return f"[{show(low)}, {show(high)}]".replace("%", "").replace(" points", "")

    def show_with_interval(self, row: Mapping[str, float], column: str = "g", between: str = "\n") -> str:
        """A value from its row of `compare_decisions` (``f``, ``g`` or ``difference``), and its interval."""
        difference = column == "difference"
        value = (self.show_difference if difference else self.show)(row[column])
        return value + between + self.show_interval(row[f"{column}_low"], row[f"{column}_high"], difference=difference)


def _in_sentence(title: str) -> str:
    return title if title[1:2].isupper() or "-" in title else title[0].lower() + title[1:]


def _minus(text: str) -> str:
    return text.replace("-", "−")
