"""Whether f is fit to be corrected: upside down, worse than a constant, one-sided, fair already, of too few people."""

import re

import numpy as np
import pytest
from scipy.special import expit

from commod.datasets import load_task
from commod.explain.model_warnings import are_treated_alike, base_model_warnings, proposed_threshold
from tests.fitting import case

pytestmark = pytest.mark.quick

TASK = case("law_school").task


def people(n=4000, rate=0.5, gap=1.0, seed=0):
    """Labels, groups and scores of a model that is as sure as it may be; group 1 is better off by `gap`."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    logit = np.log(rate / (1 - rate)) + rng.normal(size=n) + gap * (s - 0.5)
    return (rng.random(n) < expit(logit)).astype(int), s, expit(logit)


def kinds(*given, **more):
    return [concern.kind for concern in base_model_warnings(TASK, *given, **more)]


def test_a_usual_f_raises_no_doubt():
    assert kinds(*people()) == []


def test_scores_of_the_other_outcome_are_asked_about():
    y, s, scores = people()
    (concern,) = base_model_warnings(TASK, y, s, 1 - scores)
    assert concern.kind == "turned"
    assert concern.is_question
    assert "seem to be of the other outcome" in concern.text


def test_an_f_that_is_worse_than_a_constant_is_asked_about():
    y, s, scores = people(rate=0.2)
    assert not any(
        concern.is_question for concern in base_model_warnings(TASK, y, s, scores, 0.11)
    )  # a low line has its reason
    worse = base_model_warnings(TASK, y, s, np.clip(scores + 0.35, 0, 1))
    assert worse[0].kind == "worse"
    assert "; always saying “" in worse[0].text
    assert "” is right for" in worse[0].text
    weighed = base_model_warnings(TASK, y, s, np.clip(1.2 * scores, 0, 1) ** 0.2, 0.6)
    assert weighed[0].kind == "worse"
    assert "cut-off of 0.6" in weighed[0].text


def test_a_cut_off_is_proposed_where_few_have_the_outcome():
    y, s, scores = people(rate=0.03)
    concern = base_model_warnings(TASK, y, s, scores)[0]
    assert concern.kind == "one-sided"
    assert not concern.is_question
    assert (scores > concern.threshold).mean() == pytest.approx(y.mean(), abs=0.005)
    assert "hardly a decision to change" in concern.text
    assert "one-sided" not in kinds(y, s, scores, concern.threshold)
    assert proposed_threshold(scores, y) == concern.threshold


def test_one_sided_without_a_way_out():
    y, s, _ = people(rate=0.03)
    concern = base_model_warnings(TASK, y, s, np.full(len(y), 0.03))[0]
    assert (concern.kind, concern.threshold) == ("one-sided", None)
    assert "Other scores or features" in concern.text


def test_a_fair_f_needs_no_correction():
    (concern,) = base_model_warnings(TASK, *people(gap=0.0))
    assert concern.kind == "fair"
    assert "may be chance" in concern.text
    (concern,) = base_model_warnings(TASK, *people(40_000, gap=0.0))
    assert "little that demographic parity would correct" in concern.text


def test_few_people_in_a_cell():
    y, s, scores = people(200)
    assert kinds(y, s, scores) == ["few"]
    assert kinds(y, s, scores, people=20_000) == []  # they are a sample


def test_a_group_with_one_outcome_only():
    y, s, scores = people(2000)
    y = np.where(s == 0, 0, y)
    few = next(concern for concern in base_model_warnings(TASK, y, s, scores) if concern.kind == "few")
    outcome = TASK.spec.outcomes[1]
    assert few.text.startswith(f"Nobody of {TASK.groups[0]} has “{outcome}”, so there is no true positive rate")
    y[np.flatnonzero(s == 0)[0]] = 1
    few = next(concern for concern in base_model_warnings(TASK, y, s, scores) if concern.kind == "few")
    assert f"{TASK.groups[0]} with “{outcome}”: about 1 person, 0 of them in the test part." in few.text


def test_few_people_of_sealed_data_are_those_who_are_left():
    """With a fifth sealed, the test part is a quarter of the others, and not 30 %."""
    few = next(one for one in base_model_warnings(TASK.seal(0.2), *people(200)) if one.kind == "few")
    about, in_test = re.search(r"about (\d+) people not sealed, (\d+) of them in the test part", few.text).groups()
    assert int(in_test) == round(0.25 * int(about))


def test_many_groups_are_treated_alike_if_no_pair_differs_by_more_than_chance():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 4, 4000)
    decided = rng.random(4000) < 0.4
    assert are_treated_alike(s, decided)
    assert not are_treated_alike(s, decided | (s == 3) & (rng.random(4000) < 0.2))
    # Of five people, or of people whose group is not known, nothing follows.
    assert are_treated_alike(np.r_[s, np.full(5, 4), np.full(500, -1)], np.r_[decided, np.ones(505, bool)])


def test_a_fair_f_of_many_groups_is_told_by_the_extremes():
    y, _, scores = people(gap=0.0)
    s = np.arange(len(y)) % 4
    (concern,) = base_model_warnings(load_task("law_school.race_sex"), y, s, scores)
    assert concern.kind == "fair"
    assert "of at least " in concern.text
    assert concern.text.count("%") == 2
