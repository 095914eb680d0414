"""The Decide page, headless."""

import pytest

from commod.dashboard.pages.decide.models import form_of, keeping
from commod.dashboard.pages.decide.verdict import TABLE
from commod.dashboard.state.settings import defaults
from commod.dashboard.views.verdicts import verdict_in_words
from commod.decisions import Requirements, check_requirements, facts_of_f
from commod.experiments import prepare
from tests.dashboard.driving import captions, fine, run, tables, words

PAGE = "pages/decide.py"
METHODS = "commod,oracle_roc"


def press(app, label):
    return fine(next(button for button in app.button if button.label.startswith(label)).click().run())


@pytest.fixture(scope="module")
def decided():
    """Some requirements, and two methods that are quick."""
    return fine(run(PAGE, req="p_rule:0.5;changed:0.2;worse_off:0", methods=METHODS))


def test_without_a_requirement_the_page_says_what_to_do_and_shows_an_example():
    app = fine(run(PAGE, methods=METHODS))
    assert "Nothing is required yet. Switch on above what you care about" in words(app)
    assert TABLE not in tables(app)
    press(app, "The four-fifths rule: P-Rule at least 0.8")
    assert app.query_params["req"] == "p_rule:0.8"
    assert app.number_input(key="required_p_rule").value == 0.8
    assert "The model on your screen meets none of 1 requirement; 1 fails." in words(app)


def test_a_requirement_is_switched_on_and_given_a_number():
    app = fine(run(PAGE, methods="commod"))
    fine(app.pills(key="required").set_value(["changed"]).run())
    assert app.query_params["req"] == "changed:0.08"
    fine(app.number_input(key="required_changed").set_value(20.0).run())
    assert app.query_params["req"] == "changed:0.2"
    assert "**The model on your screen meets the one requirement.**" in words(app)
    fine(app.pills(key="required").set_value([]).run())
    assert "req" not in app.query_params


def test_every_model_is_judged_by_every_requirement(decided):
    app = decided
    found = {row[0]: row[1:] for row in tables(app)[TABLE]}
    assert list(found) == [
        "All together",
        "A P-Rule of 0.5 or more",
        "At most 20 % of the decisions changed",
        "Nobody worse off",
        "Decisions changed",
    ]
    assert len(found["All together"]) == 4  # on the screen, f, COMMOD's best, Oracle ROC
    assert "0.0% for whoever comes" in found["Nobody worse off"][1]
    assert found["Nobody worse off"][0].startswith('<span class="cx-who">On your screen</span><strong>✗ fail</strong>')
    assert "over refits" in words(app)  # of the model on the screen
    assert "refits [" in found["A P-Rule of 0.5 or more"][0]
    assert "refits [" not in found["A P-Rule of 0.5 or more"][2]
    assert "chosen on the people on whom it is judged" in captions(app)


def test_the_others_are_refitted_if_somebody_asks(decided):
    app = press(decided, "Refit the others, too")
    found = {row[0]: row[1:] for row in tables(app)[TABLE]}
    assert all("refits [" in cell for cell in found["A P-Rule of 0.5 or more"][2:])
    assert not [button for button in app.button if button.label == "Refit the others, too"]


def test_the_best_of_commod_is_one_click_away():
    app = fine(run(PAGE, req="changed:0.02", methods="commod", lambda_fair="4"))
    press(app, "Take this setting")
    assert app.query_params["lambda_fair"] == "0"
    assert "meets the one requirement" in words(app)
    assert not [button for button in app.button if button.label == "Take this setting"]


def test_features_and_direction_are_settings_and_one_click_keeps_them():
    app = fine(run(PAGE, req="kept_out:lsat;direction:improve", methods="commod"))
    assert "meets none of 2 requirements; 2 fail." in words(app)
    press(app, "Train it so: keep these features out and nobody can lose")
    assert app.query_params["without"] == "lsat"
    assert app.query_params["direction"] == "improve"
    assert "meets all 2 requirements" in words(app)


def test_commods_sweep_is_limited_as_the_requirements_say():
    settings = defaults("law_school")
    assert form_of(settings, Requirements(p_rule=0.8)) == ()
    form = dict(form_of(settings, Requirements(kept_out=("lsat",), direction="improve")))
    assert form["direction"] == "improve"
    assert "lsat" not in form["features"]
    assert keeping(settings, Requirements()) == settings


def test_the_sentence_counts_what_is_met():
    facts = facts_of_f(prepare("law_school"))

    def told(**asked):
        return verdict_in_words(check_requirements(Requirements(**asked), facts), facts.people, "f")

    assert told(changed=0.1) == "f meets the one requirement."
    assert told(changed=0.1, worse_off=0) == "f meets all 2 requirements."
    assert told(changed=0.1, p_rule=0.8) == "f meets 1 of 2 requirements; 1 fails."
    assert told(p_rule=0.8, dm=0.0) == "f meets none of 2 requirements; 2 fail."
    assert told(p_rule=0.25, changed=0.1) == "f meets 1 of 2 requirements; 1 cannot be told with 1,376 people."
