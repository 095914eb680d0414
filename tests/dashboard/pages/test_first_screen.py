"""Explore's first screen: story, dots, slider and verdict, in two languages; the tour."""

import json
from unittest.mock import patch

import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.explore import target
from commod.dashboard.pages.explore.pareto import known_sweep
from commod.dashboard.pages.explore.tour import HINTS
from commod.dashboard.state import session
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.language import phrase
from commod.dashboard.views.dots import _go
from tests.dashboard.driving import figure, fine, picture, run, slider, tables, words

pytestmark = pytest.mark.quick

TOUR = {"Next", "Done", "Leave the tour", "90-second tour"}
STORY = "Of 100 White students it says so of 59, of 100 Non-White students of 15."


def press(app, label):
    return fine(next(button for button in app.button if button.label == label).click().run())


def test_the_slider_of_fairness_stands_in_the_page_and_the_others_in_the_sidebar():
    app = fine(run())
    assert [s.label for s in app.main.select_slider][:1] == ["How much fairness do you ask for? (λ_fair)"]
    assert [s.label for s in app.sidebar.select_slider] == [
        "Stay close to the old model (λ_ratio)",
        "Use few features (λ_concepts)",
        "How finely to explain (k)",
    ]
    elsewhere = fine(app.switch_page("pages/people.py").run())
    assert elsewhere.sidebar.select_slider[0].key == "set_lambda_fair"


def test_dots_follow_the_slider_and_their_table_says_the_same():
    app = run()
    app.session_state["dots_table"] = True
    app.run()
    before = tables(app)["Of 100 people as a table"]
    assert [row[0] for row in before] == ["Non-White students", "White students"]
    hundred = fit_result(defaults("law_school")).hundred
    assert [row[2:4] for row in before] == [[f"{row.before:.1%}", f"{row.now:.1%}"] for row in hundred.itertuples()]
    slider(app, "lambda_fair").set_value(1.5).run()
    after = tables(app)["Of 100 people as a table"]
    assert [row[2] for row in after] == [row[2] for row in before]  # f is as it was
    assert [row[3] for row in after] != [row[3] for row in before]


def hand(app):
    """What the browser is told, to follow the hand."""
    return json.loads(app.get("bidi_component")[0].proto.json)


def test_the_browser_knows_every_model_that_is_trained_and_the_frontier():
    app = run()
    slider(app, "lambda_fair").set_value(1.5).run()
    data = hand(app)
    here, line = data["here"], [point for point in data["points"] if point["kind"] == "line"]
    assert here["settings"]["lambda_fair"] == "1.5"
    assert here["text"]["figures"][:2] == [figure(app, "P-Rule"), figure(app, "Accuracy")]
    assert {"lambda_fair": "3"} in [point["query"] for point in line]  # and what other tests have trained
    assert [point["mark"] for point in line] == list(range(len(line)))
    assert len(data["points"]) > len(line)  # the frontier
    assert all(0 <= group["of_100"]["now"] <= 100 for group in here["groups"])
    assert "lambda_fair" in data["sliders"]
    assert "lambda_fair" not in hand(fine(run(controls="k")))["sliders"]  # a teacher's link has frozen it


@pytest.mark.parametrize("message", ["line 6", "line 99", "line -1", "frontier 1", "frontier 999", "other 1", None, 7])
def test_a_click_on_the_curve_is_taken_only_where_there_is_a_model(message):
    app = run()
    sweep = known_sweep(defaults("law_school"))
    with patch.object(session, "go_to") as went, patch.object(session, "current", lambda: defaults("law_school")):
        _go(message, sweep)
    fine(app)
    assert went.called == (message in ("line 6", "frontier 1"))


def test_a_teachers_link_that_hides_the_rest_still_names_data_and_story():
    app = fine(run(controls="lambda_fair", rest="hidden"))
    assert not app.selectbox
    assert f"**Law School (balanced).** A law school predicts who will pass the bar exam. {STORY}" in words(app)


def test_in_french():
    app = fine(run(lang="fr"))
    assert app.title[0].value == "Le prix de l'équité"
    assert figure(app, "Exactitude") == "72.6%"
    assert slider(app, "lambda_fair").label == "Combien d'équité demandez-vous\u202f? (λ_fair)"
    assert app.selectbox(key="set_fairness").options[0] == "Parité démographique (P-Rule)"
    english = fine(run())  # of the same, kept, model
    assert "P-Rule (1 is fair) improves from 0.25 to 0.61" in words(english)
    assert STORY in words(english)


@pytest.mark.parametrize("leave_at", [2, 4])
def test_the_tour_has_four_hints_can_be_left_and_does_not_come_back(leave_at):
    app = run()
    press(app, "90-second tour")
    for step, part in enumerate(HINTS[:leave_at], 1):
        assert f"{step} of 4" in [caption.value for caption in app.main.caption]
        shown = [hint for hint in HINTS if phrase("en", f"tour.{hint}") in words(app)]
        assert shown == [part]
        if step < leave_at:
            press(app, "Next")
    press(app, "Done" if leave_at == len(HINTS) else "Leave the tour")
    slider(app, "lambda_fair").set_value(2.0).run()
    assert not TOUR & {button.label for button in app.button}
    assert "tour" not in app.query_params
    app = fine(app.switch_page("pages/glossary.py").run().switch_page("app.py").run())
    assert not TOUR & {button.label for button in app.button}


def test_who_has_begun_the_lesson_is_not_new():
    assert not TOUR & {button.label for button in fine(run(step="2")).button}


def test_where_nothing_changes_it_is_said_plainly():
    told = words(fine(run(lambda_fair="0"))).replace("\\", "")
    assert "No decision changes yet: at λ_fair 0, g is f. P-Rule of f is 0.25 (1 is fair)." in told
    told = words(fine(run(lambda_fair="0.5", lambda_ratio="1"))).replace("\\", "")
    assert "g decides about all 1,376 students as f does. Move λ_fair to the right. (The smallest ratio r is" in told
    told = words(fine(run(lambda_fair="0", controls="k"))).replace("\\", "")
    assert "No decision changes yet" in told
    assert "to the right" not in told, "λ_fair is frozen"
    told = words(fine(run(data="hiring", lambda_fair="0")))
    assert "f treats the groups alike, as far as 1,200 applicants can tell" in told


def test_a_field_whose_page_was_left_meanwhile_is_let_go():
    name = "target_fairness_law_school_demographic_parity"
    target._keep(name)  # whose callback Streamlit calls all the same
    assert name not in target._kept()


@pytest.mark.parametrize("only", ["dots", "tradeoff"])
def test_a_link_can_ask_for_one_part_alone(only):
    app = fine(run(only=only, lambda_fair="2"))
    assert [title.value for title in app.title] == []
    assert [each.label for each in app.sidebar.select_slider] == []
    assert slider(app, "lambda_fair").value == 2.0
    assert (picture(app) is not None) == (only == "dots")
    assert app.query_params["only"] in (only, [only])
