"""Small data, stand-ins and shorthands shared by the tests of the competitors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod.models.competitors import METHODS, make_method

WRITTEN = [name for name, method in METHODS.items() if method.is_written]
COMPETITORS = [name for name in WRITTEN if not METHODS[name].is_commod]
AWARE = [name for name in COMPETITORS if METHODS[name].needs_sensitive]
BLIND = [name for name in COMPETITORS if not METHODS[name].needs_sensitive]
EDITORS = [name for name in COMPETITORS if METHODS[name].edits]

# A value of each knob at which decisions change, and what makes a fit quick: for the interface, not for fairness.
FAIR = {
    "commod": (4.0, {}),
    "commod_decisions": (6.0, {}),
    "adv_debias": (1.0, {"epochs": 2, "pretrain_epochs": 1, "batch_size": 64, "width": 20, "learning_rate": 1e-2}),
    "frappe": (30.0, {"max_iter": 20}),
    "frappe_mlp": (30.0, {"max_iter": 15, "width": 8}),
    "lpp": (0.02, {}),
    "oracle_lpp": (0.02, {}),
    "oracle_roc": (0.2, {}),
    "hardt": (0.9, {}),
    "pleiss": (1.0, {}),
    "cfbc": (1.0, {}),
    "wass1": (0.9, {}),
    "fst": (0.01, {}),
    "fair_projection": (0.05, {}),
    "bayes": (0.2, {}),
    "mbs": (0.02, {}),
    "oxonfair": (0.02, {}),
    "oracle": (0.15, {}),
    "mnb": (0.05, {}),
    "multiaccuracy_boost": (0.0001, {}),
    "wass1_penalised": (3.0, {}),
    "rnf": (0.1, {"steps": 20, "width": 8}),
    "leaf_relabelling": (0.05, {"min_leaf": 0.05}),
}


def people(n=400, seed=0, groups=2):
    """Four numbers each; S moves feature 0, which moves y."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, groups, n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.5 * s / (groups - 1)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0.75).astype(int)
    return X, y, s


def base(X, y):
    return LogisticRegression().fit(X, y)


def made(name, f, *, fairness=None, seed=0, **settings):
    """The method at a fair value of its knob, unfitted."""
    value, quick = FAIR[name]
    criterion = fairness or METHODS[name].criteria[0]
    return make_method(name, f, value, fairness=criterion, random_state=seed, **{**quick, **settings})


def knowing(name, s):
    """What predict has to be told besides X."""
    return {"sensitive_features": s} if METHODS[name].needs_sensitive else {}


class GivenJoint:
    """Stands in for a fitted `Membership`: P(S, Y | x) as a formula, a softmax of linear functions, two a group."""

    def __init__(self, n_features, seed=0, spread=1.0, groups=2):
        self.slopes = np.random.default_rng(seed).normal(size=(n_features, 2 * groups)) * spread
        self.n_groups_ = groups

    def joint(self, X):
        e = np.exp(X @ self.slopes)
        return (e / e.sum(axis=1, keepdims=True)).reshape(-1, self.n_groups_, 2)

    def __sklearn_is_fitted__(self):
        return True


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def positive_rates(decisions, s):
    return [float(np.mean(decisions[s == group])) for group in np.unique(s)]


def in_aif360(name, y, s, scores):
    """A post-processor class of aif360, and labels and scores as two of its data sets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its optional parts, at import
        postprocessing = pytest.importorskip("aif360.algorithms.postprocessing")
        datasets = pytest.importorskip("aif360.datasets")
    frame = pd.DataFrame({"s": s.astype(float), "y": y.astype(float)})
    true = datasets.BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["s"])
    scored = true.copy(deepcopy=True)
    scored.scores = scores.reshape(-1, 1)
    return getattr(postprocessing, name), true, scored
