"""Chouldechova's identity on counts, and what it forces."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import confusion_matrix, precision_score

from commod.theory import error_rates
from tests.theory.brute import four_cells

pytestmark = pytest.mark.quick


def by_hand(y, d):
    """Base rate, PPV, FNR and FPR by scikit-learn."""
    (tn, fp), (fn, tp) = confusion_matrix(y, d, labels=[0, 1])
    return y.mean(), precision_score(y, d, zero_division=np.nan), fn / (fn + tp), fp / (fp + tn)


@pytest.mark.longer
@settings(max_examples=60, deadline=None)
@given(four_cells(most=20))
def test_the_rates_are_scikit_learns_and_fulfil_the_identity(case):
    y, d, s = case
    found = error_rates(y, d, sensitive_features=s)
    for group in (0, 1):
        p, ppv, fnr, fpr = by_hand(y[s == group], d[s == group])
        row = found.loc[group]
        np.testing.assert_allclose(row[["base_rate", "ppv", "fnr", "fpr"]], [p, ppv, fnr, fpr])
        if ppv > 0:
            assert row["fpr"] == pytest.approx(p / (1 - p) * (1 - ppv) / ppv * (1 - fnr))


def test_equal_ppv_and_fnr_force_these_false_positive_rates():
    """Two groups built to have PPV 3/4 and FNR 1/4 each: their false positive rates are the forced ones."""
    y, d, s = [], [], []
    for group, negatives in ((0, 8), (1, 2)):  # 4 of label 1, 3 of them decided 1, and 1 of the negatives
        y += [1] * 4 + [0] * negatives
        d += [1, 1, 1, 0] + [1] + [0] * (negatives - 1)
        s += [group] * (4 + negatives)
    found = error_rates(y, d, sensitive_features=s)
    assert found["ppv"].tolist() == [0.75, 0.75]
    np.testing.assert_allclose(found["fpr"], [1 / 8, 1 / 2])
    np.testing.assert_allclose(found["forced_fpr"], found["fpr"])


def test_a_group_that_nobody_decides_positively_has_no_ppv():
    found = error_rates([0, 1, 0, 1], [0, 0, 0, 1], sensitive_features=[0, 0, 1, 1])
    assert np.isnan(found.loc[0, "ppv"])
    assert found.loc[1, "ppv"] == 1.0
