"""What is required, in the session and in a link."""

import pytest

from commod.dashboard.state.link import applicable, requirements_from_link, requirements_to_link, rules_of
from commod.dashboard.state.runs_file import Run
from commod.dashboard.state.settings import Settings, criteria_of, features_of
from commod.datasets import TASKS
from commod.decisions import RULES, Requirements
from tests.dashboard.driving import fine, run

SOME = Requirements(p_rule=0.8, dm=0.2, changed=0.05, kept_out=("lsat",), direction="improve")


def test_a_link_gives_back_what_is_required_and_an_old_one_requires_nothing():
    assert requirements_from_link(requirements_to_link(SOME), "law_school") == (SOME, [])
    assert requirements_to_link(Requirements()) == {}
    assert requirements_from_link({"data": "law_school"}, "law_school") == (Requirements(), [])


@pytest.mark.parametrize("task", TASKS)
def test_requirements_are_those_that_can_be_told_of_a_task(task):
    told = rules_of(task)
    assert ("dm" in told) == ("equalized_odds" in criteria_of(task))
    assert set(RULES) - set(told) <= {"dm"}


def test_features_that_a_task_does_not_have_and_all_of_them_are_left_out_with_a_sentence():
    assert applicable(SOME, "german") == Requirements(p_rule=0.8, dm=0.2, changed=0.05, direction="improve")
    everything = Requirements(changed=0.05, kept_out=tuple(features_of("law_school")))
    found, (notice,) = requirements_from_link(requirements_to_link(everything), "law_school")
    assert found == Requirements(changed=0.05)
    assert "do not apply to these data" in notice


def test_a_bad_one_gives_one_sentence_and_the_rest_of_the_link_works():
    app = run("pages/data.py", data="compas", k="3", req="p_rule:2")
    app = fine(app.switch_page("pages/decide.py").run())
    (notice,) = [warning.value for warning in app.warning]
    assert notice.startswith("The requirements of the link are left out. “P-Rule at least” takes a number")
    assert app.query_params["k"] == "3"
    assert "req" not in app.query_params


def test_what_is_required_stays_in_the_address_of_every_page():
    app = fine(run("pages/decide.py", req="p_rule:0.8;kept_out:lsat", methods="commod"))
    assert app.query_params["req"] == "p_rule:0.8;kept_out:lsat"
    app = fine(app.switch_page("pages/runs.py").run())
    assert app.query_params["req"] == "p_rule:0.8;kept_out:lsat"
    app.selectbox(key="set_data").set_value("german").run()
    assert app.query_params["req"] == "p_rule:0.8"  # these have no such feature
    app.selectbox(key="set_data").set_value("law_school").run()
    assert app.query_params["req"] == "p_rule:0.8;kept_out:lsat"


def test_a_run_keeps_what_was_required_and_brings_it_back():
    pinned = Run("a", Settings(k=3), Requirements(changed=0.05)), Run("b", Settings())
    app = fine(run("pages/runs.py", pinned=pinned, req="p_rule:0.8"))
    app.selectbox(key="runs_one").set_value("a").run()
    next(button for button in app.button if button.label == "Open in Explore").click().run()
    assert app.query_params["req"] == "changed:0.05"
    assert app.query_params["k"] == "3"
