"""Sealed people: who they are, and that no split, no seed and no choice brings them back."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.datasets import TASKS, Choice, ChoiceError, is_shipped, load_task, make_task
from commod.datasets.example import example_table
from commod.datasets.load import data_of
from commod.experiments import prepare

pytestmark = pytest.mark.quick

KINDS = {"experience_years": "number", "test_score": "number", "city": "category"}
CHOICE = Choice("hired", "yes", "group", ("A", "B"), KINDS, confirm=0.2)


def rows(*parts):
    return [set(part.X.index) for part in parts]


def test_three_parts_are_disjoint_and_together_everybody():
    task = load_task("compas")
    learn, explore, confirm = rows(*task.split(confirm=0.2))
    assert learn | explore | confirm == set(task.X.index)
    assert len(learn) + len(explore) + len(confirm) == len(task.y)
    shares = [len(part) / len(task.y) for part in (learn, explore, confirm)]
    assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.015)


def test_every_seed_seals_the_same_people():
    task = load_task("german")
    found = [rows(*task.split(seed, confirm=0.2)) for seed in range(3)]
    assert found[0][2] == found[1][2] == found[2][2]
    assert found[0][1] != found[1][1]


def test_other_outcomes_and_groups_seal_the_same_people():
    """Else whoever chooses again would look at some who were sealed."""
    table = example_table(600)
    kinds = {"experience_years": "number", "test_score": "number"}
    others = [
        CHOICE,
        replace(CHOICE, kinds=kinds, sensitive="city", groups=("North", "South")),
        replace(CHOICE, kinds=kinds, target="education", favourable="university"),
    ]
    found = [make_task(table, choice).task for choice in others]
    sealed = [set(task.sealed.X.index) for task in found]
    left = [set(task.X.index) for task in found]
    assert not any(one & other for one in sealed for other in left)


def test_labels_of_sealed_people_change_nothing_that_is_left():
    table = example_table(600)
    task = make_task(table, CHOICE).task
    flipped = table.copy()
    there = task.sealed.X.index
    flipped.loc[there, "hired"] = np.where(table.loc[there, "hired"] == "yes", "no", "yes")
    other = make_task(flipped, CHOICE).task
    pd.testing.assert_frame_equal(task.X, other.X)
    pd.testing.assert_series_equal(task.y, other.y)
    for a, b in zip(task.split(), other.split(), strict=True):
        pd.testing.assert_frame_equal(a.X, b.X)
    assert (task.sealed.y != other.sealed.y).all()
    assert task.datasheet == other.datasheet
    assert f"{len(there)} rows sealed" in task.datasheet


@pytest.mark.parametrize("name", ["law_school", "compas.race_sex"])
def test_data_that_ship_keep_their_training_rows_and_f(name):
    usual, sealed = prepare(name), prepare(f"{name}+sealed")
    pd.testing.assert_frame_equal(usual.train.X, sealed.train.X)
    np.testing.assert_array_equal(usual.scores_train, sealed.scores_train)
    explore, confirm = rows(sealed.test, sealed.task.sealed)
    assert explore | confirm == set(usual.test.X.index)
    assert not explore & confirm
    assert len(confirm) / len(usual.test) == pytest.approx(0.5, abs=0.03)
    assert is_shipped(sealed.task.name)
    assert data_of(sealed.task.name) == name.partition(".")[0]


def test_no_split_of_data_that_ship_looks_at_the_sealed():
    task = load_task("law_school+sealed")
    sealed = set(task.sealed.X.index)
    for seed in range(4):
        train, test = rows(*task.split(seed))
        assert not sealed & (train | test)
        assert train | test | sealed == set(load_task("law_school").X.index)


def test_the_sealed_scene_has_the_same_f_on_other_people():
    scene = prepare("law_school+sealed")
    there = scene.on_sealed
    assert there.f is scene.f
    np.testing.assert_array_equal(there.encoded_train, scene.encoded_train)
    assert set(there.test.X.index) == set(scene.task.sealed.X.index)
    usual = prepare("law_school")
    at = usual.test.X.index.get_indexer(there.test.X.index)
    np.testing.assert_array_equal(there.logit_test, usual.logit_test[at])
    np.testing.assert_array_equal(there.encoded_test, usual.encoded_test[at])
    with pytest.raises(ValueError, match="Nobody is sealed"):
        assert usual.on_sealed


def test_rows_of_a_person_are_sealed_together():
    table = example_table(600).assign(who=np.arange(600) // 3)
    task = make_task(table, replace(CHOICE, person="who")).task
    parts = [*task.split(), task.sealed]
    people = [set(table.loc[part.X.index, "who"]) for part in parts]
    assert sum(map(len, people)) == len(set.union(*people)) == 200
    assert len(people[2]) / 200 == pytest.approx(0.2, abs=0.08)


def test_by_time_the_latest_rows_are_sealed():
    table = example_table(600).assign(day=np.random.default_rng(0).permutation(600))
    task = make_task(table, replace(CHOICE, time="day")).task
    learn, explore, confirm = (table.loc[part.X.index, "day"] for part in (*task.split(), task.sealed))
    assert learn.max() < explore.min() <= explore.max() < confirm.min()
    assert len(confirm) == len(explore)


def test_scores_are_left_out_of_the_sealed_rows_too():
    task = make_task(example_table(600), replace(CHOICE, scores="model_score")).task
    assert "model_score" in task.sealed.X
    assert "model_score" not in task.without_scores().sealed.X


def test_people_of_unknown_group_are_not_judged():
    table = example_table(600)
    table.loc[::10, "group"] = None
    task = make_task(table, replace(CHOICE, unknown="train")).task
    assert (task.sealed.sensitive < 0).any()
    assert (task.sealed.known().sensitive >= 0).all()


@pytest.mark.parametrize("share", [0.0, -0.1, 0.6, 2.0])
def test_a_share_that_cannot_be_sealed_is_refused(share):
    with pytest.raises(ValueError, match="At most half"):
        load_task("german").split(confirm=share)


def test_people_are_sealed_once():
    with pytest.raises(ValueError, match="already sealed"):
        load_task("german+sealed").seal()


@pytest.mark.parametrize(("share", "told"), [(0.7, "At most half"), (0.5, "Nobody can be sealed here")])
def test_a_table_that_is_too_small_to_seal_is_refused(share, told):
    with pytest.raises(ChoiceError, match=told):
        make_task(example_table(260), replace(CHOICE, confirm=share))


def test_the_draw_goes_with_no_group_and_no_outcome():
    """The example is drawn with seed 0, as many tables are: the lots are not."""
    task = make_task(example_table(4000), CHOICE).task
    for of in ("sensitive", "y"):
        left, sealed = getattr(task, of).mean(), getattr(task.sealed, of).mean()
        assert left == pytest.approx(sealed, abs=0.04)


def test_true_labels_of_sealed_people_are_taken_out_too():
    name = next(name for name, spec in TASKS.items() if spec.truth)
    task = load_task(f"{name}+sealed")
    assert task.truth.index.equals(task.y.index)
    assert not set(task.truth.index) & set(task.sealed.X.index)
