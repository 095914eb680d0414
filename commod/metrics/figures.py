"""Every figure of a model, declared once: its name, its formula, how it is written, and which direction is better.

Tiles, tables, the report, saved runs, the command line and the glossary read this table. A new figure is one entry and
its formula.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from commod.metrics.counts import Counts, compared_groups, counts_of_codes, sizes_of_groups
from commod.metrics.fairness import (
    ACCURACY,
    AFTER,
    BEFORE,
    FPR,
    NEGATIVE,
    OF_TWO,
    P_RULE,
    POSITIVE,
    PPV,
    TPR,
    Extremes,
    Share,
    Values,
    share_of,
)


@dataclass(frozen=True)
class Figure:
    """A figure of a model, or of the change from f to g."""

    name: str  # its row in `compare_decisions`
    title: str  # in full; may have the placeholders {positive} and {negative}, the names of the outcomes
    meaning: str  # in a sentence or two: tooltip and glossary entry, to which ``glossary.toml`` may add
    # From counts to values over their leading axes: ``(..., groups, label, prediction)`` for a figure of one model,
    # ``(..., groups, label, f, g)`` for one of the change; by group it adds the axis of the groups. A `Share` of people
    # has Wilson's interval; an `Extremes` leaves out small groups (see `of_counts`).
    formula: Callable[[Counts], Values]
    direction: Literal[1, -1, 0] = 0  # whether more of it is better, less of it, or neither
    percent: bool = False  # whether it is written in percent; its differences are then in points
    of_change: bool = False  # whether it belongs to the pair (f, g)
    unchanged: float = 0.0  # its value if nothing changes
    by_group: str = ""  # for one figure per group: the prefix of their rows; `title` then has a gap {group}
    # Left out unless every group compared has rows of either label, or a positive decision.
    needs_labels: bool = False
    needs_positives: bool = False
    most: float = 1.0  # the largest possible value; the smallest is 0
    key: bool = False  # whether tiles, saved runs and the teacher's notes show it, too
    short: str = ""  # title where there is little room
    fair: str = ""  # the value at which it is fair, as written behind the title
    of_scores: bool = False  # whether it is computed from scores: it has no formula

    def __post_init__(self) -> None:
        if self.key and self.by_group:
            raise ValueError(f"The figure {self.name!r} is one for each group: it cannot be a key figure.")

    def of_counts(self, counts: Counts, rows: Any = None) -> Values:
        """Its value from counts; an extreme leaves out groups that are too small (`commod.metrics.counts`).

        `rows`: how many each group has; by default from the counts (or the first draw), which is wrong with weights.
        """
        return self.formula(self.counted(counts, rows))

    def of_decisions(self, codes: Any, n_groups: int, y: Any, decided: Any, weight: Any = None) -> float:
        """Its value for one model's decisions, rows as in `counts_of_codes`; NaN where a group lacks a label."""
        counts = counts_of_codes(codes, n_groups, y, decided, weight=weight)
        rows = counts if weight is None else counts_of_codes(codes, n_groups, y, decided)
        with np.errstate(invalid="ignore"):  # 0 / 0
            return float(self.of_counts(counts, sizes_of_groups(rows)))

    def counted(self, counts: Counts, rows: Any = None) -> Counts:
        """The counts of the groups that the figure compares."""
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
        return _in_sentence(self.title)

    @property
    def short_in_sentence(self) -> str:
        return _in_sentence(self.short_title)

    @property
    def axis_title(self) -> str:
        """The title with the value at which it is fair."""
        return f"{self.title} ({self.fair} is fair)" if self.fair else self.title

    @property
    def fairer(self) -> str:
        return "" if not self.fair else "fairer →" if self.direction > 0 else "← fairer"

    @property
    def format(self) -> str:
        return ".1%" if self.percent else ".3f"

    def is_better(self, value: float, than: float) -> bool:
        """Whether a value is better than another; where neither direction is better, never."""
        return self.direction * (value - than) > 0

    def show(self, value: float) -> str:
        """A value as text: ``71.9%`` or ``0.569``."""
        return _minus(f"{value:{self.format}}")

    def show_difference(self, value: float) -> str:
        """A difference of two values: ``+1.2 points`` or ``+0.123``."""
        return _minus(f"{100 * value:+z.1f} points" if self.percent else f"{value:+z.3f}")  # z: no minus before 0.0

    def show_interval(self, low: float, high: float, *, difference: bool = False) -> str:
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


def _not_of_counts(counts: Counts) -> Values:
    raise TypeError("This figure needs scores: counts of decisions do not determine it.")


_CHANGED = share_of(BEFORE != AFTER)
_RAISED, _LOWERED = share_of((BEFORE == 0) & (AFTER == 1)), share_of((BEFORE == 1) & (AFTER == 0))
# Where there is nothing to keep, all of it is kept.
_KEPT_RIGHT = share_of((BEFORE == OF_TWO) & (AFTER == OF_TWO), BEFORE == OF_TWO, empty=1.0)
_KEPT_WRONG = share_of((BEFORE != OF_TWO) & (AFTER != OF_TWO), AFTER != OF_TWO, empty=1.0)


def _gap(name: str, title: str, meaning: str, *shares: Share, **more: Any) -> Figure:
    """The largest of the groups' rates minus the smallest, which is 0 where decisions are fair."""
    return Figure(name, title, meaning, Extremes(shares), direction=-1, fair="0", **more)


FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            "accuracy",
            "Accuracy",
            "Share of right decisions on the test part.",
            ACCURACY,
            direction=1,
            percent=True,
            key=True,
        ),
        Figure(
            "auc",
            "AUC of the scores",
            "Of two test people, one with the outcome and one without, the chance that the score ranks them rightly. "
            "0.5 is a coin toss.",
            _not_of_counts,
            direction=1,
            of_scores=True,
        ),
        Figure(
            "calibration_within_groups",
            "Calibration error within groups",
            "Mean distance of the score and the share of label 1, over ten bins of the score in each group. 0 is "
            "calibrated. What chance alone adds is taken off.",
            _not_of_counts,
            direction=-1,
            short="Calibration",
            fair="0",
            of_scores=True,
        ),
        Figure(
            "p_rule",
            "P-Rule",
            "The lowest group's rate of positive decisions divided by the highest group's. 1 is fair.",
            P_RULE,
            direction=1,
            key=True,
            fair="1",
        ),
        Figure(
            "p_rule_of_negative",
            "P-Rule of “{negative}”",
            "The same ratio of the groups' rates of negative decisions. 1 is fair.",
            Extremes((NEGATIVE,), ratio=True),
            direction=1,
            fair="1",
        ),
        _gap(
            "demographic_parity_difference",
            "Difference of the rates of positive decisions",
            "The largest of the groups' rates of positive decisions minus the smallest. 0 is fair.",
            POSITIVE,
        ),
        _gap(
            "dm",
            "Disparate mistreatment",
            "The gap in errors: the largest difference of the groups' true positive rates, plus that of their false "
            "positive rates. 0 is fair; on few people even a fair model shows more.",
            TPR,
            FPR,
            needs_labels=True,
            most=2.0,
            key=True,
            short="Mistreatment",
        ),
        _gap(
            "delta_tpr",
            "… of which true positive rates",
            "Largest difference of the groups' true positive rates. 0 is fair.",
            TPR,
            needs_labels=True,
        ),
        _gap(
            "delta_fpr",
            "… of which false positive rates",
            "Largest difference of the groups' false positive rates. 0 is fair.",
            FPR,
            needs_labels=True,
        ),
        _gap(
            "predictive_parity_difference",
            "Difference of the positive predictive values",
            "Of the positive decisions of a group, the share that the record proves right; the largest of the groups' "
            "minus the smallest. 0 is fair.",
            PPV,
            needs_positives=True,
            short="Predictive parity",
        ),
        Figure(
            "positive_rate",
            "Decided “{positive}”: {group}",
            "Share of a group that gets the positive decision.",
            POSITIVE,
            percent=True,
            by_group="positive_rate",
        ),
        Figure(
            "change_rate",
            "Decisions changed",
            "Share of test decisions in which g differs from f.",
            _CHANGED,
            percent=True,
            of_change=True,
            key=True,
            short="Changed",
        ),
        Figure(
            "raised_rate",
            "… changed to “{positive}”",
            "Share of decisions that went to the positive one.",
            _RAISED,
            percent=True,
            of_change=True,
        ),
        Figure(
            "lowered_rate",
            "… changed to “{negative}”",
            "Share of decisions that went to the negative one.",
            _LOWERED,
            percent=True,
            of_change=True,
        ),
        Figure(
            "change_rate_of_group",
            "… changed: {group}",
            "Share of a group whose decision changed.",
            _CHANGED,
            percent=True,
            of_change=True,
            by_group="change_rate",
        ),
        Figure(
            "change_disparity",
            "Difference of the groups' change rates",
            "The largest of the shares of the groups whose decision changed, minus the smallest.",
            Extremes((_CHANGED,)),
            percent=True,
            of_change=True,
        ),
        Figure(
            "backward_trust",
            "Backward trust compatibility",
            "Of the decisions that f got right by the record, the share that g keeps.",
            _KEPT_RIGHT,
            direction=1,
            percent=True,
            of_change=True,
            unchanged=1.0,
        ),
        Figure(
            "backward_error",
            "Backward error compatibility",
            "Of the errors of g by the record, the share that f made, too. The others are new.",
            _KEPT_WRONG,
            direction=1,
            percent=True,
            of_change=True,
            unchanged=1.0,
        ),
    )
}


@dataclass(frozen=True)
class Criterion:
    """A definition of fairness, and the figure that measures it."""

    name: str  # as an argument
    title: str
    short: str  # in two letters
    figure_name: str
    noun: str  # the figure in a sentence: "a P-Rule of 0.8"
    by_label: bool  # whether people with equal labels are compared, or all
    nearly_fair: float  # beyond this value decisions count as fair: whole people seldom add up to equal rates

    @property
    def figure(self) -> Figure:
        return FIGURES[self.figure_name]

    @property
    def key_figures(self) -> list[Figure]:
        """The key figures of a model for this criterion, without the figures of other criteria."""
        others = {other.figure_name for other in CRITERIA.values()} - {self.figure_name}
        return [figure for figure in key_figures() if figure.name not in others]

    @property
    def label(self) -> str:
        """The title with its figure, as it is chosen: "Demographic parity (P-Rule)"."""
        return f"{self.title} ({self.figure.short_in_sentence})"

    @property
    def upward(self) -> bool:
        """Whether a larger figure is fairer."""
        return self.figure.direction > 0

    def is_met(self, values: Any, limit: float) -> Any:
        """Whether values of the figure (a number or an array) are at least as fair as `limit`."""
        return values >= limit if self.upward else values <= limit

    def gain(self, values: Any) -> Any:
        """Values of the figure, turned so that more is fairer."""
        return values if self.upward else -values

    def share(self, values: Any) -> Any:
        """Values of the figure, turned so that 1 is fair and less is less fair (1 − mistreatment); the same back."""
        return values if self.upward else 1.0 - values

    @property
    def side(self) -> str:
        """On which side of a limit values are fair: "at least" or "at most"."""
        return "at least" if self.upward else "at most"

    def wish(self, limit: float) -> str:
        """A limit in words: "a P-Rule of 0.8 or more"."""
        return f"{self.noun} of {limit:g} or {'more' if self.upward else 'less'}"


CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        Criterion(
            "demographic_parity", "Demographic parity", "DP", "p_rule", "a P-Rule", by_label=False, nearly_fair=0.99
        ),
        Criterion("equalized_odds", "Equalized odds", "EO", "dm", "mistreatment", by_label=True, nearly_fair=0.01),
    )
}


def key_figures() -> list[Figure]:
    """Figures shown in every summary of a model, in the order of tables."""
    return [figure for figure in FIGURES.values() if figure.key]


def figure_of(row: str) -> tuple[Figure, int | None]:
    """The figure behind a row of `compare_decisions`, and the group's number if the row is of one group."""
    if row in FIGURES and not FIGURES[row].by_group:
        return FIGURES[row], None
    prefix, _, group = row.rpartition("_")
    for figure in FIGURES.values():
        if figure.by_group and figure.by_group == prefix and group.isdecimal():
            return figure, int(group)
    raise KeyError(f"There is no figure {row!r}.")


def title_of(row: str, groups: Sequence[str], outcomes: tuple[str, str]) -> str:
    """The title of a row of `compare_decisions`, its gaps filled in."""
    figure, group = figure_of(row)
    negative, positive = outcomes
    name = "" if group is None else groups[group]
    return figure.title.format(group=name, positive=positive, negative=negative)


def wholes_of_counts(counts: Counts) -> dict[str, float]:
    """For each row that is a share of people, of how many; from counts (groups, label, f, g)."""
    found: dict[str, Values] = {}
    for figure in FIGURES.values():
        share, own = figure.formula, counts if figure.of_change else counts.sum(axis=-2)
        if isinstance(share, Share):
            people = share.people(own if figure.by_group else share.of_all(own))
            found |= figure.rows_of(people)
    return {row: float(people) for row, people in found.items()}


def key_figures_of(counts: Counts, rows: Any = None) -> dict[str, float]:
    """The key figures of g from counts (groups, label, f, g); NaN for one that needs an empty cell."""
    of_g = counts.sum(axis=-2)
    with np.errstate(invalid="ignore"):  # 0 / 0
        return {
            figure.name: float(figure.of_counts(counts if figure.of_change else of_g, rows)) for figure in key_figures()
        }


def figures_of_counts(counts: Counts, rows: Any = None, *, of_change: bool = False) -> dict[str, Values]:
    """Figures of one model from (..., groups, label, prediction), or of a change from (..., groups, label, f, g).

    Those that need an empty cell are left out.
    """
    found: dict[str, Values] = {}
    for figure in FIGURES.values():
        if figure.of_scores or figure.of_change != of_change:
            continue
        own = figure.counted(counts, rows)
        if figure.needs_labels and not (own.sum(axis=(-2, -1) if of_change else -1) > 0).all():
            continue
        if figure.needs_positives and not (own[..., 1].sum(axis=-1) > 0).all():
            continue
        formula = figure.formula
        with np.errstate(invalid="ignore"):  # 0 / 0, of a group without rows
            values = formula.rates(own) if figure.by_group and isinstance(formula, Share) else formula(own)
        found |= figure.rows_of(values)
    return found
