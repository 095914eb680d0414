"""What cannot be guessed of a file is asked, and nothing is shown before it is answered."""

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from commod.dashboard.jobs.service import result_of
from commod.datasets import load_task
from commod.datasets.example import example_table
from tests.dashboard.driving import fine
from tests.dashboard.pages.test_your_data import button, upload


def labels(app):
    return [each.label for each in app.button]


@pytest.fixture
def loans():
    """Loans that are decided by a column whose name says nothing."""
    table = example_table(400).drop(columns=["model_score", "applicant"])
    return table.rename(columns={"hired": "y"})


def stops(loans):
    """Two columns that may be the outcome, and neither at an end."""
    table = loans.rename(columns={"y": "searched"})
    return table.assign(frisked=["yes", "no"] * 200, minutes=range(400))


def test_which_value_is_good_is_asked_if_the_name_does_not_say(loans):
    app = upload(loans)
    assert "Use these data" not in labels(app)
    assert any("Which is good for a person?" in text.value for text in app.markdown)
    no = next(each for each in app.button if each.label.startswith("y is no"))
    fine(no.click().run())
    assert app.selectbox(key="own_favourable_y").value == "no"
    assert "Use these data" in labels(app)


def test_a_denial_is_never_the_good_outcome_unasked(loans):
    app = upload(loans.rename(columns={"y": "deny"}))
    assert app.selectbox(key="own_favourable_deny").value == "no"


def test_which_column_is_the_outcome_is_asked_if_two_are_as_likely(loans):
    app = upload(stops(loans))
    first = next(each for each in app.button if each.label.startswith("frisked"))
    assert any(each.label.startswith("searched") for each in app.button)
    assert app.selectbox[-1].label == "Or another column"
    fine(first.click().run())
    assert app.selectbox(key="own_target").value == "frisked"


def test_any_other_column_can_be_the_answer(loans):
    app = upload(stops(loans))
    fine(app.selectbox(key="answer_target").set_value("interview_language").run())
    assert app.selectbox(key="own_target").value == "interview_language"


def test_which_column_is_the_group_is_asked_if_none_is_named_so(loans):
    app = upload(loans.rename(columns={"group": "b17", "y": "hired"}))
    answer = next(each for each in app.button if each.label.startswith("b17"))
    fine(answer.click().run())
    assert app.selectbox(key="own_sensitive").value == "b17"


def test_of_many_values_those_that_are_good_are_chosen_and_recorded(loans):
    rng = np.random.default_rng(0)
    app = upload(loans.assign(y=rng.choice(["red", "green", "blue"], 400)))
    assert "Use these data" not in labels(app)
    fine(app.pills(key="own_favourable_y").set_value(["green", "blue"]).run())
    fine(button(app, "Use these data").click().run())
    task = app.session_state["held_own_data"].task
    assert task.spec.outcomes == ("y: red", "y: blue or green")
    assert "Good values of “y”: blue, green." in task.spec.filter
    assert task.roles["favourable"] == ["blue", "green"]


def test_values_that_say_so_are_good_at_first(loans):
    rng = np.random.default_rng(0)
    app = upload(loans.assign(y=rng.choice(["Pass", "Fail", "Withdrawn", "Distinction"], 400)))
    assert set(app.pills(key="own_favourable_y").value) == {"Pass", "Distinction"}


def test_values_that_say_nothing_are_neither_outcome_nor_group(loans):
    loans["y"] = loans["y"].mask(loans.index % 10 == 0, "XXX")
    loans["group"] = loans["group"].mask(loans.index % 9 == 0, "(null)").mask(loans.index % 11 == 0, "Not stated")
    app = upload(loans.rename(columns={"y": "hired"}))
    assert app.multiselect(key="own_blanks_hired").value == ["XXX"]
    assert app.multiselect(key="own_blanks_group").value == ["Not stated"]
    assert [option.split(" (")[0] for option in app.selectbox(key="own_favourable_hired").options] == ["no", "yes"]
    fine(button(app, "Use these data").click().run())
    task = app.session_state["held_own_data"].task
    assert set(task.groups) == {"A", "B"}
    assert len(task.y) == (loans["y"] != "XXX").sum()
    assert task.roles["blanks"] == ["XXX", "Not stated"]


def test_one_value_in_two_spellings_is_one_and_told(loans):
    loans["group"] = loans["group"].mask(pd.Series(loans.index % 5 == 0) & (loans["group"] == "A"), " a")
    app = upload(loans.rename(columns={"y": "hired"}))
    fine(button(app, "Use these data").click().run())
    assert set(app.session_state["held_own_data"].task.groups) == {"A", "B"}
    assert any("differs only in capitals or spaces" in str(each) for each in app.session_state["held_your_data"].done)


def test_the_search_for_a_setting_can_be_stopped(loans, monkeypatch):
    app = upload(loans.rename(columns={"y": "hired"}))

    def never(task, place=None, what="", **more):
        if what.startswith("Looking for a setting"):
            st.stop()  # as if it took for ever
        return result_of(task, place, what, **more)

    monkeypatch.setattr("commod.dashboard.pages.your_data.page.result_of", never)
    fine(button(app, "Use these data").click().run())
    assert app.session_state["held_own_data"].start is None
    fine(button(app, "Stop, and open with f as it is").click().run())
    own = app.session_state["held_own_data"]
    assert own.start.settings == {"lambda_fair": 0.0}
    assert any("the search for a setting was stopped" in each.value for each in app.main.markdown)
    assert load_task(own.name).spec.suited["lambda_fair"] == 0.0
