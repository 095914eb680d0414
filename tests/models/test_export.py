"""The model written down and read back: the same predictions, whatever f is."""

import json

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from commod import Commod
from commod.models.base_models import BASE_MODELS
from commod.models.export import portable_json, to_portable
from commod.models.rescaler import MLPRescaler
from commod.portable import FORMAT, load
from tests.fitting import case, fit


def same(g, portable, X, **given):
    np.testing.assert_allclose(portable.predict_proba(X, **given), g.predict_proba(X, **given), rtol=0, atol=1e-9)
    np.testing.assert_allclose(portable.ratio(X, **given), g.ratio(X, **given), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(portable.predict(X, **given), g.predict(X, **given))


@pytest.mark.parametrize(
    ("data", "base_model"),
    [
        *(("law_school", base_model) for base_model in BASE_MODELS),
        ("compas", "logistic_regression"),
        ("german", "logistic_regression"),
        *(
            pytest.param(data, f, marks=pytest.mark.slow)
            for data in ("compas", "german")
            for f in list(BASE_MODELS)[1:]
        ),
    ],
)
def test_same_predictions_for_every_base_model_and_criterion(data, base_model):
    on = case(data, 0, base_model)
    for fairness in ("demographic_parity", "equalized_odds")[: 2 if base_model == "logistic_regression" else 1]:
        g = fit(on, fairness=fairness)
        text = portable_json(g)
        portable = load(text)
        same(g, portable, on.test.X)
        np.testing.assert_allclose(
            portable.scores_of_f(on.test.X), on.f.predict_proba(on.test.X)[:, 1], rtol=0, atol=1e-12
        )
        assert not portable.needs_scores
        assert len(text) < (1e6 if base_model == "logistic_regression" else 5e6)


def test_the_file_is_strict_json_and_the_same_every_time():
    g = fit(case("law_school"))

    def refuse(constant):
        raise AssertionError(constant)

    text = portable_json(g, about={"title": "</script> “x”"})
    content = json.loads(text, parse_constant=refuse)
    assert content == to_portable(g, about={"title": "</script> “x”"})
    assert text == portable_json(g, about={"title": "</script> “x”"})
    assert content["format"] == FORMAT
    assert content["about"]["title"] == "</script> “x”"
    assert "encoder" not in content["f"]  # f's is that of r


def test_the_explanation_is_that_of_the_model():
    on = case("german")
    g = fit(on, n_concepts=3)
    row = on.test.X.iloc[[4]]
    expected = g.explain_prediction(row)
    found = pd.DataFrame(load(portable_json(g)).explain(row.iloc[0].to_dict())).set_index("term")
    assert list(found.index) == list(expected.index)
    np.testing.assert_allclose(found.to_numpy(dtype=float), expected.to_numpy(), rtol=0, atol=1e-9)


def test_older_files_may_have_the_score_as_a_feature_of_r():
    on = case("law_school")
    g = fit(on)
    content = to_portable(g)
    r = content["r"]
    r["include_score"], r["coef"], r["features"] = True, [*r["coef"], 0.1], [*r["features"], "f_logit"]
    for concept in r["concepts"]:
        concept["loadings"].append(0.0)
    portable, logit = load(content), g.margin_of_f(on.test.X)
    np.testing.assert_allclose(portable.ratio(on.test.X), g.ratio(on.test.X) + 0.1 * logit, rtol=0, atol=1e-9)


def test_an_f_with_an_encoder_of_its_own():
    on = case("law_school")
    few = on.train.X.iloc[:600]
    f = on.task.base_model(LogisticRegression()).fit(few, on.train.y.iloc[:600])
    g = Commod(f).fit(on.train.X, on.train.y, sensitive_features=on.train.sensitive)
    content = to_portable(g)
    assert content["f"]["encoder"]["mean"] != content["encoder"]["mean"]
    same(g, load(content), on.test.X)


def test_f_trained_in_fit():
    on = case("german")
    g = Commod().fit(on.train.X, on.train.y, sensitive_features=on.train.sensitive)
    assert to_portable(g)["f"]["kind"] == "logistic"
    same(g, load(portable_json(g)), on.test.X)


def test_f_as_a_column_of_scores():
    on = case("law_school")
    train, test = (part.X.assign(score=on.f.predict_proba(part.X)[:, 1]) for part in (on.train, on.test))
    g = Commod("score").fit(train, on.train.y, sensitive_features=on.train.sensitive)
    portable = load(portable_json(g))
    same(g, portable, test)
    assert portable.columns[-1] == "score"
    np.testing.assert_allclose(
        portable.predict_proba(on.test.X, base_scores=test["score"]), g.predict_proba(test), rtol=0, atol=1e-9
    )
    spaced = test.rename(columns={"score": " score"})  # as the head of some files has it
    np.testing.assert_array_equal(portable.predict(spaced), portable.predict(test))
    with pytest.raises(ValueError, match="These rows lack column 'score'"):
        portable.predict(on.test.X)
    with pytest.raises(ValueError, match="Column 'score' must hold probabilities between 0 and 1"):
        portable.predict(test.assign(score=2.0))


def test_the_second_of_two_columns_of_one_name_is_found_as_pandas_calls_it():
    on = case("german")
    first = on.train.X.columns[0]
    train, test = (part.X.rename(columns={first: "duration (2)"}) for part in (on.train, on.test))
    g = Commod().fit(train, on.train.y, sensitive_features=on.train.sensitive)
    portable = load(portable_json(g))
    as_pandas = test.rename(columns={"duration (2)": "duration.1"})
    np.testing.assert_array_equal(portable.predict(as_pandas), portable.predict(test))


@pytest.mark.parametrize("kind", ["function", "other model", "scores"])
def test_an_f_that_cannot_be_written_down_is_asked_for(kind):
    on = case("law_school")
    scores = [on.f.predict_proba(part.X)[:, 1] for part in (on.train, on.test)]
    f, given = None, {"base_scores": scores[0]}
    if kind == "function":
        f, given = (lambda X: on.f.predict_proba(X)[:, 1]), {}
    elif kind == "other model":
        f, given = on.task.base_model(GaussianNB()).fit(on.train.X, on.train.y), {}
        scores[1] = f.predict_proba(on.test.X)[:, 1]
    g = Commod(f).fit(on.train.X, on.train.y, sensitive_features=on.train.sensitive, **given)
    portable = load(portable_json(g))
    assert portable.needs_scores
    same(g, portable, on.test.X, base_scores=scores[1])
    portable.ratio(on.test.X)  # needs no f
    with pytest.raises(ValueError, match="f is not in this file .* pass its probabilities as base_scores"):
        portable.predict(on.test.X)
    with pytest.raises(ValueError, match="one probability per row"):
        portable.predict(on.test.X, base_scores=[0.5])
    terms = portable.explain(on.test.X.iloc[0].to_dict(), base_scores=scores[1][0])
    assert terms[-1]["logit"] == pytest.approx(g.decision_function(on.test.X.iloc[[0]], base_scores=scores[1][:1])[0])


def test_levels_and_labels_of_any_plain_type():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=200),
            "whole": pd.Categorical(rng.integers(1, 5, 200)),
            "truth": rng.random(200) < 0.4,
            "text": rng.choice(["=1+1", "<b>", "ß", "x"], 200),
        }
    )
    y = np.where(X["number"] + X["truth"] + rng.normal(size=200) > 0, "yes", "no")
    s = np.where(rng.random(200) < 0.5 * X["truth"] + 0.2, "a", "b")
    g = Commod(n_concepts=1).fit(X, y, sensitive_features=s)
    portable = load(portable_json(g))
    strange = X.assign(text="never seen", whole=pd.Categorical([9] * 200))
    same(g, portable, X)
    same(g, portable, strange)
    assert portable.predict(X).dtype.kind == "U"
    by_row = portable.predict_proba(X.to_dict("records"))
    np.testing.assert_array_equal(by_row, portable.predict_proba(X.to_dict("list")))


def test_what_cannot_be_written_is_refused():
    on = case("law_school")
    g = fit(on)
    g.rescaler_ = MLPRescaler(np.zeros((2, 13)), np.zeros(2), np.zeros(2), 1.0)
    with pytest.raises(ValueError, match="Only a linear r"):
        to_portable(g)
    X = on.train.X.assign(when=pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"] * 1605)))
    dated = Commod(base_model=lambda X: np.full(len(X), 0.6), n_concepts=1)
    dated.fit(X, on.train.y, sensitive_features=on.train.sensitive)
    with pytest.raises(ValueError, match="A level of type Timestamp cannot be written as JSON"):
        to_portable(dated)


def table(n=400):
    """Numbers, the same with gaps, and with categories beside them; labels and groups."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["a"] += s
    y = (X["a"] + X["b"] + rng.normal(size=n) > 0.5).astype(int)
    gaps = X.mask(rng.random(X.shape) < 0.1)
    kind = np.where(rng.random(n) < 0.1, None, rng.choice(list("uvwxyz"), n))
    mixed = gaps.assign(
        kind=pd.Categorical(kind), size=pd.Categorical(rng.integers(0, 3, n)), is_new=rng.random(n) < 0.5
    )
    return X, gaps, mixed, y, s


BOOSTING = HistGradientBoostingClassifier(max_iter=15, random_state=0)
FOREST = RandomForestClassifier(n_estimators=10, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "kind", "takes_gaps"),
    [
        (make_pipeline(StandardScaler(), LogisticRegression()), "numbers", False),
        (make_pipeline(StandardScaler(with_mean=False), "passthrough", BOOSTING), "numbers", True),
        (LogisticRegression(), "numbers", False),
        (FOREST, "numbers", True),
        (FOREST, "gaps", True),
        (BOOSTING, "numbers", True),
        (BOOSTING, "gaps", True),
        (BOOSTING, "mixed", True),
        (BOOSTING, "array", True),
        (make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), "gaps", True),
        (make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), FOREST), "gaps", True),
    ],
)
def test_models_without_our_encoder(f, kind, takes_gaps):
    numbers, gaps, mixed, y, s = table()
    X = {"numbers": numbers, "gaps": gaps, "mixed": mixed, "array": gaps.to_numpy()}[kind]
    f = sklearn.clone(f).fit(X, y)
    g = Commod(f, lambda_ratio=0.02, lambda_fair=4.0).fit(X, y, sensitive_features=s)
    portable = load(portable_json(g))
    assert not portable.needs_scores
    rows = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    np.testing.assert_allclose(portable.scores_of_f(rows), f.predict_proba(X)[:, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(portable.predict_proba(rows), g.predict_proba(X), rtol=0, atol=1e-9)
    by_row = portable.predict_proba(rows.astype(object).where(rows.notna(), None).to_dict("records"))
    np.testing.assert_allclose(by_row, g.predict_proba(X), rtol=0, atol=1e-9)
    if kind == "mixed":  # what fit has not seen
        strange = X.assign(kind=pd.Categorical(["new"] * len(X)), size=None).astype({"size": X["size"].dtype})
        np.testing.assert_allclose(portable.predict_proba(strange), g.predict_proba(strange), rtol=0, atol=1e-9)
    if not takes_gaps:
        with pytest.raises(ValueError, match="Column 'a' has no value in row 0"):
            portable.predict(gaps.assign(a=None))


@pytest.mark.parametrize("step", [MinMaxScaler(), SimpleImputer(add_indicator=True)])
def test_a_step_that_is_not_known_is_told(step):
    _, gaps, _, y, s = table()
    f = make_pipeline(step, BOOSTING).fit(gaps, y)
    g = Commod(f).fit(gaps, y, sensitive_features=s)
    assert load(portable_json(g)).content["f"] == {
        "kind": "given",
        "why": "a HistGradientBoostingClassifier behind other steps cannot be written down",
    }


def test_many_levels_gaps_and_dates_of_a_table():
    rng = np.random.default_rng(1)
    X, _, _, y, s = table()
    X = X.assign(
        code=[f"c{i}" for i in rng.integers(0, 150, len(X))],
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, len(X)), unit="D"),
    )
    X.loc[::7, ["a", "day", "code"]] = None
    g = Commod().fit(X, y, sensitive_features=s)
    portable = load(portable_json(g))
    np.testing.assert_allclose(portable.predict_proba(X), g.predict_proba(X), rtol=0, atol=1e-9)
    text = X.astype(object).where(X.notna(), None).astype({"day": str}).replace({"day": {"None": None}})
    np.testing.assert_allclose(portable.predict_proba(text), g.predict_proba(X), rtol=0, atol=1e-9)
    strange = X.assign(code="never seen")
    np.testing.assert_allclose(portable.predict_proba(strange), g.predict_proba(strange), rtol=0, atol=1e-9)


def test_a_damaged_contract_is_refused():
    g = fit(case("law_school"))
    content = to_portable(g, contract=case("law_school").task.contract)
    for damaged in ([{"name": "lsat", "kind": "words"}], [{"name": "lsat"}], [{"kind": "number"}], 3):
        with pytest.raises(ValueError, match="This file is damaged"):
            load({**content, "raw": damaged})
