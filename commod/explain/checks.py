"""Do these changes make sense? Four questions about a change, each with bounds that are declared only here.

Pages, report, saved runs, comparisons and the command line read this table. A new check is one entry and its sentence.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from commod.datasets.task import Task
from commod.explain.concepts import in_a_sentence, in_percent
from commod.metrics.counts import MIN_GROUP, as_binary, tally, wilson_interval

# A model that gives its decision more than this probability counts as sure of it.
SURE = 0.9
# Edges of the classes of certainty; in the last class f is sure.
CERTAINTY_CLASSES = (0.0, 0.5, 0.6, 0.7, 0.8, SURE, 1.0)


def explain_record(task: Task, y: Any, sensitive: Any, before: Any, after: Any, certain: Any = None) -> pd.DataFrame:
    """Changes of each group and direction, and how many of them agree with the record: g is right where f was wrong.

    `certain`: f's probability for its own decision (`certainty`). If f is calibrated, a change is right with the
    remaining probability, whoever is changed.

    Two rows per group, changes for the better first: ``group`` (its name), ``better``, ``count`` (changed people),
    ``right`` (g agrees with the label), ``wrong`` (f did), ``share`` (of the right; NaN if empty) with ``low, high``,
    Wilson's 95 % interval, and ``expected`` (that share by f's own probabilities; NaN without).
    """
    found = tally(y, {"before": before, "after": after}, sensitive)
    counts, groups, good = found.counts, found.groups, task.spec.favourable
    # (groups, direction): people whose decision is now this one, and of them those with that label.
    ways = [(1 - now, now) for now in (good, 1 - good)]
    moved = np.array([[cells[:, old, new].sum() for old, new in ways] for cells in counts], dtype=int).ravel()
    right = np.array([[cells[new, old, new] for old, new in ways] for cells in counts], dtype=int).ravel()
    low, high = wilson_interval(right, moved)
    left = np.full(len(np.asarray(after)), np.nan) if certain is None else 1.0 - np.asarray(certain)
    codes, was, now = (np.asarray(each) for each in (sensitive, before, after))
    sums = [left[(codes == code) & (was == old) & (now == new)].sum() for code in groups for old, new in ways]
    with np.errstate(invalid="ignore"):  # 0 of 0
        share, expected = right / moved, np.array(sums) / moved
    return pd.DataFrame(
        {
            "group": np.repeat([task.groups[int(code)] for code in groups], 2),
            "better": np.tile([True, False], len(groups)),
            "count": moved,
            "right": right,
            "wrong": moved - right,
            "share": share,
            "low": low,
            "high": high,
            "expected": expected,
        }
    )


def certainty(margin: Any, line: float = 0.0) -> NDArray[np.float64]:
    """The probability that a model gives to its own decision; `margin` is its logit minus `line`, that of its cut-off.

    At a cut-off of 0.5 it is 0.5 or more. At 0.2, "yes" to somebody with a score of 0.3 has a probability of 0.3.
    """
    margin = np.asarray(margin, dtype=float)
    return np.asarray(expit(np.where(margin > 0, 1.0, -1.0) * (margin + line)))


def explain_certainty(certain: Any, before: Any, after: Any) -> pd.DataFrame:
    """How sure f was of the changed decisions, compared with all. `certain`: f's probability for its own decision.

    One row per class of certainty, least sure first: ``low, high`` (its edges; `high` belongs to it), ``everyone,
    changed`` (people) and ``share_everyone, share_changed`` (of everyone, and of all changed; 0 if nobody changed). The
    class below 0.5 appears only if it is not empty.
    """
    changed = as_binary(before, "before") != as_binary(after, "after")
    certain = np.asarray(certain, dtype=float)
    edges = np.asarray(CERTAINTY_CLASSES if (certain < 0.5).any() else CERTAINTY_CLASSES[1:])
    place = np.clip(np.searchsorted(edges, certain, side="left") - 1, 0, len(edges) - 2)
    everyone = np.bincount(place, minlength=len(edges) - 1)
    moved = np.bincount(place[changed], minlength=len(edges) - 1)
    return pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "everyone": everyone,
            "changed": moved,
            "share_everyone": everyone / max(len(changed), 1),
            "share_changed": moved / max(int(changed.sum()), 1),
        }
    )


def counts_of_changes(certain: Any, before: Any, after: Any, y: Any) -> dict[str, tuple[int, int]]:
    """Of how many changed decisions f was ``sure`` and how many are ``right``, each beside all that changed."""
    changed = np.asarray(before) != np.asarray(after)
    kinds = {"sure": np.asarray(certain) > SURE, "right": np.asarray(after) == np.asarray(y)}
    return {name: (int(kind[changed].sum()), int(changed.sum())) for name, kind in kinds.items()}


# A change that this share of the refits makes counts as happening again.
AGAIN = 0.9
Mark = Literal["fine", "predicted", "look", "bad", "open"]
# Each mark's name and sign. "open": nobody knows.
MARKS: dict[Mark, tuple[str, str]] = {
    "fine": ("fine", "✓"),
    "predicted": ("as expected", "="),
    "look": ("look closer", "!"),
    "bad": ("problem", "✗"),
    "open": ("not known", "–"),
}


@dataclass(frozen=True)
class Check:
    """A question about a change, answered by a share."""

    name: str
    title: str  # as a question
    short: str  # as the heading of a column
    meaning: str  # what is counted
    direction: Literal[1, -1]  # whether more of it is better, or less
    # At `fine` or better the mark is `best`, beyond `bad` it is "bad", between them "look".
    fine: float
    bad: float
    why: str  # the reason for these bounds
    rated: str = ""  # the bounds in words, if the mark does not rate the share itself
    best: Mark = "fine"  # "fine" would read as praise if one change in six is right

    def mark(self, value: float) -> Mark:
        """The mark of a value; NaN leaves the question open."""
        if math.isnan(value):
            return "open"
        if self.direction * (value - self.fine) >= 0:
            return self.best
        return "bad" if self.direction * (value - self.bad) < 0 else "look"

    @property
    def bounds(self) -> str:
        if self.rated:
            return f"{self.rated} {self.why}"
        side, beyond = ("or more", "less than") if self.direction > 0 else ("or less", "more than")
        bad = "half" if self.bad == 0.5 else f"{100 * self.bad:g} %"
        return f"Fine: {100 * self.fine:g} % {side}. Problem: {beyond} {bad}. {self.why}"

    def show(self, value: float) -> str:
        """A share in percent, with enough decimals to show it on its mark's side of the bounds."""
        usual = 1 if 0 <= self.bad < 0.1 else 0
        for digits in range(usual, 7):
            text = in_percent(value, digits)
            if text.startswith("<") or self.mark(round(value, digits + 2)) == self.mark(value):
                return text
        return in_percent(value, usual)  # it is a bound: 1 of 3 is "33%"


CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        Check(
            "right",
            "How many changes are right?",
            "Right changes",
            "Of the decisions that changed, the share that now agrees with the record.",
            direction=1,
            fine=0.0,
            bad=-0.05,
            rated="As expected: as many are right as f's own scores predict, or more, or chance explains the "
            "difference. Problem: over 5 points fewer, beyond chance.",
            why="Then g changed people f was right about.",
            best="predicted",
        ),
        Check(
            "sure",
            "How sure was f?",
            "f was sure",
            f"Of the decisions that changed, the share to which f gave a probability of more than {SURE:.0%}.",
            direction=-1,
            fine=0.05,
            bad=0.25,
            why="A change is easy to defend where f hesitated.",
        ),
        Check(
            "merit",
            "Does more merit ever hurt?",
            "More merit hurts",
            "Of the people who could gain one more step of a merit, the share who would lose the better decision. "
            "Of several merits, the worst one counts.",
            direction=-1,
            fine=0.0,
            bad=0.01,
            rated="Fine: nobody. Problem: more than 1 %, even at the low end of the 95 % interval. Not known: fewer "
            f"than {MIN_GROUP} people.",
            why="Nobody should lose by a better grade.",
        ),
        Check(
            "again",
            "Would it happen again?",
            "Happens again",
            "Of the decisions that changed, the share that changes again in at least nine of ten models trained on "
            "other samples of people.",
            direction=1,
            fine=0.8,
            bad=0.5,
            why="A change that depends on who happened to be in the training data is hard to explain to a person.",
        ),
    )
}


@dataclass(frozen=True)
class Answer:
    """The answer to a check for one model."""

    check: Check
    value: float  # the share, NaN if it is unknown
    part: int
    whole: int
    sentence: str
    basis: str = ""  # what is behind the share: the merit that hurts most people, or the number of refits
    rated: float | None = None  # what the mark rates, if not the share

    @property
    def mark(self) -> Mark:
        return self.check.mark(self.value if self.rated is None else self.rated)

    @property
    def word_and_sign(self) -> tuple[str, str]:
        return MARKS[self.mark]

    @property
    def why_open(self) -> str:
        if self.whole:
            return "too few people" if self.check.name == "merit" else "f's probabilities are not known"
        return "no merit is declared" if self.check.name == "merit" else "nobody changes"

    @property
    def share(self) -> str:
        return self.check.show(self.value)

    @property
    def plain(self) -> dict[str, str | int | float | None]:
        """In JSON's types."""
        value = None if math.isnan(self.value) else self.value
        return {"mark": self.mark, "value": value, "part": self.part, "whole": self.whole}


def _answer(name: str, part: int, whole: int, sentence: str, basis: str = "", rated: float | None = None) -> Answer:
    return Answer(CHECKS[name], part / whole if whole else float("nan"), part, whole, sentence, basis, rated)


def _nobody(name: str) -> Answer:
    return _answer(name, 0, 0, "Nobody's decision changes.")


def check_record(record: pd.DataFrame) -> Answer:
    """How many changes are right? From `explain_record`."""
    whole, right = int(record["count"].sum()), int(record["right"].sum())
    if not whole:
        return _nobody("right")
    text = f"Right by the record: {right:,} of {whole:,} changes"
    expected = float(np.average(record["expected"].fillna(0.0), weights=record["count"]))
    if record.loc[record["count"] > 0, "expected"].isna().any():  # f's probabilities are not known
        return _answer("right", right, whole, f"{text}.", rated=float("nan"))
    low, high = (float(end) - expected for end in wilson_interval(right, whole))
    text += f"; by f's scores, {expected * whole:,.0f} would be."
    if round(expected * whole) != right:
        text += " The difference may be chance." if low <= 0 <= high else " Chance does not explain the difference."
    return _answer("right", right, whole, text, f"f predicts {in_percent(expected, 1)}", high)


def check_certainty(certain: Any, before: Any, after: Any) -> Answer:
    """How sure was f? Arguments as of `explain_certainty`."""
    changed = np.asarray(before) != np.asarray(after)
    part, whole = int((np.asarray(certain)[changed] > SURE).sum()), int(changed.sum())
    if not whole:
        return _nobody("sure")
    share, everyone = CHECKS["sure"].show(part / whole), in_percent(float((np.asarray(certain) > SURE).mean()), 0)
    sentence = (
        f"f was more than {SURE:.0%} sure of its decision in {part:,} of the {whole:,} cases that changed ({share}), "
        f"and in {everyone} of all."
    )
    if part / whole > CHECKS["sure"].fine:
        sentence += f" {CHECKS['sure'].fine:.0%} or less would be fine."
    return _answer("sure", part, whole, sentence)


def check_merit(task: Task, merit: pd.DataFrame) -> Answer:
    """Does more merit ever hurt? From `explain_merit`."""
    spec, rows = task.spec, merit[merit["people"] > 0]
    if rows.empty:
        return _answer("merit", 0, 0, "No feature of these data is declared as merit, so there is nothing to check.")
    worst = rows.iloc[0]
    good = spec.outcomes[spec.favourable]
    hurts = f"{merit_in_words(worst)}: {step_in_words(worst)}"
    people = f"{worst['people']:,} {spec.people}"
    lowered = f"{worst['lowered_g']:,}"
    if worst["turned_g"]:
        sentence = (
            f"With one step more ({hurts}), “{good}” is lost by {worst['turned_g']:,} of {people} under g "
            f"({worst['turned_f']:,} under f), and the score falls for {lowered} ({worst['lowered_f']:,} under f)."
        )
    else:
        names = ", ".join(merit_in_words(row) for row in rows.to_dict("records"))
        sentence = f"With one step more ({names}), nobody loses “{good}” under g"
        if worst["lowered_g"]:
            sentence += f", but the score falls for {lowered} of {people} ({hurts}; {worst['lowered_f']:,} under f)"
        sentence += "."
    basis, turned, moved = worst["label"] if worst["turned_g"] else "", int(worst["turned_g"]), int(worst["people"])
    low, high = (float(end) for end in wilson_interval(turned, moved))
    show = CHECKS["merit"].show
    sentence += f" 95 % interval of those who lose it: {show(low)} to {show(high)}."
    if moved < MIN_GROUP:
        sentence += f" {moved:,} are too few to rate: it takes {MIN_GROUP}."
    return _answer("merit", turned, moved, sentence, basis, rated=low if moved >= MIN_GROUP else float("nan"))


def merit_in_words(row: Any) -> str:
    """The direction of a row of `explain_merit` that is a merit: "fewer prior offences"."""
    more, less = ("more", "fewer") if row["unit"] == "count" else ("higher", "lower")
    return f"{more if row['step'] > 0 else less} {in_a_sentence(row['label'], row['feature'])}"


def step_in_words(row: Any) -> str:
    """The step of a row of `explain_merit` with its unit: "+1 point"."""
    step, unit = float(row["step"]), str(row["unit"])
    if abs(step) == 1 and unit.endswith("s"):
        unit = unit[:-1]
    return f"{step:+g}{'' if unit in ('', 'count') else f' {unit}'}".replace("-", "−")


def check_again(changed: Any, share: Any, refits: int) -> Answer:
    """Would it happen again? Whom the model changes, the share of refits that change each, and how many refits."""
    often = often_enough(np.asarray(share)[np.asarray(changed, dtype=bool)])
    whole, part = len(often), int(often.sum())
    if not whole:
        return _nobody("again")
    sentence = (
        f"{part:,} of {whole:,} changes ({CHECKS['again'].show(part / whole)}) happen again in at least "
        f"{math.ceil(refits * AGAIN - 1e-9)} of {refits} models trained on other samples of people."
    )
    return _answer("again", part, whole, sentence, f"{refits} refits")


def often_enough(share: Any) -> Any:
    """Whether a change that this share of the refits makes counts as happening again."""
    return np.asarray(share) >= AGAIN - 1e-9
