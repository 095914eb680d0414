"""Verdicts: by their intervals, in words, and as many more people as are named settle it about as often as is said."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.decisions import (
    Requirements,
    best_under,
    check_requirements,
    collapse_of,
    facts_of,
    facts_of_counts,
    facts_of_f,
    met_in_words,
    overall,
)
from commod.decisions.facts import Facts, Measured
from commod.decisions.rivals import share_against
from commod.decisions.verdicts import SETTLES, more_people
from commod.experiments import prepare
from commod.experiments.refits import Refits, refit
from commod.experiments.sweep import Cell, Shared, fit_cell, lines_of, sweep_method
from commod.metrics.counts import wilson_interval

pytestmark = pytest.mark.quick

CELL = Cell("commod", 3.0, (("lambda_concepts", 0.05), ("n_concepts", 2)))


@pytest.fixture(scope="module")
def scene():
    return prepare("law_school")


@pytest.fixture(scope="module")
def model(scene):
    return fit_cell(scene, CELL, "demographic_parity", Shared())


def one(name, limit, measured, **facts):
    given = {"people": 1000, "better": 50, "worse": 0} | facts
    return check_requirements(Requirements(**{name: limit}), Facts({name: measured}, **given)).iloc[0]


@pytest.mark.parametrize(
    ("limit", "people", "refits", "verdict"),
    [
        (0.6, (0.65, 0.75), (math.nan, math.nan), "pass"),
        (0.6, (0.65, 0.75), (0.62, 0.8), "pass"),
        (0.6, (0.65, 0.75), (0.55, 0.8), "cannot tell"),
        (0.6, (0.55, 0.75), (math.nan, math.nan), "cannot tell"),
        (0.8, (0.65, 0.75), (math.nan, math.nan), "fail"),
        (0.8, (0.65, 0.75), (0.7, 0.85), "cannot tell"),
        (0.8, (0.65, 0.75), (0.6, 0.7), "fail"),
    ],
)
def test_a_verdict_goes_by_both_intervals(limit, people, refits, verdict):
    row = one("p_rule", limit, Measured(0.7, people, refits))
    assert row["verdict"] == verdict
    assert row["holds"] == (limit <= 0.7)
    # The same turned round: at most.
    turned = Measured(0.3, (1 - people[1], 1 - people[0]), (1 - refits[1], 1 - refits[0]), whole=1000)
    assert one("changed", 1 - limit, turned)["verdict"] == verdict


def test_what_it_would_take():
    assert one("changed", 0.05, Measured(0.062, (0.055, 0.07), whole=1000))["takes"] == "12 changes too many"
    assert one("accuracy_lost", 0.01, Measured(0.011, (0.0, 0.02), whole=1000))["takes"] == "1 right decision too few"
    assert one("p_rule", 0.8, Measured(0.75, (0.7, 0.78)))["takes"] == "0.050 too low"
    assert one("right", 0.5, Measured(0.4, (0.3, 0.45), whole=50))["takes"] == "5 right changes too few, of the same 50"
    assert one("p_rule", 0.8, Measured(0.9, (0.85, 0.95)))["takes"] == ""


def test_people_settle_nothing_where_refits_differ_or_nobody_can_prove_it():
    row = one("p_rule", 0.8, Measured(0.82, (0.78, 0.86), (0.7, 0.9)))
    assert (row["verdict"], math.isnan(row["more_people"])) == ("cannot tell", True)
    assert "ith other people 0.780 to 0.860, with other training rows 0.700 to 0.900." in row["sentence"]
    nobody = one("worse_off", 0.0, Measured(0.0, (0.0, 0.004), whole=1000))
    assert (nobody["verdict"], nobody["holds"], math.isnan(nobody["more_people"])) == ("cannot tell", True, True)
    assert one("worse_off", 0.0, Measured(0.001, (0.0, 0.004), whole=1000), worse=1)["verdict"] == "fail"
    assert one("worse_off", 0.0, Measured(0.0, (0.0, 0.0), whole=1000, exact=True))["verdict"] == "pass"
    assert one("worse_off", 0.1, Measured(0.001, (0.0, 0.004), whole=1000), worse=1)["verdict"] == "pass"


def test_how_many_more_people_is_rounded_and_ends_somewhere():
    def told(value):
        return one("p_rule", 0.8, Measured(value, (value - 0.04, value + 0.04)))

    assert told(0.781)["sentence"] == (
        "0.781: with about 8,100 more test people we could tell. With other people 0.741 to 0.821."
    )
    never = told(0.7995)
    assert math.isnan(never["more_people"])
    assert "too close to call" in never["sentence"]


def settled(value, low, high, limit):
    return low >= limit if value >= limit else high < limit


@pytest.mark.parametrize(("share", "limit", "people"), [(0.1, 0.08, 400), (0.55, 0.5, 200), (0.02, 0.03, 800)])
def test_as_many_more_people_settle_a_share_as_often_as_is_said(share, limit, people):
    ends = tuple(float(end) for end in wilson_interval(share * people, people))
    assert not settled(share, *ends, limit)
    more = more_people(Measured(share, ends), limit, people)
    rng = np.random.default_rng(0)
    often = {}
    for n in (int(people + more), int(people + 0.25 * more)):
        drawn = rng.binomial(n, share, 4000)
        low, high = wilson_interval(drawn, n)
        often[n] = float(np.mean((low > limit) if share > limit else (high < limit)))
    enough, few = often.values()
    assert SETTLES - 0.1 < enough < SETTLES + 0.1
    assert few < 0.6


@pytest.mark.slow
def test_as_many_more_people_settle_a_p_rule_as_often_as_is_said():
    """Drawn from counts that are the population: 0.30 over 0.42 is 0.714, and 0.8 is required."""
    population = np.zeros((2, 2, 2, 2))
    for group, rate in enumerate((0.30, 0.42)):
        population[group, 0, :, 0] = (1 - rate) * np.array([0.9, 0.1]) / 2
        population[group, 1, :, 1] = rate * np.array([0.1, 0.9]) / 2
    people = 600
    row = check_requirements(Requirements(p_rule=0.8), facts_of_counts(population * people, 1)).iloc[0]
    assert row["verdict"] == "cannot tell"
    n = people + int(row["more_people"])
    rng = np.random.default_rng(1)
    told = []
    for _ in range(100):
        drawn = rng.multinomial(n, population.ravel()).reshape(population.shape).astype(float)
        told.append(check_requirements(Requirements(p_rule=0.8), facts_of_counts(drawn, 1)).iloc[0]["verdict"])
    assert 0.65 <= told.count("fail") / 100 <= 0.95
    assert "pass" not in told


def test_f_changes_nobody_for_whoever_comes(scene):
    asked = Requirements(
        p_rule=0.8,
        accuracy_lost=0,
        changed=0,
        worse_off=0,
        sure=0,
        right=1,
        again=1,
        kept_out=("lsat",),
        direction="improve",
    )
    checked = check_requirements(asked, facts_of_f(scene)).set_index("requirement")
    assert checked.loc["p_rule", "verdict"] == "fail"
    of_changes = ["sure", "right", "again"]
    assert set(checked.loc[of_changes, "verdict"]) == {"does not apply"}
    assert set(checked.drop(["p_rule", *of_changes])["verdict"]) == {"pass"}
    assert overall(checked) == "fail"
    assert met_in_words(checked["verdict"]) == "5 of 6 that apply"
    assert overall(checked.drop("p_rule")) == "pass"
    assert overall(checked.loc[of_changes]) == "does not apply"


def test_the_figures_are_those_of_the_scene(scene, model):
    refits = refit(scene, CELL, "demographic_parity", count=3)
    assert list(refits.shares) == ["right", "sure", "worse_off", "accuracy_lost"]
    facts = facts_of(scene, model.decisions_test, CELL, refits)
    figures = scene.figures(model.decisions_test)
    f = scene.figures(scene.decisions_test)
    assert facts.measured["p_rule"].value == figures["p_rule"]
    assert facts.measured["dm"].value == figures["dm"]
    assert facts.measured["changed"].value == figures["change_rate"]
    assert facts.measured["accuracy_lost"].value == pytest.approx(f["accuracy"] - figures["accuracy"], abs=1e-12)
    before, after, y = scene.decisions_test, model.decisions_test, scene.test.y.to_numpy()
    assert facts.worse == ((before == 1) & (after == 0)).sum()  # passing is favourable
    worse_off = facts.measured["worse_off"]
    assert worse_off.value == facts.worse / len(y)
    shares = refits.shares["worse_off"]
    assert shares.min() <= worse_off.refits[0] <= worse_off.refits[1] <= shares.max()
    assert facts.measured["right"].value == (after == y)[before != after].mean()
    for name in ("p_rule", "dm", "accuracy_lost", "changed", "sure", "right"):
        low, high = facts.measured[name].refits
        assert low <= high, name
    assert facts.uses == tuple(feature.name for feature in scene.task.spec.features)
    # Refits that were kept before shares were counted tell less, and nothing breaks.
    old = facts_of(scene, model.decisions_test, CELL, Refits(refits.changes, refits.figures))
    assert math.isnan(old.measured["right"].refits[0])


@pytest.mark.slow  # Decide shows them
def test_other_splits_stand_beside_a_verdict_and_do_not_change_it(scene, model):
    splits = refit(scene, CELL, "demographic_parity", count=3, drawn="splits")
    limit = float(splits.figures["p_rule"].median())
    asked = Requirements(p_rule=limit, accuracy_lost=0.01, again=0.5, kept_out=("ugpa",))
    without, found = (
        check_requirements(asked, facts_of(scene, model.decisions_test, CELL, splits=each)).set_index("requirement")
        for each in (None, splits)
    )
    assert set(without["splits"]) == {""}
    pd.testing.assert_frame_equal(without.drop(columns="splits"), found.drop(columns="splits"))
    mean, sd = splits.figures["p_rule"].mean(), splits.figures["p_rule"].std()
    assert found.loc["p_rule", "splits"] == f"{mean:.3f} ± {sd:.3f}, met on 2 of 3"
    met = (splits.shares["accuracy_lost"] <= 0.01).sum()
    assert found.loc["accuracy_lost", "splits"].endswith(f"met on {met} of 3")
    assert found.loc[["again", "kept_out"], "splits"].tolist() == ["", ""]  # of which other splits tell nothing


def test_the_form_of_an_update_rules_out_what_it_says(scene, model):
    limited = Cell("commod", 3.0, (("direction", "improve"), ("features", ("lsat",))))
    rng = np.random.default_rng(0)
    raised = np.maximum(scene.decisions_test, rng.random(len(scene.test)) < 0.05)
    asked = Requirements(worse_off=0, direction="improve", kept_out=("ugpa",))
    assert set(check_requirements(asked, facts_of(scene, raised, limited))["verdict"]) == {"pass"}
    assert set(check_requirements(asked, facts_of(scene, raised, CELL))["verdict"]) == {"cannot tell", "fail"}
    other = check_requirements(asked, facts_of(scene, raised, Cell("lpp", 0.1))).set_index("requirement")
    assert set(other["verdict"]) == {"cannot tell"}
    lowered = check_requirements(asked, facts_of(scene, model.decisions_test, CELL)).set_index("requirement")
    assert lowered.loc[["worse_off", "direction"], "verdict"].tolist() == ["fail", "fail"]


@pytest.fixture(scope="module")
def sweep(scene):
    """A few models of LPP."""
    few = lines_of("lpp")[0][::6]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commod.experiments.sweep.lines_of", lambda method, task=None, form=(): [few])
        return sweep_method(scene, "lpp", "demographic_parity")


def test_changes_against_a_direction_are_those_the_other_way(scene, sweep):
    for direction, before in (("improve", 1), ("worsen", 0)):  # passing is favourable
        against = [(scene.decisions_test == before) & (m.decisions_test != before) for m in sweep.models]
        found = share_against(direction, scene, sweep)
        np.testing.assert_allclose(found, [each.mean() for each in against])
        assert found.max() > 0


def place_of(best, sweep):
    return next(place for place, model in enumerate(sweep.models) if model is best.model)


def broken(best):
    return best.checked.loc[~best.checked["holds"].astype(bool), "wanted"].tolist()


@pytest.mark.longer
def test_the_best_of_a_sweep_meets_the_requirements_or_is_the_nearest(scene, sweep):
    points = sweep.points
    middle = float(points["p_rule"].median())
    best = best_under(Requirements(p_rule=middle), scene, sweep)
    assert not broken(best)
    assert not best.collapse
    assert points["p_rule"].iloc[place_of(best, sweep)] >= middle
    assert best.facts.measured["p_rule"].value == points["p_rule"].iloc[place_of(best, sweep)]
    nearest = best_under(Requirements(p_rule=1.0, changed=0.0), scene, sweep)
    assert broken(nearest) == ["a P-Rule of 1 or more", "no decision changed"]
    total = (1.0 - points["p_rule"]) + points["change_rate"]
    assert place_of(nearest, sweep) == total[points["change_rate"] > 0].idxmin()
    for asked in (Requirements(worse_off=0.001), Requirements(direction="worsen"), Requirements(again=0.5)):
        assert best_under(asked, scene, sweep).verdict in ("pass", "fail", "cannot tell")


def test_a_model_that_changes_nobody_is_the_best_only_if_f_meets_what_is_required(scene, sweep):
    idle = replace(sweep.models[0], decisions_test=scene.decisions_test, scores_test=scene.scores_test)
    point = pd.DataFrame([sweep.points.iloc[0].to_dict() | scene.figures(scene.decisions_test) | {"change_rate": 0.0}])
    points = pd.concat([sweep.points, point], ignore_index=True)
    with_it = replace(sweep, models=(*sweep.models, idle), points=points)
    alone = replace(sweep, models=(idle,), points=point)
    asked = Requirements(p_rule=0.99, changed=0.0)  # f is nearest to that, and fails it
    assert not best_under(asked, scene, with_it).is_f
    assert best_under(asked, scene, alone).is_f
    assert best_under(Requirements(changed=0.0), scene, with_it).is_f
    assert not best_under(Requirements(again=0.5), scene, with_it).is_f  # which does not apply to f


def test_a_model_that_has_collapsed_or_turns_f_around_is_no_success(scene):
    before = scene.decisions_test
    assert collapse_of(scene, before, scene.scores_test) == ""
    assert collapse_of(scene, np.ones_like(before)) == "It decides everybody alike."
    assert "Deciding everybody alike would be fair and change" in collapse_of(scene, 1 - before)
    random = np.random.default_rng(0).uniform(size=len(before))
    assert "hardly tells people apart" in collapse_of(scene, random > scene.threshold, random)


def test_a_sound_model_that_misses_is_nearer_than_a_collapsed_one_that_meets(scene, sweep):
    alike = np.ones(len(scene.test), dtype=np.int8)
    models = (*sweep.models, replace(sweep.models[0], decisions_test=alike, scores_test=None))
    points = pd.concat([sweep.points, pd.DataFrame([sweep.points.iloc[0].to_dict() | scene.figures(alike)])])
    asked = Requirements(p_rule=1.0)
    with_it = replace(sweep, models=models, points=points.reset_index(drop=True))
    best = best_under(asked, scene, with_it)
    assert best.model is best_under(asked, scene, sweep).model
    assert broken(best) or best.collapse
    alone = best_under(asked, scene, replace(sweep, models=models[-1:], points=points.iloc[-1:].reset_index(drop=True)))
    assert not broken(alone)
    assert alone.collapse == "It decides everybody alike."
    assert alone.verdict == "fail"


def test_a_limited_update_is_swept_and_told():
    form = (("direction", "improve"), ("favourable", 1), ("features", ("lsat", "ugpa")))
    lines = lines_of("commod", 6, form=form)
    assert {cell.others[1:] for line in lines for cell in line} == {form}
    assert lines[0][0].words == "λ_fair 0, λ_ratio 0, nobody loses, 2 features"
