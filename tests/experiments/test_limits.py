"""The limits of a scene: no model, not even one that is told the group, gets beyond them."""

from functools import lru_cache

import pytest

from commod.experiments import limits, prepare
from commod.experiments.limits import best_within, fewest_at_levels, interventions_of, limits_of
from commod.metrics import CRITERIA
from tests.fitting import swept


@lru_cache
def made(fairness):
    scene = prepare("law_school")
    return scene, fairness, limits_of(scene, fairness), swept("commod", fairness)


@pytest.fixture(params=["demographic_parity", pytest.param("equalized_odds", marks=pytest.mark.slow)])
def case(request):
    return made(request.param)


@pytest.mark.slow
def test_no_model_gets_beyond_the_bound(case):
    _, fairness, limits, sweep = case
    figure, sign = CRITERIA[fairness].figure_name, 1 if fairness == "demographic_parity" else -1
    for each in (sweep, swept("oracle_lpp", fairness)):
        for row in each.points.itertuples():
            if row.change_rate <= 0.4:
                assert sign * getattr(row, figure) <= sign * limits.at(row.change_rate) + 1e-12


def test_the_bound_starts_at_f_and_ends_fair(case):
    scene, fairness, limits, _ = case
    assert limits.at(0.0) == pytest.approx(scene.figures(scene.decisions_test)[CRITERIA[fairness].figure_name])
    assert limits.people == len(scene.test)
    assert 0 < limits.fair_from < 0.3 * limits.people
    assert limits.at(0.4) == pytest.approx(1.0 if fairness == "demographic_parity" else 0.0, abs=0.01)


def test_the_best_model_within_a_budget(case):
    _, fairness, _, sweep = case
    points = sweep.points
    best = best_within(points, fairness, 0.05)
    near = points[points["change_rate"] <= 0.05]
    figure = near[CRITERIA[fairness].figure_name]
    assert best[CRITERIA[fairness].figure_name] == (figure.max() if fairness == "demographic_parity" else figure.min())
    assert best_within(points, fairness, -1.0) is None


@pytest.mark.slow  # its page is tested
def test_who_is_not_told_the_group_lies_between_f_and_the_exact_bound():
    scene = prepare("law_school")
    blind = limits.blind_limits_of(scene, "demographic_parity")
    exact = made("demographic_parity")[2]
    for row in blind.itertuples():
        assert row.fairness <= exact.at(row.change_rate) + 0.01  # the one is expected, the other counted
    assert blind["fairness"].iloc[0] == pytest.approx(exact.at(0.0))
    # In the middle, where both have something to do, it costs visibly not to know the group.
    middle = blind[(blind["fairness"] > 0.75) & (blind["fairness"] < 0.85)].iloc[0]
    assert middle["fairness"] < exact.at(middle["change_rate"]) - 0.03
    # What is expected is about what its rule reaches when it is counted.
    assert (blind["counted"] - blind["fairness"]).abs().max() < 0.05
    assert limits.blind_limits_of(scene, "equalized_odds").empty


def test_no_model_is_as_fair_with_fewer_changes_than_the_reference():
    """Under demographic parity, which depends on whom a rule decides positively in each group and on nothing else."""
    scene, criterion = prepare("law_school"), "demographic_parity"
    points = swept("oracle_roc", criterion).points
    fewest = fewest_at_levels(scene, criterion, points["p_rule"].tolist())
    assert all(least <= changed + 1e-9 for least, changed in zip(fewest, points["change_rate"], strict=True))
    f = scene.figures(scene.decisions_test)["p_rule"]
    fully = interventions_of(scene)["change_rate"].iloc[0]
    assert fewest_at_levels(scene, criterion, [f, 1.0]) == pytest.approx((0.0, fully))
