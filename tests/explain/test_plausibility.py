"""Right by the record, and how sure f was: against counts by hand and plain loops."""

from types import SimpleNamespace

import numpy as np
import pytest

from commod.experiments import prepare
from commod.explain.checks import (
    CHECKS,
    SURE,
    certainty,
    check_certainty,
    check_record,
    explain_certainty,
    explain_record,
)
from tests.fitting import case

pytestmark = pytest.mark.quick


def task(favourable=1):
    spec = SimpleNamespace(favourable=favourable, outcomes=("no", "yes"), people="people")
    return SimpleNamespace(spec=spec, groups=("A", "B"))


Y = [1, 1, 0, 0, 1, 0, 1, 0]
S = [0, 0, 0, 0, 1, 1, 1, 1]
F = [0, 0, 0, 1, 0, 1, 1, 1]
G = [1, 1, 1, 0, 0, 0, 0, 1]


def test_changes_are_held_against_the_record():
    frame = explain_record(task(), Y, S, F, G).set_index(["group", "better"])
    assert frame.loc[("A", True), ["count", "right", "wrong"]].tolist() == [3, 2, 1]
    assert frame.loc[("A", False), ["count", "right", "wrong"]].tolist() == [1, 1, 0]
    assert frame.loc[("B", True), ["count", "right", "wrong"]].tolist() == [0, 0, 0]
    assert frame.loc[("B", False), ["count", "right", "wrong"]].tolist() == [2, 1, 1]
    assert np.isnan(frame.loc[("B", True), "share"])
    assert frame.loc[("A", True), "share"] == pytest.approx(2 / 3)


def test_where_the_negative_decision_is_hoped_for_better_and_worse_change_places_and_right_stays():
    usual, other = (explain_record(task(good), Y, S, F, G) for good in (1, 0))
    assert other["better"].tolist() == [True, False, True, False]
    assert other["right"].tolist() == usual["right"].to_numpy()[[1, 0, 3, 2]].tolist()


def test_the_record_in_a_sentence():
    answer = check_record(explain_record(task(), Y, S, F, G, np.full(8, 0.6)))
    assert (answer.part, answer.whole, answer.mark) == (4, 6, "predicted")
    assert (
        answer.sentence
        == "Right by the record: 4 of 6 changes; by f's scores, 2 would be. The difference may be chance."
    )
    one_way = check_record(explain_record(task(), Y, S, F, [1, 0, 0, 1, 0, 1, 1, 1]))
    assert one_way.sentence == "Right by the record: 1 of 1 changes."
    assert one_way.mark == "open"  # what f expects is not known


@pytest.mark.parametrize(
    ("chance", "mark", "told"),
    [
        (0.5, "bad", "Chance does not explain the difference"),
        (0.19, "predicted", "The difference may be chance"),
        (0.2, "predicted", "by f's scores, 200 would be."),
        (0.26, "look", "Chance does not explain the difference"),
        (0.1, "predicted", "Chance does not explain the difference"),
    ],
)
def test_a_change_is_rated_by_what_f_expects(chance, mark, told):
    """200 of 1,000 changes are right, between 17.6 and 22.6 %."""
    y, before, after = np.repeat([1, 0], [200, 800]), np.zeros(1000, int), np.ones(1000, int)
    answer = check_record(explain_record(task(), y, np.repeat([0, 1], 500), before, after, np.full(1000, 1 - chance)))
    assert answer.value == 0.2
    assert answer.mark == mark
    assert told in answer.sentence


def test_a_calibrated_f_predicts_the_share_of_right_changes_whoever_is_changed():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y, before = (rng.random(20_000) < p).astype(int), (p > 0.3).astype(int)
    certain = certainty(np.log(p / (1 - p)) - np.log(0.3 / 0.7), np.log(0.3 / 0.7))
    groups = rng.integers(0, 2, 20_000)
    for changed in (rng.random(20_000) < 0.1, p > 0.8, np.abs(p - 0.3) < 0.05):
        frame = explain_record(task(), y, groups, before, np.where(changed, 1 - before, before), certain)
        shown = frame[frame["count"] > 0]
        assert ((shown["low"] < shown["expected"]) & (shown["expected"] < shown["high"])).all()


def test_who_never_changes_anybody_leaves_every_question_open():
    answers = [check_record(explain_record(task(), Y, S, F, F)), check_certainty(np.full(8, 0.5), F, F)]
    for answer in answers:
        assert answer.mark == "open"
        assert np.isnan(answer.value)
        assert answer.sentence == "Nobody's decision changes."
    assert explain_certainty(np.full(8, 0.5), F, F)["share_changed"].tolist() == [0.0] * 5


def test_certainty_is_the_larger_probability():
    logit = np.array([-3.0, -0.5, 0.0, 0.5, 3.0])
    p = 1 / (1 + np.exp(-logit))
    np.testing.assert_allclose(certainty(logit), np.maximum(p, 1 - p))


def test_certainty_at_another_cut_off_is_that_of_the_decision():
    """At 0.2, f says "yes" to a score of 0.3, of which it is 30 % sure, and "no" to 0.05, of which it is 95 % sure."""
    p = np.array([0.05, 0.3, 0.95])
    line = np.log(0.2 / 0.8)
    certain = certainty(np.log(p / (1 - p)) - line, line)
    np.testing.assert_allclose(certain, [0.95, 0.3, 0.95])
    frame = explain_certainty(certain, [0, 1, 1], [0, 0, 1])
    assert frame[["low", "high", "everyone", "changed"]].iloc[0].tolist() == [0.0, 0.5, 1, 1]


def test_f_s_sure_decisions_on_adult_at_a_cut_off_of_one_fifth():
    """From the scores themselves: positive above 0.2, and sure above 0.9 or below 0.1."""
    scene = prepare("adult", threshold=0.2)
    p = scene.f.predict_proba(scene.test.X)[:, 1]
    own = np.where(p > 0.2, p, 1 - p)
    assert int((scene.certainty_test > SURE).sum()) == int((own > SURE).sum())
    np.testing.assert_allclose(scene.certainty_test, own, atol=1e-5)  # scores are cut off at 1e-6


def test_classes_of_certainty_against_a_loop():
    rng = np.random.default_rng(0)
    logit = rng.normal(0, 2, 500)
    before = (logit > 0).astype(int)
    after = np.where(rng.random(500) < 0.3, 1 - before, before)
    sure = certainty(logit)
    frame = explain_certainty(sure, before, after)
    for row in frame.itertuples():
        inside = [(row.low < c <= row.high) or (row.low == 0.5 and c == 0.5) for c in sure]
        assert row.everyone == sum(inside)
        assert row.changed == sum(a and b for a, b in zip(inside, before != after, strict=True))
    assert frame["share_everyone"].sum() == pytest.approx(1)
    assert frame["share_changed"].sum() == pytest.approx(1)
    answer = check_certainty(sure, before, after)
    assert answer.part == frame["changed"].iloc[-1] == sum((sure > SURE) & (before != after))


def test_somebody_exactly_on_the_line_counts_once():
    frame = explain_certainty(np.array([0.5, 0.5]), [0, 0], [0, 1])
    assert frame["everyone"].tolist() == [2, 0, 0, 0, 0]
    assert frame["changed"].tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_marks_follow_the_declared_bounds(check):
    assert check.mark(check.fine) == check.best
    assert check.mark(check.bad) == "look"
    assert check.mark(check.bad - check.direction * 1e-6) == "bad"
    assert check.mark((check.fine + check.bad) / 2) == "look"
    assert check.mark(float("nan")) == "open"
    assert check.why in check.bounds


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_what_is_written_is_on_the_side_of_the_mark(check):
    for bound in (check.fine, check.bad):
        for value in np.clip(bound + np.array([-4e-3, -1e-4, 1e-4, 4e-3]), 0, 1):
            text = check.show(value)
            assert text.startswith("<") or check.mark(float(text[:-1]) / 100) == check.mark(value)


def test_shares_have_no_more_decimals_than_needed():
    assert CHECKS["merit"].show(14 / 1360) == "1.03%"
    assert CHECKS["merit"].show(16 / 1360) == "1.2%"
    assert CHECKS["merit"].show(1 / 10_000) == "<0.1%"
    assert CHECKS["again"].show(120 / 241) == "49.8%"
    assert CHECKS["right"].show(70 / 211) == "33%"


def test_bounds_are_in_words():
    assert CHECKS["right"].bounds.startswith("As expected: as many are right as f's own scores predict")
    assert CHECKS["sure"].bounds.startswith("Fine: 5 % or less. Problem: more than 25 %. ")
    assert CHECKS["merit"].bounds.startswith("Fine: nobody. Problem: more than 1 %, even at the low end")
    assert CHECKS["again"].bounds.startswith("Fine: 80 % or more. Problem: less than half. ")


def test_the_figures_of_the_paper_s_data():
    """Of 86 Non-White students raised at the default setting 75 are recorded as failing."""
    from commod import Commod

    c = case("law_school")
    g = Commod(c.f, **c.task.spec.commod_settings).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    frame = explain_record(c.task, c.test.y, c.test.sensitive, c.f.predict(c.test.X), g.predict(c.test.X))
    assert frame.iloc[0][["group", "better", "count", "wrong"]].tolist() == ["Non-White", True, 86, 75]
