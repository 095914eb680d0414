"""Leaf relabelling: by hand, against every subset of leaves, and on trees that are f."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from commod.models.competitors import LeafRelabelling
from commod.models.competitors.leaf_relabelling import leaves_to_relabel
from tests.fitting import case
from tests.models.competitors.cases import people, positive_rates

pytestmark = pytest.mark.quick


def gap(decided, s):
    low, high = positive_rates(decided, s)
    return high - low


def test_four_leaves_by_hand():
    # Leaf 0: refused, three of group 0 (two deserve it), none of group 1. Leaf 1: granted, four of group 1 (one does
    # not deserve it). Leaf 2: granted, one of each. Leaf 3: refused, two of group 0.
    leaf = np.repeat([0, 1, 2, 3], [3, 4, 2, 2])
    s = np.array([0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0])
    y = np.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0])
    decided = np.isin(leaf, [1, 2])
    # The gap is 5/5 − 1/6. Leaf 0 gives +3/6 and one more right decision, leaf 3 +2/6 for two wrong ones of eleven,
    # leaf 1 +4/5 for two more wrong ones (one was wrong); leaf 2 would widen the gap.
    for epsilon, expected in ((0.9, []), (0.34, [0]), (0.33, [0, 1]), (0.0, [0, 1])):
        order, label = leaves_to_relabel(leaf, decided, y, s, np.ones(11), epsilon)
        assert order.tolist() == expected
        assert label.tolist() == [leaf_number == 0 for leaf_number in expected]


def every_subset(tree, X, y, s):
    """Gap and errors of all ways to relabel the leaves of a tree, straight from the definition."""
    leaf, decided = tree.apply(X), tree.predict(X)
    leaves = np.unique(leaf)
    for n in range(len(leaves) + 1):
        for subset in combinations(leaves, n):
            turned = np.where(np.isin(leaf, subset), 1 - decided, decided)
            yield gap(turned, s), np.mean(turned != y)


@pytest.mark.parametrize("seed", range(4))
def test_the_greedy_choice_is_within_a_leaf_of_the_knapsacks(seed):
    X, y, s = people(300, seed=seed)
    f = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    ways = list(every_subset(f, X, y, s))
    shares = [np.mean(f.apply(X) == leaf) for leaf in np.unique(f.apply(X))]
    assert gap(f.predict(X), s) > 0.3
    for epsilon in (0.25, 0.15, 0.05):
        g = LeafRelabelling(f, epsilon=epsilon).fit(X, y, sensitive_features=s)
        decided = g.predict(X)
        least = min(errors for apart, errors in ways if apart <= epsilon)
        assert gap(decided, s) <= epsilon
        # The classic bound of the greedy knapsack: the best, and at most one leaf more.
        assert least <= np.mean(decided != y) <= least + max(shares)
        for leaf in np.unique(f.apply(X)):
            assert len(set(decided[f.apply(X) == leaf])) == 1


def test_a_tree_at_the_end_of_a_pipeline_or_frozen_is_f_all_the_same():
    X, y, s = people(300)
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    expected = LeafRelabelling(tree).fit(X, y, sensitive_features=s)
    assert expected.tree_ is None
    assert expected.relabelled_
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)).fit(X, y)
    for f in (FrozenEstimator(tree), pipeline):
        g = LeafRelabelling(f).fit(X, y, sensitive_features=s)
        assert g.tree_ is None
        np.testing.assert_array_equal(g.predict(X), expected.predict(X))


def test_of_another_f_only_the_relabelled_leaves_change():
    X, y, s = people(400)
    f = LogisticRegression().fit(X, y)
    g = LeafRelabelling(f, epsilon=0.1).fit(X, y, sensitive_features=s)
    leaf = g.tree_.apply((X - X.mean(axis=0)) / X.std(axis=0))
    relabelled = np.isin(leaf, list(g.relabelled_))
    assert 0 < relabelled.mean() < 0.6
    np.testing.assert_array_equal(g.predict(X)[~relabelled], f.predict(X)[~relabelled])
    for number, positive in g.relabelled_.items():
        assert (g.predict(X)[leaf == number] == positive).all()
    assert gap(g.predict(X), s) <= 0.1


def test_law_school_meets_the_bound_on_the_training_rows():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    changed = []
    for epsilon in (1.0, 0.3, 0.2, 0.1, 0.0):
        g = LeafRelabelling(c.f, epsilon=epsilon).fit(c.train.X, c.train.y, sensitive_features=s)
        decided = g.predict(c.train.X)
        assert gap(decided, s) <= max(epsilon, 1e-12) or epsilon == 1.0
        changed.append(np.mean(decided != c.f.predict(c.train.X)))
    assert changed[0] == 0
    assert (np.diff(changed) > 0).all()


def test_the_line_is_fs():
    X, y, s = people(400)
    f = LogisticRegression().fit(X, y)
    strict = f.predict_proba(X)[:, 1] > 0.7
    same = LeafRelabelling(f, threshold=0.7, epsilon=1.0).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(same.predict(X), strict)
    fair = LeafRelabelling(f, threshold=0.7, epsilon=0.05).fit(X, y, sensitive_features=s)
    assert gap(strict, s) > 0.3
    assert gap(fair.predict(X), s) <= 0.05


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epsilon": -0.1}, "epsilon must be a number of 0 or more"),
        ({"min_leaf": 0.6}, "min_leaf must be a number from 0 to 0.5"),
        ({"fairness": "equalized_odds"}, "fairness must be one of 'demographic_parity'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=message):
        LeafRelabelling(**setting).fit(X, y, sensitive_features=s)
