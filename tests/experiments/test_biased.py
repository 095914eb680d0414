"""A biased record: what is computed from it agrees with the truth that a simulation knows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.datasets import load_task
from commod.experiments.biased import (
    disadvantaged,
    figures_if_missed,
    if_missed,
    scene_in_truth,
    shares_to_ask,
)
from commod.experiments.refits import N_SPLITS, drawn_anew
from commod.experiments.scene import prepare
from commod.experiments.sweep import Cell, fit_cell
from commod.metrics.counts import counts_of_codes
from commod.metrics.figures import key_figures_of
from data.invented import MISSED, ratings_table

FIGURES = ("accuracy", "dm")


def simulated(rng, *, favourable, missed, people=3000):
    """Groups, true and recorded labels, and two models' decisions, of which neither has seen the record."""
    group, quality = rng.integers(0, 2, people), rng.normal(size=people)
    good = rng.random(people) < 1 / (1 + np.exp(-quality))
    recorded = good & ~((group == 0) & (rng.random(people) < missed))
    before, after = (quality + rng.normal(0, 0.7, people) > cut for cut in (0.4, 0.2))
    as_label = (lambda is_good: is_good.astype(int)) if favourable else (lambda is_good: 1 - is_good.astype(int))
    return group, *(as_label(each) for each in (good, recorded, before, after))


@pytest.mark.parametrize("favourable", [0, 1])
@pytest.mark.parametrize("missed", [0.1, 0.3])
def test_mended_counts_are_the_true_ones_on_average(favourable, missed):
    rng, off = np.random.default_rng(7), []
    for _ in range(200):
        group, truth, recorded, before, after = simulated(rng, favourable=favourable, missed=missed)
        true, seen = (counts_of_codes(group, 2, labels, before, after) for labels in (truth, recorded))
        mended = if_missed(seen, 0, favourable, missed)
        assert mended.sum(axis=1) == pytest.approx(seen.sum(axis=1))  # nobody comes or goes
        found, wanted, biased = (key_figures_of(counts) for counts in (mended, true, seen))
        off.append([[found[name] - wanted[name], biased[name] - wanted[name]] for name in FIGURES])
    mean, error = np.mean(off, axis=0), np.std(off, axis=0) / np.sqrt(len(off))
    assert (np.abs(mean[:, 0]) < 4 * error[:, 0] + 0.002).all()  # mistreatment takes an absolute value: a little more
    assert abs(mean[0, 1]) > 10 * error[0, 1]  # the record itself is off


def test_nothing_missed_changes_nothing_and_no_part_has_more_than_all():
    counts = np.random.default_rng(0).integers(0, 9, (2, 2, 2, 2)).astype(float)
    np.testing.assert_array_equal(if_missed(counts, 1, 0, 0.0), counts)
    mended = if_missed(counts, 1, 0, 0.9)
    np.testing.assert_array_equal(mended[0], counts[0])
    assert (mended >= 0).all()
    np.testing.assert_allclose(mended.sum(axis=1), counts.sum(axis=1))


@pytest.fixture(scope="module")
def ratings():
    scene = prepare("ratings")
    return scene, fit_cell(scene, Cell("commod", 3.0, (("update", "affine"),)), "demographic_parity")


def test_the_ratings_miss_what_their_datasheet_says():
    table = ratings_table()
    women = table[table["sex"] == "Female"]
    good = women[women["performed"] == 1]
    assert (good["rated"] == 0).mean() == pytest.approx(MISSED, abs=0.03)
    assert (table.loc[table["sex"] == "Male", "rated"] == table.loc[table["sex"] == "Male", "performed"]).all()
    assert (women["rated"] <= women["performed"]).all()
    rates = table.groupby("sex")["performed"].mean()
    assert abs(rates["Female"] - rates["Male"]) < 0.03
    task = load_task("ratings")
    assert task.truth is not None
    assert "performed" not in task.X


def test_on_the_ratings_the_right_share_comes_nearer_to_the_truth(ratings):
    scene, model = ratings
    truth, (record, mended) = (
        scene_in_truth(scene),
        (figures_if_missed(scene, model.decisions_test, missed) for missed in (0.0, MISSED)),
    )
    true = figures_if_missed(truth, model.decisions_test)
    assert scene.task.groups[disadvantaged(scene)] == "Female"
    assert max(shares_to_ask(scene)) >= MISSED
    for name in ("accuracy", "right"):
        assert abs(mended[name] - true[name]) < 0.5 * abs(record[name] - true[name])
    assert true["right"] > record["right"]


def test_no_more_can_be_missing_than_the_record_leaves_room_for(ratings):
    scene, _ = ratings
    all_good = pd.Series(1, scene.test.y.index)
    full = replace(scene, test=replace(scene.test, y=all_good))
    assert shares_to_ask(full) == [0.0]


@pytest.mark.slow
def test_the_datasheet_says_what_ten_splits_show():
    scene, task = prepare("ratings"), load_task("ratings")
    cell, gains = Cell("commod", 3.0, (("lambda_ratio", 0.05), ("update", "affine"))), []
    for i in range(N_SPLITS):
        here = drawn_anew(scene, i, "splits")
        decided = fit_cell(here, cell, "demographic_parity").decisions_test
        worlds = (here, scene_in_truth(here))
        gains.append([_accuracy(world, decided) - _accuracy(world, here.decisions_test) for world in worlds])
    lost, gained = -100 * np.mean(gains, axis=0)
    assert f"loses {lost:.1f} points of accuracy by\nthe record and gains {-gained:.1f} in truth" in task.datasheet
    assert [(np.array(gains)[:, 0] < 0).sum(), (np.array(gains)[:, 1] > 0).sum()] == [9, 10]


def _accuracy(scene, decisions):
    return figures_if_missed(scene, decisions)["accuracy"]
