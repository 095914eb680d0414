"""What gives the answer away: features that reveal the outcome or the group, and people who appear twice."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from commod.datasets.choice import Choice
from commod.datasets.encoding import TabularEncoder
from commod.datasets.grouping import UNKNOWN
from commod.datasets.own import OwnTask
from commod.datasets.own_groups import find_groups, outcomes_of
from commod.uploads.limits import short
from commod.wording import some_of

# How many rows are checked, balanced over groups and labels as far as possible.
MOST_ROWS = 4_000
# Columns that predict the outcome, or the group, with this AUC know it from somewhere (`tests/datasets/test_leaks.py`
# tries the bounds, with and without leaks). At most this many columns are left out in turn.
KNOWN, MOST_LEFT_OUT = {"outcome": 0.97, "sensitive attribute": 0.99}, 10


class Leak(str):
    """A sentence about a leak, and its columns."""

    columns: tuple[str, ...]

    def __new__(cls, sentence: str, columns: Sequence[str] = ()) -> "Leak":
        leak = super().__new__(cls, sentence)
        leak.columns = tuple(columns)
        return leak


def sample_rows(frame: pd.DataFrame, choice: Choice, most: int = MOST_ROWS) -> pd.DataFrame:
    """At most `most` rows of a table, balanced over a choice's groups and outcomes as far as possible."""
    y = outcomes_of(frame, choice).isin(choice.good_values)
    _, s = find_groups(frame, choice)
    return frame.iloc[_of_each_cell((2 * s + y).where(s >= 0, UNKNOWN).to_numpy(), most)]


def find_leaks(own: OwnTask) -> list[Leak]:
    """Features that give the outcome or the sensitive attribute away, and scores that do, one sentence each."""
    task = own.task
    rows = _of_each_cell(2 * task.sensitive.to_numpy() + task.y.to_numpy(), MOST_ROWS)
    X, y, scores = task.features(task.X).iloc[rows], task.y.to_numpy()[rows], task.spec.scores
    found = []
    if scores and (auc := float(roc_auc_score(y, task.X[scores].iloc[rows]))) >= KNOWN["outcome"]:
        text = f"The scores in “{short(scores, 24)}” tell the outcome almost perfectly (AUC {auc:.3f})."
        found.append(Leak(f"{text} Was that model trained on these rows?"))
    found += _given_away(X, y, "outcome", "Was any of it written down after the outcome? f will not have that in time.")
    # In a crossing each attribute is checked: knowing one of them is knowing half of the group.
    for codes in [codes for codes, _ in task.margins().values()] or [task.sensitive]:
        found += _given_away(X, codes.to_numpy()[rows], "sensitive attribute", "Leave out what f does not need.")
    return found


def _given_away(X: pd.DataFrame, labels: np.ndarray, what: str, advice: str) -> list[Leak]:
    """A sentence if features reveal the labels: which ones, the best first, and how well the others do."""
    auc = without = _auc(X, labels)
    if auc < KNOWN[what]:
        return []
    alone = {str(name): _auc(X[[name]], labels) for name in X.columns}
    in_order = sorted(alone, key=lambda name: -alone[name])
    names: list[str] = []
    while without >= KNOWN[what] and len(names) < min(MOST_LEFT_OUT, len(in_order)):
        names.append(in_order[len(names)])
        without = _auc(X.drop(columns=names), labels) if len(names) < len(in_order) else 0.5
    listed = some_of([f"“{short(name, 24)}”" for name in names])
    text = f"The features tell the {what} almost perfectly (AUC {auc:.3f}). Without {listed}: {without:.3f}. {advice}"
    return [Leak(text, names)]


def _auc(X: pd.DataFrame, labels: np.ndarray) -> float:
    """The AUC of the better of two simple models on rows they have not seen; of many classes, of the easiest one."""
    parts = StratifiedKFold(2, shuffle=True, random_state=0)
    line = LogisticRegression(C=10.0, tol=1e-3, max_iter=1_000)
    tree = DecisionTreeClassifier(max_depth=8, min_samples_leaf=10, random_state=0)
    columns = [X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name] for name in X.columns]
    codes = np.column_stack([column.to_numpy(dtype=float) for column in columns])  # levels by number
    found = []
    for model, table in ((line, TabularEncoder().fit_transform(X)), (tree, codes)):
        guessed = cross_val_predict(model, table, labels, cv=parts, method="predict_proba")
        found += [roc_auc_score(labels == one, guessed[:, place]) for place, one in enumerate(np.unique(labels))]
    return float(max(found))


def find_repeats(repeats: Mapping[str, int], choice: Choice, aucs: Callable[[str], str] = lambda _: "") -> list[Leak]:
    """A sentence if the same person can be in the training and in the test part.

    `repeats`: as `commod.datasets.roles.possible_people` gives it. `aucs`: what a column of people says of f.
    """
    if choice.person or choice.time or not repeats:
        return []
    column = max(repeats, key=lambda name: repeats[name])
    text = f"{repeats[column]:,} rows share their “{short(column, 24)}” with another row: if rows are split at random, "
    text += f"the same person (or case) is trained on and tested on.{aucs(column)} Split them by that column."
    return [Leak(text)]


def _of_each_cell(codes: np.ndarray, most: int) -> np.ndarray:
    """Places of at most `most` rows, balanced over the codes as far as possible; codes below 0 are left out."""
    rng = np.random.default_rng(0)
    cells = [rng.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes[codes >= 0])]
    places = []
    for left, cell in zip(range(len(cells), 0, -1), sorted(cells, key=len), strict=True):
        places.append(cell[: most // left])
        most -= len(places[-1])
    return np.sort(np.concatenate(places)) if places else np.array([], dtype=int)
