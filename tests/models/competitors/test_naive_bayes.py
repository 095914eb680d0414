"""Modified naive Bayes: against scikit-learn's, and against the publication's loop in plain Python."""

from collections import Counter
from math import prod

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB

from commod.models.competitors import ModifiedNaiveBayes
from tests.fitting import case
from tests.models.competitors.cases import base, people, positive_rates

pytestmark = pytest.mark.quick

LEVELS = ("a", "b", "c")


def records(n=300, seed=0):
    """Two attributes of three levels that go with group and label, as a table of words."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    y = (rng.random(n) < 0.35 + 0.3 * s).astype(int)
    table = pd.DataFrame(
        {
            "work": rng.choice(LEVELS, n, p=(0.3, 0.3, 0.4)),
            "school": [LEVELS[min(2, int(rng.integers(0, 2) + label * rng.integers(0, 2)))] for label in y],
        }
    )
    table.loc[rng.random(n) < 0.5 * y, "work"] = "a"
    return table, y, s


class ByTheBook:
    """The publication's model and loop, row by row, with dictionaries and fractions of counts."""

    def __init__(self, table, y, s, epsilon):
        self.rows = [tuple(row) for row in table.to_numpy()]
        self.n_label, self.n_attribute = Counter(y), Counter()
        for row, label in zip(self.rows, y, strict=True):
            self.n_attribute.update((place, level, label) for place, level in enumerate(row))
        self.n = {(group, label): float(((s == group) & (y == label)).sum()) for group in (0, 1) for label in (0, 1)}
        self.steps = 0
        while True:
            decided = np.array([self.chance(row, group) > 0.5 for row, group in zip(self.rows, s, strict=True)])
            low, high = positive_rates(decided, s)
            if high - low <= epsilon:
                return
            self.steps += 1
            if decided.sum() < y.sum():
                mass = 0.01 * self.n[1, 0]
                self.n[0, 1] += mass
                self.n[0, 0] -= mass
            else:
                mass = 0.01 * self.n[0, 1]
                self.n[1, 0] += mass
                self.n[1, 1] -= mass

    def chance(self, row, group):
        likely = [
            self.n[group, label]
            / (self.n[group, 0] + self.n[group, 1])
            * prod(
                (self.n_attribute[place, level, label] + 1) / (self.n_label[label] + len(LEVELS) + 1)
                for place, level in enumerate(row)
            )
            for label in (0, 1)
        ]
        return likely[1] / sum(likely)


@pytest.mark.parametrize("epsilon", [1.0, 0.2, 0.05])
def test_the_published_loop_in_plain_python(epsilon):
    table, y, s = records()
    book = ByTheBook(table, y, s, epsilon)
    g = ModifiedNaiveBayes(epsilon=epsilon).fit(table, y, sensitive_features=s)
    assert g.n_iter_ == book.steps
    assert (book.steps > 10) == (epsilon < 1)
    np.testing.assert_allclose(g.counts_, [[book.n[group, label] for label in (0, 1)] for group in (0, 1)])
    expected = [book.chance(row, group) for row, group in zip(book.rows, s, strict=True)]
    np.testing.assert_allclose(g.predict_proba(table, sensitive_features=s)[:, 1], expected)
    low, high = positive_rates(g.predict(table, sensitive_features=s), s)
    assert high - low <= epsilon


def test_before_the_moving_it_is_scikit_learns_naive_bayes_with_the_prior_of_the_group():
    table, y, s = records()
    g = ModifiedNaiveBayes(epsilon=1.0).fit(table, y, sensitive_features=s)
    codes = table.apply(lambda column: column.map({level: i for i, level in enumerate(LEVELS)}))
    nb = CategoricalNB(alpha=1, min_categories=4).fit(codes, y)
    likelihood = nb.predict_joint_log_proba(codes) - np.log(np.bincount(y) / len(y))
    for group in (0, 1):
        joint = np.exp(likelihood) * (np.bincount(y[s == group]) / (s == group).sum())
        here = s == group
        expected = (joint[:, 1] / joint.sum(axis=1))[here]
        np.testing.assert_allclose(g.predict_proba(table[here], sensitive_features=s[here])[:, 1], expected)


def test_numbers_are_cut_where_as_many_people_lie():
    X, y, s = people(500)
    g = ModifiedNaiveBayes(base(X, y), epsilon=1.0, bins=4).fit(X, y, sensitive_features=s)
    expected = pd.qcut(X[:, 1], 4, labels=False)
    found = g._codes(g.encoder_.transform(X))[:, 1]
    assert (np.bincount(found) == 125).all()
    assert np.mean(found == expected) > 0.99  # pandas cuts between two people


def test_a_level_that_was_never_seen_speaks_as_little_as_can_be():
    table, y, s = records()
    g = ModifiedNaiveBayes(epsilon=1.0).fit(table, y, sensitive_features=s)
    strange = table.head(1).assign(work="z", school="z")
    odds = (len(y[y == 0]) + 4) / (len(y[y == 1]) + 4)  # one of (people of the label + levels), twice
    expected = 2 * np.log(odds) + np.log(g.counts_[0, 1] / g.counts_[0, 0])
    assert g.decision_function(strange, sensitive_features=[0])[0] == pytest.approx(expected)


def test_law_school_is_given_alike_and_about_as_many_are_positive():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    apart = []
    for epsilon in (1.0, 0.2, 0.0):
        g = ModifiedNaiveBayes(c.f, epsilon=epsilon).fit(c.train.X, c.train.y, sensitive_features=s)
        decided = g.predict(c.train.X, sensitive_features=s)
        low, high = sorted(positive_rates(decided, s))
        apart.append(high - low)
        assert abs(decided.mean() - c.train.y.mean()) < 0.05
        assert np.mean(decided == c.train.y) > 0.65
    assert apart[0] > 0.5
    assert apart[1] <= 0.2
    assert apart[2] < 0.02


def test_the_line_is_moved_with_the_threshold_and_with_a_budget():
    X, y, s = people(500)
    f = base(X, y)
    strict = ModifiedNaiveBayes(f, threshold=0.8, epsilon=1.0).fit(X, y, sensitive_features=s)
    p = ModifiedNaiveBayes(f, epsilon=1.0).fit(X, y, sensitive_features=s).predict_proba(X, sensitive_features=s)[:, 1]
    np.testing.assert_array_equal(strict.predict(X, sensitive_features=s), p > 0.8)
    few = ModifiedNaiveBayes(f, threshold="budget:0.2", epsilon=0.05).fit(X, y, sensitive_features=s)
    decided = few.predict(X, sensitive_features=s)
    assert decided.mean() == pytest.approx(0.2, abs=0.04)
    assert abs(np.diff(positive_rates(decided, s))[0]) <= 0.05


def test_the_moving_ends_where_nothing_is_left_to_move():
    # Everybody of group 1 is positive by record and by the only attribute, nobody of group 0.
    s = np.repeat([0, 1], 50)
    X = np.column_stack([s * 100.0])
    y = np.where(np.arange(100) % 10 == 0, 1 - s, s)
    g = ModifiedNaiveBayes(base(X, y), epsilon=0.0).fit(X, y, sensitive_features=s)
    assert g.n_iter_ < 10_000
    assert (g.counts_ > 0).all()
    assert np.isfinite(g.decision_function(X, sensitive_features=s)).all()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epsilon": -0.1}, "epsilon must be a number of 0 or more"),
        ({"bins": 0}, "bins must be a whole number of 1 or more"),
        ({"fairness": "equalized_odds"}, "fairness must be one of 'demographic_parity'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=message):
        ModifiedNaiveBayes(**setting).fit(X, y, sensitive_features=s)
