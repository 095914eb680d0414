"""What is wrong with a model that fairness and accuracy alone do not tell: collapse, levelling down, a dead end."""

from typing import Any

import numpy as np
import pandas as pd

from commod.datasets.task import Task
from commod.metrics.figures import CRITERIA
from commod.metrics.small_groups import compared_groups
from commod.models.collapse import collapse_in_words

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
    """A sentence for each thing that is wrong with g; none for a sound model.

    `margin_f`, `margin_g`: logits minus that of the cut-off. `figures`: from `compare_decisions`. `path`:
    ``lambda_fair`` and the criterion's figure from f to g. All are of the same rows.
    """
    found = collapse_in_words(y, margin_f, margin_g)
    found += less_right(task, np.asarray(y), np.asarray(margin_f) > 0, np.asarray(margin_g) > 0)
    found += _levels_down(task, np.asarray(sensitive), np.asarray(margin_f) > 0, np.asarray(margin_g) > 0, figures)
    return found + _dead_end(fairness, path)


def less_right(task: Task, labels: Any, before: Any, after: Any) -> list[str]:
    """Whether g is right less often than f and than whoever says the same of everybody."""
    right_f, right_g, positive = (float(each.mean()) for each in (before == labels, after == labels, labels))
    constant, word = max(positive, 1 - positive), task.spec.outcomes[int(positive > 0.5)]
    if right_g >= min(right_f, constant):
        return []
    return [
        f"g is right about {right_g:.1%} of people, f about {right_f:.1%}, and who says “{word}” of everybody about "
        f"{constant:.1%}."
    ]


def _levels_down(task: Task, groups: Any, before: Any, after: Any, figures: pd.DataFrame) -> list[str]:
    """Whether every group loses; or the one that was best off loses much, and everybody with it."""
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
