"""The verdict: what is said first of a model, and what is added."""

import re
from dataclasses import replace

import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.stories import extremes
from commod.dashboard.text.verdicts import Changes, Verdict, named_first, verdict
from commod.datasets import TASKS

pytestmark = pytest.mark.quick

DP, EO = "demographic_parity", "equalized_odds"
ROWS = {
    0: {"count": 365, "before": 0.15, "now": 0.37, "of_100_before": 15, "of_100_now": 37},
    1: {"count": 1011, "before": 0.59, "now": 0.6, "of_100_before": 59, "of_100_now": 60},
}


@pytest.mark.parametrize(
    ("gain", "changes", "chance", "lead", "added"),
    [
        (0.3, Changes(107, 18, 17), False, "fairer", "wrong"),
        (0.3, Changes(107, 18, 90), False, "fairer", "right"),
        (0.3, Changes(107, 18, 17), True, "perhaps", "wrong"),
        (0.3, Changes(4, 50, 40), False, "away", "worse"),
        (0.3, Changes(4, 50, 40), True, "perhaps", "worse"),
        (-0.1, Changes(4, 5, 4), False, "less", "wrong"),
        (-0.1, Changes(4, 5, 4), True, "same", "wrong"),
        (0.0, Changes(4, 5, 8), False, "same", "right"),
    ],
)
def test_the_lead_goes_by_fairness_chance_and_who_is_worse_off(gain, changes, chance, lead, added):
    judged = Verdict.of(gain, changes, chance=chance)
    assert (judged.lead, judged.added) == (lead, added)
    assert judged.is_bad == ((lead, added) != ("fairer", "right"))


def test_the_verdict_of_the_law_school():
    told = verdict("en", TASKS["law_school"], DP, ROWS, Changes(107, 18, 17), 0.36)
    assert {"37", "15", "100", "Non-White", "108", "125"} <= set(re.findall(r"[\w-]+", told))
    told = verdict("en", TASKS["law_school"], EO, ROWS, Changes(107, 18, 100), 0.36)
    assert {"100", "125"} <= set(re.findall(r"\w+", told))
    assert "But" not in told


def test_no_headline_praises_what_makes_most_people_worse_off():
    told = verdict("en", TASKS["law_school"], DP, ROWS, Changes(4, 50, 40), 0.2)
    assert told.startswith("More equal, by taking away: ")
    assert told.endswith("Of 54 changes, 50 leave somebody worse off.")


def test_of_many_groups_small_ones_are_not_named():
    compas = TASKS["compas"].under("race_sex")
    groups = [(0.3, 500)] * len(compas.groups)
    groups[0], groups[1], groups[2] = (0.15, 300), (0.49, 400), (0.08, 20)
    rows = {
        code: {"count": count, "before": rate, "now": 2 * rate, "of_100_before": 100 * rate, "of_100_now": 200 * rate}
        for code, (rate, count) in enumerate(groups)
    }
    assert extremes(compas, rows) == (1, 0)  # the positive decision is the worse one
    assert named_first(compas, rows) == 1


@pytest.mark.parametrize("language", ["en", "fr"])
def test_it_counts_what_the_model_does(language):
    result = fit_result(defaults("law_school"))
    changed = result.decisions != result.scene.decisions_test
    wrong = int((changed & (result.decisions != result.scene.test.y)).sum())
    assert f"{wrong}" in result.verdict_in(language)
    assert f"{changed.sum()}" in result.verdict_in(language)
    assert result.verdict_in(language, complete=False) == result.verdict_in(language)  # no chance in it


def test_where_nobody_changes_it_says_so():
    law = defaults("law_school")
    assert fit_result(replace(law, lambda_fair=0.0)).verdict == (
        "Nothing changes: at 0, g is f. Move the slider to the right."
    )
    assert fit_result(replace(law, lambda_fair=0.0)).verdict_in("en", movable=False) == "Nothing changes: at 0, g is f."
    assert fit_result(replace(law, lambda_fair=0.5, lambda_ratio=0.5)).verdict.startswith("No decision changes yet.")
    assert fit_result(replace(defaults("hiring"), lambda_fair=0.0)).verdict == (
        "Already fair: f treats the groups alike, as far as 1,200 applicants can tell."
    )
