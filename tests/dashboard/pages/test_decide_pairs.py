"""The section of Decide that asks in pairs: questions, the link, and the setting at the end."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from commod.dashboard.pages.decide import pairs
from commod.dashboard.state.settings import defaults, in_words
from commod.dashboard.views.pairs import Offer
from commod.decisions import Interview, Preference, models_to_choose_from
from commod.decisions.pairs import MOST_ASKED
from tests.dashboard.driving import fine, small_sweep, words
from tests.waiting import PATIENCE

SCRIPT = """
import streamlit as st
from commod.decisions import Requirements
from commod.dashboard.pages.decide import pairs
from commod.dashboard.state import session
session.enter("pages/decide.py")
pairs.show(Requirements(direction="improve" if st.toggle("One way", key="one_way") else ""))
session.keep_link()
"""


@pytest.fixture
def section(monkeypatch):
    def offered(settings, place, form=()):
        scene, sweep = small_sweep()
        if form:  # other models
            assert dict(form)["direction"] == "improve"
            sweep = replace(sweep, models=sweep.models[:4], points=sweep.points.iloc[:4])
        return Offer(settings, scene, sweep, Interview(models_to_choose_from(scene, sweep)))

    monkeypatch.setattr(pairs, "offer_of", offered)

    def run(**query):
        app = AppTest.from_string(SCRIPT, default_timeout=PATIENCE)
        for name, value in query.items():
            app.query_params[name] = value
        return fine(app.run())

    return run


def click(app, name):
    return fine(app.button(key=f"pairs_{name}").click().run())


def kept(app):
    found = app.query_params.get("pairs", "")
    return found[0] if isinstance(found, list) and found else found or ""


def fairest_to_the_end(app):
    """Always the side of which f's answer is further away."""
    interview = Interview(models_to_choose_from(*small_sweep()))
    while "pairs_a" in {button.key for button in app.button}:
        a, b = interview.next_question(interview.replay(kept(app)[6:]))
        app = click(app, "a" if interview.models.loc[a, "p_rule"] > interview.models.loc[b, "p_rule"] else "b")
    return app


def test_from_the_first_question_to_the_setting(section):
    app = section()
    assert "8 to 15 pairs" in words(app)
    assert not kept(app)
    app = click(app, "begin")
    assert "**Question 1**" in words(app)
    assert words(app).count("of 100 Non-White students") == 2
    app = fairest_to_the_end(app)
    told = words(app)
    assert "Your answers lead to λ_fair 6" in told
    assert "you gave the same answer 2 of 2 times" in told
    app = click(app, "take")
    assert app.query_params["lambda_fair"] in ("6", ["6"])
    assert app.button(key="pairs_take").disabled
    app = click(app, "again")
    assert "**Question 1**" in words(app)
    assert not kept(app)


def test_a_reload_goes_on_where_it_was(section):
    app = click(click(click(section(), "begin"), "a"), "n")
    link = kept(app)
    assert link.endswith("an")
    again = section(pairs=link)
    assert "**Question 3**" in words(again)
    assert words(again) == words(app)
    assert "**Question 3** of 8 to 15 (1 skipped)" in words(click(again, "s"))  # it counts for nothing


@pytest.mark.parametrize(
    "link", ["", "zzz", "ABCDEF", "000000x", "1" * 500, "<script>", "abcdef" + "a" * (MOST_ASKED + 1)]
)
def test_a_damaged_link_asks_whether_to_begin(section, link):
    assert "Begin" in [button.label for button in section(pairs=link).button]


def test_answers_about_other_models_are_left_out_with_a_sentence(section):
    app = section(pairs="000000ab")
    assert "about other models" in app.warning[0].value
    assert "**Question 1**" in words(app)
    assert not click(app, "b").warning


def test_models_keep_to_what_is_required_and_answers_about_others_are_left_out(section):
    app = click(click(section(), "begin"), "a")
    assert "**Question 2**" in words(app)
    app = fine(app.toggle(key="one_way").set_value(True).run())
    assert "about other models" in app.warning[0].value
    assert "**Question 1**" in words(app)


def test_who_skips_everything_is_told_so(section):
    interview = Interview(models_to_choose_from(*small_sweep()))
    app = section(pairs=interview.digest + "s" * MOST_ASKED)
    assert len(interview.models) == 5, "so there are ten pairs"
    assert "Too few questions were answered to tell: 0 of 10." in app.info[0].value


def test_models_are_made_at_the_settings_that_are_taken():
    scene, sweep = small_sweep()
    settings = defaults("law_school")
    offer = Offer(settings, scene, sweep, Interview(models_to_choose_from(scene, sweep)))
    assert in_words(offer.there(3)) == in_words(settings)


def test_consistency_is_said_plainly():
    def told(**what):
        return replace(Preference(0, 0.9, 9, 9, 9, 2, 2), **what)

    steady = pairs.certainty_in_words(told())
    assert steady.startswith("**Your answers fit together, and are 90% sure**")
    assert "One preference explains 9 of 9 choices" in steady
    assert steady.endswith("you gave the same answer 2 of 2 times.")
    for doubtful in (told(explained=6), told(same=0, repeated=1), told(same=1)):
        said = pairs.certainty_in_words(doubtful)
        assert said.startswith("**Your answers do not clearly fit together, so take this setting with care.**")
        assert "% sure" not in said
    assert "no difference in any pair" in pairs.certainty_in_words(told(choices=0, explained=0))
