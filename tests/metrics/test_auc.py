"""AUC of two scores on the same people: against scikit-learn's, and the difference's interval against the bootstrap."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from commod import evaluate
from commod.metrics import compare_decisions
from commod.metrics.calibration import compare_auc
from tests.fitting import case, fit


def two_scores(n=600):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    f = y + rng.normal(size=n)
    return y, f, 0.7 * f + 0.5 * rng.normal(size=n)


def test_values_and_the_interval_of_the_difference():
    y, f, g = two_scores()
    found = compare_auc(f, g, y)
    assert found["f"] == pytest.approx(roc_auc_score(y, f), abs=1e-12)
    assert found["difference"] == pytest.approx(roc_auc_score(y, g) - roc_auc_score(y, f), abs=1e-12)
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(150):
        rows = rng.integers(0, len(y), len(y))
        draws.append(roc_auc_score(y[rows], g[rows]) - roc_auc_score(y[rows], f[rows]))
    half = (found["difference_high"] - found["difference_low"]) / 2
    assert half == pytest.approx(1.96 * np.std(draws), rel=0.15)


def test_one_label_alone_has_no_auc():
    assert np.isnan(list(compare_auc([0.1, 0.2], [0.2, 0.1], [1, 1]).values())).all()


def test_it_stands_behind_the_accuracy_where_there_are_scores():
    y, f, g = two_scores()
    decisions = (f > 0.5).astype(int), (g > 0.5).astype(int)
    groups = np.arange(len(y)) % 2
    assert "auc" not in compare_decisions(y, *decisions, sensitive_features=groups).index
    with_scores = compare_decisions(y, *decisions, sensitive_features=groups, scores=(f, g))
    assert list(with_scores.index[:3]) == ["accuracy", "auc", "p_rule"]
    law = case("law_school")
    assert evaluate(law.task, law.f, fit(law, lambda_fair=3.0), law.test).loc["auc", "difference"] < -0.05
