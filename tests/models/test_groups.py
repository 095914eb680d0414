"""More than two groups, crossings, groups known in part, and rows that count differently."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import Commod
from commod.metrics import p_rule
from commod.models.adversary import ScoreAdversary, question_weights

RATES = {"a": 1.0, "b": 0.0, "c": -1.0, "d": -0.5}


@pytest.fixture(scope="module")
def people():
    """Four groups of different size, whom f treats differently through one feature."""
    rng = np.random.default_rng(0)
    n = 900
    group = rng.choice(list(RATES), size=n, p=[0.5, 0.25, 0.15, 0.1])
    tilt = pd.Series(group).map(RATES).to_numpy()
    X = rng.normal(size=(n, 4))
    X[:, 0] += tilt
    X[:, 3] = (rng.random(n) < 0.5 + 0.2 * tilt) * 1.0
    logit = X[:, 0] + 0.8 * X[:, 1] + 0.5 * X[:, 3]
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    return X, y, group, LogisticRegression().fit(X, y)


def fit(people, rows=slice(None), groups=None, weight=None, **settings):
    X, y, group, f = people
    given = (group if groups is None else groups)[rows]
    scores = f.predict_proba(X)[rows, 1]  # not asked of the rows: its last digit depends on how many there are
    settings = {"lambda_fair": 3.0, "lambda_concepts": 0.02} | settings
    return Commod(**settings).fit(X[rows], y[rows], sensitive_features=given, base_scores=scores, sample_weight=weight)


def probabilities(people, g):
    X, _, _, f = people
    return g.predict_proba(X, base_scores=f.predict_proba(X)[:, 1])[:, 1]


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
@pytest.mark.parametrize("update", ["ratio", "affine"])
def test_every_group_comes_nearer(people, fairness, update):
    X, y, group, f = people
    g = fit(people, fairness=fairness, update=update)
    assert g.groups_.tolist() == list(RATES)
    assert g.converged_
    decided = probabilities(people, g) > 0.5
    by_group = pd.DataFrame({"group": group, "y": y, "f": f.predict(X), "g": decided})
    keys = ["group"] if fairness == "demographic_parity" else ["y", "group"]
    rates = by_group.groupby(keys)[["f", "g"]].mean()
    apart = rates if len(keys) == 1 else rates.loc[1]
    spread = apart.max() - apart.min()
    assert spread["g"] < 0.5 * spread["f"]


@pytest.mark.parametrize("options", [{"rescaler": "mlp"}, {"solver": "adversarial", "solver_options": {"epochs": 25}}])
def test_the_other_solvers_know_groups_and_weights(people, options):
    X, y, group, f = people
    g = fit(people, weight=np.ones(len(y)), **options)
    before = p_rule(y, f.predict(X), sensitive_features=group)
    assert p_rule(y, (probabilities(people, g) > 0.5).astype(int), sensitive_features=group) > before + 0.1


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
def test_what_the_groups_are_called_and_in_which_order_they_come_plays_no_part(people, fairness):
    names = {"a": "z", "b": "y", "c": "x", "d": "w"}
    renamed = pd.Series(people[2]).map(names).to_numpy()
    first, second = fit(people, fairness=fairness), fit(people, groups=renamed, fairness=fairness)
    np.testing.assert_allclose(probabilities(people, first), probabilities(people, second), atol=1e-7)


def test_a_crossing_is_the_combinations_of_its_columns(people):
    group = people[2]
    columns = pd.DataFrame({"first": np.isin(group, ["a", "b"]), "second": np.isin(group, ["a", "c"])})
    crossed = fit(people, groups=columns.to_numpy())
    assert len(crossed.groups_) == 4
    np.testing.assert_allclose(probabilities(people, crossed), probabilities(people, fit(people)), atol=1e-7)


@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
@pytest.mark.parametrize("settings", [{}, {"update": "affine"}, {"direction": "improve", "ratio_norm": "fisher"}])
def test_whole_weights_are_copies_of_rows(people, fairness, settings):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, len(people[1]))  # some count for nothing
    known = people[2].astype(object)
    known[::7] = None
    weighted = fit(people, groups=known, weight=times, fairness=fairness, **settings)
    copied = fit(people, np.repeat(np.arange(len(times)), times), groups=known, fairness=fairness, **settings)
    np.testing.assert_allclose(probabilities(people, weighted), probabilities(people, copied), atol=1e-9)
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-9)
    np.testing.assert_allclose(weighted.concepts_, copied.concepts_, atol=1e-8)
    figures = ["accuracy", "p_rule", "change_rate"]
    np.testing.assert_allclose(weighted.path_[figures], copied.path_[figures], atol=1e-9)


def test_weights_reach_an_f_that_is_trained_here(people):
    X, y, group, _ = people
    times = np.random.default_rng(2).integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), times)
    g = Commod(lambda_fair=1.0, threshold="budget").fit(X, y, sensitive_features=group, sample_weight=times)
    same = Commod(lambda_fair=1.0, threshold="budget").fit(X[copies], y[copies], sensitive_features=group[copies])
    assert g.threshold_ == pytest.approx(same.threshold_, abs=1e-9)
    np.testing.assert_allclose(g.predict_proba(X), same.predict_proba(X), atol=1e-8)


def test_a_row_whose_group_is_not_known_is_not_asked_about(people):
    group = people[2]
    known = group.astype(object)
    known[:300] = np.nan
    g = fit(people, groups=known)
    assert g.groups_.tolist() == list(RATES)
    # Which group they are of plays no part; that they are there does.
    assert (probabilities(people, g) != probabilities(people, fit(people, rows=slice(300, None)))).any()
    z = np.random.default_rng(3).normal(size=len(group)) * 2
    codes = pd.Categorical(known, categories=list(RATES)).codes.astype(float)
    weight = (codes >= 0) * 1.0
    some = ScoreAdversary(codes, 4, weight).fit(z)
    those = ScoreAdversary(codes[300:], 4).fit(z[300:])
    assert some.loss == pytest.approx(those.loss, abs=1e-12)


def test_twelve_people_do_not_steer_the_model(people):
    """A group of twelve whom f treats worst moves g hardly; as one of a quarter, it does."""
    X, _, group, f = people
    apart = {}
    for size in (12, 225):
        marked = group.copy()
        # Those with the lowest scores among a's: nobody is treated worse.
        worst = np.argsort(f.predict_proba(X)[:, 1] + 10 * (group != "a"))[:size]
        marked[worst] = "few"
        g = fit(people, groups=marked)
        apart[size] = np.abs(probabilities(people, g) - probabilities(people, fit(people))).mean()
    assert apart[12] < 0.02
    assert apart[225] > 3 * apart[12]


def test_how_much_a_question_counts():
    assert question_weights(np.array([0.9, 0.1])).tolist() == [1.0]
    counts = question_weights(np.array([0.5, 0.3, 0.2, 0.0]))
    assert counts[3] == 0
    few = question_weights(np.array([0.5, 0.499, 0.001]))
    spread = 4 * 0.001 * 0.999
    assert few[2] * spread < 0.06 * few[0]


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.ones(5), "one value per row"),
        (np.ones((900, 1)), "one value per row"),
        (-np.ones(900), "from 0 on"),
        (np.full(900, np.nan), "from 0 on"),
        (np.zeros(900), "All weights are 0"),
    ],
)
def test_weights_that_are_none(people, weight, words):
    with pytest.raises(ValueError, match=words):
        fit(people, weight=weight)


def test_mahalanobis_knows_no_weights(people):
    with pytest.raises(ValueError, match="mahalanobis"):
        fit(people, weight=np.ones(900), ratio_norm="mahalanobis")
