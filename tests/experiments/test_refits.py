"""Refits on bootstrap samples: the same every time, within group and label, and counted as they are."""

from dataclasses import replace

import numpy as np
import pytest

from commod.experiments.checks import answers_of
from commod.experiments.refits import (
    FIRST_SPLIT,
    MIN_REFITS,
    N_SPLITS,
    drawn_anew,
    n_refits,
    points_on_splits,
    refit,
    resampled,
)
from commod.experiments.scene import prepare
from commod.experiments.sweep import Cell, Shared, train_cell
from commod.explain.checks import check_again

CELL = Cell("commod", 3.0, (("lambda_concepts", 0.05), ("n_concepts", 2)))


@pytest.fixture(scope="module")
def scene():
    return prepare("law_school")


@pytest.fixture(scope="module")
def refits(scene):
    return refit(scene, CELL, "demographic_parity", count=3)


def test_a_resample_keeps_groups_and_labels(scene):
    drawn = resampled(scene, 3)
    for part in ("y", "sensitive"):
        assert getattr(drawn.train, part).sum() == getattr(scene.train, part).sum()
    assert len(drawn.train.X.index.unique()) < 0.7 * len(drawn.train)
    assert drawn.f is scene.f
    assert drawn.test is scene.test
    assert drawn.train.X.equals(resampled(scene, 3).train.X)
    assert not drawn.train.X.index.equals(resampled(scene, 4).train.X.index)


@pytest.mark.slow
def test_the_share_of_each_person_is_counted_over_the_refits(scene, refits):
    assert len(refits) == 3
    changes = np.zeros(len(scene.test), dtype=int)
    for i in range(3):
        model = train_cell(resampled(scene, i), CELL, "demographic_parity", Shared())
        decided = (model.margin(scene.test) > 0).astype(int)
        changes += decided != scene.decisions_test
        assert refits.figures.loc[i, "p_rule"] == scene.figures(decided)["p_rule"]
    np.testing.assert_array_equal(refits.share, changes / 3)
    intervals = refits.intervals
    assert (intervals["low"] <= refits.figures.median()).all()
    assert (refits.figures.median() <= intervals["high"]).all()


def test_another_split_is_that_split_with_its_own_f(scene, monkeypatch):
    found = refit(scene, CELL, "demographic_parity", count=2, drawn="splits")
    assert len(found) == 2
    assert not len(found.changes)  # other people are on test
    for i in range(2):
        other = prepare("law_school", seed=FIRST_SPLIT + i)
        decided = (train_cell(other, CELL, "demographic_parity").margin(other.test) > 0).astype(int)
        assert found.figures.loc[i].to_dict() == other.figures(decided)
        lost = other.figures(other.decisions_test)["accuracy"] - other.figures(decided)["accuracy"]
        assert found.shares.loc[i, "accuracy_lost"] == lost
    assert found.spread.loc["p_rule", "mean"] == pytest.approx(found.figures["p_rule"].mean())
    assert found.spread.loc["p_rule", "sd"] == pytest.approx(np.std(found.figures["p_rule"], ddof=1))
    monkeypatch.setattr("commod.experiments.refits.N_SPLITS", 2)
    points = points_on_splits(scene, [CELL], "demographic_parity")
    assert len(points) == 2
    assert points["p_rule"].tolist() == found.figures["p_rule"].tolist()


def test_a_split_is_another_one_whatever_the_seed(scene):
    seeds = [drawn_anew(replace(scene, seed=FIRST_SPLIT + 1), i, "splits").seed for i in range(3)]
    assert seeds == [FIRST_SPLIT, FIRST_SPLIT + N_SPLITS, FIRST_SPLIT + 2]


def test_another_split_keeps_the_threshold():
    low = prepare("german", threshold=0.3)
    other = low.on_split(FIRST_SPLIT)
    assert (other.threshold, other.seed) == (0.3, FIRST_SPLIT)
    np.testing.assert_array_equal(other.decisions_test, (other.f.predict_proba(other.test.X)[:, 1] > 0.3).astype(int))


def test_no_other_split_where_time_makes_it_or_f_may_take_minutes(scene, monkeypatch):
    assert n_refits(scene, "splits") == N_SPLITS
    later = replace(scene, task=replace(scene.task, time=scene.task.y.astype(float)))
    assert n_refits(later, "splits") == 0
    monkeypatch.setattr("commod.experiments.refits.is_large", lambda task: True)
    assert n_refits(scene, "splits") == 0


def test_what_happens_again():
    answer = check_again([True, True, True, False], [1.0, 0.9, 0.5, 1.0], 10)
    assert (answer.part, answer.whole) == (2, 3)  # nine of ten is enough
    assert answer.basis == "10 refits"
    assert check_again([False, False], [0.0, 0.0], 10).mark == "open"


def test_how_many_refits_is_counted_not_timed(scene):
    assert {name: n_refits(prepare(name)) for name in ("law_school", "compas", "adult")} == {
        "law_school": 60,
        "compas": 30,
        "adult": MIN_REFITS,
    }


def test_progress_is_told_and_can_end_it(scene):
    told = []

    def stop(share):
        told.append(share)
        if len(told) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        refit(scene, CELL, "demographic_parity", count=4, report=stop)
    assert told == [0.25, 0.5]


@pytest.mark.parametrize("method", ["lpp", "oracle_roc", pytest.param("frappe", marks=pytest.mark.slow)])
def test_the_checks_of_a_rival(scene, method):
    from commod.experiments.sweep import lines_of

    cell = lines_of(method)[0][-1]
    trained = train_cell(scene, cell, "demographic_parity", Shared())
    answers = answers_of(scene, trained)
    changed = (trained.margin(scene.test) > 0) != scene.decisions_test
    right = changed & ((trained.margin(scene.test) > 0) == scene.test.y.to_numpy())
    assert set(answers) == {"right", "sure", "merit"}
    assert (answers["right"].part, answers["right"].whole) == (right.sum(), changed.sum())
    assert answers["merit"].whole > 1000


def test_all_four_checks_of_commod(scene, refits):
    trained = train_cell(scene, CELL, "demographic_parity", Shared())
    answers = answers_of(scene, trained, refits)
    assert {name: answer.mark for name, answer in answers.items()} == {
        "right": "predicted",
        "sure": "bad",
        "merit": "look",
        "again": answers["again"].mark,
    }
    changed = (trained.margin(scene.test) > 0) != scene.decisions_test
    assert answers["again"].part == (refits.share[changed] >= 0.9).sum()
    assert answers["again"].basis == "3 refits"
