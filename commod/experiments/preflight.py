"""Check uploaded data before use: leaks, and what f would be like."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets import Choice, ChoiceError, find_leaks, make_task, roles
from commod.datasets.leaks import Leak, find_repeats
from commod.datasets.task import Split, Task
from commod.explain.model_warnings import Concern, base_model_warnings, first_scores
from commod.metrics.calibration import auc_of

LOOKED_AT = 10_000


@dataclass(frozen=True)
class DataPreview:
    """What is found on some thousand rows before data are used, at any cut-off of f and direction of its scores."""

    warnings: list[Leak]
    task: Task | None = None
    # People that f was not trained on, and its scores for them; without scores, nothing is known about f.
    rows: Split | None = None
    scores: NDArray[np.float64] | None = None
    people: int = 0  # how many rows there are in all
    problem: str = ""  # why the data cannot be used as chosen; empty if they can

    def concerns(self, choice: Choice) -> list[Concern]:
        """Reasons to check f again, at the chosen cut-off."""
        if self.task is None or self.rows is None or self.scores is None:
            return []
        scores = 1.0 - self.scores if choice.turned else self.scores
        y, sensitive = self.rows.y, self.rows.sensitive
        return base_model_warnings(self.task, y, sensitive, scores, choice.threshold, people=self.people)


def preview_data(
    some: pd.DataFrame, of_each: pd.DataFrame, choice: Choice, rows: int, repeats: Mapping[str, int] | None = None
) -> DataPreview | None:
    """Check some rows of a table; None if they, but not `of_each`, have too few people of some kind.

    `some`: drawn at random, to judge f by. `of_each`: of each group and outcome, to find leaks in. `rows`: how many the
    table has. `repeats`: columns that identify people with several rows. Raises ChoiceError for unusable data.
    """
    leaks = find_leaks(make_task(of_each, choice))
    # Of many groups, those that are hardly among the rows say nothing of f.
    found = roles.guess_groups(some, choice)
    seen = tuple(group for group in choice.groups if group in found)
    try:
        task = make_task(some, replace(choice, groups=seen) if 2 <= len(seen) < len(choice.groups) else choice).task
    except ChoiceError:
        if len(some) < rows:
            return None
        raise
    held, scores = first_scores(task)

    def aucs(person: str) -> str:
        try:
            new, of_new = first_scores(make_task(some, replace(choice, person=person)).task)
        except ValueError:  # too few people
            return ""
        seems, is_so = auc_of(scores, held.y), auc_of(of_new, new.y)
        if seems <= is_so:
            return f" Here that does not flatter f: its AUC is {seems:.3f}, and {is_so:.3f} on new people."
        return f" f then seems to have an AUC of {seems:.3f}; on new people it has {is_so:.3f}."

    leaks += find_repeats(repeats or {}, choice, (lambda _: "") if choice.scores else aucs)
    return DataPreview(leaks, task, held, scores, round(len(task.y) * rows / len(some)))
