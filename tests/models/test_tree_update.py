"""update="tree": the leaves of a tree are flipped, and nothing else happens."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from commod import Commod
from commod.explain.tree import explain_rules
from commod.metrics.figures import CRITERIA
from commod.models import WarmStart
from commod.models.export import portable_json, to_portable
from commod.models.rules import DEPTH, LEAF_PRICE, RulePath
from commod.models.training import LossWeights, TrainingData
from commod.portable import RULED, Portable, load
from tests.fitting import case, fit

FAIRNESS = tuple(CRITERIA)


@pytest.fixture(scope="module", params=["law_school", "compas"])
def fitted(request):
    c = case(request.param)
    return c, fit(c, lambda_fair=6.0, update="tree")


def changed(g, X):
    return (g.decision_function(X) > 0) != (g.margin_of_f(X) > 0)


# ---- the solver ----


@pytest.mark.parametrize("by_label", [False, True])
@pytest.mark.parametrize("most", [np.inf, 40])
def test_no_set_of_leaves_is_cheaper(by_label, most):
    """Every set of leaves, counted one by one from the people."""
    rng = np.random.default_rng(1)
    s = (rng.random(300) < 0.6).astype(float)
    X = np.column_stack([rng.normal(size=300) + s, rng.normal(size=300)]).round(1)
    logit = rng.normal(size=300) + 1.5 * s - 0.5
    y = (rng.random(300) < 1 / (1 + np.exp(-logit))).astype(float)
    path = RulePath(TrainingData(X, logit, y, s), LossWeights(5.0, 0.05, 0.2, 0.0, by_label, update="tree"))
    chosen = path.best_set(0.5, most)
    said, found = logit > 0, []
    for members in product((0, 1), repeat=path.n_leaves):
        flips = np.isin(path._leaf, np.flatnonzero(members))
        decided = said ^ flips
        wrong = (np.where(said, -1, 1) * 2 * (0.5 - y))[flips].sum()
        if flips.sum() <= min(most, said.sum() / 2, (~said).sum() / 2):
            price = (flips.sum() + wrong) / 300 + 0.2 * LEAF_PRICE * sum(members)
            found.append((min(path._fairness(decided), 0.5), -price))
    changes, cost, fairness = path._sets
    assert (min(fairness[chosen], 0.5), -cost[chosen]) == pytest.approx(max(found))
    assert 0 < changes[chosen] == sum(rule.holds(X, logit).sum() for rule in path.rules_of(chosen))


def test_a_rule_asks_at_most_three_questions(fitted):
    _, g = fitted
    assert 1 <= max(len(rule.asks) for rule in g.rules) <= DEPTH


def test_nobody_is_in_two_rules(fitted):
    c, g = fitted
    holds = g.concept_activations(c.test.X)
    assert holds.sum(axis=1).max() == 1
    np.testing.assert_array_equal(holds.any(axis=1), changed(g, c.test.X))


def test_dearer_leaves_mean_fewer_rules():
    c = case("compas")
    counts = [len(fit(c, lambda_fair=5.0, lambda_concepts=price, update="tree").rules) for price in (0.0, 1.0)]
    assert counts[1] < counts[0]


def test_a_callback_can_stop_the_solver():
    c = case("law_school")
    g = Commod(c.f, update="tree", lambda_fair=8.0)
    g.fit(**c.train.fit_arguments, callback=lambda step, *_: step >= 3)
    assert g.stopped_
    assert len(g.history_) == len(g.path_) == 3


# ---- the model ----


@pytest.mark.parametrize("fairness", FAIRNESS)
def test_without_fairness_g_is_f(fairness):
    c = case("law_school")
    g = fit(c, lambda_fair=0.0, update="tree", fairness=fairness, lambda_ratio=0.0)
    np.testing.assert_array_equal(g.decision_function(c.test.X), g.margin_of_f(c.test.X))
    assert g.rules == ()


@pytest.mark.parametrize(("data", "fairness"), list(product(["law_school", "compas"], FAIRNESS)))
def test_more_is_asked_and_more_is_reached(data, fairness):
    c, path, figure = case(data), WarmStart(), CRITERIA[fairness]
    reached = [fit(c, lambda_fair=v, update="tree", fairness=fairness, warm_start=path) for v in (0.0, 3.0, 6.0, 9.0)]
    gains = [figure.gain(g.path_[figure.figure_name].iloc[-1]) for g in reached]
    assert gains == sorted(gains)
    for value, g in zip((3.0, 6.0, 9.0), reached[1:], strict=True):
        assert g.path_["fairness"].iloc[-1] >= min(value / 10, reached[-1].path_["fairness"].iloc[-1])


@pytest.mark.parametrize("fairness", FAIRNESS)
def test_parity_is_not_the_same_decision_for_all(fairness):
    c = case("law_school")
    g = fit(c, lambda_fair=10.0, update="tree", fairness=fairness, lambda_ratio=0.0)
    assert 0.2 < g.predict(c.train.X).mean() < 0.8
    assert g.path_["fairness"].iloc[-1] > 0.5


def test_people_who_stay_keep_their_score(fitted):
    c, g = fitted
    before, after = g.margin_of_f(c.test.X), g.decision_function(c.test.X)
    flipped = (before > 0) != (after > 0)
    assert 0.02 < flipped.mean() < 0.15
    np.testing.assert_array_equal(after[~flipped], before[~flipped])
    np.testing.assert_allclose(after[flipped], -0.01 * before[flipped], atol=1e-8)


def test_a_score_on_the_line_is_flipped_too():
    c = case("law_school")
    scores = np.full(len(c.train.y), 0.5)
    g = Commod(lambda_fair=5.0, update="tree").fit(
        c.train.X, c.train.y, sensitive_features=c.train.sensitive, base_scores=scores
    )
    flipped = g.concept_activations(c.train.X, base_scores=scores).any(axis=1)
    np.testing.assert_array_equal(g.decision_function(c.train.X, base_scores=scores) > 0, flipped)


def test_the_same_again_with_and_without_a_warm_start():
    c, path = case("compas"), WarmStart()
    for value in (8.0, 2.0, 5.0):
        warm = fit(c, lambda_fair=value, update="tree", warm_start=path)
        cold = fit(c, lambda_fair=value, update="tree")
        assert warm.rules == cold.rules
        pd.testing.assert_frame_equal(warm.path_, cold.path_, check_exact=True)
    other = fit(c, lambda_fair=5.0, update="decisions", warm_start=path)
    assert other.rules is None


@pytest.mark.parametrize("direction", ["improve", "worsen"])
def test_one_direction(direction):
    c = case("law_school")
    g = fit(c, lambda_fair=5.0, update="tree", direction=direction)
    moved = g.predict(c.test.X).astype(int) - (g.margin_of_f(c.test.X) > 0)
    assert {*np.unique(moved)} == ({0, 1} if direction == "improve" else {-1, 0})
    assert {rule.accepted for rule in g.rules} == {direction == "worsen"}


def test_rules_do_not_ask_for_features_that_are_kept_out():
    c = case("law_school")
    few = list(c.train.X.columns[2:4])
    g = fit(c, lambda_fair=5.0, update="tree", features=few)
    asked = {g.encoder_.origin_[feature][0] for rule in g.rules for feature, _, _ in rule.asks}
    assert asked
    assert asked <= {*few}


def test_people_are_counted_with_their_weights():
    c = case("law_school")
    arguments, alone = c.train.fit_arguments, fit(c, lambda_fair=5.0, update="tree")
    thrice = clone(alone).fit(**{**arguments, "sample_weight": np.full(len(c.train.y), 3.0)})
    assert thrice.rules == alone.rules
    heavy = np.where(c.train.sensitive == 0, 4.0, 1.0)
    budget = Commod(c.f, lambda_fair=9.0, update="tree", max_changes=500)
    other = budget.fit(**{**arguments, "sample_weight": heavy})
    assert 250 < heavy[changed(other, c.train.X)].sum() <= 500


@pytest.mark.parametrize("most", [60, 0.03, 0])
def test_a_budget_is_kept(most):
    c = case("compas")
    g = fit(c, lambda_fair=8.0, update="tree", max_changes=most)
    count = int(changed(g, c.train.X).sum())
    asked = most * len(c.train.y) if most < 1 else most
    assert 0.7 * asked <= count <= asked


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"ratio_norm": "fisher"}, "ratio_norm='identity'"),
        ({"include_score": True}, "include_score=False"),
        ({"solver": "adversarial"}, "solver='best_response'"),
    ],
)
def test_what_it_needs(wrong, told):
    with pytest.raises(ValueError, match=told):
        fit(case("law_school"), update="tree", **wrong)


# ---- how it is read ----


@pytest.mark.parametrize("by", ["concept", "feature"])
def test_the_explanation_adds_up(fitted, by):
    c, g = fitted
    flipped = changed(g, c.test.X)
    for place in (*np.flatnonzero(flipped)[:3], *np.flatnonzero(~flipped)[:3]):
        row = c.test.X.iloc[[place]]
        terms = g.explain_prediction(row, by=by)
        assert list(terms.index) == ["f", "constant", *g.concept_weights_.index, "g"]
        assert terms["value"].iloc[2:-1].sum() == flipped[place]
        assert terms["logit_after"].iloc[-2] == pytest.approx(g.decision_function(row)[0])
        assert terms["logit_after"].iloc[-1] == pytest.approx(g.decision_function(row)[0])


def test_the_tree_is_the_model(fitted):
    c, g = fitted
    tree = explain_rules(g, c.task, g.encoder_.transform(c.test.X), g.margin_of_f(c.test.X))
    assert tree.f1 == 1
    leaves = tree.nodes[tree.nodes["leaf"]].set_index("node")
    assert set(leaves["share"]) == {0.0, 1.0}
    np.testing.assert_array_equal(leaves["predicts"].loc[tree.ends].to_numpy(), changed(g, c.test.X))
    assert leaves["count"].sum() == len(c.test.X)
    assert tree.nodes["depth"].max() <= DEPTH + 1
    assert leaves["predicts"].sum() == len(g.rules)


def test_a_tree_that_changes_nobody_has_one_leaf():
    c = case("law_school")
    g = fit(c, lambda_fair=0.0, update="tree")
    tree = explain_rules(g, c.task, g.encoder_.transform(c.test.X), g.margin_of_f(c.test.X))
    assert list(tree.nodes["rule"]) == ["everyone"]
    assert tree.f1 == 0


def test_a_portable_file_decides_and_explains_alike(fitted, tmp_path):
    c, g = fitted
    (tmp_path / "model.json").write_text(portable_json(g), encoding="utf-8")
    model = load(tmp_path / "model.json")
    assert model.content["format"] == RULED
    assert f"{len(g.rules)} rules" in repr(model)
    rows = c.test.X.to_dict("records")
    np.testing.assert_allclose(model.predict_proba(rows), g.predict_proba(c.test.X), atol=1e-9)
    place = int(np.flatnonzero(changed(g, c.test.X))[0])
    ours, theirs = g.explain_prediction(c.test.X.iloc[[place]]), model.explain(rows[place])
    assert [term["term"] for term in theirs] == list(ours.index)
    np.testing.assert_allclose([term["logit_after"] for term in theirs], ours["logit_after"], atol=1e-9)


@pytest.mark.parametrize("damage", [{"asks": [[999, 0.0, True]]}, {"asks": [[0, None, True]]}, {"accepted": True}])
def test_a_damaged_portable_file_is_refused(fitted, damage):
    content = json.loads(json.dumps(to_portable(fitted[1])))
    content["rules"][0] = {"accepted": True, **damage} if "asks" in damage else damage
    with pytest.raises(ValueError, match="damaged"):
        Portable(content)


def test_it_is_cloned_with_its_update():
    assert clone(Commod(update="tree")).update == "tree"
