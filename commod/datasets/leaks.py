"""What gives the answer away: features that tell the outcome or the group, alone or together, and people seen twice."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from commod.datasets.choice import Choice
from commod.datasets.encoding import TabularEncoder
from commod.datasets.grouping import UNKNOWN
from commod.datasets.own import OwnTask
from commod.datasets.own_groups import find_groups, outcomes_of
from commod.uploads.limits import short

# So many rows are looked at, as many of each group and label as can be had.
MOST_ROWS = 4_000
# A feature alone, and all of them together, give away what they tell with this mean of the shares of both classes that
# are told right. The share of all rows would be no measure: of 0.3 % positives, "nobody" is right in 99.7 %.
ALONE, TOGETHER = 0.9975, 0.99


def sample_rows(frame: pd.DataFrame, choice: Choice, most: int = MOST_ROWS) -> pd.DataFrame:
    """Rows of a table, as many of each group and outcome of a choice as can be had among `most`."""
    y = outcomes_of(frame, choice).isin(choice.good_values)
    _, s = find_groups(frame, choice)
    return frame.iloc[_of_each_cell((2 * s + y).where(s >= 0, UNKNOWN).to_numpy(), most)]


def find_leaks(own: OwnTask) -> list[str]:
    """Features that give the outcome or the sensitive attribute away, alone or together, one sentence each."""
    task = own.task
    rows = _of_each_cell(2 * task.sensitive.to_numpy() + task.y.to_numpy(), MOST_ROWS)
    X = task.features(task.X).iloc[rows]
    found: list[str] = []
    # Of a crossing each attribute is looked for: who knows one of them knows half of the group.
    attributes = [codes for codes, _ in task.margins().values()] or [task.sensitive]
    for what, truth in (("outcome", task.y), *(("sensitive attribute", codes) for codes in attributes)):
        labels = truth.to_numpy()[rows]
        told = {str(name): _told(X[name], labels) for name in X.columns}
        for name, share in told.items():
            if share >= ALONE:
                says = "is the same as" if share == 1.0 else "gives away"
                found.append(
                    f"“{short(name, 24)}” {says} the {what}: leave it out, unless it is known before the decision."
                )
        rest = X[[name for name, share in told.items() if share < ALONE]]
        share, names = _told_together(rest, labels)
        if share >= TOGETHER:
            found.append(
                f"{_listed(names)}: together these features give away the {what} (a simple model tells {share:.1%} "
                "right): leave out those that are not known before the decision."
                if what == "outcome"
                else f"{_listed(names)}: together these features say the {what} in other words (a simple model tells "
                f"{share:.1%} right): leave them out, unless f needs them."
            )
    return found


def find_repeats(repeats: Mapping[str, int], choice: Choice) -> list[str]:
    """A sentence if the same person can be in the training and in the test part.

    `repeats`: as `commod.datasets.roles.possible_people` gives it.
    """
    if choice.person or choice.time or not repeats:
        return []
    column = max(repeats, key=lambda name: repeats[name])
    return [
        f"{repeats[column]:,} rows share their “{short(column, 24)}” with another row: if rows are split at random, "
        "the same person (or case) is trained on and tested on. Split them by that column."
    ]


def _of_each_cell(codes: np.ndarray, most: int) -> np.ndarray:
    """Places of at most `most` rows, as many of each code as can be had; those below 0 are left out."""
    rng = np.random.default_rng(0)
    cells = [rng.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes[codes >= 0])]
    places = []
    for left, cell in zip(range(len(cells), 0, -1), sorted(cells, key=len), strict=True):
        places.append(cell[: most // left])
        most -= len(places[-1])
    return np.sort(np.concatenate(places)) if places else np.array([], dtype=int)


def _told(values: pd.Series, labels: np.ndarray) -> float:
    """How well one feature tells the labels apart, by level or by one cut: the mean of all classes' shares.

    Of more than two classes a number tells that one which it tells best from all others.
    """
    classes = np.unique(labels)
    if isinstance(values.dtype, pd.CategoricalDtype):
        table = pd.crosstab(values.to_numpy(), labels, normalize="columns")
        return float(table.max(axis=1).sum() / len(classes))
    if len(classes) > 2:
        return max(_told(values, (labels == one).astype(int)) for one in classes)
    order = np.argsort(values.to_numpy(), kind="stable")
    ranked = labels[order]
    ends = np.r_[np.diff(values.to_numpy()[order]) > 0, True]  # a cut lies between different values
    ones, zeros = np.cumsum(ranked) / ranked.sum(), np.cumsum(1 - ranked) / (1 - ranked).sum()
    return float(0.5 + np.abs(ones - zeros)[ends].max() / 2)


def _told_together(X: pd.DataFrame, labels: np.ndarray) -> tuple[float, list[str]]:
    """How well a simple model on all features tells the labels apart, and the features that matter most for that."""
    if len(X.columns) < 2:
        return 0.0, []
    codes = _codes(X)
    line = LogisticRegression(C=10.0, class_weight="balanced", tol=1e-3, max_iter=1_000)
    tree = DecisionTreeClassifier(max_depth=10, class_weight="balanced", random_state=0)
    share = max(
        _cross_validated(line, TabularEncoder().fit_transform(X), labels), _cross_validated(tree, codes, labels)
    )
    if share < TOGETHER:
        return share, []
    tree.fit(codes, labels)
    order = np.argsort(-tree.feature_importances_, kind="stable")
    needed = 1 + int(np.searchsorted(np.cumsum(tree.feature_importances_[order]), 0.99))
    return share, [str(X.columns[place]) for place in order[:needed]]


def _codes(X: pd.DataFrame) -> np.ndarray:
    """Numbers as they are, levels by number: what trees need."""
    columns = [X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name] for name in X.columns]
    return np.column_stack([column.to_numpy(dtype=float) for column in columns])


def _cross_validated(model: BaseEstimator, X: np.ndarray, labels: np.ndarray) -> float:
    """Mean of the shares of all classes that a model tells right on rows it has not seen."""
    parts = StratifiedKFold(2, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, X, labels, cv=parts)
    return float(balanced_accuracy_score(labels, predicted))


def _listed(names: list[str]) -> str:
    return ", ".join(f"“{short(name, 24)}”" for name in names[:5]) + (" …" if len(names) > 5 else "")
