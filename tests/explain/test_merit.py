"""Whether more merit ever hurts, against one person at a time."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.datasets.task import Feature, Task, TaskSpec
from commod.explain.checks import check_merit
from commod.explain.what_if import FeatureRange, edit_row, explain_merit, feature_ranges, merit_step, score_rows
from commod.models.base_models import base_logits
from tests.fitting import case, fit


def small(favourable=1, merit=1, unit="points", times=1):
    spec = TaskSpec(
        name="small",
        title="Small",
        features=(Feature("grade", "Grade", unit=unit, merit=merit), Feature("age", "Age")),
        target="y",
        target_label="y",
        outcomes=("no", "yes"),
        favourable=favourable,
        sensitive="s",
        groups=("A", "B"),
        filter="",
    )
    X = pd.DataFrame({"grade": [1, 2, 3, 4, 5], "age": [30, 20, 40, 50, 20]})
    people = pd.concat([X] * times, ignore_index=True)
    return Task(spec, people, pd.Series([0, 1, 0, 1, 1] * times), pd.Series([0, 0, 1, 1, 1] * times))


def test_a_model_that_turns_against_merit_is_found():
    task = small()
    rises, falls = (lambda X: X["grade"].to_numpy() - 2.5), (lambda X: 3.5 - X["grade"].to_numpy())
    row = explain_merit(task, task.X, rises, falls).iloc[0]
    assert row["step"] == 1.0
    assert row["people"] == 4
    assert (row["turned_f"], row["lowered_f"]) == (0, 0)
    assert (row["turned_g"], row["lowered_g"]) == (1, 4)  # 3 → 4 turns "yes" into "no"
    many = small(times=50)
    answer = check_merit(many, explain_merit(many, many.X, rises, falls))
    assert answer.mark == "bad"
    assert answer.sentence == (
        "With one step more (higher grade: +1 point), “yes” is lost by 50 of 200 people under g (0 under f), and the "
        "score falls for 200 (0 under f). 95 % interval of those who lose it: 19.5% to 31.4%."
    )


def test_a_few_people_are_not_rated():
    """One of four is 25 %, and may be chance; so is none of four."""
    task = small()
    rises, falls = (lambda X: X["grade"].to_numpy() - 2.5), (lambda X: 3.5 - X["grade"].to_numpy())
    for margin in (rises, falls):
        answer = check_merit(task, explain_merit(task, task.X, rises, margin))
        assert answer.mark == "open"
        assert answer.sentence.endswith(" 4 are too few to rate: it takes 100.")


def test_one_of_two_hundred_may_be_chance_and_is_looked_at():
    """0.5 % with a low end of 0.1 %, and 2 % with a low end of 0.8 %: neither is surely beyond 1 %."""
    task = small(times=50)
    for turned, mark in ((0, "fine"), (1, "look"), (4, "look"), (8, "bad")):
        merit = explain_merit(task, task.X, lambda X: X["grade"], lambda X: X["grade"])
        assert check_merit(task, merit.assign(turned_g=turned)).mark == mark


def test_less_of_it_can_be_the_merit_and_the_negative_decision_the_favourable_one():
    task = small(favourable=0, merit=-1)
    rises = lambda X: X["grade"].to_numpy() - 2.5  # noqa: E731
    row = explain_merit(task, task.X, rises, lambda X: -rises(X)).iloc[0]
    assert row["step"] == -1.0
    assert row["people"] == 4
    assert (row["turned_f"], row["turned_g"]) == (0, 1)


@pytest.mark.parametrize(
    ("unit", "merit", "words"),
    [
        ("count", -1, "fewer grade"),
        ("count", 1, "more grade"),
        ("points", -1, "lower grade"),
        ("points", 1, "higher grade"),
    ],
)
def test_a_merit_is_named_with_its_direction(unit, merit, words):
    """“One more step of prior offences never hurts” would say the opposite of what was counted."""
    task = small(merit=merit, unit=unit, times=50)
    never = check_merit(task, explain_merit(task, task.X, lambda X: 0 * X["grade"], lambda X: 0 * X["grade"]))
    assert never.mark == "fine"
    assert never.sentence.startswith(f"With one step more ({words}), nobody loses “yes” under g.")


def test_a_score_that_falls_is_told_where_no_decision_turns():
    task = small(times=50)
    rises, falls = (lambda X: X["grade"].to_numpy()), (lambda X: 100.0 - X["grade"].to_numpy())
    answer = check_merit(task, explain_merit(task, task.X, rises, falls))
    assert answer.mark == "fine"
    assert "but the score falls for 200 of 200 people (higher grade: +1 point; 0 under f)" in answer.sentence


@pytest.mark.parametrize(
    ("sd", "resolution", "step"),
    [(5.5, 1, 1), (0.4, 0.1, 0.1), (0.9, 0.01, 0.1), (7400, 1, 1000), (0.03, 0.001, 0.005)],
)
def test_a_step_is_a_round_number(sd, resolution, step):
    assert merit_step(FeatureRange("x", 0, 10, resolution, sd=sd)) == pytest.approx(step)


@pytest.mark.parametrize("name", ["law_school", pytest.param("compas", marks=pytest.mark.slow)])
def test_against_one_person_at_a_time(name):
    c = case(name)
    g = fit(c, lambda_fair=4.0, lambda_concepts=0.05)
    X = c.test.X.iloc[:40]
    frame = explain_merit(c.task, X, lambda rows: base_logits(c.f, rows), g.decision_function)
    ranges, good = feature_ranges(c.task.X), c.task.spec.favourable
    now = score_rows(g, X)
    for row in frame.itertuples():
        known = ranges[row.feature]
        turned, lowered, people = 0, 0, 0
        for i in range(len(X)):
            value = X[row.feature].iloc[i] + row.step
            if not known.low <= value <= known.high:
                continue
            people += 1
            after = score_rows(g, edit_row(X.iloc[[i]], {row.feature: value})).iloc[0]
            turned += now["g"].iloc[i] == good != after["g"]
            sign = 1 if good else -1
            lowered += sign * after["logit_g"] < sign * now["logit_g"].iloc[i] - 1e-12
        assert (row.people, row.turned_g, row.lowered_g) == (people, turned, lowered)


def test_without_a_declared_merit_the_question_stays_open():
    task = small(merit=0)
    frame = explain_merit(task, task.X, lambda X: X["grade"], lambda X: X["grade"])
    assert frame.empty
    answer = check_merit(task, frame)
    assert answer.mark == "open"
    assert "declared" in answer.sentence


def test_an_f_known_by_its_scores_only_does_not_answer_to_an_edit():
    task = small()
    task = replace(task, X=task.X.assign(score=[0.2, 0.4, 0.6, 0.7, 0.9]), spec=replace(task.spec, scores="score"))
    logit = base_logits("score", task.X)
    ratio = lambda X: 3.5 - X["grade"].to_numpy()  # noqa: E731
    frame = explain_merit(task, task.X, lambda X: base_logits("score", X), lambda X: ratio(X) * base_logits("score", X))
    row = frame.iloc[0]
    assert (row["turned_f"], row["lowered_f"]) == (0, 0)
    old, new = ratio(task.X)[:4] * logit[:4], (ratio(task.X)[:4] - 1) * logit[:4]
    assert row["turned_g"] == int(((old > 0) & (new <= 0)).sum())


def test_a_merit_nobody_can_gain_is_no_evidence():
    task = small()
    frame = explain_merit(task, task.X.iloc[[4]], lambda X: X["grade"], lambda X: -X["grade"])
    assert frame["people"].tolist() == [0]
    assert check_merit(task, frame).mark == "open"
    assert np.isnan(check_merit(task, frame).value)
