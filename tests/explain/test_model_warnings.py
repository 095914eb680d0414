"""What is wrong with a model though its figures look well."""

import numpy as np
import pandas as pd
import pytest

from commod.datasets import load_task
from commod.explain.model_warnings import model_warnings
from commod.metrics import compare_decisions
from tests.fitting import case

pytestmark = pytest.mark.quick

TASK = case("law_school").task
PARITY = "demographic_parity"


def told(y, s, f, g, path=None, task=TASK):
    figures = compare_decisions(y, (f > 0).astype(int), (g > 0).astype(int), sensitive_features=s)
    path = pd.DataFrame({"lambda_fair": [0.0, 3.0], "p_rule": [0.3, 0.6]}) if path is None else path
    return model_warnings(task, PARITY, y, s, f, g, figures, path)


@pytest.fixture
def crowd():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 2000)
    f = rng.normal(size=2000) + 1.5 * s
    return (f + rng.normal(size=2000) > 0).astype(int), s, f


def test_a_sound_model_is_not_spoken_of(crowd):
    y, s, f = crowd
    assert told(y, s, f, f + 0.4 * (s == 0)) == []


def test_levelling_down_is_told_with_both_groups(crowd):
    y, s, f = crowd
    (sentence,) = told(y, s, f, np.where(s == 1, f - 1.1, f - 0.5))
    assert sentence.startswith("g makes the groups alike mostly by taking away: “passes the bar” falls from 94% to ")
    assert "of Non-White it was 49% and is " in sentence
    assert sentence.endswith("Every group loses by it.")


def test_a_little_levelling_down_is_told_if_every_group_loses(crowd):
    y, s, f = crowd
    (sentence,) = told(y, s, f, f - 0.05)
    assert sentence == "Every group gets “passes the bar” less often."
    assert told(y, s, f, np.where(s == 1, f - 0.05, f)) == []  # only one of them does


def test_a_model_less_often_right_than_f_and_a_constant_is_spoken_of():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 4000)
    f = rng.normal(size=4000) - 2.0 + 0.5 * s
    y = (f + 0.5 * rng.normal(size=4000) > 0).astype(int)
    g = np.where((s == 0) & (f > -1.2), 0.1, f)  # raises many who have no such label
    values = [((f > 0) == y).mean(), ((g > 0) == y).mean(), 1 - y.mean()]
    assert values[1] < min(values[0], values[2])
    assert (
        f"g is right for {values[1]:.1%} of people, f for {values[0]:.1%}, and always saying “fails the bar” "
        f"for {values[2]:.1%}."
    ) in told(y, s, f, g)
    assert told(y, s, f, np.where((s == 0) & (f > -0.1), 0.1, f)) == []


def test_levelling_down_of_many_groups_is_told_of_the_best_and_the_worst_off():
    rng = np.random.default_rng(0)
    s = np.r_[rng.integers(0, 3, 2000), np.full(20, 3)]  # the last ones are too few to be spoken of
    f = rng.normal(size=2020) + np.array([0.5, 0.0, 1.5, 9.0])[s]
    y = (f + rng.normal(size=2020) > 0).astype(int)
    (sentence,) = told(y, s, f, np.where(s == 2, f - 1.1, f - 0.7), task=load_task("law_school.race_sex"))
    assert "of White × Female; of Non-White × Male it was 46% and is " in sentence


def test_a_dead_end_is_told(crowd):
    y, s, f = crowd
    path = pd.DataFrame({"lambda_fair": [0.0, 0.5, 1.0, 2.0, 4.0, 8.0], "p_rule": [0.5, 0.6, 0.7, 0.7, 0.71, 0.7]})
    (sentence,) = told(y, s, f, f + 0.2 * (s == 0), path)
    assert sentence == (
        "From λ_fair 1 to 8 fairness hardly moves (P-Rule 0.700): this kind of update can do no more here."
    )
    assert told(y, s, f, f + 0.2 * (s == 0), path.assign(p_rule=[0.5, 0.6, 0.7, 0.75, 0.8, 0.85])) == []
