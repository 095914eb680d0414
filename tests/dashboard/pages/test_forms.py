"""Every page with the update that counts changed decisions, or follows a tree."""

import re
from dataclasses import replace

import pytest

from commod.dashboard.state.link import from_link, to_link
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.settings import defaults
from tests.dashboard.driving import captions, fine, run, words

PAGES = ("what_if", "people", "take_home", "runs")
# Each value of every control, and both data sets with both criteria; one of them by default.
SETTINGS = (
    ("law_school", "equalized_odds", "improve", 2),
    pytest.param("law_school", "demographic_parity", "both", 1, marks=pytest.mark.slow),
    pytest.param("compas", "demographic_parity", "worsen", 3, marks=pytest.mark.slow),
    pytest.param("compas", "equalized_odds", "both", 4, marks=pytest.mark.slow),
)


@pytest.mark.parametrize(("data", "fairness", "direction", "k"), SETTINGS)
def test_pages_speak_of_the_balance_and_not_of_r(data, fairness, direction, k):
    query = {"data": data, "fairness": fairness, "direction": direction, "k": str(k), "lambda_fair": "6"}
    for page in PAGES:
        app = fine(run(f"pages/{page}.py", update="decisions", **query))
        said = f"{words(app)} {captions(app)} {' '.join(metric.label for metric in app.metric)}"
        for wrong in ("Ratio r", "Shift s", "r = ", "times r", "plus s", "takes back", "of f and g, r,"):
            assert wrong not in said, page
        if page == "what_if":
            assert re.search(r"\bbalance\b", said.lower())  # and not only “Law School (balanced)”
        if page == "people":
            assert "balance" in app.dataframe[0].value


@pytest.mark.with_shap
def test_a_person_on_what_if_has_a_balance_that_decides():
    app = fine(run("pages/what_if.py", data="law_school", update="decisions", lambda_fair="6"))
    assert re.search(r"The balance is \S+, so g says “", captions(app))


# ---- a budget ----


def test_a_budget_is_kept_and_told():
    app = fine(run(data="law_school", update="decisions", lambda_fair="8", max_changes="150"))
    field = app.text_input(key="set_max_changes")
    assert field.value == "150"
    assert not field.disabled
    said = captions(app)
    changed = int(re.search(r"At most 150 of the training students change. Right now (\d+) do.", said)[1])
    assert 100 < changed <= 150
    assert re.search(r"On 1,000 new people expect \d+ to \d+ changes.", said)
    field.set_value("no idea").run()
    assert fine(app).text_input(key="set_max_changes").value == app.query_params["max_changes"] == "150"
    field.set_value("1,500").run()
    assert fine(app).query_params["max_changes"] == "1500"
    field.set_value("").run()
    assert "max_changes" not in fine(app).query_params
    assert "At most 150" not in captions(app)


def test_other_forms_say_why_they_have_no_budget():
    app = fine(run(data="law_school", max_changes="150"))
    field = app.text_input(key="set_max_changes")
    assert field.disabled
    assert "choose “count changes”" in field.help
    assert "goes with an update that counts changed decisions" in app.warning[0].value
    assert "max_changes" not in app.query_params


@pytest.mark.parametrize("text", ["-3", "1.5", "many", "0", "9" * 30])
def test_a_budget_in_a_link_is_a_whole_number(text):
    settings, faults = from_link({"update": "decisions", "max_changes": text})
    assert settings.max_changes == ""
    assert "is no whole number" in faults[0]


def test_a_budget_goes_with_the_recipe_and_the_link():
    settings = replace(defaults("law_school"), update="decisions", max_changes="150")
    assert "max_changes=150," in to_python(settings)
    assert from_link(to_link(settings)) == (settings, [])
    assert replace(settings, update="ratio").max_changes == ""
    assert settings.free().max_changes == ""
