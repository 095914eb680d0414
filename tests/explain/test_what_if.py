import numpy as np
import pandas as pd
import pytest

from commod import Commod
from commod.explain import what_if
from commod.explain.shap_comparison import explain_person_with_shap
from commod.explain.what_if import (
    FeatureRange,
    edit_row,
    explain_edits,
    explain_sum,
    feature_ranges,
    nearest_person,
    score_rows,
)
from commod.models.base_models import base_logits
from tests.fitting import case, fit


@pytest.fixture(scope="module", params=["law_school", "compas", "law_school affine", "compas decisions"])
def fitted(request):
    data, _, update = request.param.partition(" ")
    c = case(data)
    g = fit(c, lambda_fair=4.0, n_concepts=3, lambda_concepts=0.1, update=update or "ratio")
    return c, g, feature_ranges(c.task.X)


def people(c, g, count=2):
    """Some who changed and some who did not."""
    changed = c.f.predict(c.test.X) != g.predict(c.test.X)
    return [*np.flatnonzero(changed)[:count], *np.flatnonzero(~changed)[:count]]


@pytest.mark.parametrize("by", ["concept", "column"])
def test_the_sum_begins_at_f_and_ends_at_g(fitted, by):
    c, g, _ = fitted
    for place in people(c, g):
        x = c.test.X.iloc[[place]]
        frame = explain_sum(g, c.task, x, by=by)
        assert frame["end"].iloc[0] == pytest.approx(base_logits(c.f, x)[0])
        assert frame["end"].iloc[-1] == pytest.approx(g.decision_function(x)[0])
        assert frame["end"].iloc[-2] == pytest.approx(frame["end"].iloc[-1])
        np.testing.assert_allclose(frame["start"].iloc[1:-1], frame["end"].iloc[:-2])
        np.testing.assert_allclose(frame["end"] - frame["start"], frame["logit"])
        ratio, shift = g.ratio_and_shift(x)
        assert frame["ratio"].iloc[:-1].sum() == pytest.approx(ratio[0])
        assert frame["shift"].iloc[:-1].sum() == pytest.approx(shift[0])
        assert (frame["start"].iloc[[0, -1]] == 0).all()
        if by == "column" and "lsat" in x:
            lsat = "Low" if x["lsat"].iloc[0] < c.train.X["lsat"].mean() else "High"
            assert f"{lsat} LSAT score" in frame["label"].tolist()
    with pytest.raises(ValueError, match="'concept' or 'column'"):
        explain_sum(g, c.task, x, by="level")


def test_terms_add_up_to_the_balance_and_the_last_leads_to_the_score():
    c = case("law_school")
    g = fit(c, lambda_fair=6.0, update="decisions")
    for place in people(c, g):
        x = c.test.X.iloc[[place]]
        frame = explain_sum(g, c.task, x).set_index("term")
        row = score_rows(g, x).iloc[0]
        assert frame["end"].iloc[-3] == pytest.approx(row["balance"])
        assert frame.index[-2] == "kept"
        assert frame.loc["kept", "label"].startswith("Changed" if row["changed"] else "Kept")
        assert row["g"] == (row["balance"] > 0)
        if not row["changed"]:
            assert row["logit_g"] == row["logit_f"]


def test_shap_explains_the_balance_where_it_decides():
    c = case("law_school")
    g = fit(c, lambda_fair=6.0, update="decisions")
    x = c.test.X.iloc[[5]]
    found = explain_person_with_shap(g, c.task, c.test.X, x, n_background=8, redraws=1)
    change = g.balance(x)[0] - base_logits(c.f, x)[0]
    assert found["shap"].sum() + found.attrs["average"] == pytest.approx(change)


def test_without_a_change_f_is_all_there_is():
    c = case("law_school")
    g = fit(c, lambda_fair=0.0)
    assert explain_sum(g, c.task, c.test.X.iloc[[0]])["part"].tolist() == ["f", "g"]
    assert explain_edits(g, c.task, c.test.X.iloc[[0]]).empty


def one_by_one(c, g, x, known):
    """All edits of one feature at the data's resolution that count, by asking f and g about each."""
    own = x[known.column].iloc[0]
    if known.is_number:
        count = round((known.high - known.low) / known.step)
        values = [round(known.low + i * known.step, known.decimals) for i in range(count + 1)]
    else:
        values = list(known.levels)
    values = [value for value in values if value != own]
    rows = pd.concat([x] * len(values), ignore_index=True)
    rows[known.column] = pd.Series(values).astype(c.test.X[known.column].dtype)
    before = c.f.predict(x)[0] != g.predict(x)[0]
    counts = (c.f.predict(rows) != g.predict(rows)) != before
    return [value for value, count in zip(values, counts, strict=True) if count]


def test_edits_are_the_smallest_that_count(fitted):
    c, g, ranges = fitted
    for place in people(c, g):
        x = c.test.X.iloc[[place]]
        found = explain_edits(g, c.task, x, ranges=ranges)
        assert found["size"].is_monotonic_increasing
        for column, known in ranges.items():
            mine = found.loc[found["column"] == column, "after"].tolist()
            all_of_them = one_by_one(c, g, x, known)
            if known.is_number:
                least = min((abs(value - x[column].iloc[0]) for value in all_of_them), default=None)
                assert len(mine) == (least is not None)
                assert all(abs(value - x[column].iloc[0]) == pytest.approx(least) for value in mine)
            else:
                assert set(mine) == set(all_of_them)


def test_an_edit_does_what_it_says(fitted):
    c, g, _ = fitted
    for place in people(c, g, 1):
        x = c.test.X.iloc[[place]]
        f_before, g_before = c.f.predict(x)[0], g.predict(x)[0]
        for row in explain_edits(g, c.task, x).groupby("column").head(2).itertuples():
            after = edit_row(x, {row.column: row.after})
            assert (after.dtypes == x.dtypes).all()
            assert (after.drop(columns=row.column).to_numpy() == x.drop(columns=row.column).to_numpy()).all()
            assert (c.f.predict(after)[0], g.predict(after)[0]) == (row.f, row.g)
            assert (row.f == row.g) == (f_before != g_before)
            assert (row.moved == "g") == (row.g != g_before)
            assert (row.moved == "f") == (row.f != f_before)


def test_a_long_range_is_searched_in_rounds(fitted, monkeypatch):
    c, g, ranges = fitted
    x = c.test.X.iloc[[people(c, g)[0]]]
    whole = explain_edits(g, c.task, x, ranges=ranges)
    monkeypatch.setattr(what_if, "MAX_VALUES", 7)
    pd.testing.assert_frame_equal(explain_edits(g, c.task, x, ranges=ranges), whole)


def test_scores_that_come_with_the_data_stay():
    c = case("law_school")
    train, test = (part.X.assign(f_score=c.f.predict_proba(part.X)[:, 1]) for part in (c.train, c.test))
    g = Commod("f_score", lambda_fair=4.0).fit(train, c.train.y, sensitive_features=c.train.sensitive)
    ranges = feature_ranges(test, leave_out="f_score")
    assert "f_score" not in ranges
    scores = score_rows(g, test)
    x = test.iloc[[int(np.argmax(scores["changed"]))]]
    found = explain_edits(g, c.task, x, ranges=ranges)
    assert (found["moved"] == "g").all()
    edited = edit_row(x, {"lsat": 12.0, "sex": "female"})
    assert edited["f_score"].iloc[0] == x["f_score"].iloc[0]
    assert explain_sum(g, c.task, edited, by="column")["end"].iloc[0] == pytest.approx(base_logits("f_score", x)[0])
    assert "f_score" in explain_person_with_shap(g, c.task, test, edited, n_background=3, redraws=1).index


def test_ranges_know_type_step_and_spread():
    frame = pd.DataFrame(
        {
            "whole": [1, 5, 3, 3],
            "tenths": [0.1, 2.0, 0.3, 0.3],
            "any": np.sqrt([2.0, 3.0, 5.0, 7.0]),
            "same": [4.0, 4.0, 4.0, 4.0],
            "two": pd.Categorical(["a", "b", "b", "b"]),
            "text": ["x", "a longer one", "z", "z"],
        }
    )
    ranges = feature_ranges(frame)
    assert [(ranges[n].step, ranges[n].decimals) for n in ("whole", "tenths", "same")] == [(1, 0), (0.1, 1), (1, 0)]
    assert ranges["any"].step <= 0.01
    assert ranges["whole"].sd == pytest.approx(frame["whole"].std(ddof=0))
    assert ranges["two"].levels == ("b", "a")
    assert ranges["two"].sd == pytest.approx(np.std([0, 1, 1, 1]))  # that of the 0/1 column
    assert ranges["text"].levels[0] == "z"
    edited = edit_row(frame.iloc[[0]], {"text": "a longer one", "whole": 4.0, "two": "b"})
    assert edited.iloc[0].tolist()[0::5] == [4, "a longer one"]
    assert (edited.dtypes == frame.dtypes).all()


def test_the_nearest_person(fitted):
    c, _, ranges = fitted
    X = c.test.X.iloc[:200]
    for place in (3, 77):
        assert nearest_person(X, X.iloc[[place]], ranges)[1] == 0
        x = edit_row(X.iloc[[place]], {"sex": "female", X.columns[0]: 30.0})
        far = [
            np.sqrt(
                sum(
                    ((row[n] - x[n].iloc[0]) / k.sd) ** 2 if k.is_number else (row[n] != x[n].iloc[0]) / k.sd**2
                    for n, k in ranges.items()
                )
            )
            for _, row in X.iterrows()
        ]
        far[place] = np.inf
        found, distance = nearest_person(X, x, ranges, skip=place)
        assert found == int(np.argmin(far))
        assert distance == pytest.approx(min(far))


def test_shap_of_one_person_adds_up_to_the_change():
    c = case("law_school")
    g = fit(c, lambda_fair=4.0)
    x = edit_row(c.test.X.iloc[[5]], {"lsat": 20.0})
    seen = []
    found = explain_person_with_shap(g, c.task, c.test.X, x, n_background=8, redraws=2, callback=seen.append)
    change = g.decision_function(x)[0] - base_logits(c.f, x)[0]
    assert found["shap"].sum() + found.attrs["average"] == pytest.approx(change)
    assert (found["shap_low"] <= found["shap"] + 1e-12).all()
    assert seen == [0.0, 0.5]


def test_values_are_rounded_and_written_as_finely_as_the_data_are():
    whole, fine = FeatureRange("age", 18, 90, 1.0), FeatureRange("gpa", 0.0, 4.0, 0.1, decimals=1)
    level = FeatureRange("sex", levels=("male", "female"))
    assert [known.rounded(2.4) for known in (whole, fine)] == [2, 2.4]
    assert isinstance(whole.rounded(2.4), int)
    assert level.rounded("male") == level.in_words("male") == "male"
    assert (whole.in_words(1234.0), fine.in_words(2.0), fine.in_words(-0.5, "+")) == ("1,234", "2", "−0.5")
