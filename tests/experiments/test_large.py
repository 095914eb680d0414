"""A large table of somebody's own: which rows and seeds the methods beside COMMOD get, and what is said of it."""

import numpy as np
import pytest

from commod.datasets import add_task, forget_task
from commod.datasets.example import example_table
from commod.datasets.from_file import task_of_file
from commod.experiments import compare, points_of, prepare, scene, sweep_method
from commod.experiments.match import tree_f1
from commod.experiments.sweep import EFFORT_LARGE, Cell, Shared, lines_of, rows_in_words, train_cell
from commod.models.competitors import make_method


@pytest.fixture
def large(monkeypatch, tmp_path):
    """The applicants, as if they were many."""
    monkeypatch.setattr(scene, "LARGE", 1000)
    monkeypatch.setattr(scene, "MAX_SAMPLE", 400)
    path = tmp_path / "applicants.csv"
    example_table().to_csv(path, index=False)
    task, _ = task_of_file(path, {})
    add_task(task)
    yield prepare(task.name, "scores")
    forget_task(task.name)


def test_the_sample_has_the_shares_of_all(large):
    sampled = large.sampled
    assert sampled is large.sampled  # drawn once
    assert 400 <= len(sampled.train) <= 404
    for one, other in ((sampled.train.y, large.train.y), (sampled.train.sensitive, large.train.sensitive)):
        assert one.mean() == pytest.approx(other.mean(), abs=0.01)
    assert sampled.test is large.test
    assert sampled.train.X.index.isin(large.train.X.index).all()
    np.testing.assert_array_equal(sampled.scores_train, sampled.train.X["model_score"])
    shipped = prepare("law_school")
    assert shipped.sampled is shipped  # larger than this, and yet learnt from as a whole


def test_commod_learns_from_all_rows_and_the_others_from_the_sample(large):
    for method, value, rows in (("commod", 3.0, large.train), ("lpp", 0.05, large.sampled.train)):
        trained = train_cell(large, Cell(method, value), "demographic_parity", Shared())
        alone = make_method(
            method, "model_score", value, **({} if method == "lpp" else large.task.spec.commod_settings)
        )
        alone.fit(rows.X, rows.y, sensitive_features=rows.sensitive)
        np.testing.assert_allclose(trained.margin(large.test), alone.decision_function(large.test.X), atol=1e-9)


def test_one_seed_and_a_sentence(large):
    for name in ("commod", "hardt", "lpp", "bayes"):
        (line,) = lines_of(name, task=large.task)
        assert [cell.seed for cell in line] == [0] * EFFORT_LARGE
        assert {cell.others for cell in line} <= {(), (("lambda_ratio", 0.05),)}
    assert {cell.seed for line in lines_of("hardt") for cell in line} == {0, 1, 2}
    assert rows_in_words(large) == (
        f"COMMOD learns from {len(large.train):,} training rows, the other methods from {len(large.sampled.train)} of "
        f"them, drawn at random, with one seed each; all are measured on all {len(large.test)} test rows."
    )
    assert rows_in_words(prepare("law_school")) == ""


@pytest.mark.slow  # test_cli.py compares a file, too
def test_compare_gives_the_points_of_the_page(large):
    names = ["lpp"]
    sweeps = {name: sweep_method(large, name, "demographic_parity") for name in names}
    fairest = sweeps["lpp"].models[-1]
    assert len(fairest.decisions_train) == len(large.sampled.train)
    assert 0.2 < tree_f1(large, fairest)[3] <= 1.0
    here = points_of(sweeps.values())
    assert compare(large.task.name, methods=names, base_model="scores", n_jobs=1).equals(here)
