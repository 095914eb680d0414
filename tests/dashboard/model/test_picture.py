"""The document of the first picture: equal to what the library computes, in words of two languages."""

import json
from dataclasses import replace

import numpy as np
import pytest

from commod import evaluate
from commod.dashboard.model.picture import SCHEMA, names_of, picture_of
from commod.dashboard.model.training import fit_result
from commod.dashboard.state.link import from_link
from commod.dashboard.state.settings import defaults
from commod.metrics.figures import CRITERIA


@pytest.fixture(scope="module", params=[("law_school", "", 3.0), ("compas", "race", 4.0), ("law_school", "", 0.0)])
def result(request):
    data, groups, lambda_fair = request.param
    return fit_result(replace(defaults(data, groups), lambda_fair=lambda_fair))


def test_figures_and_intervals_are_those_of_evaluate(result):
    picture = picture_of(result, "en", complete=True)
    expected = evaluate(result.task, result.scene.f, result.g, result.scene.test)
    assert {figure["name"] for figure in picture["figures"]} >= {"accuracy", "change_rate"}
    for figure in picture["figures"]:
        row = expected.loc[figure["name"]]
        for name in ("f", "g", "difference", "g_low", "g_high", "difference_low", "difference_high"):
            assert figure[name] == pytest.approx(row[name], abs=1e-12), (figure["name"], name)
    fairness = CRITERIA[result.settings.fairness].figure_name
    assert picture["point"]["fairness"] == pytest.approx(expected.loc[fairness, "g"], abs=1e-12)


def test_groups_and_changes_are_counted_on_the_test_people(result):
    picture, test = picture_of(result, "en", complete=True), result.scene.test
    before, now, groups = result.scene.decisions_test, result.decisions, test.sensitive.to_numpy()
    assert picture["changes"] == {
        "count": int((before != now).sum()),
        "of": len(now),
        "right": int(((before != now) & (now == test.y.to_numpy())).sum()),
    }
    assert sum(group["count"] for group in picture["groups"]) == len(now)
    for group in picture["groups"]:
        here = groups == group["code"]
        assert group["name"] == result.task.groups[group["code"]]
        assert group["now"] == pytest.approx(now[here].mean())
        assert group["raised"] == pytest.approx(((now > before) & here).sum() / here.sum())
        whole = group["of_100"]
        assert whole["now"] == whole["before"] + whole["raised"] - whole["lowered"]
        assert whole["now"] == pytest.approx(100 * group["now"], abs=0.5)


def test_the_setting_in_it_leads_to_the_same_model(result):
    picture = picture_of(result, "en", complete=True)
    assert from_link(picture["settings"]) == (result.settings, [])


def test_what_is_not_computed_yet_is_left_out(result):
    early, late = (picture_of(result, "en", complete=complete) for complete in (False, True))
    assert not early["complete"]
    assert late["complete"]
    assert early["text"]["verdict"]  # at once: the hand must not see the sentence of another model
    assert early["text"]["before"] == late["text"]["before"]
    assert all(figure["g_low"] is None for figure in early["figures"])
    assert [figure["g"] for figure in early["figures"]] == pytest.approx([figure["g"] for figure in late["figures"]])
    assert early["text"]["figures"] == late["text"]["figures"]
    assert early["groups"] == late["groups"]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_it_is_small_and_has_words_for_everything_it_shows(result, language):
    picture = picture_of(result, language, complete=True)
    assert picture["schema"] == SCHEMA
    assert len(json.dumps(picture, allow_nan=False)) < 4_000 + 600 * len(picture["groups"])
    assert len(picture["text"]["figures"]) == len(names_of(result.settings.fairness, language))
    assert len(picture["text"]["groups"]) == len(picture["groups"])


def test_a_figure_that_is_not_defined_is_null_and_not_nan():
    result = fit_result(defaults("law_school"))
    result.path.loc[len(result.path) - 1, "p_rule"] = np.nan
    picture = picture_of(result, "en", complete=False)
    assert picture["point"]["fairness"] is None
    assert picture["text"]["figures"][0] == "–"
    json.dumps(picture, allow_nan=False)
