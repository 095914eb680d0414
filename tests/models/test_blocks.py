"""Rows that are too many to be taken all at once give the same model, and take less memory than they are."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from commod import Commod
from commod.datasets import blocks
from commod.datasets.encoding import TabularEncoder
from commod.models import adversary, base_models, objective
from commod.models.base_models import base_logits
from commod.models.concepts import feature_distances


def people(n, groups=2):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(4)})
    X["level"] = rng.choice(["a", "b", "c"], n)
    s = rng.integers(groups, size=n)
    X["x0"] += s
    y = (X["x0"] + X["x1"] + rng.normal(size=n) > 0.5).astype(int)
    return X, y, s


@pytest.fixture
def small_blocks(monkeypatch):
    """As if a hundred rows were too many."""

    def cut(size=64):
        monkeypatch.setattr(blocks, "BLOCK", size)
        for module in (blocks, adversary, objective, base_models):
            monkeypatch.setattr(module, "WHOLE", 100)

    return cut


def test_blocks_are_all_rows_in_their_order(small_blocks):
    assert [*blocks.blocks(0)] == []
    assert [*blocks.blocks(1000)] == [slice(0, 1000)]
    small_blocks()
    assert [*blocks.blocks(1000)] == [*blocks.blocks(1000, 64)]
    cut = [*blocks.blocks(1000, 64)]
    assert np.array_equal(np.concatenate([np.arange(1000)[rows] for rows in cut]), np.arange(1000))
    assert max(rows.stop - rows.start for rows in cut) == 64


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_distances_are_those_of_all_rows(weighted, small_blocks):
    X, _, s = people(1000)
    weight = 1.0 + s if weighted else None
    rows = X.drop(columns="level").to_numpy()
    assert np.array_equal(blocks.mean_of(rows, weight), np.average(rows, axis=0, weights=weight))
    distances = feature_distances(rows, list("abcd"), weight)
    small_blocks()
    assert np.allclose(blocks.mean_of(rows, weight), np.average(rows, axis=0, weights=weight), rtol=1e-12)
    assert np.allclose(feature_distances(rows, list("abcd"), weight), distances, rtol=1e-12)


@pytest.mark.parametrize(
    ("groups", "settings"),
    [
        (2, {}),
        (2, {"fairness": "equalized_odds"}),
        (2, {"update": "affine", "direction": "improve", "ratio_norm": "fisher"}),
        (3, {}),
        (3, {"fairness": "equalized_odds", "update": "affine"}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_is_the_same_whatever_rows_are_taken_at_a_time(groups, settings, weighted, small_blocks):
    X, y, s = people(1000, groups)
    f = make_pipeline(TabularEncoder(), LogisticRegression()).fit(X, y)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None

    def fitted():
        g = Commod(f, lambda_fair=2.0, **settings).fit(X, y, sensitive_features=s, sample_weight=weight)
        return g.decision_function(X)

    whole = fitted()
    small_blocks()
    assert np.allclose(fitted(), whole, atol=1e-5)


def test_f_is_asked_about_some_rows_at_a_time_and_told_their_names(small_blocks, monkeypatch):
    X, y, _ = people(1000)
    f = make_pipeline(TabularEncoder(), LogisticRegression()).fit(X, y)
    asked = []

    def scores(rows):
        asked.append(len(rows))
        return f.predict_proba(rows)

    whole = base_logits(scores, X)
    small_blocks()
    monkeypatch.setattr(base_models, "ASKED", 300)
    assert np.allclose(base_logits(scores, X), whole, rtol=1e-12)
    assert asked == [1000, 300, 300, 300, 100]


@pytest.mark.slow
@pytest.mark.parametrize("fairness", ["demographic_parity", pytest.param("equalized_odds", marks=pytest.mark.slow)])
def test_a_fit_takes_little_more_memory_than_its_encoded_rows(fairness):
    """Under equalized odds they are held twice, once sorted by label, and each label needs more rows than one block."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=({"demographic_parity": 90_000, "equalized_odds": 180_000}[fairness], 60))
    s = rng.integers(2, size=len(X))
    X[:, 0] += s
    y = (X[:, 0] + rng.normal(size=len(X)) > 0.5).astype(int)
    scores = 1 / (1 + np.exp(-X[:, 0] - X[:, 1]))
    tracemalloc.start()
    try:
        Commod(None, lambda_fair=0.5, fairness=fairness).fit(X, y, sensitive_features=s, base_scores=scores)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    grows = {"demographic_parity": 1.45, "equalized_odds": 2.45}[fairness]
    assert peak < grows * X.nbytes + 15e6  # beside it, what is the same for any number of rows
