"""What holds for every competitor: one interface, S only where declared, seeds, scikit-learn; and the registry."""

import inspect
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import torch
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from commod.models import competitors
from commod.models.competitors import METHODS, available_methods, make_method, overview, overview_in_words
from commod.models.competitors.base import Rows, chance_of_rows
from commod.models.competitors.membership import Membership
from commod.models.networks import seeded
from tests.fitting import case
from tests.models.competitors.cases import AWARE, BLIND, COMPETITORS, EDITORS, WRITTEN, base, knowing, made, people

DP, EO = "demographic_parity", "equalized_odds"
EACH = [(name, fairness) for name in COMPETITORS for fairness in METHODS[name].criteria]
each_method = pytest.mark.parametrize("name", COMPETITORS)


def is_second(name, fairness):
    return fairness != METHODS[name].criteria[0]


# A method's second criterion in the slow tests: its own file has tests of both.
SECOND_SLOW = [pytest.param(*each, marks=[pytest.mark.slow] * is_second(*each)) for each in EACH]
each_criterion = pytest.mark.parametrize(("name", "fairness"), SECOND_SLOW)
OWN = {"mnb", "wass1_penalised", "rnf"}  # which are given f and do not start from it
each_aware = pytest.mark.parametrize("name", AWARE)


def class_of(name):
    module, title = METHODS[name].estimator
    return getattr(import_module(module), title)


@pytest.fixture(scope="module")
def small():
    X, y, s = people()
    return X, y, s, base(X, y)


@pytest.fixture(scope="module")
def models(small):
    """Methods by name and criterion, each fitted when it is first asked for; do not change them."""
    X, y, s, f = small

    class Fitted(dict):
        def __missing__(self, key):
            self[key] = made(key[0], f, fairness=key[1]).fit(X, y, sensitive_features=s)
            return self[key]

    return Fitted()


def table(X, s=None):
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame if s is None else frame.assign(group=s)


# ---- scikit-learn's own checks ----

ALSO_CHECKED = [name for name in COMPETITORS if name not in ("lpp", "frappe_mlp", "adv_debias")]
ONE_OF_EACH_BASE = ("lpp", "frappe", "oracle_roc", "pleiss", "adv_debias")


def one_of_each_base(names):
    """For what a base class does: its other methods in the slow tests."""
    marked = [pytest.param(name, marks=[pytest.mark.slow] * (name not in ONE_OF_EACH_BASE)) for name in names]
    return pytest.mark.parametrize("name", marked)


@parametrize_with_checks([class_of("lpp")()])
@pytest.mark.filterwarnings("ignore:fit was called without sensitive_features:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# What scikit-learn asks of everything whose fit has the argument: two methods refuse it with a sentence.
OF_WEIGHTS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_all_zero_sample_weights_error",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_classifiers_one_label_sample_weights",
)
WITHOUT_WEIGHTS = tuple(class_of(name) for name in ALSO_CHECKED if not METHODS[name].weights)


def expected_failures(estimator):
    if type(estimator).__name__ == "AdvDebias":
        batches = "rows drawn into batches are others if they are repeated"
        return {"check_sample_weight_equivalence_on_dense_data": batches}
    return dict.fromkeys(OF_WEIGHTS, "takes no sample_weight") if isinstance(estimator, WITHOUT_WEIGHTS) else {}


@pytest.mark.slow
@parametrize_with_checks(
    [*(class_of(name)() for name in ALSO_CHECKED), class_of("adv_debias")(epochs=20)],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:fit was called without sensitive_features:UserWarning")
def test_scikit_learn_conventions_of_the_others(estimator, check):
    check(estimator)


# ---- Who is told S ----


@each_aware
def test_without_s_predict_says_what_to_do(name, small, models):
    X = small[0]
    g = models[name, METHODS[name].criteria[0]]
    for ask in (g.predict, g.decision_function, *([g.predict_proba] if hasattr(g, "predict_proba") else [])):
        with pytest.raises(ValueError, match="cannot predict without the sensitive attribute") as error:
            ask(X)
        assert str(error.value).startswith(type(g).__name__)
        assert "pass sensitive_features to predict" in str(error.value)
        assert "sensitive_column" in str(error.value)


@pytest.mark.parametrize("name", BLIND)
def test_blind_methods_do_not_take_s(name, small, models):
    X, _, s, _ = small
    g = models[name, DP]
    for ask in (g.predict, g.decision_function, *([g.predict_proba] if hasattr(g, "predict_proba") else [])):
        assert "sensitive_features" not in inspect.signature(ask).parameters
        with pytest.raises(TypeError):
            ask(X, sensitive_features=s)
    assert not hasattr(g, "sensitive_column")


@each_aware
def test_a_group_that_was_not_there_in_fit_is_named(name, small, models):
    X, _, s, _ = small
    g = models[name, METHODS[name].criteria[0]]
    with pytest.raises(ValueError, match=r"sensitive_features holds .*7.*but the groups of fit were .*0.*1"):
        g.predict(X, sensitive_features=np.where(s == 1, 7, 0))
    with pytest.raises(ValueError, match=r"sensitive_features holds .*left.*but the groups of fit were"):
        g.predict(X[:3], sensitive_features=["left", "left", "left"])
    with pytest.raises(ValueError, match=r"sensitive_features holds .*nan"):
        g.predict(X[:2], sensitive_features=[0, np.nan])


@each_aware
def test_one_value_of_s_per_row(name, small, models):
    X, _, s, _ = small
    with pytest.raises(ValueError, match="one value per row: X has 400 rows, sensitive_features 399"):
        models[name, METHODS[name].criteria[0]].predict(X, sensitive_features=s[:-1])


@each_aware
def test_one_group_alone_can_be_predicted(name, small, models):
    X, _, s, _ = small
    g = models[name, METHODS[name].criteria[0]]
    together = g.predict(X, sensitive_features=s)
    for group in (0, 1):
        np.testing.assert_array_equal(g.predict(X[s == group], sensitive_features=s[s == group]), together[s == group])


@each_aware
def test_s_as_a_column_of_x(name, small):
    X, y, s, _ = small
    f = LogisticRegression().fit(table(X), y)
    words = np.where(s == 1, "right", "left")
    given = made(name, f).fit(table(X), y, sensitive_features=words)
    expected = given.predict(table(X), sensitive_features=words)
    assert (expected != f.predict(table(X))).any()
    g = made(name, f, sensitive_column="group").fit(table(X, words), y)
    np.testing.assert_array_equal(g.predict(table(X, words)), expected)
    assert list(g.encoder_.feature_names_out_) == list("abcd")
    # Passed as well, it counts as passed.
    np.testing.assert_array_equal(g.predict(table(X, "left"), sensitive_features=words), expected)
    scored = table(X, words).assign(score=f.predict_proba(table(X))[:, 1])
    by_column = made(name, "score", sensitive_column="group").fit(scored, y)
    np.testing.assert_array_equal(by_column.predict(scored), expected)
    assert list(by_column.encoder_.feature_names_out_) == list("abcd")
    unnamed = made(name, None, sensitive_column="group").fit(table(X, words), y)  # trains an f of its own
    assert list(unnamed.base_model_.feature_names_in_) == list("abcd")


@pytest.mark.parametrize("name", [name for name in AWARE if name not in OWN])
def test_an_f_that_was_trained_with_s_sees_it(name, small):
    X, y, s, _ = small
    f = LogisticRegression().fit(table(X, s), y)
    # The Bayes rule is f where a change costs more than it can gain.
    value, more = (0.0, {"lambda_ratio": 1.0}) if name == "oracle" else (METHODS[name].knob.unchanged, {})
    g = make_method(name, f, value, fairness=METHODS[name].criteria[0], sensitive_column="group", **more)
    g.fit(table(X, s), y)
    np.testing.assert_array_equal(g.predict(table(X, s)), f.predict(table(X, s)))
    assert list(g.encoder_.feature_names_out_) == list("abcd")


@each_aware
def test_a_column_that_is_not_there_is_named(name, small):
    X, y, _, f = small
    for rows in (X, table(X)):
        with pytest.raises(ValueError, match="sensitive_column='group' names no column of X"):
            made(name, f, sensitive_column="group").fit(rows, y)


@one_of_each_base(AWARE)
def test_scorers_that_hand_over_x_alone(name, small):
    X, y, s, _ = small
    f = LogisticRegression().fit(table(X), y)
    rows = table(X, s)
    g = made(name, f, sensitive_column="group")
    folds = KFold(3)
    scores = cross_val_score(g, rows, y, cv=folds, scoring="accuracy")
    expected = []
    for train, test in folds.split(rows):
        alone = made(name, f).fit(table(X[train]), y[train], sensitive_features=s[train])
        expected.append(np.mean(alone.predict(table(X[test]), sensitive_features=s[test]) == y[test]))
    np.testing.assert_allclose(scores, expected)
    knob = METHODS[name].knob
    least = knob.sweep[0] if knob.unchanged is None else knob.unchanged
    grid = GridSearchCV(g, {knob.name: [knob.sweep[-1], least]}, cv=folds, scoring="accuracy").fit(rows, y)
    assert grid.best_params_ == {knob.name: least}  # accuracy alone asks for no fairness
    if knob.unchanged is not None:
        np.testing.assert_array_equal(grid.predict(rows), f.predict(table(X)))


@one_of_each_base(BLIND)
def test_blind_methods_in_a_grid_search_with_routed_s(name, small):
    X, y, s, f = small
    knob = METHODS[name].knob
    search = GridSearchCV(made(name, f), {knob.name: [knob.sweep[0], knob.sweep[-2]]}, cv=2, scoring="accuracy")
    with sklearn.config_context(enable_metadata_routing=True):
        routed = search.fit(X, y, sensitive_features=s)
    assert routed.predict(X).shape == (400,)


# ---- Seeds, threads, batches ----


@each_criterion
def test_same_seed_same_decisions_and_the_global_generators_untouched(name, fairness, small, models):
    X, y, s, f = small
    first = models[name, fairness].decision_function(X, **knowing(name, s))
    torch.manual_seed(99)  # whatever others draw
    np.random.seed(99)  # noqa: NPY002
    before, state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    again = made(name, f, fairness=fairness).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(again.decision_function(X, **knowing(name, s)), first)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


@each_criterion
def test_another_seed_moves_decisions_where_it_is_declared_and_nowhere_else(name, fairness, small, models):
    X, y, s, f = small
    other = made(name, f, fairness=fairness, seed=1).fit(X, y, sensitive_features=s)
    moved = other.predict(X, **knowing(name, s)) != models[name, fairness].predict(X, **knowing(name, s))
    if name == "frappe":  # the seed moves what its concepts are
        assert not np.allclose(other.concepts_, models[name, fairness].concepts_, atol=0.01)
    # The first three draw lots among ties only, the last finds nothing to mend in this f (it has its own test).
    elif name not in ("lpp", "oracle_lpp", "wass1", "multiaccuracy_boost"):
        assert moved.any() == METHODS[name].randomised


@pytest.mark.parametrize("name", ["frappe", "frappe_mlp", "adv_debias"])
def test_fits_beside_one_another_are_those_of_fits_alone(name, small):
    X, y, s, f = small
    settings = {"max_iter": 10} if name.startswith("frappe") else {}

    def fit(seed):
        return made(name, f, seed=seed, **settings).fit(X, y, sensitive_features=s).decision_function(X)

    seeds = [0, 1]
    alone = [fit(seed) for seed in seeds]
    with ThreadPoolExecutor(2) as pool:
        beside = list(pool.map(fit, seeds))
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (alone[0] != alone[1]).any()


def test_networks_are_dealt_their_weights_one_at_a_time():
    def deal(seed):
        with seeded(seed):
            first = torch.rand(3)
            time.sleep(0.05)  # time for another to draw from the same deck
            return torch.cat([first, torch.rand(3)])

    alone = [deal(seed) for seed in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        beside = list(pool.map(deal, (0, 1)))
    for one, other in zip(alone, beside, strict=True):
        assert torch.equal(one, other)


@each_criterion
def test_a_decision_does_not_depend_on_who_else_is_asked_about(name, fairness, models):
    X, _, s = people(60, seed=5)
    g = models[name, fairness]
    together = g.predict(X, **knowing(name, s))
    alone = [g.predict(X[[i]], **knowing(name, s[[i]]))[0] for i in range(5)]
    np.testing.assert_array_equal(alone, together[:5])
    order = np.random.default_rng(0).permutation(60)
    np.testing.assert_array_equal(g.predict(X[order], **knowing(name, s[order])), together[order])
    twice = np.repeat(np.arange(10), 2)
    np.testing.assert_array_equal(g.predict(X[twice], **knowing(name, s[twice])), together[twice])


@pytest.mark.parametrize("name", ["hardt", "pleiss"])
def test_a_person_draws_the_same_lot_alone_and_among_others(name):
    c = case("law_school")
    g = made(name, c.f, fairness=EO).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    together = g.decision_function(c.test.X, sensitive_features=c.test.sensitive)
    rows = np.r_[0:30, 52, 63, 80, 85]
    alone = [g.decision_function(c.test.X.iloc[[i]], sensitive_features=c.test.sensitive.iloc[[i]])[0] for i in rows]
    np.testing.assert_allclose(alone, together[rows], atol=1e-9)


def test_where_a_whole_group_is_tied_a_person_is_decided_the_same_alone_and_among_others():
    c = case("german")
    g = make_method("oracle_lpp", c.f, 0.01, fairness=EO)
    g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    together = g.predict(c.test.X, sensitive_features=c.test.sensitive)
    rows = np.r_[0:5, 22, 138, 172]
    alone = [g.predict(c.test.X.iloc[[i]], sensitive_features=c.test.sensitive.iloc[[i]])[0] for i in rows]
    np.testing.assert_array_equal(alone, together[rows])


def test_the_last_digit_of_a_score_does_not_move_the_lot():
    X, _, s = people(50)
    logit = X[:, 0] + 0.3
    nearly = np.nextafter(logit, np.inf)
    np.testing.assert_array_equal(chance_of_rows(Rows(X, nearly, s), 0), chance_of_rows(Rows(X, logit, s), 0))


# ---- clone, pickle, labels, forms of f ----


@one_of_each_base(COMPETITORS)
def test_clone_keeps_the_settings_and_the_fitted_f(name, small):
    X, y, s, f = small
    for given in (f, FrozenEstimator(f)):
        model = made(name, given).fit(X, y, sensitive_features=s)
        copy = clone(model)
        assert copy is not model
        assert not hasattr(copy, "classes_")
        if METHODS[name].edits:
            assert copy.base_model is given
        same = copy.fit(X, y, sensitive_features=s)
        np.testing.assert_array_equal(same.predict(X, **knowing(name, s)), model.predict(X, **knowing(name, s)))
        assert {k: v for k, v in copy.get_params(deep=False).items() if k != "base_model"} == {
            k: v for k, v in model.get_params(deep=False).items() if k != "base_model"
        }


@each_criterion
def test_pickle_round_trip(name, fairness, small, models):
    X, _, s, _ = small
    g = models[name, fairness]
    back = pickle.loads(pickle.dumps(g))
    told = knowing(name, s)
    np.testing.assert_array_equal(back.decision_function(X, **told), g.decision_function(X, **told))


@each_criterion
def test_labels_and_groups_may_be_words(name, fairness, small, models):
    X, y, s, _ = small
    words, sides = np.where(y == 1, "yes", "no"), np.where(s == 1, "right", "left")
    spoken = LogisticRegression().fit(X, words)
    g = made(name, spoken, fairness=fairness).fit(X, words, sensitive_features=sides)
    said = g.predict(X, **knowing(name, sides))
    assert set(said) <= {"yes", "no"}
    np.testing.assert_array_equal(said == "yes", models[name, fairness].predict(X, **knowing(name, s)) == 1)
    assert list(g.classes_) == ["no", "yes"]
    assert list(g.groups_) == ["left", "right"]
    table_of_words = pd.Series(sides, dtype="category", index=np.arange(400)[::-1])  # its index says nothing
    np.testing.assert_array_equal(g.predict(X, **knowing(name, table_of_words)), said)


@each_criterion
def test_decisions_are_the_sign_of_the_margin_and_probabilities_agree(name, fairness, small, models):
    X, _, s, _ = small
    g, told = models[name, fairness], knowing(name, s)
    margin = g.decision_function(X, **told)
    np.testing.assert_array_equal(g.predict(X, **told), margin > 0)
    if hasattr(g, "predict_proba"):
        p = g.predict_proba(X, **told)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), margin, atol=1e-6)


@one_of_each_base(EDITORS)
def test_f_in_any_form(name, small):
    X, y, s, _ = small
    rows = table(X)
    f = LogisticRegression().fit(rows, y)
    scores, told = f.predict_proba(rows)[:, 1], knowing(name, s)
    expected = made(name, f).fit(rows, y, sensitive_features=s).decision_function(rows, **told)
    by_call = made(name, f.predict_proba).fit(rows, y, sensitive_features=s)
    np.testing.assert_array_equal(by_call.decision_function(rows, **told), expected)
    with_column = rows.assign(score=scores)
    by_column = made(name, "score").fit(with_column, y, sensitive_features=s)
    np.testing.assert_array_equal(by_column.decision_function(with_column, **told), expected)
    by_scores = made(name, None).fit(rows, y, sensitive_features=s, base_scores=scores)
    np.testing.assert_array_equal(by_scores.decision_function(rows, base_scores=scores, **told), expected)
    with pytest.raises(ValueError, match="pass the scores of these rows"):
        by_scores.predict(rows, **told)
    margins = made(name, SVC().fit(rows, y)).fit(rows, y, sensitive_features=s)
    assert set(margins.predict(rows, **told)) <= {0, 1}


@pytest.mark.parametrize("name", EDITORS)
def test_scores_of_exactly_zero_and_one(name, small):
    X, y, s, _ = small
    scores = np.where(X[:, 0] > 1.5, 1.0, np.where(X[:, 0] < -1, 0.0, 0.4 + 0.3 * (X[:, 1] > 0)))
    for fairness in METHODS[name].criteria:
        g = made(name, None, fairness=fairness).fit(X, y, sensitive_features=s, base_scores=scores)
        assert np.isfinite(g.decision_function(X, base_scores=scores, **knowing(name, s))).all()


# ---- Bad input ----


@each_method
def test_before_fit(name, small):
    X, _, s, f = small
    with pytest.raises(NotFittedError):
        made(name, f).decision_function(X, **knowing(name, s))


@each_method
def test_data(name, small):
    X, y, s, f = small
    for labels, groups, message in [
        (y + np.arange(400) % 2 * 2, s, "Only binary classification"),
        (y * 0, s, "one class only"),
        (y[:-1], s, "inconsistent numbers of samples"),
        (y, s * 0, "one group only"),
        (y, s[:-1], "one value per row"),
        (y, np.where(s == 1, 1.0, np.nan), "one group only"),
        (y, np.full(400, None), "no group that is known"),
    ]:
        with pytest.raises(ValueError, match=message):
            made(name, f).fit(X, labels, sensitive_features=groups)


@pytest.mark.parametrize("name", EDITORS)
def test_gaps_are_for_f_to_take_or_to_refuse(name, small):
    X, y, s, f = small
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    with pytest.raises(ValueError, match="pipeline with an imputer.* f says: Input X contains NaN"):
        made(name, f).fit(gaps, y, sensitive_features=s)
    takes = HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(gaps, y)
    g = made(name, takes).fit(gaps, y, sensitive_features=s)
    assert np.isfinite(g.decision_function(gaps, **knowing(name, s))).all()


@one_of_each_base(COMPETITORS)
def test_frames_of_polars_keep_their_names(name, small):
    X, y, s, _ = small
    frame = table(X, s) if name in AWARE else table(X)
    by_column = {"sensitive_column": "group"} if name in AWARE else {}
    given = {} if name in AWARE else {"sensitive_features": s}
    g = made(name, None, **by_column).fit(pl.from_pandas(frame), y, **given)
    assert list(g.feature_names_in_) == list(frame.columns)
    same = made(name, None, **by_column).fit(frame, y, **given)
    np.testing.assert_array_equal(g.predict(pl.from_pandas(frame)), same.predict(frame))


@pytest.mark.parametrize("name", EDITORS)
def test_without_sensitive_features_g_is_f_and_a_warning_says_so(name, small):
    X, y, _, f = small
    with pytest.warns(UserWarning, match="no one to be fair to: g = f"):
        g = made(name, f).fit(X, y)
    np.testing.assert_array_equal(g.predict(X), f.predict(X))
    assert g.groups_ is None


@pytest.mark.parametrize("name", EDITORS)
def test_an_f_of_other_classes_or_not_fitted(name, small):
    X, y, s, _ = small
    with pytest.raises(NotFittedError, match="call base_model.fit"):
        made(name, LogisticRegression()).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="trained on classes"):
        made(name, LogisticRegression().fit(X, y + 1)).fit(X, y, sensitive_features=s)


@pytest.mark.parametrize("name", ["lpp", "fst", "fair_projection", "frappe"])
def test_equalized_odds_needs_rows_of_every_group_and_label(name, small):
    X, y, s, f = small
    kept = ~((s == 1) & (y == 0))
    with pytest.raises(ValueError, match="label"):
        made(name, f, fairness=EO).fit(X[kept], y[kept], sensitive_features=s[kept])


@pytest.mark.parametrize("name", ["lpp", "oracle_roc", "hardt", "pleiss", "wass1", "fst", "frappe"])
def test_refitting_after_a_failed_fit_keeps_the_old_model(name, small):
    X, y, s, f = small
    g, told = made(name, f).fit(X, y, sensitive_features=s), knowing(name, s)
    before = g.decision_function(X, **told)
    knob = METHODS[name].knob.name
    fair = getattr(g, knob)
    with pytest.raises(ValueError, match=knob):
        g.set_params(**{knob: -1.0}).fit(3 * X + 1, y, sensitive_features=np.where(s == 1, "left", "right"))
    g.set_params(**{knob: fair})
    np.testing.assert_array_equal(g.decision_function(X, **told), before)


# ---- The registry ----

# Appendix, table of post-processing methods: (needs S at predict, criteria, minimises changes, model-agnostic).
PAPER = {
    "commod": (False, "DP, EO", True, True),
    "mnb": (True, "DP", False, False),
    "leaf_relabelling": (False, "DP", False, False),  # the paper says it needs S; as published, it does not
    "oracle_roc": (True, "DP", False, True),
    "hardt": (True, "DP, EO", False, True),  # EO in the paper; fairlearn's solver also does DP
    "pleiss": (True, "EO", False, True),
    "igd": (True, "DP", False, True),
    "multiaccuracy_boost": (False, "other", False, True),  # the paper says it needs S; it does not
    "cfbc": (True, "EO", False, True),
    "wass1": (True, "DP", True, True),
    "wass1_penalised": (False, "DP", True, False),
    "fst": (False, "DP, EO", False, True),
    "rnf": (False, "DP, EO", False, False),
    "fcgp": (True, "DP", True, True),
    "fair_projection": (False, "DP, EO", True, True),  # the paper says it needs S; it does not
    "frappe": (False, "DP, EO", True, True),
    "lpp": (False, "DP, EO", False, True),
    "oracle_lpp": (True, "DP, EO", False, True),
}
NOT_YET = {"igd", "fcgp"}


def test_overview_is_the_papers_table():
    rows = overview().loc[[*PAPER]]
    agnostic = rows["model_agnostic"] == "yes"
    found = zip(rows["needs_sensitive"], rows["criteria"], rows["minimises_changes"], agnostic, strict=True)
    assert dict(zip(rows.index, found, strict=True)) == PAPER
    assert dict(rows["runs"]) == {name: "not yet" if name in NOT_YET else "yes" for name in PAPER}


def test_overview_holds_nothing_else_but_what_the_experiments_add():
    found = overview()
    assert set(found.index) - set(PAPER) == {
        "commod_decisions",
        "adv_debias",
        "frappe_mlp",
        "bayes",
        "oracle",
        "mbs",
        "oxonfair",
    }
    assert {name for name, method in METHODS.items() if method.in_paper} == set(PAPER)
    assert overview_in_words() == (
        "16 of the 18 methods of the paper's overview run here, and 7 that it does not have. "
        "†: written from a description alone."
    )
    assert found.index[0] == "commod"
    assert found.loc["adv_debias", "model_agnostic"] == "trains its own"
    assert list(found.columns) == (
        "method reference runs model_agnostic needs_sensitive criteria groups weights minimises_changes randomised "
        "knob note".split()
    )
    assert found["method"].is_unique
    assert found.notna().all().all()


DP_ONLY = {"oracle_roc", "wass1", "leaf_relabelling", "mnb", "wass1_penalised"}


def test_available_methods():
    assert available_methods(DP) == [name for name in WRITTEN if name not in ("pleiss", "cfbc")]
    assert available_methods(EO) == [name for name in WRITTEN if name not in DP_ONLY]
    with pytest.raises(ValueError, match="fairness must be one of 'demographic_parity', 'equalized_odds'"):
        available_methods("parity")


def test_make_method_says_what_there_is(small):
    f = small[3]
    with pytest.raises(
        ValueError,
        match="no method 'perceptron': choose one of commod, commod_decisions, adv_debias, .*wass1",
    ):
        make_method("perceptron", f, 0.0)
    with pytest.raises(ValueError, match="'igd' is not implemented yet: choose one of commod"):
        make_method("igd", f, 0.0)
    with pytest.raises(ValueError, match="Oracle ROC is not defined for equalized_odds: choose demographic_parity"):
        make_method("oracle_roc", f, 0.1, fairness=EO)
    with pytest.raises(ValueError, match="Information withholding is not defined for demographic_parity"):
        make_method("pleiss", f, 0.1)


@pytest.mark.parametrize("name", WRITTEN)
def test_make_method_passes_everything_on(name, small):
    f, method = small[3], METHODS[name]
    fairness = method.criteria[-1]
    made_one = make_method(name, f, 0.25, fairness=fairness, random_state=7)
    params = made_one.get_params(deep=False)
    assert type(made_one).__name__ == method.estimator[1]
    assert params[method.knob.name] == 0.25
    assert params["fairness"] == fairness
    assert params["random_state"] == 7
    assert {key: params[key] for key in method.settings} == method.settings
    assert ("base_model" in params) == method.edits
    if method.edits:
        assert made_one.base_model is f
    assert set(method.others) <= set(params)
    assert ("sensitive_column" in params) == method.needs_sensitive


def test_knobs_lead_away_from_f():
    for name in WRITTEN:
        knob = METHODS[name].knob
        steps = np.diff(knob.sweep)
        assert (steps > 0).all() or (steps < 0).all(), name
        if knob.unchanged is not None:
            assert abs(knob.sweep[0] - knob.unchanged) == min(abs(v - knob.unchanged) for v in knob.sweep), name
        assert METHODS[name].seeds >= 1, name
        assert METHODS[name].randomised or METHODS[name].seeds == 1, name


@pytest.fixture(scope="module")
def law_membership():
    c = case("law_school")
    return Membership().fit(c.f[0].transform(c.train.X), c.train.y, c.train.sensitive)


@pytest.mark.parametrize(
    ("name", "fairness"),
    [
        pytest.param(name, fairness, marks=[pytest.mark.slow] * is_second(name, fairness))
        for name in WRITTEN
        if METHODS[name].knob.unchanged is not None
        for fairness in METHODS[name].criteria
    ],
)
def test_the_unchanged_knob_gives_f_and_the_last_of_the_sweep_does_not(name, fairness, law_membership):
    c, knob = case("law_school"), METHODS[name].knob
    told = knowing(name, c.test.sensitive)
    f = c.f.predict(c.test.X)
    quick = {"max_iter": 20} if "frappe" in name else {}
    if name in ("lpp", "fst", "fair_projection"):
        quick = {"membership": law_membership}

    def decided(value):
        g = make_method(name, c.f, value, fairness=fairness, **quick)
        return g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive).predict(c.test.X, **told)

    for value in {knob.unchanged, knob.sweep[0]}:  # a sweep starts "as f"
        np.testing.assert_array_equal(decided(value), f)
    assert (decided(knob.sweep[-1]) != f).any()


def test_the_declarations_agree_with_the_classes():
    for name in COMPETITORS:
        method = METHODS[name]
        assert "sensitive_features" in inspect.signature(class_of(name).fit).parameters
        assert ("sensitive_features" in inspect.signature(class_of(name).predict).parameters) == method.needs_sensitive
        assert tuple(getattr(class_of(name), "criteria", (DP, EO))) == method.criteria
        for argument in inspect.signature(class_of(name).__init__).parameters:
            assert argument in ("self", *class_of(name)().get_params(deep=False))


def test_classes_are_imported_when_they_are_asked_for():
    assert competitors.LPP is class_of("lpp")
    assert {"LPP", "AdvDebias", "make_method", "overview"} <= set(dir(competitors))
    with pytest.raises(AttributeError, match="has no attribute 'Perceptron'"):
        _ = competitors.Perceptron
