"""Reasons for a second look: at f before it is corrected, and at g afterwards.

f may be upside down, no better than a constant, one-sided, or fair already. g may collapse, level down, or be stuck.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from commod.datasets.task import Split, Task
from commod.metrics.calibration import auc_of
from commod.metrics.counts import compared_groups
from commod.metrics.fairness import p_rule_of_rates
from commod.metrics.figures import CRITERIA
from commod.models.base_models import train_base_model
from commod.models.evaluation import collapse_in_words
from commod.models.threshold import budget_threshold
from commod.uploads.limits import count_of

# f is one-sided if it gives the rarer decision to less than this share of people.
RARELY = 0.02
# Beyond these shares of positive labels one half is seldom a good line; f then has to say the rarer thing at least half
# as often as the record does.
USUAL_RATES = (0.2, 0.8)
# Groups whose rates differ by less than chance lets them, or whose P-Rule is at least this, of either decision, are
# treated alike.
NEARLY_FAIR = 0.95
# A group needs this many test people of either label; with fewer, its figures are chance.
LEAST_PEOPLE = 20


@dataclass(frozen=True)
class Concern:
    """A reason to look again before g is trained."""

    # The first two need an answer: anything that g does to such an f looks like a success.
    kind: Literal["turned", "worse", "one-sided", "constant", "fair", "few"]
    text: str  # what is wrong and what to do, in plain words
    threshold: float | None = None  # a cut-off that is proposed

    @property
    def is_question(self) -> bool:
        return self.kind in ("turned", "worse")


def base_model_warnings(
    task: Task, y: Any, sensitive: Any, scores: Any, threshold: float = 0.5, *, people: int | None = None
) -> list[Concern]:
    """Reasons to look at f again, gravest first.

    `sensitive`: numbers of the groups (−1: not known). `scores`: f's probabilities for people it was not trained on.
    `people`: how many rows there are in all, if these are a sample.
    """
    labels, groups, p = np.asarray(y), np.asarray(sensitive), np.asarray(scores, dtype=float)
    decided = p > threshold
    found = [_upside_down(task, labels, p, decided, threshold)]
    found.append(_one_sided(task, labels, p, decided, threshold))
    if found[0] is None and threshold != 0.5:
        found.append(_below_constant(task, labels, decided, threshold))
    if found[1] is None and found[0] is None:
        found.append(_fair_already(task, groups, decided))
    found.append(_few_people(task, labels, groups, 1.0 if people is None else people / len(labels)))
    return [concern for concern in found if concern is not None]


def first_scores(task: Task) -> tuple[Split, NDArray[np.float64]]:
    """Rows and f's scores for them: from the task, or from a quick model on half of the rows."""
    if task.spec.scores:
        known = np.flatnonzero(task.sensitive.to_numpy() >= 0)
        rows = Split(task.X, task.y, task.sensitive, task.weight).take(known)
        return rows, rows.X[task.spec.scores].to_numpy()
    train, held = task.split(test_size=0.5)
    f = train_base_model(task, train, "logistic_regression")
    return held, f.predict_proba(held.X)[:, 1]


def proposed_threshold(scores: Any, y: Any) -> float:
    """The cut-off at which f says 1 as often as the record does, with three decimals."""
    labels = np.asarray(y)
    return float(np.clip(round(budget_threshold(scores, float(labels.mean())), 3), 0.001, 0.999))


def _upside_down(
    task: Task, labels: NDArray[Any], scores: NDArray[np.float64], decided: NDArray[np.bool_], threshold: float
) -> Concern | None:
    right, auc = float((decided == labels).mean()), auc_of(scores, labels)
    negative, positive = task.spec.outcomes
    if auc < 0.5 and right < 0.5:
        return Concern(
            "turned",
            f"These scores seem to be of the other outcome: the higher they are, the rarer is “{positive}” (AUC "
            f"{auc:.2f}), and f is right for {right:.0%} of people, its opposite for {1 - right:.0%}.",
        )
    # Costs follow f's cut-off: a wrong 1 costs the threshold, a wrong 0 the rest.
    missed, wrongly = (1 - threshold) * (labels == 1), threshold * (labels == 0)
    own = np.where(decided, wrongly, missed)
    word, constant = min(((negative, missed), (positive, wrongly)), key=lambda each: float(each[1].mean()))
    worse = own - constant
    if worse.mean() <= 2.0 * worse.std() / np.sqrt(len(worse)):  # it may be chance
        return None
    loss, least = float(own.mean()), float(constant.mean())
    if threshold == 0.5:
        beside = f"always saying “{word}” is right for {1 - 2 * least:.1%}"
        text = f"f is right for {1 - 2 * loss:.1%} of people; {beside}."
    else:
        text = (
            f"Weighed as its cut-off of {threshold:g} weighs errors, f does worse than who says “{word}” of everybody."
        )
    return Concern(
        "worse", f"{text} Such a model has nothing to keep: choose another cut-off, other features, or other scores."
    )


def _below_constant(task: Task, labels: NDArray[Any], decided: NDArray[np.bool_], threshold: float) -> Concern | None:
    right, positive = float((decided == labels).mean()), float(labels.mean())
    constant, word = max(positive, 1 - positive), task.spec.outcomes[int(positive > 0.5)]
    if right >= constant:
        return None
    return Concern(
        "constant",
        f"At a cut-off of {threshold:g} f is right for {right:.1%} of people. Always saying “{word}” is right "
        f"for {constant:.1%}. That is the price of finding the rarer outcome at all.",
    )


def _one_sided(
    task: Task, labels: NDArray[Any], scores: NDArray[np.float64], decided: NDArray[np.bool_], threshold: float
) -> Concern | None:
    says, truth = float(decided.mean()), float(labels.mean())
    rarer = int(says < 0.5)
    rare, rare_truth = (says, truth) if rarer else (1 - says, 1 - truth)
    far = not USUAL_RATES[0] <= truth <= USUAL_RATES[1] and rare < 0.5 * rare_truth
    if rare >= RARELY and not far:
        return None
    text = f"f says “{task.spec.outcomes[rarer]}” of {rare:.1%} of people, and the record of {rare_truth:.1%}"
    proposed = proposed_threshold(scores, labels)
    again = float((scores > proposed).mean())
    if abs(again - says) < 0.005 or not 0 < again < 1:
        return Concern(
            "one-sided", f"{text}: there is hardly a decision to change. Other scores or features are needed."
        )
    return Concern(
        "one-sided",
        f"{text}: at a cut-off of {threshold:g} there is hardly a decision to change. At {proposed:g} f says it of "
        f"{again if rarer else 1 - again:.1%}.",
        proposed,
    )


def are_treated_alike(groups: Any, decided: Any) -> bool:
    """Whether all groups of some size get both decisions at rates that are nearly equal, or may be by chance."""
    rates, sizes, _ = _rates(groups, decided)
    pairs = len(rates) * (len(rates) - 1) // 2
    variances = rates * (1 - rates) / sizes
    reach = ndtri(1 - 0.025 / pairs) * np.sqrt(variances[:, None] + variances)
    return bool(_nearly_equal(rates) or (np.abs(rates[:, None] - rates) <= reach).all())


def may_be_chance(groups: Any, decided: Any) -> bool:
    """For groups that count as alike: whether their rates differ so much that only chance can be the reason."""
    return not _nearly_equal(_rates(groups, decided)[0])


def _rates(groups: Any, decided: Any) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Rates of positive decisions of the groups that count, their sizes and their numbers."""
    codes = np.asarray(groups)
    known = codes >= 0
    sizes = np.bincount(codes[known])
    counted = np.flatnonzero(compared_groups(sizes))
    positive = np.bincount(codes[known], weights=np.asarray(decided)[known], minlength=len(sizes))
    return positive[counted] / sizes[counted], sizes[counted], counted


def _nearly_equal(rates: NDArray[np.float64]) -> bool:
    """Whether rates of a decision, and of the other one, are near each other."""
    return min(float(p_rule_of_rates(each)) for each in (rates, 1 - rates)) >= NEARLY_FAIR


def _fair_already(task: Task, groups: NDArray[Any], decided: NDArray[np.bool_]) -> Concern | None:
    if not are_treated_alike(groups, decided):
        return None
    rates, _, counted = _rates(groups, decided)
    why = f". With only {len(groups):,} people looked at, that may be chance, however unequal the record is. "
    why += "Bring more rows"
    if _nearly_equal(rates):
        why = ", nearly equal: there is little that demographic parity would correct. Look at equalized odds"
    form, ends = "{} and {}", (0, 1)
    if len(rates) > 2:
        form, ends = "at least {} and at most {}", (int(rates.argmin()), int(rates.argmax()))
    shown = form.format(*(f"{rates[place]:.1%} of “{task.groups[counted[place]]}”" for place in ends))
    return Concern("fair", f"f says “{task.spec.outcomes[1]}” of {shown}{why}, or look at other groups.")


def _few_people(task: Task, labels: NDArray[Any], groups: NDArray[Any], scale: float) -> Concern | None:
    known = groups >= 0
    cells = np.bincount(2 * groups[known] + labels[known], minlength=2 * len(task.groups)) * scale
    smallest = int(np.argmin(cells))
    in_test = task.test_share * cells[smallest]
    if in_test >= LEAST_PEOPLE:
        return None
    group, outcome = task.groups[smallest // 2], task.spec.outcomes[smallest % 2]
    if not cells[smallest]:
        rate = "true" if smallest % 2 else "false"
        of_some = " (of those looked at)" if scale > 1 else ""
        return Concern(
            "few",
            f"Nobody of {group}{of_some} has “{outcome}”, so there is no {rate} positive rate of this group, and "
            "equalized odds cannot be measured for it. Combine it with another group, or bring more rows.",
        )
    about = count_of(round(cells[smallest]), "person", "people") + " not sealed" * (task.sealed is not None)
    return Concern(
        "few",
        f"{group} with “{outcome}”: about {about}, {in_test:.0f} of them in the test part. What the pages say of so "
        "few is mostly chance. Bring more rows, or choose larger groups.",
    )


# Levelling down: the better-off group loses this much of the favourable decision, and so does everybody together.
LOST_POINTS, LEFT_SHARE = 0.10, 0.7
# A dead end: from this λ_fair on fairness moves less than this and is further from fair than this.
STUCK_FROM, STUCK_MOVE, STUCK_BELOW = 1.0, 0.02, 0.8


def model_warnings(
    task: Task,
    fairness: str,
    y: Any,
    sensitive: Any,
    margin_f: Any,
    margin_g: Any,
    figures: pd.DataFrame,
    path: pd.DataFrame,
) -> list[str]:
    """A sentence for each problem of g; none for a sound model.

    `margin_f`, `margin_g`: logits minus that of the cut-off. `figures`: from `compare_decisions`. `path`:
    ``lambda_fair`` and the criterion's figure from f to g. All are of the same rows.
    """
    found = collapse_in_words(y, margin_f, margin_g)
    found += less_right(task, np.asarray(y), np.asarray(margin_f) > 0, np.asarray(margin_g) > 0)
    found += _levels_down(task, np.asarray(sensitive), np.asarray(margin_f) > 0, np.asarray(margin_g) > 0, figures)
    return found + _dead_end(fairness, path)


def less_right(task: Task, labels: Any, before: Any, after: Any) -> list[str]:
    """Whether g is right less often than f, and less often than a constant decision."""
    right_f, right_g, positive = (float(each.mean()) for each in (before == labels, after == labels, labels))
    constant, word = max(positive, 1 - positive), task.spec.outcomes[int(positive > 0.5)]
    if right_g >= min(right_f, constant):
        return []
    return [
        f"g is right for {right_g:.1%} of people, f for {right_f:.1%}, and always saying “{word}” for {constant:.1%}."
    ]


def _levels_down(task: Task, groups: Any, before: Any, after: Any, figures: pd.DataFrame) -> list[str]:
    """Whether every group loses, or the best-off group loses much and everybody together does, too."""
    good = task.spec.favourable
    rows = [f"positive_rate_{code}" for code in range(len(task.groups))]
    rates = figures.loc[rows, ["f", "g"]].to_numpy()
    rates = rates if good == 1 else 1.0 - rates
    counted = np.flatnonzero(compared_groups(np.bincount(groups, minlength=len(rows))))
    best, other = (int(counted[place(rates[counted, 0])]) for place in (np.argmax, np.argmin))
    overall = [float((decided == good).mean()) for decided in (before, after)]
    every = " Every group loses by it." if (rates[counted, 1] < rates[counted, 0]).all() else ""
    if rates[best, 0] - rates[best, 1] < LOST_POINTS or overall[1] > LEFT_SHARE * overall[0]:
        return [f"Every group gets “{task.spec.outcomes[good]}” less often."] if every else []
    return [
        f"g makes the groups alike mostly by taking away: “{task.spec.outcomes[good]}” falls from "
        f"{rates[best, 0]:.0%} to {rates[best, 1]:.0%} of {task.groups[best]}; of {task.groups[other]} it was "
        f"{rates[other, 0]:.0%} and is {rates[other, 1]:.0%}.{every}"
    ]


def _dead_end(fairness: str, path: pd.DataFrame) -> list[str]:
    criterion = CRITERIA[fairness]
    late = path[path["lambda_fair"] >= STUCK_FROM]
    shares = criterion.share(late[criterion.figure_name])
    if len(late) < 3 or late["lambda_fair"].iloc[-1] < 3 * STUCK_FROM or shares.iloc[-1] >= STUCK_BELOW:
        return []
    if shares.max() - shares.min() >= STUCK_MOVE:
        return []
    value = criterion.figure.show(late[criterion.figure_name].iloc[-1])
    return [
        f"From λ_fair {STUCK_FROM:g} to {late['lambda_fair'].iloc[-1]:g} fairness hardly moves "
        f"({criterion.figure.in_sentence} {value}): this kind of update can do no more here."
    ]
