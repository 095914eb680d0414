"""Experiments on people of three groups and a fourth of few, some of no known group, with weights."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from commod.datasets import Feature, Task, TaskSpec, add_task
from commod.experiments import compare, prepare, sweep_method
from commod.experiments.grid import grid_of
from commod.experiments.limits import limits_of
from commod.experiments.match import match_models
from commod.experiments.refits import refit
from commod.experiments.search import effective_weight
from commod.experiments.start import suited_start
from commod.experiments.sweep import EFFORT, Cell, rows_in_words
from commod.experiments.target import Asked, Search
from commod.metrics import MIN_GROUP, disparate_mistreatment, p_rule
from commod.models.competitors import METHODS
from commod.theory import p_rule_curve

DP, EO = "demographic_parity", "equalized_odds"
GROUPS = ("North", "East", "South", "Islands")


@cache
def scene(weighted=False, unknown=0.0):
    """Who is of which group shows in the first feature; of the last group there are some sixty people in all."""
    rng = np.random.default_rng(0)
    n = 1800
    s = rng.choice(4, n, p=[0.45, 0.3, 0.215, 0.035])
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["one", "two", "three"])
    X["one"] += 0.8 * s
    y = pd.Series((X["one"] + 0.5 * X["two"] + rng.normal(size=n) > 1.0).astype(int))
    s = np.where(rng.random(n) < unknown, -1, s)
    name = f"regions{'_weighted' if weighted else ''}{'_unknown' if unknown else ''}"
    spec = TaskSpec(
        name=name,
        title="Regions",
        features=tuple(Feature(column, column) for column in X),
        target="y",
        target_label="is taken",
        outcomes=("refused", "taken"),
        favourable=1,
        sensitive="region",
        groups=GROUPS,
        filter="All made-up rows.",
    )
    weight = pd.Series(rng.uniform(0.2, 3.0, n)) if weighted else None
    add_task(Task(spec=spec, X=X, y=y, sensitive=pd.Series(s), weight=weight))
    return prepare(name)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Sweeps of a third of the models."""
    monkeypatch.setattr("commod.experiments.sweep.EFFORT", EFFORT // 3)


ALL_AT_ONCE = {"weighted": True, "unknown": 0.2}
CASES = [{}, ALL_AT_ONCE]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "fairness"),
    [
        ({}, EO),
        (ALL_AT_ONCE, DP),
        pytest.param({}, DP, marks=pytest.mark.slow),
        pytest.param(ALL_AT_ONCE, EO, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_limits_start_at_f_and_no_model_gets_beyond(case, fairness):
    here = scene(**case)
    test, told = here.test, {"sensitive_features": here.test.sensitive, "sample_weight": here.test.weight}
    limits = limits_of(here, fairness)
    metric = p_rule if fairness == DP else disparate_mistreatment
    assert limits.switching_point is limits.printed_fails_from is None  # the paper's, of two groups
    assert limits.at(0.0) == pytest.approx(metric(test.y, here.decisions_test, **told))
    sign = 1 if fairness == DP else -1
    points = sweep_method(here, "oracle_lpp", fairness).points
    assert points["p_rule" if fairness == DP else "dm"].notna().all()
    for row in points.itertuples():
        if row.change_rate <= 0.4:
            assert sign * getattr(row, "p_rule" if fairness == DP else "dm") <= sign * limits.at(row.change_rate) + 0.01


@pytest.mark.slow
def test_a_match_counts_who_changed_in_every_group():
    here = scene()
    sweeps = {name: sweep_method(here, name, DP) for name in ("lpp", "wass1")}
    table = match_models(here, sweeps, DP, 8, method="lpp").table
    who = [f"{what}_{s}" for s in range(4) for what in ("better", "worse")]
    np.testing.assert_array_equal(table[who].sum(axis=1), table["changed"])


def test_two_group_methods_are_left_out_of_grids_and_refused_by_name():
    scene()
    methods = {job.cell.method for job in grid_of(["regions"], list(METHODS)[:8], [DP], [0])}
    assert "oracle_roc" not in methods
    assert "oracle_lpp" in methods
    with pytest.raises(ValueError, match=r"no method 'oracle_roc' for demographic parity of 4 groups: choose from"):
        compare("regions", methods=["oracle_roc"])


@pytest.mark.slow
def test_who_cannot_weigh_is_told_where_there_are_weights():
    assert rows_in_words(scene()) == ""
    assert rows_in_words(scene(weighted=True)) == (
        "Hardt post-processing, Wass-1 post-processing and RNF cannot weigh rows when learning: to them all count "
        "alike."
    )
    with_weights, without = (sweep_method(scene(weighted=weighted), "wass1", DP) for weighted in (True, False))
    for one, other in zip(with_weights.models, without.models, strict=True):
        assert (one.decisions_test == other.decisions_test).mean() > 0.9  # f has been weighed


def test_a_start_is_found(monkeypatch):
    monkeypatch.setattr("commod.experiments.start.TRIED", (1.0, 5.0))
    start = suited_start(scene(**ALL_AT_ONCE), DP)
    assert start.settings["lambda_fair"] > 0
    assert "P-Rule" in start.text


def test_a_refit_draws_within_the_groups():
    found = refit(scene(unknown=0.2), Cell("lpp", 0.05), DP, count=3)
    assert found.figures["p_rule"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param({}, marks=pytest.mark.slow), ALL_AT_ONCE], ids=str)
def test_a_search_judges_the_groups_that_the_test_part_compares(case):
    here = scene(**case)
    cells = 2 * here.test.sensitive + here.test.y
    rows, people = (np.bincount(cells, w, 8).reshape(4, 2) for w in (None, effective_weight(here.test)))
    assert rows.sum(axis=1)[3] < MIN_GROUP
    asked = Asked(DP, 0.5, 0.3, None, 0.8)
    search = Search(here.train, here.f, {"fairness": DP}, asked, people, rows.sum(axis=1))
    search.try_all([(0.0, 0.05, 0.1), (8.0, 0.0, 0.01)], lambda: None)
    f, g = search.tried.values()
    assert f["change_rate"] == 0.0
    assert g["fairness"] > f["fairness"]
    known = here.train.sensitive >= 0
    held = p_rule_curve(here.decisions_train[known], sensitive_features=here.train.sensitive[known])["p_rule"]
    assert search.bound() == pytest.approx(held[int(0.3 * known.sum())], abs=0.05)  # by weight, where there are some


def test_effective_weights_add_up_to_the_effective_size():
    train = scene(weighted=True).train
    weight = effective_weight(train)
    assert effective_weight(scene().train) is None
    assert weight.sum() == pytest.approx(train.weight.sum() ** 2 / (train.weight**2).sum())
    assert weight.sum() < len(train)
