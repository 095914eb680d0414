"""Choosing by pairs: which models, which questions, what the answers lead to; and that it beats random pairs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.decisions.pairs import FEWEST, MOST, MOST_ASKED, REPEATS, Interview, PairAnswer, models_to_choose_from
from commod.experiments import Sweep, prepare
from commod.experiments.sweep import Cell, Shared, about_cell, as_points, fit_cell
from tests.benchmarks import pairs as benchmark

pytestmark = pytest.mark.quick


def frontier(n=12):
    """Models on a bent frontier: ever more accuracy is lost for fairness, and changes go along."""
    t = np.linspace(0, 1, n)
    table = {"p_rule": 0.3 + 0.6 * t, "accuracy": 0.8 - 0.1 * t**2, "change_rate": 0.15 * t, "worse_off": 0.03 * t**2}
    models = pd.DataFrame(table, index=range(5, 5 + n))
    models.attrs["signs"] = {"p_rule": 1, "accuracy": 1, "change_rate": -1, "worse_off": -1}
    return models


def say(interview, utility, answers=()):
    """Somebody who never errs, asked to the end."""
    answers = list(answers)
    while (pair := interview.next_question(answers)) is not None:
        answers.append(PairAnswer(*pair, "a" if utility[pair[0]] > utility[pair[1]] else "b"))
    return answers


def test_models_to_choose_from_differ_and_none_beats_another():
    scene = prepare("german")
    cells = [Cell("commod", value, (("lambda_ratio", 0.05),)) for value in (0.0, 1.0, 1.0, 4.0)]
    fitted = [fit_cell(scene, cell, "demographic_parity", Shared()) for cell in cells]
    awful = replace(fitted[0], decisions_test=1 - scene.decisions_test)
    alike = replace(fitted[0], decisions_test=np.ones_like(scene.decisions_test), scores_test=None)
    rows = [
        about_cell(scene, model.cell, "demographic_parity") | scene.figures(model.decisions_test)
        for model in (*fitted, awful, alike)
    ]
    models = models_to_choose_from(scene, Sweep("commod", (*fitted, awful, alike), as_points(pd.DataFrame(rows))))
    assert 0 in models.index  # f itself
    assert {1, 2} - set(models.index)  # one of two that are alike
    assert 4 not in models.index  # wrong about everybody
    assert 5 not in models.index  # decides everybody alike, which is perfectly fair
    assert models.loc[0, "change_rate"] == 0
    lost = (scene.decisions_test == scene.task.spec.favourable) & (fitted[3].decisions_test != scene.decisions_test)
    if "worse_off" in models and 3 in models.index:
        assert models.loc[3, "worse_off"] == pytest.approx(lost.mean(), abs=1e-8)


def test_who_wants_fairness_alone_and_who_wants_accuracy_alone_are_led_to_the_ends():
    models = frontier()
    interview = Interview(models)
    for figure, place in (("p_rule", 16), ("accuracy", 5)):
        answers = say(interview, models[figure])
        found = interview.preference(answers)
        assert FEWEST <= len(answers) <= MOST
        assert found.place == place
        assert found.sure >= 0.9
        assert found.explained == found.choices
        assert found.same == found.repeated >= 1
        assert found.fits


def test_no_question_comes_twice_but_the_repeats_which_swap_the_sides():
    models = frontier()
    interview = Interview(models)
    answers = [PairAnswer(*interview.next_question([]), "a")]
    while (pair := interview.next_question(answers)) is not None:
        before = [(answer.a, answer.b) for answer in answers]
        if len(answers) + 1 in REPEATS:
            assert pair[::-1] in before
        else:
            assert pair not in before
            assert pair[::-1] not in before
        answers.append(PairAnswer(*pair, "ab"[len(answers) % 2]))
    assert len({answer.a > answer.b for answer in answers}) == 2  # the fairer one is on either side


@pytest.mark.longer
def test_letters_give_the_same_questions_again_and_a_skip_tells_nothing():
    models = frontier()
    interview = Interview(models)
    answers = interview.replay("abnsa")
    assert answers == Interview(models).replay("abnsa")
    assert interview.digest == Interview(models).digest != Interview(frontier(11)).digest
    without = [answer for answer in answers if answer.said != "s"]
    one, other = interview.preference(answers), interview.preference(without)
    assert (one.place, one.sure, one.answered) == (other.place, other.sure, 4)
    assert len(interview.replay("s" * 40)) == MOST_ASKED
    # A skip counts for nothing: after five of them as many are answered as without.
    assert len(interview.replay("sssss" + "n" * 40)) - 5 == len(interview.replay("n" * 40)) == MOST


def test_no_difference_lies_between_the_two_choices():
    models = frontier()
    interview = Interview(models)
    pair = interview.next_question([])
    fairness = [interview._likely([PairAnswer(*pair, said)]) @ interview._drawn[0][:, -1] for said in ("a", "n", "b")]
    assert fairness == sorted(fairness) or fairness == sorted(fairness, reverse=True)
    assert fairness[0] != fairness[2]


def test_swinging_answers_do_not_fit_together():
    models = frontier()
    interview = Interview(models)
    answers = [PairAnswer(5, 16, "a"), PairAnswer(16, 5, "a"), PairAnswer(7, 12, "a"), PairAnswer(12, 7, "a")]
    found = interview.preference(answers)
    assert (found.same, found.repeated) == (0, 2)
    assert found.explained == 2
    assert not found.fits


def test_two_models_are_asked_about_once_and_one_model_never():
    two = frontier(2)
    interview = Interview(two)
    pair = interview.next_question([])
    assert sorted(pair) == [5, 6]
    assert interview.next_question([PairAnswer(*pair, "a")]) is None
    assert Interview(two.iloc[:0]).next_question([]) is None


@pytest.mark.slow
def test_it_beats_random_pairs_and_a_middle_setting():
    frame = benchmark.simulate(10, benchmark.SCENES[:1], n_jobs=1)
    means = frame.pivot_table("regret", ["questions", "kind"], "way")
    assert (means["interview"] < means["random pairs"]).all()
    assert (means["interview"] < means["middle"] / 2).all()
