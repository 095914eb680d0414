"""How well a concept or a feature tells the group: AUC against scikit-learn's, its interval against the bootstrap."""

from dataclasses import replace

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from sklearn.metrics import roc_auc_score

from commod.datasets import load_task
from commod.explain.groups import explain_proxies
from commod.metrics.calibration import auc_with_interval
from tests.fitting import case, fit


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_auc_is_scikit_learns_ties_included(digits):
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 300)
    score = np.round(rng.normal(0, 1, 300) + 0.7 * s, digits)
    assert auc_with_interval(score, s)[0] == pytest.approx(roc_auc_score(s, score), abs=1e-12)


def test_the_interval_is_that_of_the_bootstrap():
    rng = np.random.default_rng(2)
    s = np.repeat([0, 1], [200, 120])
    score = rng.normal(0, 1, 320) + 0.8 * s
    auc, low, high = auc_with_interval(score, s)
    drawn = []
    for _ in range(300):
        rows = np.concatenate([rng.integers(0, 200, 200), 200 + rng.integers(0, 120, 120)])
        drawn.append(roc_auc_score(s[rows], score[rows]))
    assert (high - low) / 2 == pytest.approx(1.96 * np.std(drawn), rel=0.12)
    assert low < auc < high


def test_one_group_alone_tells_nothing():
    assert np.isnan(auc_with_interval([1.0, 2.0], [1, 1])).all()


@pytest.mark.parametrize("name", ["law_school", pytest.param("adult", marks=pytest.mark.slow)])
def test_proxies_of_concepts_and_features(name):
    c = case(name)
    g = fit(c, lambda_fair=4.0, n_concepts=3, lambda_concepts=0.1)
    activations = (g.concept_activations(c.train.X), g.concept_activations(c.test.X))
    frame = explain_proxies(c.task, c.train, c.test, activations)
    features = frame[frame["kind"] == "feature"]
    assert sorted(features["name"]) == sorted(c.task.X.columns)
    assert features["auc"].is_monotonic_decreasing
    assert (frame["low"] <= frame["auc"]).all()
    assert (frame["auc"] <= frame["high"]).all()
    named = frame.set_index("name")["auc"]
    s, concept = c.test.sensitive, activations[1]["Concept 1"]
    own = roc_auc_score(s, concept)
    assert named["Concept 1"] == pytest.approx(max(own, 1 - own))
    category = {"law_school": "tier", "adult": "occupation"}[name]
    levels = c.train.sensitive.groupby(c.train.X[category], observed=True).mean()
    assert named[category] == pytest.approx(roc_auc_score(s, c.test.X[category].astype(object).map(levels)))


def test_of_many_groups_the_one_that_is_told_best_is_named():
    task = load_task("compas.race")
    train, test = task.split()
    frame = explain_proxies(task, train, test).set_index("name")
    for name in ("age", "priors_count"):
        aucs = {}
        for code in range(4):
            turn = np.sign(
                train.X[name][train.sensitive == code].mean() - train.X[name][train.sensitive != code].mean()
            )
            aucs[code] = roc_auc_score(test.sensitive == code, turn * test.X[name])
        assert frame.loc[name, "group"] == max(aucs, key=aucs.get)
        assert frame.loc[name, "auc"] == pytest.approx(max(aucs.values()))
    unknown = replace(train, sensitive=train.sensitive.where(np.arange(len(train)) % 2 == 0, -1))
    half = train.take(np.arange(0, len(train), 2))
    assert_frame_equal(explain_proxies(task, unknown, test), explain_proxies(task, half, test))


def test_an_empty_concept_is_left_out():
    c = case("law_school")
    g = fit(c, lambda_fair=0.0, n_concepts=2)
    activations = (g.concept_activations(c.train.X), g.concept_activations(c.test.X))
    assert set(explain_proxies(c.task, c.train, c.test, activations)["kind"]) == {"feature"}
