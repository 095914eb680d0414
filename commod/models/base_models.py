"""The base models f that the command line and the app offer."""

from collections.abc import Callable
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from commod.datasets.task import Split, Task
from commod.models.base_scores import fit_weighted
from commod.models.threads import single_threaded

# f is not trained here: its scores came with the data.
GIVEN_SCORES = "scores"

# Name to (readable name, classifier). Every classifier has a fixed seed: one split gives one f.
BASE_MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "logistic_regression": ("Logistic regression", lambda: LogisticRegression(max_iter=1000)),
    "gradient_boosting": (
        "Gradient boosting",
        lambda: HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.08, max_leaf_nodes=8, early_stopping=False, random_state=0
        ),
    ),
    "random_forest": (
        "Random forest",
        # Leaves of 20 rows: grown to purity, a forest is certain of its own training rows, on which g is trained too.
        lambda: RandomForestClassifier(n_estimators=100, min_samples_leaf=20, random_state=0),
    ),
}


def train_base_model(task: Task, train: Split, name: str) -> Pipeline:
    """Fit the named base model on `train`, with its weights if it has any."""
    if name not in BASE_MODELS:
        raise ValueError(f"There is no base model {name!r}: choose one of {', '.join(BASE_MODELS)}.")
    with single_threaded():
        return fit_weighted(task.base_model(BASE_MODELS[name][1]()), train.X, train.y, train.weight)
