"""A teacher's link: what it leaves to the learner can be moved, and nothing else can, by any way."""

from dataclasses import replace

import pytest

from commod.dashboard.state.link import FREEZABLE, Access, access_from_link
from commod.dashboard.state.settings import Settings, defaults
from tests.dashboard.driving import fine, run, slider


def press(app, label):
    return fine(next(b for b in app.button if b.label == label).click().run())


def test_what_is_not_named_is_frozen():
    app = fine(run(controls="lambda_fair,k", lambda_ratio="0.2", lambda_fair="4"))
    assert not slider(app, "lambda_fair").disabled
    assert not slider(app, "k").disabled
    assert slider(app, "lambda_ratio").disabled
    assert slider(app, "lambda_ratio").value == 0.2
    assert slider(app, "depth").disabled
    assert app.selectbox(key="set_data").disabled
    assert app.number_input(key="set_seed").disabled
    assert not [b for b in app.button if b.label == "Find the setting"]
    fine(slider(app, "lambda_fair").set_value(6.0).run())
    assert app.query_params["lambda_fair"] == "6"
    assert app.query_params["controls"] == "lambda_fair,k"
    press(app, "Undo")
    assert app.query_params["lambda_fair"] == "4"
    press(app, "Reset")
    assert app.query_params["lambda_fair"] == "3"
    assert app.query_params["lambda_ratio"] == "0.2"


def test_a_frozen_control_stays_even_if_the_browser_moves_it():
    app = run(controls="lambda_fair")
    frozen = slider(app, "lambda_ratio")
    frozen.proto.disabled = False  # as somebody would who edits the page
    fine(frozen.set_value(0.5).run())
    assert app.query_params["lambda_ratio"] == "0.05"


def test_the_rest_can_be_hidden_and_both_outlive_a_change_of_page():
    app = fine(run(controls="k", rest="hidden"))
    assert "Data set: **Law School (balanced)**" in [text.value for text in app.sidebar.markdown]
    assert [s.label for s in app.select_slider] == ["Concepts (k)"]
    assert not app.selectbox
    app = fine(app.switch_page("pages/people.py").run())
    assert [s.label for s in app.sidebar.select_slider] == ["Concepts (k)"]
    assert app.query_params["rest"] == "hidden"
    app = fine(app.switch_page("pages/your_data.py").run())
    assert "fixes the data set" in app.info[0].value
    assert not app.file_uploader


def test_unknown_names_are_told_and_an_empty_list_freezes_all():
    access, notices = access_from_link({"controls": "lambda_fair,<b>x</b>,,k "})
    assert access.live == {"lambda_fair", "k"}
    assert len(notices) == 1
    assert "“<b>x</b>”" in notices[0]
    nothing, notices = access_from_link({"controls": ""})
    assert not notices
    assert not any(nothing.allows(name) for name in FREEZABLE)
    assert nothing.allows("view")
    assert access_from_link({}) == (Access(), [])


@pytest.mark.parametrize("access", [Access(), Access(frozenset()), Access(frozenset({"k", "seed"}), hidden=True)])
def test_a_link_gives_the_same_access_back(access):
    assert access_from_link(access.to_link()) == (access, [])


def test_keeping():
    access = Access(frozenset({"data", "k"}))
    here = replace(Settings(), f="scores", lambda_ratio=0.3)
    kept = access.keep(replace(defaults("compas"), lambda_ratio=0.0, k=7), here)
    assert (kept.data, kept.k, kept.lambda_ratio) == ("compas", 7, 0.3)
    assert kept.f == "logistic_regression"  # the scores of another file


def test_a_lesson_leaves_a_teachers_setting_alone():
    taught = {"data": "german", "lambda_fair": "4", "controls": "lambda_fair", "rest": "hidden"}
    app = fine(run(**taught))
    fine(slider(app, "lambda_fair").set_value(4.5).run())
    app = fine(app.switch_page("pages/lesson.py").run())
    assert current(app).data == "law_school"
    assert {name: app.query_params[name] for name in taught} == taught | {"lambda_fair": "4.5"}
    reopened = fine(run("pages/lesson.py", **app.query_params))
    assert current(reopened).data == "law_school"
    for left in (app, reopened):
        explore = fine(left.switch_page("app.py").run())
        assert {name: explore.query_params[name] for name in taught} == taught | {"lambda_fair": "4.5"}
        assert current(explore).data == "german"
    press(app, "Undo")
    assert app.query_params["lambda_fair"] == "4"
    assert current(fine(app.switch_page("pages/lesson.py").run())).data == "law_school"


def current(app):
    here = app.session_state["held_explore"]
    return here.stage or here.settings


def test_a_lesson_that_was_left_for_other_people_is_staged_again():
    app = fine(run("pages/lesson.py", step="fairness", answers="50,50"))
    step = current(app)
    app = fine(app.switch_page("pages/take_home.py").run())
    fine(app.selectbox(key="set_data").set_value("german").run())
    app = fine(app.switch_page("pages/lesson.py").run())
    assert current(app) == step
    assert current(fine(app.switch_page("pages/take_home.py").run())).data == "german"
