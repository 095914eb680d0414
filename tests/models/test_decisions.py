"""update="decisions": who is flipped is a convex question of prices."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import spearmanr
from sklearn.base import clone

from commod import Commod, evaluate
from commod.metrics.figures import CRITERIA
from commod.models import WarmStart
from commod.models.export import portable_json, to_portable
from commod.models.prices import LEEWAY, MAX_TURNOVER, RIDGE, PricePath, solve_prices
from commod.models.training import LossWeights, TrainingData
from commod.portable import Portable, load
from tests.fitting import case, fit

FAIRNESS = tuple(CRITERIA)


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    s = (rng.random(600) < 0.6).astype(float)
    X = np.column_stack([rng.normal(size=600) + s, rng.normal(size=600)])
    logit = rng.normal(size=600) + 1.5 * s - 0.5
    y = (rng.random(600) < 1 / (1 + np.exp(-logit))).astype(float)
    return TrainingData(X, logit, y, s)


@pytest.fixture(scope="module", params=["law_school", "compas"])
def fitted(request):
    c = case(request.param)
    return c, fit(c, lambda_fair=5.0, lambda_concepts=0.05, n_concepts=3, update="decisions")


def silent(step, terms):
    return False


# ---- the solver ----


@pytest.mark.parametrize("by_label", [False, True])
def test_a_general_optimiser_finds_nothing_better(rows, by_label):
    path = PricePath(rows, LossWeights(5.0, 0.05, 0.05, 0.0, by_label, update="decisions"))
    path.rule_for(0.5, silent)
    step = path.steps[-1]
    benefit = path._gains(step.prices) - path._cost
    weight = np.abs(benefit) / np.abs(benefit).sum()

    def loss(theta):
        margin = np.sign(benefit) * (path._features @ theta)
        return weight @ np.logaddexp(0, -margin) + path._penalty @ np.abs(theta) + 0.5 * RIDGE * theta @ theta

    for start in (step.theta, np.zeros(5), -np.ones(5)):
        better = minimize(loss, start, method="Powell", options={"maxiter": 20_000, "xtol": 1e-8, "ftol": 1e-12})
        assert loss(step.theta) <= better.fun + 1e-6
    assert np.abs(step.theta[:2]).max() > 0.1


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_training_rows_reach_the_target_and_hardly_more(rows, share):
    path = PricePath(rows, LossWeights(0.0, 0.05, 0.0, 0.0, False, update="decisions"))
    theta, _, _ = path.rule_for(share, silent)
    reached = path._fairness(path.decided(path.balance(theta)))
    assert share <= reached <= share + 0.04  # people turn evenly, so some fairness may come early


@pytest.mark.parametrize("by_label", [False, True])
@pytest.mark.parametrize("price", [0.0, *(pytest.param(price, marks=pytest.mark.slow) for price in (0.05, 0.2))])
def test_no_step_of_the_slider_turns_many_people(rows, price, by_label):
    path = PricePath(rows, LossWeights(0.0, price, 0.0, 0.0, by_label, update="decisions"))
    rules = (path.rule_for(share, silent)[0] for share in np.arange(0, 1.001, 0.01))
    steps = [np.mean(a != b) for a, b in pairwise(path.decided(path.balance(rule)) for rule in rules)]
    assert 0 < max(steps) <= 0.01 * MAX_TURNOVER + 2 * LEEWAY + 1e-9


def test_prices_are_in_people(rows):
    """A row that counts twice is as good as two rows."""
    weight = np.random.default_rng(0).integers(1, 3, len(rows.y))
    setting = LossWeights(5.0, 0.05, 0.05, 0.0, False, update="decisions")
    weighed = PricePath(TrainingData(**{**vars(rows), "weight": weight.astype(float)}), setting)
    repeated = PricePath(rows.take(np.repeat(np.arange(len(rows.y)), weight)), setting)
    # The unit of confidence is the only thing that differs: it counts rows.
    for path in (weighed, repeated):
        path._features[:, -1] *= path._unit
        path._unit = 1.0
    np.testing.assert_allclose(weighed.rule_for(0.5, silent)[0], repeated.rule_for(0.5, silent)[0], atol=1e-5)


def test_a_dearer_change_means_fewer_changes(rows):
    changes = []
    for price in (0.0, 0.05, 0.3):
        path = PricePath(rows, LossWeights(6.0, price, 0.0, 0.0, False, update="decisions"))
        changes.append(solve_prices(path, 6.0).path[-1].terms["changes"])
    assert changes == sorted(changes, reverse=True)
    assert changes[0] > changes[-1]


def test_a_callback_can_stop_the_solver():
    c = case("law_school")
    g = Commod(c.f, update="decisions", lambda_fair=8.0)
    g.fit(**c.train.fit_arguments, callback=lambda step, *_: step >= 6)
    assert g.stopped_
    assert not g.converged_
    assert len(g.history_) == 6


# ---- the model ----


@pytest.mark.parametrize("fairness", FAIRNESS)
def test_without_fairness_g_is_f(fairness):
    c = case("law_school")
    g = fit(c, lambda_fair=0.0, update="decisions", fairness=fairness)
    np.testing.assert_array_equal(g.decision_function(c.test.X), g.margin_of_f(c.test.X))


def test_people_who_stay_keep_their_score(fitted):
    c, g = fitted
    before, after = g.margin_of_f(c.test.X), g.decision_function(c.test.X)
    flipped = (before > 0) != (after > 0)
    assert 0.02 < flipped.mean() < 0.1
    np.testing.assert_array_equal(after[~flipped], before[~flipped])
    assert (np.abs(after[flipped]) < np.abs(before[flipped])).all()
    ratio, shift = g.ratio_and_shift(c.test.X)
    np.testing.assert_allclose(ratio * before + shift, after)


@pytest.mark.parametrize(
    ("data", "fairness", "ends"),
    [
        ("law_school", FAIRNESS[0], (2, 5)),
        *(
            pytest.param(data, fairness, (0, 10), marks=pytest.mark.slow)
            for data in ("law_school", "compas")
            for fairness in FAIRNESS
        ),
    ],
)
def test_fairness_follows_the_slider_and_no_step_changes_many_people(data, fairness, ends):
    c, path = case(data), WarmStart()
    figure = CRITERIA[fairness].figure_name
    values, decisions, fair, changed = np.arange(ends[0], ends[1] + 0.01, 0.1), [], [], []
    for value in values:
        settings = {"lambda_fair": float(value), "lambda_concepts": 0.05, "fairness": fairness}
        g = fit(c, **settings, update="decisions", warm_start=path)
        decisions.append(g.predict(c.train.X))
        fair.append(g.path_[figure].iloc[-1])
        changed.append(g.path_["change_rate"].iloc[-1])
    assert abs(spearmanr(values, fair).statistic) >= 0.99
    assert spearmanr(values, changed).statistic >= 0.99
    steps = [np.mean(a != b) for a, b in pairwise(decisions)]
    assert max(steps) <= 0.03


def test_a_warm_start_changes_no_digit():
    c, path = case("law_school"), WarmStart()
    for value in (8.0, 2.0, 5.0):
        warm = fit(c, lambda_fair=value, update="decisions", warm_start=path)
        cold = fit(c, lambda_fair=value, update="decisions")
        np.testing.assert_array_equal(warm.shift_coef_, cold.shift_coef_)
        assert warm.shift_intercept_ == cold.shift_intercept_
        pd.testing.assert_frame_equal(warm.path_, cold.path_, check_exact=True)
        pd.testing.assert_frame_equal(warm.history_, cold.history_, check_exact=True)
    other = fit(c, lambda_fair=5.0, lambda_ratio=0.2, update="decisions", warm_start=path)
    np.testing.assert_array_equal(
        other.shift_coef_, fit(c, lambda_fair=5.0, lambda_ratio=0.2, update="decisions").shift_coef_
    )


@pytest.mark.parametrize("direction", ["improve", "worsen"])
def test_one_direction(direction):
    c = case("law_school")
    g = fit(c, lambda_fair=5.0, update="decisions", direction=direction)
    moved = g.predict(c.test.X).astype(int) - (g.margin_of_f(c.test.X) > 0)
    assert {*np.unique(moved)} == ({0, 1} if direction == "improve" else {-1, 0})


def test_features_that_may_not_be_used_have_no_weight():
    c = case("law_school")
    few = list(c.train.X.columns[:2])
    g = fit(c, lambda_fair=5.0, update="decisions", features=few)
    origins = np.array([str(column) for column, _ in g.encoder_.origin_])
    used = {*origins[g.shift_coef_.to_numpy() != 0]}
    assert used
    assert used <= {*few}


def test_a_cut_off_other_than_one_half():
    c = case("law_school")
    g = fit(c, lambda_fair=5.0, update="decisions", threshold=0.7)
    f = Commod(c.f, threshold=0.7, lambda_fair=0.0).fit(**c.train.fit_arguments)
    frame = evaluate(c.task, f, g, c.test)
    assert frame.loc["p_rule", "difference"] > 0.1
    assert g.threshold_ == pytest.approx(0.7)


def test_more_than_two_groups_and_some_unknown():
    c = case("law_school")
    rng = np.random.default_rng(0)
    groups = pd.Series(np.where(rng.random(len(c.train.y)) < 0.5, "a", "b"), index=c.train.X.index, dtype=object)
    groups[c.train.sensitive.to_numpy() == 0] = "c"
    groups.iloc[:50] = None
    g = Commod(c.f, lambda_fair=8.0, update="decisions")
    g.fit(c.train.X, c.train.y, sensitive_features=groups)
    assert g.path_["p_rule"].iloc[-1] > g.path_["p_rule"].iloc[0] + 0.3


def test_it_needs_the_plain_norm():
    c = case("law_school")
    with pytest.raises(ValueError, match="ratio_norm='identity'"):
        fit(c, update="decisions", ratio_norm="fisher")
    with pytest.raises(ValueError, match="solver='best_response'"):
        fit(c, update="decisions", solver="adversarial")


@pytest.mark.parametrize("most", [60, 0.03, 0])
def test_a_budget_is_kept(most):
    c = case("law_school")
    g = fit(c, lambda_fair=8.0, update="decisions", max_changes=most)
    changed = int((g.ratio(c.train.X) < 0).sum())
    asked = most * len(c.train.y) if most < 1 else most
    assert 0.8 * asked <= changed <= asked


def test_a_budget_that_is_not_used_up_changes_nothing():
    c = case("law_school")
    free = fit(c, lambda_fair=1.0, update="decisions")
    roomy = fit(c, lambda_fair=1.0, update="decisions", max_changes=0.5)
    np.testing.assert_array_equal(free.shift_coef_, roomy.shift_coef_)


def test_a_budget_needs_an_update_that_counts():
    with pytest.raises(ValueError, match="update='decisions'"):
        fit(case("law_school"), max_changes=60)
    with pytest.raises(ValueError, match="max_changes"):
        fit(case("law_school"), update="decisions", max_changes=-1)


# ---- how it is read ----


@pytest.mark.parametrize("by", ["concept", "feature"])
def test_the_explanation_adds_up(fitted, by):
    c, g = fitted
    flipped = np.flatnonzero(g.ratio(c.test.X) < 0)
    for place in (*flipped[:3], *np.flatnonzero(g.ratio(c.test.X) == 1)[:3]):
        row = c.test.X.iloc[[place]]
        terms = g.explain_prediction(row, by=by)
        balance = terms["logit_after"].iloc[-3]  # before "kept"
        assert (balance > 0) == (g.decision_function(row)[0] > 0)
        assert terms["logit_after"].iloc[-1] == pytest.approx(g.decision_function(row)[0])
        assert terms["logit_after"].iloc[-2] == pytest.approx(terms["logit_after"].iloc[-1])


def test_concepts_hold_the_direction(fitted):
    _, g = fitted
    assert list(g.concept_directions().columns) == ["Concept 1", "Concept 2", "Concept 3"]
    np.testing.assert_allclose(
        g.concept_directions().to_numpy() @ g.shift_weights_.to_numpy(), g.shift_coef_.to_numpy(), atol=1e-12
    )
    assert (g.shift_weights_ >= 0).all()


def test_a_portable_file_decides_and_explains_alike(fitted, tmp_path):
    c, g = fitted
    (tmp_path / "model.json").write_text(portable_json(g), encoding="utf-8")
    model = load(tmp_path / "model.json")
    assert model.content["flips"]
    rows = c.test.X.to_dict("records")
    np.testing.assert_allclose(model.predict_proba(rows), g.predict_proba(c.test.X), atol=1e-9)
    place = int(np.flatnonzero(g.ratio(c.test.X) < 0)[0])
    ours, theirs = g.explain_prediction(c.test.X.iloc[[place]]), model.explain(rows[place])
    assert [term["term"] for term in theirs] == list(ours.index)
    np.testing.assert_allclose([term["logit_after"] for term in theirs], ours["logit_after"], atol=1e-9)


def test_a_damaged_portable_file_is_refused(fitted):
    content = json.loads(json.dumps(to_portable(fitted[1])))
    del content["flips"]["mirror"]
    with pytest.raises(ValueError, match="damaged"):
        Portable(content)


def test_it_is_cloned_with_its_update():
    assert clone(Commod(update="decisions")).update == "decisions"
