"""The checks of the models of several methods, against direct computation."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.experiments import compare, prepare, sweep_method
from commod.experiments.checks import (
    COMPARED_REFITS,
    answer_of_merit,
    answers_of,
    answers_of_decisions,
    matched_models,
)
from commod.experiments.match import match_models
from commod.experiments.refits import refit
from commod.experiments.scene import AT_HAND
from commod.experiments.sweep import Shared, as_points, train_cell
from commod.explain.checks import CHECKS
from commod.models.competitors import METHODS
from tests.checking import answer_of_refits, as_checks, checks_of_match

DP = "demographic_parity"


@pytest.fixture(scope="module")
def scene():
    return prepare("law_school")


@pytest.fixture(scope="module")
def sweeps(scene):
    """Few models of each method; one of them must know the group."""
    short = {"commod": (0.0, 3.0), "oracle_roc": (0.0, 0.12)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commod.experiments.sweep.EFFORT", 2)
        for name, values in short.items():
            method = METHODS[name]
            others = {"lambda_ratio": (0.05,)} if name == "commod" else method.others
            patch.setitem(METHODS, name, replace(method, knob=replace(method.knob, sweep=values), others=others))
        return {name: sweep_method(scene, name, DP) for name in short}


@pytest.fixture(scope="module")
def match(scene, sweeps):
    return match_models(scene, sweeps, DP, 1)


@pytest.fixture(scope="module")
def checks(scene, match, sweeps):
    return checks_of_match(scene, match, sweeps, DP, refits=2)


def test_what_decisions_tell_is_counted(scene):
    rng = np.random.default_rng(5)
    after = np.where(rng.random(len(scene.test)) < 0.1, 1 - scene.decisions_test, scene.decisions_test)
    changed, y = after != scene.decisions_test, scene.test.y.to_numpy()
    p = 1 / (1 + np.exp(-scene.logit_test))
    sure = np.maximum(p, 1 - p) > 0.9
    found = answers_of_decisions(scene, after.astype(np.int8))
    assert tuple(found) == AT_HAND
    assert (found["right"].part, found["right"].whole) == ((changed & (after == y)).sum(), changed.sum())
    assert (found["sure"].part, found["sure"].whole) == ((changed & sure).sum(), changed.sum())
    assert scene.shares(after) == {name: answer.value for name, answer in found.items()}
    assert scene.shares(after) == {"right": (after == y)[changed].mean(), "sure": sure[changed].mean()}


def test_of_nobody_there_is_no_share(scene):
    assert all(np.isnan(share) for share in scene.shares(scene.decisions_test).values())
    assert {answer.mark for answer in answers_of_decisions(scene, scene.decisions_test).values()} == {"open"}


def test_who_is_changed_by_one_and_by_all_comparable_models(scene, match, sweeps):
    alike = match.table[match.table["comparable"]]
    changed = [
        sweeps[row.method].models[row.place].decisions_test != scene.decisions_test for row in alike.itertuples()
    ]
    people = [{i for i, moved in enumerate(each) if moved} for each in changed]
    assert match.by_one == pytest.approx(len(set.union(*people)) / len(scene.test))
    assert match.by_all == pytest.approx(len(set.intersection(*people)) / len(scene.test))


@pytest.mark.slow
def test_the_models_of_a_match_are_those_of_its_rows(match, sweeps):
    models = matched_models(match, sweeps)
    assert list(models) == ["commod", "oracle_roc"]
    assert [model.cell.words for model in models.values()] == match.table["settings"].tolist()


def test_every_method_has_every_check_and_equal_effort(scene, match, sweeps, checks):
    assert checks["method"].tolist() == [name for name in sweeps for _ in CHECKS]
    assert checks["check"].tolist() == [*CHECKS] * 2
    for name, model in matched_models(match, sweeps).items():
        found = checks[checks["method"] == name].set_index("check")
        assert (
            found.loc[["right", "sure", "again"], "whole"] == (model.decisions_test != scene.decisions_test).sum()
        ).all()
        direct = answers_of(scene, train_cell(scene, model.cell, DP, Shared()), refit(scene, model.cell, DP, count=2))
        assert found["part"].to_dict() == {check: answer.part for check, answer in direct.items()}
        assert found["mark"].to_dict() == {check: answer.mark for check, answer in direct.items()}
    assert COMPARED_REFITS == 20


def test_a_method_that_decides_by_a_threshold_changes_nobody_of_whom_f_was_sure(checks):
    found = checks.set_index(["method", "check"])
    assert found.loc[("oracle_roc", "sure"), "part"] == 0
    assert found.loc[("oracle_roc", "sure"), "mark"] == "fine"
    assert found.loc[("commod", "sure"), "mark"] == "bad"  # it lies in the form of g


def test_a_model_that_changes_nobody_is_not_refitted(scene, sweeps, monkeypatch):
    monkeypatch.setattr("tests.checking.refit", None)
    model = sweeps["commod"].models[0]
    answer = answer_of_refits(scene, model, DP)
    assert (answer.mark, answer.whole) == ("open", 0)
    merit = answer_of_merit(scene, train_cell(scene, model.cell, DP, Shared()))
    assert merit.mark == "fine"  # g = f, and this f is linear in its merits
    frame = as_checks({"commod": answers_of_decisions(scene, model.decisions_test) | {"again": answer}})
    assert frame["check"].tolist() == ["right", "sure", "again"]
    assert frame["value"].isna().all()


def test_refits_tell_how_far_they_are_and_can_be_ended(scene, sweeps):
    told = []

    def stop(share):
        told.append(share)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        answer_of_refits(scene, sweeps["oracle_roc"].models[1], DP, 4, stop)
    assert told == [0.25]


def test_points_carry_what_decisions_tell(scene, sweeps):
    points = sweeps["oracle_roc"].points
    decided = sweeps["oracle_roc"].models[-1].decisions_test
    changed = decided != scene.decisions_test
    assert points["right"].iloc[-1] == (decided == scene.test.y.to_numpy())[changed].mean()
    assert points["sure"].iloc[-1] == (np.abs(scene.logit_test[changed]) > np.log(9)).mean()
    assert points.loc[0, ["right", "sure"]].isna().all()  # changes nobody
    assert points.columns[-3:].tolist() == ["right", "sure", "best"]


def test_compare_and_the_page_have_the_same_columns(monkeypatch):
    monkeypatch.setattr("commod.experiments.sweep.EFFORT", 6)
    table = compare("german", methods=["oracle_roc"], n_jobs=1)
    pd.testing.assert_frame_equal(table, sweep_method(prepare("german"), "oracle_roc", DP).points)


def test_rows_from_before_there_were_checks_are_still_points(sweeps):
    old = sweeps["oracle_roc"].points.drop(columns=["right", "sure"])
    assert as_points(old).columns.tolist() == old.columns.tolist()
