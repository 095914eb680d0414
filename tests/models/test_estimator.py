"""COMMOD as a scikit-learn estimator: conventions, any f, bad input, explanations, callbacks."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from commod import Commod, evaluate
from commod.models import WarmStart
from tests.fitting import case, fit

# The invented data of most tests here are easily ruined; that it is told is tested in test_collapse.py.
pytestmark = pytest.mark.filterwarnings("ignore::commod.models.evaluation.CollapseWarning")

# Each exception with its reason; a check that comes to pass must leave this list (strict xfail).
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks([Commod()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
@pytest.mark.filterwarnings("ignore:fit was called without sensitive_features:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def small():
    """400 rows, 4 numbers: enough for a fit in milliseconds. S moves feature 0, which moves y."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 4))
    X[:, 0] += 1.5 * s
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=400) > 0.75).astype(int)
    return X, y, s


def fitted(small, **settings):
    X, y, s = small
    settings = {"lambda_ratio": 0.02, **settings}
    base = settings.pop("base_model", None) or LogisticRegression().fit(X, y)
    return Commod(base, **settings).fit(X, y, sensitive_features=s)


class TestAnyBaseModel:
    @pytest.mark.parametrize(
        "classifier",
        [
            LogisticRegression(),
            RandomForestClassifier(n_estimators=20, random_state=0),
            HistGradientBoostingClassifier(max_iter=20, random_state=0),
            SVC(),
            LinearSVC(),
            make_pipeline(StandardScaler(), LogisticRegression()),
        ],
        ids=lambda c: type(c).__name__,
    )
    def test_scikit_learn_classifiers(self, small, classifier):
        X, y, _ = small
        f = clone(classifier).fit(X, y)
        g = fitted(small, base_model=f, lambda_fair=4.0)
        assert set(g.predict(X)) <= {0, 1}
        changed = np.mean(g.predict(X) != f.predict(X))
        assert 0 < changed < 0.5
        unchanged = fitted(small, base_model=f, lambda_fair=0.0)
        np.testing.assert_array_equal(unchanged.predict(X), f.predict(X))

    def test_pipeline_on_a_table_with_categories(self):
        c = case("compas", base_model="random_forest")
        g = fit(c, lambda_fair=3.0)
        assert "charge=Battery" in g.concepts_.index
        assert 0 < np.mean(g.predict(c.test.X) != c.f.predict(c.test.X)) < 0.3

    def test_callable_column_and_scores_agree_with_the_model_itself(self, small):
        X, y, s = small
        frame = pd.DataFrame(X, columns=list("abcd"))
        f = LogisticRegression().fit(frame, y)
        scores = f.predict_proba(frame)[:, 1]
        expected = Commod(f, lambda_ratio=0.02).fit(frame, y, sensitive_features=s).predict_proba(frame)
        by_call = Commod(f.predict_proba, lambda_ratio=0.02).fit(frame, y, sensitive_features=s)
        np.testing.assert_array_equal(by_call.predict_proba(frame), expected)
        with_column = frame.assign(score=scores)
        by_column = Commod("score", lambda_ratio=0.02).fit(with_column, y, sensitive_features=s)
        np.testing.assert_array_equal(by_column.predict_proba(with_column), expected)
        assert "score" not in by_column.concepts_.index
        by_scores = Commod(lambda_ratio=0.02).fit(frame, y, sensitive_features=s, base_scores=scores)
        np.testing.assert_array_equal(by_scores.predict_proba(frame, base_scores=scores), expected)
        with pytest.raises(ValueError, match="pass the scores of these rows"):
            by_scores.predict(frame)

    def test_scores_of_exactly_zero_and_one(self, small):
        X, y, s = small
        scores = np.where(X[:, 0] > 2, 1.0, np.where(X[:, 0] < -1, 0.0, 0.4 + 0.3 * (X[:, 0] > 0.7)))
        g = Commod(lambda_fair=3.0).fit(X, y, sensitive_features=s, base_scores=scores)
        assert np.isfinite(g.predict_proba(X, base_scores=scores)).all()

    def test_a_score_of_one_half_stays_negative(self, small):
        X, y, s = small
        scores = np.full(400, 0.5)
        scores[::2] = 0.8
        g = Commod(lambda_fair=0.0).fit(X, y, sensitive_features=s, base_scores=scores)
        np.testing.assert_array_equal(g.predict(X, base_scores=scores), np.tile([1, 0], 200))


class TestGaps:
    """NaN where f takes it: f gets it untouched, r fills it in."""

    @pytest.fixture
    def gaps(self, small):
        X, y, s = small
        return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X), y, s

    @pytest.mark.parametrize(
        "classifier",
        [
            HistGradientBoostingClassifier(max_iter=20, random_state=0),
            make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
        ],
        ids=lambda c: type(c).__name__,
    )
    def test_f_is_asked_with_the_gaps_and_r_with_medians(self, gaps, classifier):
        X, y, s = gaps
        seen = []
        f = clone(classifier).fit(X, y)

        def asked(rows):
            seen.append(rows)
            return f.predict_proba(rows)

        g = Commod(asked, lambda_fair=4.0, lambda_ratio=0.02).fit(X, y, sensitive_features=s)
        assert all(np.isnan(rows).any() for rows in seen)
        filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
        np.testing.assert_array_equal(g.ratio(X), g.ratio(filled))
        assert (g.ratio(X) != 1).any()
        itself = Commod(f, lambda_fair=4.0, lambda_ratio=0.02).fit(X, y, sensitive_features=s)
        np.testing.assert_array_equal(itself.predict_proba(X), g.predict_proba(X))

    def test_f_trained_here_takes_them(self, gaps):
        X, y, s = gaps
        g = Commod().fit(X, y, sensitive_features=s)
        assert np.isfinite(g.predict_proba(X)).all()

    def test_an_f_that_refuses_them_is_heard(self, small, gaps):
        f = LogisticRegression().fit(small[0], small[1])
        with pytest.raises(ValueError, match="pipeline with an imputer.* f says: Input X contains NaN"):
            Commod(f).fit(gaps[0], gaps[1], sensitive_features=gaps[2])
        g = Commod(f).fit(*small[:2], sensitive_features=small[2])
        with pytest.raises(ValueError, match="pipeline with an imputer"):
            g.predict(gaps[0])


class TestOtherTables:
    def test_polars_frames_keep_their_names(self, small):
        X, y, s = small
        frame = pl.DataFrame({**{name: X[:, i] for i, name in enumerate("abcd")}, "town": np.where(s == 1, "x", "y")})
        g = Commod(lambda_ratio=0.02).fit(frame, pl.Series(y), sensitive_features=pl.Series(s))
        assert list(g.feature_names_in_) == ["a", "b", "c", "d", "town"]
        assert g.get_feature_names_out()[-1] == "town=y"
        same = Commod(lambda_ratio=0.02).fit(frame.to_pandas(), y, sensitive_features=s)
        np.testing.assert_array_equal(g.predict_proba(frame), same.predict_proba(frame.to_pandas()))
        f = LogisticRegression().fit(frame.drop("town"), y)
        Commod(f).fit(frame.drop("town"), y, sensitive_features=s).explain_prediction(frame.drop("town")[:1])

    def test_a_sparse_matrix_is_refused_with_the_way_round(self, small):
        X, y, s = small
        with pytest.raises(TypeError, match=r"Sparse data was passed .* pass X.toarray\(\), or .* as base_scores"):
            Commod().fit(csr_array(X), y, sensitive_features=s)
        # The way round: a few dense columns for the edit, f's scores beside them.
        f = LogisticRegression().fit(csr_array(X), y)
        scores = f.predict_proba(csr_array(X))
        Commod(n_concepts=1).fit(X[:, :2], y, sensitive_features=s, base_scores=scores)


class TestScikitLearn:
    def test_clone_keeps_the_fitted_base_model(self, small):
        X, y, s = small
        f = LogisticRegression().fit(X, y)
        for model in (Commod(f), Commod(FrozenEstimator(f))):
            copy = clone(model.set_params(lambda_fair=3.0))
            assert copy.lambda_fair == 3.0
            assert not hasattr(copy, "coef_")
            copy.fit(X, y, sensitive_features=s)

    def test_grid_search_with_routed_sensitive_features(self, small):
        X, y, s = small
        f = LogisticRegression().fit(X, y)
        grid = {"lambda_fair": [0.0, 4.0]}
        plain = GridSearchCV(Commod(f), grid, cv=3).fit(X, y, sensitive_features=s)
        assert plain.best_params_ == {"lambda_fair": 0.0}  # accuracy alone asks for no fairness
        with sklearn.config_context(enable_metadata_routing=True):
            routed = GridSearchCV(Commod(f), grid, cv=3).fit(X, y, sensitive_features=s)
            cross_val_predict(Commod(f), X, y, params={"sensitive_features": s})
            pipeline = Pipeline([("same", FunctionTransformer()), ("fair", Commod(f))])
            inside = GridSearchCV(pipeline, {"fair__lambda_fair": [4.0]}, cv=3).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(plain.cv_results_["mean_test_score"], routed.cv_results_["mean_test_score"])
        assert inside.predict(X).shape == (400,)

    def test_pickle_round_trip(self):
        c = case("law_school")
        g = fit(c)
        back = pickle.loads(pickle.dumps(g))
        np.testing.assert_array_equal(back.predict_proba(c.test.X), g.predict_proba(c.test.X))
        pd.testing.assert_frame_equal(back.concepts_, g.concepts_)

    def test_names_in_names_out(self):
        c = case("law_school")
        g = fit(c)
        assert list(g.feature_names_in_) == list(c.train.X.columns)
        assert g.n_features_in_ == 8
        assert list(g.concepts_.index) == g.get_feature_names_out()
        assert list(g.concepts_.columns) == ["Concept 1", "Concept 2"]
        assert g.concept_activations(c.test.X).index.equals(c.test.X.index)

    def test_string_labels_and_groups(self, small):
        X, y, s = small
        words, sides = np.where(y == 1, "yes", "no"), np.where(s == 1, "right", "left")
        f = LogisticRegression().fit(X, words)
        g = Commod(f, lambda_ratio=0.02).fit(X, words, sensitive_features=sides)
        np.testing.assert_array_equal(g.predict(X) == "yes", fitted(small).predict(X) == 1)
        assert list(g.groups_) == ["left", "right"]

    def test_same_digits_again_and_the_global_generators_untouched(self, small):
        import torch

        before, state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        options = {"epochs": 2}
        first = fitted(small, solver="adversarial", solver_options=options)
        second = fitted(small, solver="adversarial", solver_options=options)
        np.testing.assert_array_equal(first.coef_, second.coef_)
        np.testing.assert_array_equal(fitted(small).coef_, fitted(small).coef_)
        assert torch.equal(torch.get_rng_state(), before)
        assert (np.random.get_state()[1] == state).all()  # noqa: NPY002

    def test_predict_takes_no_sensitive_features(self, small):
        g = fitted(small)
        with pytest.raises(TypeError):
            g.predict(small[0], sensitive_features=small[2])

    def test_refitting_after_a_failed_fit_keeps_the_old_model(self, small):
        X, y, s = small
        g = fitted(small)
        before = g.predict_proba(X)

        def explode(*_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            g.set_params(lambda_fair=5.0).fit(X, y, sensitive_features=s, callback=explode)
        np.testing.assert_array_equal(g.predict_proba(X), before)


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"y": lambda y: y + np.arange(400) % 2 * 2}, "Only binary classification"),
            ({"y": lambda y: y * 0}, "one class only"),
            ({"y": lambda y: y[:-1]}, "inconsistent numbers of samples"),
            ({"s": lambda s: np.arange(400)}, "400 groups, but at most 50"),
            ({"s": lambda s: s * 0}, "one group only"),
            ({"s": lambda s: s[:-1]}, "one value per row"),
            ({"s": lambda s: np.where(s == 1, 1.0, np.nan)}, "one group only"),
            ({"s": lambda s: np.full(400, np.nan)}, "no group that is known"),
            ({"X": lambda X: np.where(X > 2, np.nan, X)}, "NaN"),
        ],
    )
    def test_data(self, small, change, message):
        X, y, s = small
        f = LogisticRegression().fit(X, y)
        data = {"X": X, "y": y, "s": s}
        for name, spoil in change.items():
            data[name] = spoil(data[name])
        with pytest.raises(ValueError, match=message):
            Commod(f).fit(data["X"], data["y"], sensitive_features=data["s"])

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"lambda_fair": -1}, "lambda_fair must be a number of 0 or more, got -1"),
            ({"lambda_ratio": float("nan")}, "lambda_ratio must be a number"),
            ({"lambda_concepts": "much"}, "lambda_concepts must be a number"),
            ({"n_concepts": 5}, "n_concepts = 5 is more than there are encoded features"),
            ({"n_concepts": 1.5}, "n_concepts must be a whole number"),
            ({"fairness": "parity"}, "fairness must be one of 'demographic_parity'"),
            ({"ratio_norm": "euclid"}, "ratio_norm must be one of"),
            ({"ratio_norm": np.ones(3)}, "one weight of 0 or more for each of the 400 rows"),
            ({"rescaler": "tree"}, "rescaler must be one of"),
            ({"solver": "sgd"}, "solver must be one of"),
            ({"solver_options": {"epochs": 3}}, "not known to solver='best_response': it takes tol"),
            ({"random_state": None}, "random_state must be a whole number"),
        ],
        ids=str,
    )
    def test_settings(self, small, settings, message):
        with pytest.raises(ValueError, match=message):
            fitted(small, **settings)

    def test_base_model(self, small):
        X, y, s = small
        with pytest.raises(NotFittedError, match="call base_model.fit"):
            Commod(LogisticRegression()).fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="neither predict_proba nor decision_function"):
            Commod(StandardScaler().fit(X)).fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="trained on classes"):
            Commod(LogisticRegression().fit(X, y + 1)).fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="no such column"):
            Commod("score").fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="between 0 and 1"):
            Commod(lambda rows: rows[:, 0]).fit(X, y, sensitive_features=s)
        with pytest.raises(ValueError, match="one probability per row"):
            Commod(lambda rows: rows[:5, 0]).fit(X, y, sensitive_features=s)

    def test_without_sensitive_features_g_is_f_and_a_warning_says_so(self, small):
        X, y, _ = small
        f = LogisticRegression().fit(X, y)
        with pytest.warns(UserWarning, match="no one to be fair to"):
            g = Commod(f).fit(X, y)
        np.testing.assert_array_equal(g.predict(X), f.predict(X))


class TestSettings:
    @pytest.mark.parametrize("norm", ["identity", "fisher", "weights"])
    def test_ratio_norms_act_and_hold_g_at_f_in_the_limit(self, small, norm):
        given = np.linspace(0, 2, 400) if norm == "weights" else norm
        X, y, _ = small
        f = LogisticRegression().fit(X, y)
        free = fitted(small, ratio_norm=given, lambda_ratio=0.02, lambda_fair=4.0)
        held = fitted(small, ratio_norm=given, lambda_ratio=1e6, lambda_fair=4.0)
        assert (free.predict(X) != f.predict(X)).any()
        assert (held.predict(X) == f.predict(X)).all()

    def test_ratio_norms_differ(self, small):
        models = [fitted(small, ratio_norm=norm, lambda_ratio=0.2) for norm in ("identity", "fisher")]
        assert not np.allclose(models[0].coef_, models[1].coef_, atol=1e-3)

    def test_constant_instance_weights_are_the_identity(self, small):
        weighted = fitted(small, ratio_norm=np.full(400, 3.0))
        np.testing.assert_allclose(weighted.coef_, fitted(small).coef_, atol=1e-6)

    def test_sparsity_weight_is_separable(self, small):
        heavy = fitted(small, lambda_concepts=1.0, sparsity_weight=1.0)
        light = fitted(small, lambda_concepts=1.0, sparsity_weight=0.0)
        assert (heavy.coef_ == 0).any()
        assert not (light.coef_ == 0).any()

    @pytest.mark.slow
    @pytest.mark.parametrize("solver", ["best_response", "adversarial"])
    def test_mlp_rescaler(self, small, solver):
        X, y, _ = small
        f = LogisticRegression().fit(X, y)
        options = {"epochs": 60, "learning_rate": 0.01} if solver == "adversarial" else {"max_iter": 30}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            g = fitted(small, rescaler="mlp", solver=solver, lambda_fair=4.0, solver_options=options)
        assert np.ptp(g.ratio(X)) > 0.1
        assert np.mean(g.predict(X) != f.predict(X)) < 0.6
        with pytest.raises(AttributeError, match="rescaler='mlp' has no concepts"):
            g.concept_activations(X)
        assert not hasattr(g, "concepts_")

    def test_mlp_seed_is_not_inert(self, small):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            a, b, c = (
                fitted(small, rescaler="mlp", solver_options={"max_iter": 10}, random_state=seed) for seed in (0, 0, 1)
            )
        np.testing.assert_array_equal(a.ratio(small[0]), b.ratio(small[0]))
        assert not np.array_equal(a.ratio(small[0]), c.ratio(small[0]))

    @pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
    def test_the_listing_of_the_paper_runs_and_learns_concepts(self, small, fairness):
        a, b, c = (
            fitted(small, solver="adversarial", fairness=fairness, random_state=seed, solver_options={"epochs": 8})
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(a.coef_, b.coef_)
        assert not np.array_equal(a.coef_, c.coef_)
        np.testing.assert_allclose(a.concepts_.to_numpy() @ a.concept_weights_, a.coef_, atol=1e-12)
        assert len(a.history_) == 8 * 4
        gated = a.history_["lambda_fair"].to_numpy()
        assert gated[: 5 * 4].max() == 0
        assert gated[-1] == 2.0


class TestPathHistoryCallback:
    def test_path_starts_at_f_and_ends_at_g(self):
        c = case("law_school")
        g = fit(c, lambda_fair=2.5)
        assert g.path_["lambda_fair"].tolist() == [0, 0.5, 1.0, 2.0, 2.5]
        assert g.path_["change_rate"].iloc[0] == 0
        assert {"accuracy", "p_rule", "dm", "objective", "adversary_loss", "ratio_loss"} <= set(g.path_.columns)
        stages = list(g.staged_predict(c.test.X))
        assert len(stages) == len(g.path_)
        np.testing.assert_array_equal(stages[0], c.f.predict(c.test.X))
        np.testing.assert_array_equal(stages[-1], g.predict(c.test.X))

    def test_history_descends_within_each_rung(self):
        history = fit(case("law_school")).history_
        for _, of_step in history.groupby("step"):
            assert (np.diff(of_step["objective"]) <= 0).all()

    @pytest.mark.parametrize(
        "settings", [{}, {"solver": "adversarial"}, {"rescaler": "mlp"}], ids=["default", "listing", "mlp"]
    )
    def test_a_callback_sees_progress_and_stops_cleanly(self, small, settings):
        X, y, s = small
        seen = []

        def watch(step, n_steps, terms):
            seen.append((step, n_steps, terms["objective"]))
            return len(seen) == 3

        model = Commod(LogisticRegression().fit(X, y), **settings)
        g = model.fit(X, y, sensitive_features=s, callback=watch)
        assert len(seen) == 3
        assert all(1 <= step <= n_steps for step, n_steps, _ in seen)
        assert g.stopped_
        assert not g.converged_
        assert np.isfinite(g.predict_proba(X)).all()

    def test_trouble_is_a_warning(self, small):
        with pytest.warns(ConvergenceWarning, match="Raise lambda_ratio"):
            fitted(small, rescaler="mlp", solver_options={"max_iter": 1})


class TestClimb:
    @pytest.mark.slow
    def test_resumed_fits_are_the_same_to_the_last_digit(self):
        c, warm_start = case("compas"), WarmStart()
        for lambda_fair, k in ((4.0, 2), (1.0, 2), (2.75, 5), (4.0, 3), (0.0, 2)):
            model = Commod(c.f, lambda_fair=lambda_fair, n_concepts=k)
            resumed = model.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive, warm_start=warm_start)
            alone = fit(c, lambda_fair=lambda_fair, n_concepts=k)
            pd.testing.assert_frame_equal(resumed.concepts_, alone.concepts_, check_exact=True)
            pd.testing.assert_frame_equal(resumed.path_, alone.path_, check_exact=True)
            pd.testing.assert_frame_equal(resumed.history_, alone.history_, check_exact=True)

    def test_another_setting_or_other_rows_are_climbed_anew(self, small):
        X, y, s = small
        f = LogisticRegression().fit(X, y)
        warm_start = WarmStart()
        for settings in ({}, {"lambda_ratio": 0.3}, {"fairness": "equalized_odds"}, {"ratio_norm": "fisher"}):
            resumed = Commod(f, **settings).fit(X, y, sensitive_features=s, warm_start=warm_start)
            alone = Commod(f, **settings).fit(X, y, sensitive_features=s)
            np.testing.assert_array_equal(resumed.coef_, alone.coef_)
        fewer = Commod(f).fit(X[:300], y[:300], sensitive_features=s[:300], warm_start=warm_start)
        alone = Commod(f).fit(X[:300], y[:300], sensitive_features=s[:300])
        np.testing.assert_array_equal(fewer.coef_, alone.coef_)

    def test_a_fit_does_not_notice_another_one_on_the_same_warm_start(self, small):
        X, y, s = small
        f, warm_start = LogisticRegression().fit(X, y), WarmStart()
        scores = f.predict_proba(X)[:, 1]

        def meanwhile(*_):
            Commod().fit(X[:, :2], y, sensitive_features=s, base_scores=scores, warm_start=warm_start)

        disturbed = Commod(f).fit(X, y, sensitive_features=s, warm_start=warm_start, callback=meanwhile)
        np.testing.assert_array_equal(disturbed.coef_, Commod(f).fit(X, y, sensitive_features=s).coef_)

    def test_an_interrupted_climb_can_be_resumed(self):
        c, warm_start = case("law_school"), WarmStart()

        def interrupt(step, n_steps, terms):
            if step == 3:
                raise KeyboardInterrupt

        model = Commod(c.f, lambda_fair=3.0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(
                c.train.X, c.train.y, sensitive_features=c.train.sensitive, warm_start=warm_start, callback=interrupt
            )
        model.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive, warm_start=warm_start)
        np.testing.assert_array_equal(model.coef_, fit(c, lambda_fair=3.0).coef_)


class TestExplanation:
    @pytest.mark.parametrize("by", ["concept", "feature"])
    def test_the_sum_leads_from_f_to_g(self, by):
        c = case("compas")
        g = fit(c, lambda_fair=3.0, n_concepts=5)
        for row in range(5):
            x = c.test.X.iloc[[row]]
            table = g.explain_prediction(x, by=by)
            p = c.f.predict_proba(x)[0, 1]
            assert table.loc["f", "logit"] == pytest.approx(np.log(p / (1 - p)))
            assert table["logit"].iloc[:-1].sum() == pytest.approx(table.loc["g", "logit"])
            assert table.loc["g", "logit"] == pytest.approx(g.decision_function(x)[0])
            assert table["logit_after"].iloc[-2] == pytest.approx(table.loc["g", "logit"])
            assert table.loc["g", "ratio"] == pytest.approx(g.ratio(x)[0])
            pd.testing.assert_frame_equal(g.explain_prediction(c.test.X.iloc[row], by=by), table)

    def test_one_instance_at_a_time(self):
        c = case("law_school")
        with pytest.raises(ValueError, match="one instance at a time"):
            fit(c).explain_prediction(c.test.X.head(2))

    def test_a_decision_changes_exactly_where_the_ratio_is_negative(self):
        c = case("law_school")
        g = fit(c, lambda_fair=3.0)
        changed = c.f.predict(c.test.X) != g.predict(c.test.X)
        np.testing.assert_array_equal(changed, g.ratio(c.test.X) < 0)


def test_evaluate_reports_f_and_g_with_intervals():
    c = case("law_school")
    frame = evaluate(c.task, c.f, fit(c), c.test)
    assert frame.loc["p_rule", "g"] > frame.loc["p_rule", "f"]
    assert frame.loc["change_rate", "g_low"] < frame.loc["change_rate", "g"] < frame.loc["change_rate", "g_high"]
    assert frame.attrs["groups"] == ("Non-White", "White")
    pd.testing.assert_frame_equal(frame, evaluate(c.task, c.f, fit(c), c.test))
