"""More than two groups, crossings, groups known in part, and rows that count differently."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import Commod
from commod.metrics.figures import CRITERIA
from commod.models.adversary import GroupAdversary, question_weights
from commod.models.objective import ScoreObjective

RATES = {"a": 0.8, "b": 0.0, "c": -0.8, "d": -0.4}


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
    logit = 0.8 * X[:, 0] + 1.3 * X[:, 1] + 0.5 * X[:, 3]
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    return X, y, group, LogisticRegression().fit(X, y)


def fit(people, rows=slice(None), groups=None, weight=None, **settings):
    X, y, group, f = people
    given = (group if groups is None else groups)[rows]
    scores = f.predict_proba(X)[rows, 1]  # not asked of the rows: its last digit depends on how many there are
    settings = {"lambda_fair": 1.5, "lambda_concepts": 0.02} | settings
    return Commod(**settings).fit(X[rows], y[rows], sensitive_features=given, base_scores=scores, sample_weight=weight)


def probabilities(people, g):
    X, _, _, f = people
    return g.predict_proba(X, base_scores=f.predict_proba(X)[:, 1])[:, 1]


def told_by(people, scores, by_label):
    """How badly the best adversary fares that sees the scores: the more, the less they tell of the groups."""
    y, codes = people[1], np.unique(people[2], return_inverse=True)[1].astype(float)
    order = ScoreObjective.order(y, by_label=by_label)
    logits = np.log(scores / (1 - scores))[order]
    return ScoreObjective(y[order].astype(float), codes[order], 4, by_label=by_label).evaluate(logits).adversary_loss


ADVERSARIAL = {"solver": "adversarial", "solver_options": {"epochs": 60, "learning_rate": 0.02, "warmup_epochs": 2}}


@pytest.mark.parametrize(
    ("fairness", "options"),
    [
        *(
            (fairness, options)
            for fairness in CRITERIA
            for options in (
                {"update": "ratio"},
                {"update": "affine"},
                {"rescaler": "mlp", "solver_options": {"max_iter": 10}},
            )
        ),
        *(pytest.param(fairness, ADVERSARIAL, marks=pytest.mark.slow) for fairness in CRITERIA),
    ],
)
@pytest.mark.filterwarnings("ignore:COMMOD did not converge")  # the network is given few steps
def test_scores_tell_less_of_the_groups(people, fairness, options):
    X, _, _, f = people
    by_label = CRITERIA[fairness].by_label
    g = fit(people, fairness=fairness, lambda_fair=5.0, weight=np.full(900, 2.0), **options)
    assert g.groups_.tolist() == list(RATES)
    before, after = f.predict_proba(X)[:, 1], probabilities(people, g)
    assert told_by(people, after, by_label) > told_by(people, before, by_label) + 0.005


@pytest.mark.parametrize("fairness", list(CRITERIA))
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


@pytest.mark.parametrize("fairness", list(CRITERIA))
@pytest.mark.parametrize("settings", [{}, {"update": "affine"}, {"direction": "improve", "ratio_norm": "fisher"}])
def test_whole_weights_are_copies_of_rows(people, fairness, settings):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, len(people[1]))  # some count for nothing
    known = people[2].astype(object)
    known[::7] = None
    # Solved further than by default, where the last step is worth 1e-9 of the loss and some 1e-8 of a weight.
    settings = {"fairness": fairness, "solver_options": {"tol": 1e-14}, **settings}
    weighted = fit(people, groups=known, weight=times, **settings)
    copied = fit(people, np.repeat(np.arange(len(times)), times), groups=known, **settings)
    figures = ["accuracy", "p_rule", "change_rate"]
    for of_one, of_other in (
        (probabilities(people, weighted), probabilities(people, copied)),
        (weighted.coef_, copied.coef_),
        (weighted.path_[figures], copied.path_[figures]),
    ):
        np.testing.assert_allclose(of_one, of_other, rtol=0, atol=1e-9)


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
    some = GroupAdversary(codes, 4, weight).fit(z)
    those = GroupAdversary(codes[300:], 4).fit(z[300:])
    assert some.loss == pytest.approx(those.loss, abs=1e-12)


def test_twelve_people_do_not_steer_the_model(people, monkeypatch):
    """A group of the twelve whom f scores lowest moves g hardly; if all groups counted alike, it would."""
    X, _, group, f = people
    marked = group.copy().astype(object)
    marked[np.argsort(f.predict_proba(X)[:, 1] + 10 * (group != "a"))[:12]] = "few"
    marked = marked.astype(str)

    def moved():
        apart = probabilities(people, fit(people, groups=marked)) - probabilities(people, fit(people))
        return np.abs(apart).mean()

    small = moved()
    assert small < 0.02
    monkeypatch.setattr("commod.models.adversary.SMALL_GROUP", 0)
    assert moved() > 3 * small


def test_how_much_a_question_counts():
    assert question_weights(np.array([900.0, 100.0])).tolist() == [1.0]
    counts = question_weights(np.array([5000.0, 3000.0, 2000.0, 0.0]))
    assert counts[3] == 0
    # Of many people, a group's question counts for what its loss falls short of that of one half of all.
    shares = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(counts[:3] * 8 * shares * (1 - shares), 1.0, atol=0.1)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.ones(5), "one value per row"),
        (np.ones((900, 1)), "one value per row"),
        (-np.ones(900), "of 0 or more"),
        (np.full(900, np.nan), "of 0 or more"),
        (np.zeros(900), "All weights are zero"),
    ],
)
def test_weights_that_are_none(people, weight, words):
    with pytest.raises(ValueError, match=words):
        fit(people, weight=weight)


def test_a_number_is_no_group(people):
    with pytest.raises(ValueError, match="900 groups, but at most 50 .* cut a number into bands"):
        fit(people, groups=np.arange(900))


def test_survey_weights_are_asked_about(people):
    with pytest.warns(UserWarning, match="stands for 1,500 people on average"):
        fit(people, weight=np.full(900, 1500.0))
