from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod import Commod
from commod.experiments import compare, points_of, prepare, sweep_method
from commod.experiments.paper import TABLE1_ROWS
from commod.experiments.sweep import EFFORT, FINEST, Cell, Shared, fit_cell, lines_of, next_place, train_cell
from commod.metrics import accuracy, change_rate, disparate_mistreatment, p_rule
from commod.models.competitors import METHODS, available_methods, make_method
from commod.models.competitors.base import Memory
from tests.fitting import swept

DP, EO = "demographic_parity", "equalized_odds"


@pytest.fixture(scope="module")
def scene():
    return prepare("law_school")


@pytest.fixture
def few(monkeypatch):
    """Sweeps of a third of the models."""
    monkeypatch.setattr("commod.experiments.sweep.EFFORT", EFFORT // 3)


def test_a_scene_is_made_once_and_holds_f(scene):
    assert prepare("law_school") is scene
    np.testing.assert_array_equal(scene.decisions_test, scene.f.predict(scene.test.X))
    np.testing.assert_array_equal(scene.decisions_train, scene.f.predict(scene.train.X))


def test_figures_of_a_scene_are_the_metrics(scene):
    rng = np.random.default_rng(0)
    decisions = rng.integers(0, 2, len(scene.test))
    given = {"sensitive_features": scene.test.sensitive}
    assert scene.figures(decisions) == pytest.approx(
        {
            "accuracy": accuracy(scene.test.y, decisions, **given),
            "p_rule": p_rule(scene.test.y, decisions, **given),
            "dm": disparate_mistreatment(scene.test.y, decisions, **given),
            "change_rate": change_rate(scene.decisions_test, decisions),
        },
        abs=1e-12,
    )


@pytest.mark.slow
def test_a_cell_of_the_sweep_is_the_model_one_fits_alone(scene):
    model = swept("commod").models[7]
    g = Commod(
        scene.f,
        lambda_fair=model.cell.value,
        **dict(model.cell.others),
        **METHODS["commod"].settings,
    ).fit(scene.train.X, scene.train.y, sensitive_features=scene.train.sensitive)
    np.testing.assert_array_equal(g.predict(scene.test.X), model.decisions_test)
    np.testing.assert_array_equal(g.predict(scene.train.X), model.decisions_train)
    np.testing.assert_allclose(g.predict_proba(scene.test.X)[:, 1], model.scores_test, atol=1e-6)
    pd.testing.assert_frame_equal(g.concepts_, model.concepts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param("lpp", marks=pytest.mark.slow), "fst", pytest.param("fair_projection", marks=pytest.mark.slow)],
)
def test_a_shared_membership_changes_nothing(scene, few, name):
    model = sweep_method(scene, name, EO).models[-3]
    alone = make_method(name, scene.f, model.cell.value, fairness=EO)
    alone.fit(scene.train.X, scene.train.y, sensitive_features=scene.train.sensitive)
    np.testing.assert_array_equal(alone.predict(scene.test.X), model.decisions_test)


def test_points_carry_settings_and_the_frontier(few):
    points = swept("commod").points
    assert len(points) == len(swept("commod").models) == 12
    assert {"method", "value", "settings", "seed", "split", "p_rule", "dm", "accuracy", "change_rate"} <= set(points)
    at_rest = points[points["value"] == 0]
    assert (at_rest["change_rate"] == 0).all()
    assert (at_rest["p_rule"] == at_rest["p_rule"].iloc[0]).all()
    best = points[points["best"]].sort_values("p_rule")
    assert best["accuracy"].is_monotonic_decreasing
    assert 2 < len(best) < len(points)


def test_progress_is_told_and_what_it_raises_ends_the_sweep(scene, few):
    shares = []
    sweep_method(scene, "oracle_roc", DP, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) == EFFORT // 3

    def stop(share):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        sweep_method(scene, "oracle_roc", DP, stop)


@pytest.mark.slow
def test_processes_and_this_one_give_the_same_numbers(scene):
    """The page sweeps in threads, the command line in processes."""
    names = ["frappe", "fst"]
    elsewhere = compare("law_school", methods=names, n_jobs=2)
    here = points_of([sweep_method(scene, name, DP) for name in reversed(names)])
    pd.testing.assert_frame_equal(elsewhere, here, check_exact=True)


def test_what_cannot_be_compared_is_told():
    with pytest.raises(ValueError, match="no method 'roc' for demographic parity: choose from commod"):
        compare("law_school", methods=["roc"])
    with pytest.raises(ValueError, match="no method 'oracle_roc' for equalized odds"):
        compare("law_school", methods=["oracle_roc"], fairness=EO)
    with pytest.raises(ValueError, match="not implemented yet"):
        lines_of("igd")


@pytest.mark.parametrize("name", TABLE1_ROWS)
def test_at_equal_effort_the_knob_lies_between_what_is_declared(name):
    cells = [cell for line in lines_of(name, 36) for cell in line]
    declared = METHODS[name].knob.sweep
    assert len(cells) == len({cell.words for cell in cells}) == 36
    assert {cell.seed for cell in cells} == {0}
    assert (cells[0].value, cells[-1].value) == (declared[0], declared[-1])
    for cell in cells:
        assert min(declared) <= cell.value <= max(declared)
        assert float(f"{cell.value:g}") == cell.value  # its words name it exactly


WRITTEN = [name for name, method in METHODS.items() if method.is_written]


def test_every_method_gets_as_many_models_as_commod():
    for name in WRITTEN:
        lines = lines_of(name)
        assert sum(map(len, lines)) == sum(map(len, lines_of("commod"))) == EFFORT, name
        assert len({len(line) for line in lines}) == 1, name
        assert len({cell for line in lines for cell in line}) == EFFORT, name
        assert (
            METHODS[name].knob.placed != METHODS[name].is_commod
        )  # COMMOD's are those of its slider, whatever comes out


def test_values_go_to_the_ends_the_middle_and_into_the_widest_gap():
    scale, known = (0.0, 1.0, 2.0, 4.0, 8.0), {}

    def unfair(place):  # of two lines: all that happens, happens between 2 and 3
        return np.array([1.0, 0.8]) * np.interp(place, [2.0, 3.0], [1.0, 0.0])

    for _ in range(8):
        place = next_place(scale, known)
        known[place] = unfair(place)
    assert list(known) == [0.0, 4.0, 2.0, 3.0, 2.5, 2.25, 2.75, 2.125]  # of equal gaps the longer, then the nearer to f
    known = {}
    for _ in range(40):  # a jump is not chased without end
        place = next_place(scale, known)
        known[place] = np.array([float(place > 1.3)])
    assert len(known) == 40
    assert np.diff(sorted(known)).min() == FINEST * 4


def test_a_fair_model_is_looked_for_between_two_that_favour_different_groups(scene, few):
    """Equally unfair neighbours are no gap if they favour the same group, and the widest if they do not."""
    models = sweep_method(scene, "oracle_roc", DP).models
    given = {"sensitive_features": scene.train.sensitive}
    fairness = np.array([p_rule(scene.train.y, model.decisions_train, **given) for model in models])
    group = scene.train.sensitive.to_numpy() == 1
    apart = [model.decisions_train[group].mean() - model.decisions_train[~group].mean() for model in models]
    assert min(apart) < 0 < max(apart)
    assert fairness.max() > 0.95


@pytest.mark.parametrize(("name", "fairness"), [pytest.param("lpp", DP, marks=pytest.mark.slow), ("fst", EO)])
def test_placed_values_leave_smaller_gaps_than_even_ones(scene, few, name, fairness):
    """On the training rows, which is all that placing looks at."""
    given = {"sensitive_features": scene.train.sensitive}
    figure = p_rule if fairness == DP else disparate_mistreatment

    def widest(models):
        return np.diff(np.sort([figure(scene.train.y, model.decisions_train, **given) for model in models])).max()

    placed, shared = sweep_method(scene, name, fairness).models, Shared()
    even = [fit_cell(scene, cell, fairness, shared) for line in lines_of(name) for cell in line]
    assert len(placed) == len(even)
    assert widest(placed) < 0.8 * widest(even)


def test_the_test_rows_play_no_part_in_placing(scene, few):
    y = scene.test.y
    other = replace(scene, test=replace(scene.test, y=y.where(np.arange(len(y)) % 3 > 0, 1 - y)))
    one, two = (sweep_method(each, "fst", EO) for each in (scene, other))
    assert [model.cell for model in one.models] == [model.cell for model in two.models]
    assert not one.points["dm"].equals(two.points["dm"])


SHORT = {"rnf": (("steps", 30),), "frappe": (("max_iter", 15),), "wass1_penalised": (("max_iter", 5),)}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "wass1_penalised")) for name in SHORT]
)
def test_what_models_of_a_line_share_changes_nothing(scene, name):
    scale, shared = METHODS[name].knob.sweep, Shared()
    for value in (scale[-1], scale[3]):
        cell = Cell(name, value, SHORT[name])
        beside, alone = (train_cell(scene, cell, DP, each).model for each in (shared, Shared()))
        np.testing.assert_array_equal(beside.predict_proba(scene.test.X), alone.predict_proba(scene.test.X))
        assert getattr(beside, "n_iter_", 0) == getattr(alone, "n_iter_", 0)
    again = train_cell(scene, Cell(name, scale[3], SHORT[name], seed=1), DP, shared).model  # filled anew
    alone = train_cell(scene, Cell(name, scale[3], SHORT[name], seed=1), DP, Shared()).model
    np.testing.assert_array_equal(again.predict_proba(scene.test.X), alone.predict_proba(scene.test.X))


def test_a_memory_of_other_rows_is_empty():
    memory, rows = Memory(), np.arange(6.0)
    memory.of("a", rows, None)["found"] = 1
    assert memory.of("a", rows.copy(), None) == {"found": 1}
    assert memory.of("a", rows + 1, None) == {}
    assert memory.of("a", rows, None) == {}


def test_equal_effort_is_that_of_commod():
    assert lines_of("commod", 36) == lines_of("commod")
    assert [cell.value for cell in lines_of("oracle_lpp", 3)[0]] == [0.5, 0.1, 0.001]
    with pytest.raises(ValueError, match="35 models of COMMOD cannot be shared among its 3 lines"):
        lines_of("commod", 35)


@pytest.mark.slow
@pytest.mark.parametrize("fairness", [DP, EO])
def test_every_method_moves_towards_fairness_along_its_knob(scene, fairness):
    """On the training rows, where it is meant to hold; the slow ones are in the slow tests."""
    train, given = scene.train, {"sensitive_features": scene.train.sensitive}
    for name in available_methods(fairness):
        method = METHODS[name]
        # Pleiss makes costs of scores equal, not decisions.
        if method.cost > 20 or name == "pleiss" or method.aims_at:
            continue
        gains = []
        # A multiplier that is too large favours the other group: the fairest Bayes rule is on the way.
        fair = method.knob.sweep[4::3] if name in ("bayes", "oracle") else method.knob.sweep[-1:]
        for value in (method.knob.sweep[0], *fair):
            model = make_method(name, scene.f, value, fairness=fairness).fit(train.X, train.y, **given)
            decided = model.predict(train.X, **(given if method.needs_sensitive else {}))
            gains.append(
                p_rule(train.y, decided, **given)
                if fairness == DP
                else -disparate_mistreatment(train.y, decided, **given)
            )
        assert max(gains[1:]) > gains[0] + 0.2, name


@pytest.mark.slow
@pytest.mark.parametrize("fairness", [DP, EO])
@pytest.mark.parametrize("name", ["adv_debias", "frappe_mlp"])
def test_methods_of_many_seeds_move_towards_fairness_along_their_knob(scene, name, fairness):
    points = sweep_method(scene, name, fairness).points
    figure = "p_rule" if fairness == DP else "dm"
    mean = points.groupby("value")[figure].mean()
    assert abs(mean.iloc[-1] - mean.iloc[0]) > 0.2
    assert (mean.iloc[-1] > mean.iloc[0]) == (fairness == DP)


@pytest.mark.slow
def test_all_methods_in_processes_as_in_this_one(scene):
    names = ["adv_debias", "frappe_mlp"]
    here = points_of([sweep_method(scene, name, DP) for name in names])
    pd.testing.assert_frame_equal(compare("law_school", methods=names), here, check_exact=True)
