"""Every figure of a model, declared once: its name, its formula, how it is written, and which direction is better.

Tiles, tables, the report, saved runs, the command line and the glossary read this table. A new figure is one entry and
its formula.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from commod.metrics.counts import Counts, counts_of_codes, sizes_of_groups
from commod.metrics.fairness import (
    FPR,
    NEGATIVE,
    P_RULE,
    POSITIVE,
    PPV,
    TPR,
    Extremes,
    Share,
    Values,
    accuracy_of_counts,
    positive_rates,
)
from commod.metrics.small_groups import compared_groups


@dataclass(frozen=True)
class Figure:
    """A figure of a model, or of the change from f to g.

    Parameters
    ----------
    name : str
        Its row in `compare_decisions`.
    title : str
        As it is written in full, capitalised.
    meaning : str
        In a sentence or two: its tooltip, and its entry in the glossary.
    formula : callable
        From counts to values over their leading axes: ``(..., groups, label, prediction)`` for a figure of one model,
        ``(..., groups, label, f, g)`` for one of the change. By group it gives one more axis, that of the groups. If it
        is an `Extremes`, small groups are left out: see `of_counts`.
    direction : {1, -1, 0}
        Whether more of it is better, less of it, or neither.
    percent : bool
        Whether it is a share, written in percent; its differences are in points.
    of_change : bool
        Whether it belongs to the pair (f, g) and not to one model.
    unchanged : float
        Of a figure of the change: its value where nothing changes, and so for f itself.
    by_group : str
        If there is one for each group: how their rows begin (``positive_rate`` for ``positive_rate_0, …``). Then
        `title` has a gap ``{group}``. Any title may have ``{positive}`` and ``{negative}``, the names of the outcomes.
    needs_labels : bool
        Whether every group (that counts in it) must have rows of either label; where one has not, the figure is left
        out.
    needs_positives : bool
        Whether every group (that counts in it) must have a positive decision; likewise.
    whole : callable, optional
        Of a share of people: how many it is a share of, from counts ``(groups, label, f, g)``; by group, of each. Its
        interval is then Wilson's.
    most : float
        The largest value that it can have; the smallest is 0.
    key : bool
        Whether it stands in tiles, in saved runs and in the teacher's notes, too, or in full tables only. Such a figure
        is one number: it has no `by_group`.
    short : str
        Its title where there is little room; default, the title.
    fair : str
        The value at which it is fair, as it is written behind the title; empty if that does not apply.
    more : str
        What the glossary adds to the meaning.
    cf : str
        A figure of other tools that is near it but not the same.
    of_scores : bool
        Whether it is one of scores, which counts of decisions do not tell; its formula then has none.
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
    whole: Callable[[Counts], Values] | None = None
    most: float = 1.0
    key: bool = False
    short: str = ""
    fair: str = ""
    more: str = ""
    cf: str = ""
    of_scores: bool = False

    def __post_init__(self) -> None:
        if self.key and self.by_group:
            raise ValueError(f"The figure {self.name!r} is one for each group: it cannot be a key figure.")

    def of_counts(self, counts: Counts, rows: Any = None) -> Values:
        """Its value from counts, by `commod.metrics.small_groups`: an extreme is one of the groups large enough.

        Parameters
        ----------
        counts : as `formula` takes them
        rows : (groups,), optional
            Of how many rows each group is; default, what the counts say. (Under weights they do not say it. With
            leading axes, those of draws, the first one does.)
        """
        return self.formula(self.counted(counts, rows))

    def of_decisions(self, codes: Any, n_groups: int, y: Any, decided: Any, weight: Any = None) -> float:
        """Its value for decisions of one model, of rows as `commod.metrics.counts.counts_of_codes` takes them.

        NaN where it needs a label that a group has not.
        """
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
    def introduction(self) -> str:
        """The title where a reader meets the figure, whatever the outcomes: with what other tools have in its place."""
        title = self.title.replace("“{positive}”", "positive decisions").replace("“{negative}”", "negative decisions")
        return f"{title} (cf. {self.cf})" if self.cf else title

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


def _not_of_counts(counts: Counts) -> Values:
    raise TypeError("This figure is one of scores, which counts of decisions do not tell.")


def _everybody(counts: Counts) -> Values:
    """How many people counts (groups, label, f, g) are of."""
    return counts.sum(axis=(-4, -3, -2, -1))


def _group_sizes(counts: Counts) -> Values:
    """The same of each group, shape (..., groups)."""
    return counts.sum(axis=(-3, -2, -1))


def _raised(counts: Counts) -> Values:
    """Decisions that went from 0 to 1, shape (..., groups)."""
    return counts[..., 0, 1].sum(axis=-1)


def _lowered(counts: Counts) -> Values:
    return counts[..., 1, 0].sum(axis=-1)


def _share_of_all(part: Callable[[Counts], Values]) -> Callable[[Counts], Values]:
    return lambda counts: part(counts).sum(axis=-1) / _everybody(counts)


def _changed(counts: Counts) -> Values:
    return _raised(counts) + _lowered(counts)


def _change_rates(counts: Counts) -> Values:
    """Of each group, shape (..., groups)."""
    return _changed(counts) / _group_sizes(counts)


_CHANGED = Share(_change_rates, _group_sizes)


def _kept(part: Callable[[Counts], Values], whole: Callable[[Counts], Values]) -> Callable[[Counts], Values]:
    """A share that is 1 where there is nothing to keep."""

    def share(counts: Counts) -> Values:
        people = whole(counts)
        return np.where(people > 0, part(counts) / np.where(people > 0, people, 1.0), 1.0)

    return share


def _both_right(counts: Counts) -> Values:
    return (counts[..., 0, 0, 0] + counts[..., 1, 1, 1]).sum(axis=-1)


def _both_wrong(counts: Counts) -> Values:
    return (counts[..., 0, 1, 1] + counts[..., 1, 0, 0]).sum(axis=-1)


def _right_before(counts: Counts) -> Values:
    return (counts[..., 0, 0, :] + counts[..., 1, 1, :]).sum(axis=(-2, -1))


def _wrong_after(counts: Counts) -> Values:
    return (counts[..., 0, :, 1] + counts[..., 1, :, 0]).sum(axis=(-2, -1))


# Every figure by name, in the order of tables.
FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            "accuracy",
            "Accuracy",
            "Share of right decisions on the test part.",
            accuracy_of_counts,
            direction=1,
            percent=True,
            whole=_everybody,
            key=True,
        ),
        Figure(
            "auc",
            "AUC of the scores",
            "Of two test people with different labels, the chance that the score ranks them rightly. 0.5 is no better "
            "than chance; no cut-off plays a part in it.",
            _not_of_counts,
            direction=1,
            more="A model can keep its accuracy and lose this: it then no longer tells people apart, and its decisions "
            "are near to those of a rule that says the same of everybody.",
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
            more="Of those with a score of 0.8, eight of ten should have the label, in every group. Where base rates "
            "differ, no model that errs has this and equal rates of both errors (Kleinberg et al. 2016).",
            of_scores=True,
        ),
        Figure(
            "p_rule",
            "P-Rule",
            "The smallest of the groups' rates of positive decisions over the largest. 1 is fair.",
            P_RULE,
            direction=1,
            key=True,
            fair="1",
            more="It measures demographic parity. It depends on which decision is counted as positive. Of more than "
            "two groups it compares the two that are furthest apart.",
        ),
        Figure(
            "p_rule_of_negative",
            "P-Rule of “{negative}”",
            "The same ratio of the groups' rates of negative decisions. 1 is fair.",
            Extremes((NEGATIVE,), ratio=True),
            direction=1,
            fair="1",
            more="The ratio depends on which decision is counted. The four-fifths rule of US employment law is about "
            "the rates of the favourable one (29 CFR 1607.4 D, 1978).",
        ),
        Figure(
            "demographic_parity_difference",
            "Difference of the rates of positive decisions",
            "The largest of the groups' rates of positive decisions minus the smallest. 0 is fair.",
            Extremes((POSITIVE,)),
            direction=-1,
            fair="0",
        ),
        Figure(
            "dm",
            "Disparate mistreatment",
            "Largest difference of the groups' true positive rates plus that of their false positive rates. 0 is fair, "
            "and less cannot be: on few people even a fair model shows more.",
            Extremes((TPR, FPR)),
            direction=-1,
            needs_labels=True,
            most=2.0,
            key=True,
            short="Mistreatment",
            fair="0",
            more="It measures equalized odds. Other tools call the larger of the two, in place of their sum, the "
            "equalized odds difference.",
            cf="equalized odds difference",
        ),
        Figure(
            "delta_tpr",
            "… of which true positive rates",
            "Largest difference of the groups' true positive rates. 0 is fair.",
            Extremes((TPR,)),
            direction=-1,
            needs_labels=True,
            fair="0",
        ),
        Figure(
            "delta_fpr",
            "… of which false positive rates",
            "Largest difference of the groups' false positive rates. 0 is fair.",
            Extremes((FPR,)),
            direction=-1,
            needs_labels=True,
            fair="0",
        ),
        Figure(
            "predictive_parity_difference",
            "Difference of the positive predictive values",
            "Of the positive decisions of a group, the share that the record proves right; the largest of the groups' "
            "minus the smallest. 0 is fair.",
            Extremes((PPV,)),
            direction=-1,
            needs_positives=True,
            short="Predictive parity",
            fair="0",
            more="It measures predictive parity: a positive decision means the same in every group. Where base rates "
            "differ, no model that errs has this and equal rates of both errors (Chouldechova 2017).",
        ),
        Figure(
            "positive_rate",
            "Decided “{positive}”: {group}",
            "Share of a group that gets the positive decision.",
            positive_rates,
            percent=True,
            by_group="positive_rate",
            whole=_group_sizes,
        ),
        Figure(
            "change_rate",
            "Decisions changed",
            "Share of test decisions in which g differs from f.",
            _share_of_all(_changed),
            percent=True,
            of_change=True,
            whole=_everybody,
            key=True,
            short="Changed",
        ),
        Figure(
            "raised_rate",
            "… changed to “{positive}”",
            "Share of decisions that went to the positive one.",
            _share_of_all(_raised),
            percent=True,
            of_change=True,
            whole=_everybody,
        ),
        Figure(
            "lowered_rate",
            "… changed to “{negative}”",
            "Share of decisions that went to the negative one.",
            _share_of_all(_lowered),
            percent=True,
            of_change=True,
            whole=_everybody,
        ),
        Figure(
            "change_rate_of_group",
            "… changed: {group}",
            "Share of a group whose decision changed.",
            _change_rates,
            percent=True,
            of_change=True,
            by_group="change_rate",
            whole=_group_sizes,
        ),
        Figure(
            "change_disparity",
            "Difference of the groups' change rates",
            "The largest of the shares of the groups whose decision changed, minus the smallest.",
            Extremes((_CHANGED,)),
            percent=True,
            of_change=True,
            more="Who is affected, and who is neglected: two models of equal fairness may change very different people "
            "(Krco et al. 2023, who also name the size, the direction and the rates of a change).",
        ),
        Figure(
            "backward_trust",
            "Backward trust compatibility",
            "Of the decisions that f got right by the record, the share that g keeps.",
            _kept(_both_right, _right_before),
            direction=1,
            percent=True,
            of_change=True,
            unchanged=1.0,
            whole=_right_before,
            more="An update can be better on average and still break what people rely on (Bansal et al. 2019; the name "
            "is that of Srivastava et al. 2020).",
        ),
        Figure(
            "backward_error",
            "Backward error compatibility",
            "Of the errors of g by the record, the share that f made, too. The others are new.",
            _kept(_both_wrong, _wrong_after),
            direction=1,
            percent=True,
            of_change=True,
            unchanged=1.0,
            whole=_wrong_after,
            more="Srivastava et al. (2020).",
        ),
    )
}


@dataclass(frozen=True)
class Criterion:
    """What it means to be fair, and the figure that measures it.

    Parameters
    ----------
    name, title, short : str
        As an argument, in full, and in two letters.
    figure_name : str
    noun : str
        The figure as it stands in a sentence: "a P-Rule of 0.8".
    by_label : bool
        Whether people of equal label are compared, or all.
    nearly_fair : float
        Beyond this value of the figure decisions are called fair: whole people seldom add up to equal rates.
    """

    name: str
    title: str
    short: str
    figure_name: str
    noun: str
    by_label: bool
    nearly_fair: float

    @property
    def figure(self) -> Figure:
        return FIGURES[self.figure_name]

    @property
    def key_figures(self) -> list[Figure]:
        """The key figures of a model that is to meet this criterion: without those of the other criteria."""
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


# Every criterion of fairness by name.
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
    """Figures that stand wherever a model is summed up, in the order of tables."""
    return [figure for figure in FIGURES.values() if figure.key]


def figure_of(row: str) -> tuple[Figure, int | None]:
    """The figure behind a row of `compare_decisions`, and the number of its group, if it is one of a group."""
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


def figures_of_counts(counts: Counts, rows: Any = None) -> dict[str, Values]:
    """Figures of one model from (..., groups, label, prediction); one that needs an empty cell is left out.

    `rows` are those of each group where the counts do not say it: see `Figure.of_counts`.
    """
    return _compute(counts, rows, of_change=False)


def figures_of_changes(counts: Counts, rows: Any = None) -> dict[str, Values]:
    """Figures of a change from (..., groups, label, f, g)."""
    return _compute(counts, rows, of_change=True)


def wholes_of_counts(counts: Counts) -> dict[str, float]:
    """Of each row that is a share of people, of how many; from counts (groups, label, f, g)."""
    found: dict[str, float] = {}
    for figure in FIGURES.values():
        if figure.whole is not None and figure.by_group:
            found |= {f"{figure.by_group}_{i}": float(people) for i, people in enumerate(figure.whole(counts))}
        elif figure.whole is not None:
            found[figure.name] = float(figure.whole(counts))
    return found


def key_figures_of(counts: Counts, rows: Any = None) -> dict[str, float]:
    """The key figures of g from counts (groups, label, f, g) as plain numbers; NaN for one that needs an empty cell.

    `rows` are those of each group where the counts do not say it: see `Figure.of_counts`.
    """
    of_g = counts.sum(axis=-2)
    with np.errstate(invalid="ignore"):  # 0 / 0
        return {
            figure.name: float(figure.of_counts(counts if figure.of_change else of_g, rows)) for figure in key_figures()
        }


def _compute(counts: Counts, rows: Any, *, of_change: bool) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for figure in FIGURES.values():
        if figure.of_scores or figure.of_change != of_change:
            continue
        own = figure.counted(counts, rows)
        if figure.needs_labels and not (own.sum(axis=(-2, -1) if of_change else -1) > 0).all():
            continue
        if figure.needs_positives and not (own[..., 1].sum(axis=-1) > 0).all():
            continue
        with np.errstate(invalid="ignore"):  # 0 / 0, of a group without rows
            values = figure.formula(own)
        if figure.by_group:
            found |= {f"{figure.by_group}_{i}": values[..., i] for i in range(values.shape[-1])}
        else:
            found[figure.name] = values
    return found
