"""How people are grouped is a choice of the setting: in links, files of runs, the copied Python, and frozen."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.state.link import Access, from_link, to_link
from commod.dashboard.state.own_data import OwnData
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.runs_file import Run, default_name, read_runs, write_runs
from commod.dashboard.state.settings import Settings, criteria_of, defaults, groupings_of, in_words, offered
from commod.datasets import Choice, add_task, forget_task, load_task, make_task

pytestmark = pytest.mark.quick

CROSSED = defaults("adult", "race_sex")


def test_an_old_link_means_the_usual_groups():
    old = to_link(defaults("adult"))
    assert "groups" not in old
    assert from_link(old) == (defaults("adult"), [])
    assert from_link(old)[0].scene().data == "adult"


def test_a_link_holds_the_groups():
    assert to_link(CROSSED)["groups"] == "race_sex"
    assert from_link(to_link(CROSSED)) == (CROSSED, [])
    assert CROSSED.scene().data == CROSSED.task_name == "adult.race_sex"
    assert CROSSED.problem() != defaults("adult").problem()


def test_unknown_groups_are_the_usual_ones_with_a_notice():
    settings, (notice,) = from_link({"data": "german", "groups": "shoe size"})
    assert settings == defaults("german")
    assert (
        notice == "The link asks for groups = “shoe size”, which is not known: 25 or younger / Older than 25 is used."
    )


def test_what_names_a_group_is_no_feature_that_could_be_kept_out():
    asked = {"data": "adult", "without": "age,race"}
    assert from_link(asked)[1] == []
    settings, (notice,) = from_link(asked | {"groups": "race"})
    assert (settings.groups, settings.without) == ("race", "age")
    assert "holds what is no feature here" in notice
    assert "race" not in settings.commod_arguments()["features"]


def test_what_another_data_set_lacks_is_as_it_opens():
    lacking = replace(CROSSED, data="compas", without="occupation,age", f="logistic_regression")
    assert offered(lacking) == replace(lacking, without="age")
    assert offered(replace(lacking, data="german")).groups == ""
    assert offered(CROSSED) is not CROSSED
    assert offered(CROSSED) == CROSSED


def test_a_teachers_link_freezes_the_groups():
    frozen = Access(frozenset({"lambda_fair"}))
    assert frozen.keep(replace(CROSSED, lambda_fair=1.0), defaults("adult")) == replace(
        defaults("adult"), lambda_fair=1.0
    )
    data = Access(frozenset({"data"}))  # the groups stay as they are, where the other data have them
    assert data.keep(defaults("compas"), defaults("adult", "race")).task_name == "compas.race"
    assert data.keep(defaults("german"), defaults("adult", "race")).task_name == "german"


def test_saved_runs_hold_the_groups():
    run = Run("crossed", replace(CROSSED, k=5))
    text = write_runs([run], {})
    assert read_runs(text.encode()) == ([run], [])
    old = json.loads(text)
    del old["runs"][0]["settings"]["groups"]
    (read,), problems = read_runs(json.dumps(old).encode())
    assert (read.settings.task_name, problems) == ("adult", [])
    assert default_name(run.settings).startswith("Adult income (race × sex): λ_fair")


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"groups": "moon"}, "its groups “moon” is not known here"), ({"without": "race"}, "its kept out “race”")],
)
def test_a_file_with_groups_that_are_not_here_is_refused(changed, why):
    content = json.loads(write_runs([Run("crossed", CROSSED)], {}))
    content["runs"][0]["settings"] |= changed
    runs, (problem,) = read_runs(json.dumps(content).encode())
    assert runs == []
    assert why in problem


def test_the_copied_python_loads_the_task_in_these_groups():
    code = to_python(CROSSED)
    assert 'task = load_task("adult.race_sex")\n' in code
    assert "sensitive_features=train.sensitive)" in code


def test_in_words():
    assert in_words(CROSSED).endswith(", groups race × sex")
    assert "groups" not in in_words(defaults("adult"))
    assert next(iter(groupings_of("adult.race_sex").items())) == ("", "Female / Male")
    assert set(groupings_of("adult")) == set(load_task("adult").spec.task_names)
    assert Settings().groups == ""


def test_the_copied_python_makes_the_model_of_weighted_rows_and_groups_known_in_part(capsys):
    task, rng = load_task("hiring.race_sex"), np.random.default_rng(1)
    spec = replace(task.spec, name="survey", groupings=(), grouping="")
    weight = pd.Series(rng.integers(0, 4, len(task.y)).astype(float), index=task.y.index)
    sensitive = task.sensitive.where(rng.random(len(task.y)) > 0.2, -1)
    add_task(replace(task, spec=spec, sensitive=sensitive, weight=weight))
    try:
        settings = defaults("survey")
        namespace = {}
        exec(compile(to_python(settings), "copied", "exec"), namespace)
        capsys.readouterr()
        result = fit_result(settings)
        X = result.scene.test.X
        np.testing.assert_allclose(namespace["g"].predict_proba(X), result.g.predict_proba(X), rtol=0, atol=1e-12)
        np.testing.assert_allclose(result.logit, result.g.decision_function(X), atol=1e-9)
    finally:
        forget_task("survey")


def test_errors_are_no_criterion_where_a_group_lacks_an_outcome():
    draw = np.random.default_rng(0)
    group = draw.choice(["A", "B", "C"], 2000)
    score = draw.normal(size=2000)
    outcome = np.where((score > 0) | (group == "C"), "yes", "no")
    frame = pd.DataFrame({"score": score, "group": group, "hired": outcome})
    own = OwnData(make_task(frame, Choice("hired", "yes", "group", ("A", "B", "C"), {"score": "number"})).task)
    assert list(criteria_of(own.name)) == ["demographic_parity"]
    asked, notices = from_link({"data": own.name, "fairness": "equalized_odds"}, own.name)
    assert (asked.fairness, len(notices)) == ("demographic_parity", 1)
    assert fit_result(asked).verdict
    assert len(criteria_of("compas.race_sex")) == 2
