"""Explore's first screen: story, dots, slider and verdict, in two languages; the tour."""

import json
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import pandas as pd
import pytest

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.explore import target
from commod.dashboard.pages.explore.pareto import known_sweep
from commod.dashboard.pages.explore.tour import HINTS
from commod.dashboard.state import session
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.language import phrase
from commod.dashboard.text.verdicts import Changes
from commod.dashboard.views import next_step
from commod.dashboard.views.dots import _go
from tests.dashboard.driving import captions, figure, fine, picture, run, slider, tables, words

pytestmark = pytest.mark.quick

TOUR = {"Next", "Done", "Leave the tour", "Tour"}
STORY = "A law school predicts who passes the bar. **g** corrects the model **f**."


def press(app, label):
    return fine(next(button for button in app.button if button.label == label).click().run())


@pytest.mark.longer
def test_the_slider_of_fairness_stands_in_the_page_and_the_others_in_the_sidebar():
    app = fine(run())
    assert [s.label for s in app.main.select_slider][:1] == ["Fairness (λ_fair)"]
    assert [s.label for s in app.sidebar.select_slider] == [
        "Stay near f (λ_ratio)",
        "Few features (λ_concepts)",
        "Concepts (k)",
    ]
    elsewhere = fine(app.switch_page("pages/people.py").run())
    assert elsewhere.sidebar.select_slider[0].key == "set_lambda_fair"


def test_dots_follow_the_slider_and_their_table_says_the_same():
    app = run()
    app.session_state["numbers"] = True
    app.run()
    before = tables(app)["Of 100 people as a table"]
    assert [row[0] for row in before] == ["Non-White students", "White students"]
    hundred = fit_result(defaults("law_school")).hundred.values()
    assert [row[2:4] for row in before] == [[f"{row['before']:.1%}", f"{row['now']:.1%}"] for row in hundred]
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
    assert "Data set: **Law School (balanced)**" in [text.value for text in app.sidebar.markdown]
    assert STORY in words(app)


@pytest.mark.longer
def test_in_french():
    app = fine(run(lang="fr"))
    assert app.title[0].value == "Plus juste, à quel prix\u202f?"
    assert figure(app, "Exactitude") == "72,6\u202f%"
    assert slider(app, "lambda_fair").label == "Équité (λ_fair)"
    assert app.selectbox(key="set_fairness").options[0] == "Parité démographique (P-Rule)"
    english = fine(run())  # of the same, kept, model
    assert "Fairer: “passes the bar” for 37 instead of 15 of 100 Non-White students." in words(english)
    assert STORY in words(english)


@pytest.mark.longer
@pytest.mark.parametrize("leave_at", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_the_tour_has_five_hints_can_be_left_and_taken_again(leave_at):
    app = run()
    press(app, "Tour")
    for step, part in enumerate(HINTS[:leave_at], 1):
        assert f"{step} of 5" in [caption.value for caption in app.main.caption]
        shown = [hint for hint in HINTS if phrase("en", f"tour.{hint}", yes="passes the bar") in words(app)]
        assert shown == [part]
        if step < leave_at:
            press(app, "Next")
    press(app, "Done" if leave_at == len(HINTS) else "Leave the tour")
    slider(app, "lambda_fair").set_value(2.0).run()
    assert TOUR & {button.label for button in app.button} == {"Tour"}
    assert "tour" not in app.query_params
    app = fine(app.switch_page("pages/glossary.py").run().switch_page("app.py").run())
    assert TOUR & {button.label for button in app.button} == {"Tour"}


def test_who_has_begun_the_lesson_is_not_new():
    assert not TOUR & {button.label for button in fine(run(step="2")).button}


def test_a_good_verdict_needs_no_next_step(monkeypatch):
    monkeypatch.setattr(FitResult, "has_bad_verdict", False)
    app = fine(run())
    assert not steps(app)


@pytest.mark.longer
def test_the_form_that_does_better_is_one_click_away_and_no_offer_leads_back():
    app = fine(run())
    (ahead,) = (button for button in app.button if button.key == "other_form")
    label = ahead.label.replace("\\", "")
    before = last_good(app)
    fine(ahead.click().run())
    after = last_good(app)
    assert after.settings.update == "decisions"
    assert label.startswith("Better update: ")
    assert ahead.help == f"count changes, λ\\_fair {after.settings.lambda_fair:g}"
    fairness, accuracy = ([one.path[name].iloc[-1] for one in (before, after)] for name in ("fairness", "accuracy"))
    gained, fewer = 100 * (accuracy[1] - accuracy[0]), before.change_counts.count - after.change_counts.count
    assert "P-Rule {:.3f} → {:.3f}, accuracy".format(*fairness) in label
    assert f"accuracy {gained:+.1f} points, changes −{fewer}" in label
    assert not [button for button in app.button if "the paper’s form" in button.label]


def steps(app):
    return [button for button in app.button if str(button.key).startswith("next_step")]


@pytest.mark.longer
def test_a_bad_verdict_offers_steps_that_do_what_they_say():
    app = fine(run())
    assert "108 of 125 changes" in words(app)
    assert not steps(app)  # the form that does better is the step
    (step,) = (button for button in app.button if button.key == "other_form")
    label = step.label
    fine(step.click().run())
    fairness = float(re.search(r"P-Rule [\d.]+ → ([\d.]+)", label)[1])
    assert float(figure(app, "P-Rule")) == pytest.approx(fairness, abs=0.006)
    assert fairness > 0.25  # that of f
    press(app, "Undo")
    assert app.query_params["update"] == "ratio"


def test_where_nobody_loses_nobody_is_said_to(monkeypatch):
    monkeypatch.setattr(next_step, "_is_ahead", lambda other, result: False)  # or the form that does better is the step
    app = fine(run())
    (improve,) = (button for button in steps(app) if button.label.startswith("Try “nobody loses”: "))
    assert f": P-Rule {figure(app, 'P-Rule')} → " in improve.label
    assert "worse off" not in improve.label  # its name says it
    fine(improve.click().run())
    assert app.query_params["direction"] == "improve"
    good = app.session_state["held_explore"].last_good.change_counts
    assert good.worse == 0 < good.better


def last_good(app):
    return app.session_state["held_explore"].last_good


@pytest.mark.longer
def test_a_bad_mark_offers_a_step_that_mends_it():
    app = fine(run())
    assert last_good(app).at_hand["sure"].mark == "bad"
    (step,) = (button for button in app.button if button.key == "check_step_sure")
    label = step.label
    assert label.startswith("How sure was f? Try “")
    fine(step.click().run())
    said = last_good(app).at_hand["sure"]
    assert said.mark != "bad"
    assert f"f was sure of {said.part} of {said.whole}, P-Rule " in label
    assert f" → {float(figure(app, 'P-Rule')):.3f}, accuracy" in label


def test_a_bad_mark_that_no_step_mends_says_so(monkeypatch):
    monkeypatch.setattr(next_step, "_is_fair", lambda other, result: False)
    app = fine(run())
    assert not [button for button in app.button if str(button.key).startswith("check_step")]
    assert f"How sure was f? {phrase('en', 'next.none')}" in captions(app)


def model(fairness, counts, **settings):
    path = pd.DataFrame({"fairness": [0.25, fairness], "accuracy": [0.8, 0.7]})
    return SimpleNamespace(settings=replace(defaults("law_school"), **settings), path=path, change_counts=counts)


@pytest.mark.parametrize(
    ("there", "says"),
    [
        (model(0.7, Changes(4, 1, 2)), "accuracy +0.0 points, changes −4, worse off −7"),
        (model(0.5, Changes(4, 0, 2), direction="improve"), "P-Rule 0.700 → 0.500, accuracy +0.0 points, changes −5"),
        (
            model(0.5, Changes(4, 1, 2), groups="race_sex"),
            "P-Rule 0.250 → 0.500, accuracy −10.0 points, ",
        ),
    ],
)
def test_an_offer_says_what_gets_better_and_what_gets_worse(monkeypatch, there, says):
    monkeypatch.setattr(next_step, "say", partial(phrase, "en"))
    monkeypatch.setattr(next_step, "say_declared", str)
    assert next_step._effect(there, model(0.7, Changes(1, 8, 2))).startswith(says)


def test_where_nothing_changes_at_the_end_other_forms_are_tried(monkeypatch):
    monkeypatch.setattr(FitResult, "change_counts", Changes(0, 0, 0))
    settings = replace(defaults("law_school"), lambda_fair=10.0)
    tried = next_step._others(settings, fit_result(settings.model()))
    assert [other.update for other in tried.values()] == ["affine", "decisions", "ratio", "ratio"]


@pytest.mark.slow  # hiring is opened below
def test_where_f_is_fair_other_groups_are_offered():
    app = fine(run(data="hiring", lambda_fair="0", groups="sex"))
    assert "Too close to call" in words(app)
    assert len(steps(app)) == 2  # race, and race × sex
    (crossed,) = (button for button in steps(app) if "×" in button.label)
    fine(crossed.click().run())
    assert app.query_params["groups"] == "race_sex"
    assert "Too close to call" not in words(app)


@pytest.mark.slow
@pytest.mark.longer
def test_hiring_opens_where_there_is_something_to_see():
    assert fine(run(data="hiring")).query_params["groups"] == "race_sex"
    old = fine(run(data="hiring", lambda_fair="3", update="ratio"))  # older links have no groups
    assert "groups" not in old.query_params
    app = fine(run())
    app.selectbox(key="set_data").set_value("hiring").run()
    assert fine(app).query_params["groups"] == "race_sex"


@pytest.mark.longer
def test_the_slider_has_even_steps_and_keeps_what_an_old_link_says():
    app = fine(run())
    usual = [float(option) for option in slider(app, "lambda_fair").options]
    assert usual == [0.5 * n for n in range(21)]
    old = fine(run(lambda_fair="2.25"))
    assert slider(old, "lambda_fair").value == 2.25
    assert [float(option) for option in slider(old, "lambda_fair").options] == sorted([*usual, 2.25])


def test_advanced_settings_are_folded_until_one_is_set():
    def fold(app):
        return next(each for each in app.sidebar.expander if each.label == "Advanced")

    app = fine(run())
    assert not fold(app).proto.expanded
    inside = {str(widget.key) for widget in (*fold(app).selectbox, *fold(app).number_input, *fold(app).multiselect)}
    assert inside == {"set_update", "set_direction", "set_without", "set_f", "set_threshold", "set_seed"}
    assert fold(fine(run(direction="improve"))).proto.expanded


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


@pytest.mark.parametrize(
    ("fairness", "changes", "worse", "is_ahead"), [(0.75, 0.1, 8, True), (0.75, 0.1, 9, False), (0.699, 0.05, 8, False)]
)
def test_a_better_update_has_no_figure_that_is_worse(monkeypatch, fairness, changes, worse, is_ahead):
    monkeypatch.setattr(next_step, "_is_sound", lambda other: True)
    here, there = model(0.7, Changes(1, 8, 2)), model(fairness, Changes(1, worse, 2))
    here.path["change_rate"], there.path["change_rate"] = [0.0, 0.1], [0.0, changes]
    assert next_step._is_ahead(there, here) == is_ahead
