"""Size and redundancy of concepts on tables small enough to count by hand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from commod.explain.concepts import concept_redundancy, concept_size
from commod.models.competitors import Frappe
from tests.fitting import case, fit

pytestmark = pytest.mark.quick


def concepts(*columns):
    """Feature × concept, a column each."""
    return pd.DataFrame(dict(enumerate(columns)), index=[f"x{i}" for i in range(len(columns[0]))])


def test_size_counts_weights_of_either_sign_above_the_null_weight():
    assert concept_size(concepts([0.6, -0.8, 0.0], [0.0, 0.005, 1.0])) == 3
    assert concept_size(concepts([0.01, -0.01, 0.02])) == 1  # the null weight itself is null
    assert concept_size(concepts([0.0, 0.0], [0.0, 0.0])) == 0


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (([1.0, 0.0], [1.0, 0.0]), 1.0),
        (([1.0, 0.0], [0.0, 1.0]), 0.0),
        (([1.0, 0.0], [-1.0, 0.0]), 0.0),  # one feature in opposite directions is two
        (([0.6, 0.8], [0.6, -0.8]), 1 / 3),
        (([0.6, 0.8, 0.0], [0.0, 0.8, 0.6]), 1 / 3),
        (([0.8, 0.6, 0.005], [0.8, 0.6, 0.0]), 1.0),  # a null weight is none
        (([0.8, 0.6], [0.6, 0.8]), 1.0),  # sizes do not matter
        (([1.0, 0.0],), 0.0),  # no pair
        (([0.0, 0.0], [0.0, 0.0]), 0.0),  # nothing to share
        (([0.0, 0.0], [1.0, 0.0]), 0.0),
        (([1.0, 0.0], [1.0, 0.0], [0.0, 1.0]), 1 / 3),  # pairs 1, 0, 0
    ],
)
def test_redundancy_by_hand(columns, expected):
    assert concept_redundancy(concepts(*columns)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_redundancy_against_signed_columns_counted_one_by_one(seed):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(8, 4)) * (rng.random((8, 4)) < 0.5)
    shares = []
    for a, b in combinations(W.T, 2):
        signed_a, signed_b = (np.r_[w > 0.01, w < -0.01] for w in (a, b))
        union = np.sum(signed_a | signed_b)
        shares.append(np.sum(signed_a & signed_b) / union if union else 0.0)
    assert concept_redundancy(concepts(*W.T)) == pytest.approx(np.mean(shares))
    assert concept_size(concepts(*W.T)) == np.sum(np.abs(W) > 0.01)
    order = rng.permutation(4)
    assert concept_redundancy(concepts(*W.T[order])) == pytest.approx(np.mean(shares))


def test_commods_concepts_share_nothing_and_those_of_frappe_do():
    c = case("law_school")
    mine = fit(c, lambda_fair=3.0, n_concepts=2).concepts_
    theirs = Frappe(c.f, lambda_mmd=3.0).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive).concepts_
    assert concept_redundancy(mine) == 0
    assert concept_redundancy(theirs) > 0
    assert 0 < concept_size(mine) < concept_size(theirs) <= 2 * len(theirs)
