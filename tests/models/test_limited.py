"""What limits an update: `direction` (nobody loses, nobody gains) and `features` (what r may use)."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from commod import Commod
from commod.models import WarmStart
from commod.models.base_models import base_logits
from commod.models.best_response import LinearProblem
from commod.models.export import portable_json, to_portable
from commod.models.rescaler import ACTS_ON, acted_on, acts_on_of
from commod.models.training import LossWeights, TrainingData, ratio_form, shift_unit
from commod.portable import load
from tests.fitting import case, fit

SETTINGS = {"lambda_fair": 4.0, "lambda_concepts": 0.05}


@pytest.fixture(scope="module", params=[("law_school", "ratio"), ("compas", "affine")], ids=lambda p: "-".join(p))
def improved(request):
    name, update = request.param
    c = case(name)
    good = c.task.spec.favourable
    return c, good, fit(c, update=update, direction="improve", favourable=good, **SETTINGS)


# ---- direction ----


@pytest.mark.parametrize(
    ("direction", "favourable", "acts_on"),
    [
        ("both", 0, "everybody"),
        ("both", 1, "everybody"),
        ("improve", 1, "negative"),
        ("improve", 0, "positive"),
        ("worsen", 1, "positive"),
        ("worsen", 0, "negative"),
    ],
)
def test_whom_a_direction_acts_on(direction, favourable, acts_on):
    assert acts_on_of(direction, favourable) == acts_on
    assert acts_on in ACTS_ON


def test_nobody_loses_and_all_others_keep_their_scores(improved):
    c, good, g = improved
    for rows in (c.train, c.test):
        before, after = c.f.predict(rows.X), g.predict(rows.X)
        assert (after[before == good] == good).all()
        logit = base_logits(c.f, rows.X)
        np.testing.assert_array_equal(g.decision_function(rows.X)[before == good], logit[before == good])
        assert (after != before).sum() > 10


def test_nobody_gains():
    c = case("compas")
    g = fit(c, direction="worsen", favourable=0, **SETTINGS)
    before, after = c.f.predict(c.test.X), g.predict(c.test.X)
    assert (after[before == 1] == 1).all()
    assert (after != before).any()


@pytest.mark.slow
def test_the_positive_label_is_the_favourable_one_unless_said_otherwise():
    c = case("law_school")
    plain, said = (fit(c, direction="improve", **more, **SETTINGS) for more in ({}, {"favourable": 1}))
    np.testing.assert_array_equal(plain.coef_, said.coef_)


def test_every_point_of_the_path_keeps_the_direction(improved):
    c, good, g = improved
    before = c.f.predict(c.test.X)
    for after in g.staged_predict(c.test.X):
        assert (after[before == good] == good).all()


def test_ratio_and_shift_are_those_that_act(improved):
    c, good, g = improved
    logit = base_logits(c.f, c.test.X)
    ratio, shift = g.ratio_and_shift(c.test.X)
    kept = c.f.predict(c.test.X) == good
    assert (ratio[kept] == 1).all()
    assert (shift[kept] == 0).all()
    assert (ratio[~kept] != 1).all()
    np.testing.assert_allclose(ratio * logit + shift, g.decision_function(c.test.X), atol=1e-12)


@pytest.mark.parametrize("by", ["concept", "feature"])
def test_the_sum_adds_up_whether_it_acts_or_not(improved, by):
    c, good, g = improved
    kept = c.f.predict(c.test.X) == good
    for place in (np.flatnonzero(kept)[0], np.flatnonzero(~kept)[0]):
        row = c.test.X.iloc[[place]]
        terms = g.explain_prediction(row, by=by)
        assert terms["logit"].iloc[:-1].sum() == pytest.approx(g.decision_function(row)[0], abs=1e-9)
        assert (terms["logit"].iloc[1:-1] == 0).all() == kept[place]


def test_the_file_gives_the_model_back(improved):
    c, good, g = improved
    assert to_portable(g)["acts_on"] in ("negative", "positive")
    portable = load(portable_json(g))
    for mine, theirs in zip(g.ratio_and_shift(c.test.X), (portable.ratio, portable.shift), strict=True):
        np.testing.assert_allclose(theirs(c.test.X), mine, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(portable.predict(c.test.X), g.predict(c.test.X))
    kept = c.f.predict(c.test.X) == good
    for place in (np.flatnonzero(kept)[0], np.flatnonzero(~kept)[0]):
        row = c.test.X.iloc[[place]]
        found = pd.DataFrame(portable.explain(row.iloc[0].to_dict())).set_index("term")
        np.testing.assert_allclose(found.to_numpy(float), g.explain_prediction(row).to_numpy(), rtol=0, atol=1e-9)


def test_a_damaged_file_is_refused(improved):
    content = to_portable(improved[2]) | {"acts_on": "nobody"}
    with pytest.raises(ValueError, match="This file is damaged: ValueError acts_on is 'nobody'"):
        load(content)


@pytest.mark.parametrize("acts_on", ACTS_ON)
@pytest.mark.parametrize("affine", [False, True])
def test_the_gradient_is_that_of_finite_differences(acts_on, affine):
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 300).astype(float)
    X = np.column_stack([rng.normal(size=300) + s, rng.normal(size=300)])
    logit = rng.normal(size=300) * 2 + s
    y = (rng.random(300) < 1 / (1 + np.exp(-logit))).astype(float)
    data, weights = TrainingData(X, logit, y, s), LossWeights(2.0, 0.1, 0.0, 0.0, False, affine, acts_on)
    problem = LinearProblem(data, weights, ratio_form("identity", data, acts_on), affine * shift_unit(data, acts_on))
    theta = np.array([0.8, -0.2, 0.1, 0.3, 0.2, -0.1][: len(problem.identity)])

    def value(point):
        return problem.terms(problem.objective.evaluate(problem.scores(point)), point, 2.0)["objective"]

    newton = problem.objective.newton_terms(problem.objective.evaluate(problem.scores(theta)), 2.0, problem.A)
    gradient = newton.gradient + problem.quadratic @ (theta - problem.identity)
    h = 1e-4
    numeric = [(value(theta + h * e) - value(theta - h * e)) / (2 * h) for e in np.eye(len(theta))]
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)
    np.testing.assert_array_equal(problem.scores(problem.identity), logit)
    # What is penalised is how far r is from 1 where it acts.
    r = np.where(acted_on(acts_on, logit), problem.ratio(theta), 1.0)
    expected = np.mean((r - 1) ** 2)
    form = problem.form[: problem.width, : problem.width]
    move = (theta - problem.identity)[: problem.width]
    assert move @ form @ move == pytest.approx(expected)


def test_where_nobody_can_be_helped_g_is_f():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    s, y = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    for update in ("ratio", "affine"):
        g = Commod(direction="improve", update=update, **SETTINGS)
        g.fit(X, y, sensitive_features=s, base_scores=np.full(200, 0.7))
        assert g.predict(X, base_scores=np.full(200, 0.7)).all()


@pytest.mark.parametrize("more", [{"direction": "improve", "features": ["lsat", "ugpa", "tier"]}])
def test_a_warm_start_gives_the_same_to_the_last_digit(more):
    c, warm = case("law_school"), WarmStart()
    for lambda_fair in (4.0, 2.0, 3.0):
        alone = fit(c, lambda_fair=lambda_fair, **more)
        again = fit(c, lambda_fair=lambda_fair, warm_start=warm, **more)
        np.testing.assert_array_equal(alone.coef_, again.coef_)


def test_a_warm_start_is_not_taken_for_that_of_another_direction():
    c, warm = case("law_school"), WarmStart()
    fit(c, warm_start=warm)
    alone, after = fit(c, direction="improve"), fit(c, direction="improve", warm_start=warm)
    np.testing.assert_array_equal(alone.coef_, after.coef_)


# ---- features ----


def test_the_rest_has_no_weight_and_f_goes_on_using_it():
    c = case("compas")
    kept = ["priors_count", "age"]
    g = fit(c, features=kept, update="affine", **SETTINGS)
    others = [not name.startswith(tuple(kept)) for name in g.coef_.index]
    for weights in (g.coef_, g.shift_coef_):
        assert (weights[others] == 0).all()
    assert (g.coef_[np.invert(others)] != 0).any()
    assert (g.concepts_.loc[others].to_numpy() == 0).all()
    assert g.base_model_ is c.f
    np.testing.assert_allclose(g.concepts_ @ g.concept_weights_, g.coef_, atol=1e-12)


def test_it_is_the_model_of_a_table_that_has_only_these():
    c = case("law_school")
    kept = ["lsat", "ugpa"]
    scores = c.f.predict_proba(c.train.X)[:, 1]
    few = Commod(**SETTINGS).fit(c.train.X[kept], c.train.y, sensitive_features=c.train.sensitive, base_scores=scores)
    g = fit(c, features=kept, **SETTINGS)
    # Not to the last digit: on some processors BLAS adds up a copy that lies otherwise in memory in another order.
    np.testing.assert_allclose(g.coef_[kept], few.coef_[kept], rtol=1e-9)
    assert g.intercept_ == pytest.approx(few.intercept_, rel=1e-9)


@pytest.mark.filterwarnings("ignore:COMMOD did not converge")
@pytest.mark.parametrize("solver", ["best_response", "adversarial"])
@pytest.mark.parametrize("rescaler", ["linear", "mlp"])
def test_every_solver_keeps_them_out(solver, rescaler):
    c = case("german")
    quick = {"adversarial": {"epochs": 2}, "best_response": {"max_iter": 3} if rescaler == "mlp" else {}}[solver]
    kept = list(c.train.X.columns[:4])
    g = fit(c, features=kept, solver=solver, rescaler=rescaler, solver_options=quick, **SETTINGS)
    scores = np.full(len(c.test.X), 0.4)
    X = c.test.X.copy()
    for column in X.columns.difference(kept):
        X[column] = X[column].sample(frac=1, random_state=0).to_numpy()
    plain, shuffled = (g.decision_function(rows, base_scores=scores) for rows in (c.test.X, X))
    np.testing.assert_array_equal(plain, shuffled)
    assert np.ptp(plain) > 0


def test_columns_of_an_array_have_the_names_that_scikit_learn_gives_them():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 300)
    X = np.column_stack([rng.normal(size=300) + s, rng.normal(size=300) + s])
    y = (X.sum(axis=1) + rng.normal(size=300) > 1).astype(int)
    g = Commod(features=["x1"], n_concepts=1, **SETTINGS).fit(X, y, sensitive_features=s)
    assert g.coef_.iloc[0] == 0 != g.coef_.iloc[1]


def test_a_clone_has_the_same_limits():
    g = Commod(direction="worsen", favourable="b", features=["x"])
    assert clone(g).get_params() == g.get_params()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"direction": "up"}, "direction must be one of 'both', 'improve', 'worsen'"),
        ({"direction": "improve", "favourable": "yes"}, "favourable must be one of the labels in y, .0, 1., got 'yes'"),
        ({"direction": "improve", "rescaler": "mlp"}, "direction='improve' is available for rescaler='linear'"),
        ({"direction": "improve", "solver": "adversarial"}, "or direction='both'"),
        ({"features": []}, "features must be a list of one or more columns"),
        ({"features": "lsat"}, "features must be a list of one or more columns of X, got 'lsat'"),
        ({"features": ["lsat", "race"]}, r"features names \['race'\], which r cannot use: X has \['lsat'"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        fit(case("law_school"), **wrong)
