"""Scenarios of the lesson: read, checked, translated, brought by a teacher, and told by real models."""

import re
import tomllib
from dataclasses import replace
from functools import cache

import pytest

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.lesson.notes import rival_of
from commod.dashboard.state import lesson_data
from commod.dashboard.state.settings import defaults
from commod.dashboard.text import glossary
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.scenarios import (
    FIRST,
    HERE,
    ScenarioError,
    all_scenarios,
    read_scenario,
    read_translation,
    scenario,
)
from commod.dashboard.views.lesson.steps import StepModels
from commod.datasets import load_task, task_of_file
from commod.datasets.example import example_table
from tests.dashboard.driving import fine, run, slider

LESSON = "pages/lesson.py"
SHIPPED = [(name, language) for name, found in all_scenarios()[0].items() for language in found]
STEP = """
[[step]]
name = "groups"
title = "What f does"
minutes = 5
data = "applicants"
start = { lambda_fair = 0.0 }
goal = { lambda_fair = 3.0 }
text = ["f was trained on {before.n_train:,} {before.people}."]
question = "How many of {before.n:,} does g decide otherwise?"
most = "before.n"
answer = "after.changed"
says = "**{value}**."
explanation = [
    "P-Rule {after.g.p_rule:.2f}.",
    { when = "after.worse > 0 and not move.played", text = "{after.worse} lose." },
]
talk = ["Why <b>?"]
teacher = "Look."
"""
TABLE = """
[tables.applicants]
file = "applicants.csv"
options = "--outcome hired --favourable yes --sensitive group --groups B A --scores ''"
people = "applicants"
"""
OWN = f'title = "Hiring"\n{TABLE}{STEP}'


@pytest.fixture(autouse=True, scope="module")
def each_table_read_once():
    """Every folder here has the same table."""
    known = {}

    def read_once(path, given):
        key = path.read_bytes(), repr(given)
        if key not in known:
            known[key] = task_of_file(path, given)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lesson_data, "task_of_file", read_once)
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COMMOD_LESSONS", str(tmp_path))
    example_table(400).to_csv(tmp_path / "applicants.csv", index=False)
    (tmp_path / "hiring.en.toml").write_text(OWN, encoding="utf-8")
    return tmp_path


def read(text, tmp_path, name="mine.en.toml"):
    return read_scenario(tmp_path / name, tomllib.loads(text), "en")


# ---- what ships ----


@cache
def trained(settings):
    return fit_result(settings)


def told(name, language, step):
    """All that a step says, with what it asks and answers."""
    at = StepModels(step, trained, FitResult.shap, rival_of)
    question, answer = script.question(at), script.answer(at)
    assert (answer.value in question.options) if question.options else 0 <= answer.value <= question.most
    return [*script.text(at), question.text, answer.words, *script.explanation(at)]


def check_all(name, language, places):
    for step in places:
        for text in told(name, language, step):
            assert "nan" not in text.lower().replace(",", " ").split(), (step.name, text)
            assert "[[" not in glossary.without_tooltips(text)


def test_the_first_step_of_each_is_told_in_each_language():
    for name, language in SHIPPED:
        if name == FIRST:
            check_all(name, language, scenario(name, language).steps[:1])


@pytest.mark.slow
@pytest.mark.with_shap
@pytest.mark.parametrize(("name", "language"), SHIPPED)
def test_every_scenario_is_told_in_every_language(name, language):
    check_all(name, language, scenario(name, language).steps)


@pytest.mark.parametrize(("name", "language"), SHIPPED)
def test_figures_in_texts_are_computed(name, language):
    """No text has a decimal or a percentage of its own, but for those that are none of a model."""
    for step in scenario(name, language).steps:
        texts = [*(said.text for said in (*step.text, *step.explanation)), step.question, step.says]
        for text in texts:
            plain = re.sub(r"\{[^}]*\}", "", text)
            found = re.findall(r"\d+[.,]\d+|\d+(?=\s?%)", plain)
            assert set(found) <= {"95", "90", "50,000", "1,000", "100"}, (step.name, found)


def test_old_links_mean_the_first_scenario():
    assert scenario("", "en").name == FIRST
    assert scenario("no_such", "fr").name == FIRST
    assert [step.name for step in scenario(FIRST, "en").steps] == (
        "groups fairness near cheap conflict concept posthoc blind".split()
    )


def test_steps_begin_where_their_data_open_but_for_what_they_say():
    for name, language in SHIPPED:
        entries = tomllib.loads((HERE / f"{name}.en.toml").read_text("utf-8"))["step"]
        for step, entry in zip(scenario(name, language).steps, entries, strict=True):
            assert step.start == replace(defaults(entry["data"]), **entry.get("start", {}))


# ---- what is refused ----


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('data = "applicants"', 'data = "german_credit"', "step 1 (groups): data “german_credit” is not known"),
        ("lambda_fair = 3.0", "lambda_fare = 3.0", "the control “lambda_fare” is not known. Perhaps: lambda_fair"),
        ("lambda_fair = 3.0", "lambda_fair = 3.1", "lambda_fair cannot be 3.1"),
        ("{before.n:,}", "{befor.n:,}", "the fact “befor.n” is not known. Perhaps: before.n"),
        ("{before.n:,}", "{before.n.__class__}", "the fact “before.n.__class__” is not known"),
        ("{before.n:,}", "{before.__init__.__globals__}", "is not known"),
        ("{before.n:,}", "{before.n!r}", "a brace that is not a fact"),
        ("{before.n:,}", "{before.n:99999999d}", "cannot be written so"),
        ("{before.n:,}", "{before.n", "a brace that is not a fact"),
        ("after.worse > 0 and", "after.worse >> 0 and", "cannot be read"),
        ("after.worse > 0 and", "after.g.to_csv() and", "the fact “after.g.to_csv” is not known"),
        ("after.worse > 0 and", "after.worse.__class__ and", "the fact “after.worse.__class__” is not known"),
        ('answer = "after.changed"', 'answer = "after.chnged"', "Perhaps: after.changed"),
        ('most = "before.n"', "", "most is missing"),
        ("minutes = 5", 'minutes = "5"', "minutes: Expected `int | float`, got `str`"),
        ('talk = ["Why <b>?"]', 'talk = "Why?"', "talk: Expected `array`, got `str`"),
        ('teacher = "Look."', 'teacher = "Look."\nshows = ["pie"]', "the picture “pie” is not known"),
        (
            'teacher = "Look."',
            'teacher = "Look."\npages = ["pages/lessons.py"]',
            "the page “pages/lessons.py” is not known",
        ),
        ('teacher = "Look."', 'teacher = "Look."\nrivals = { best = 1 }', "rivals: the method “best” is not known"),
        ('teacher = "Look."', "", "A field is missing, `teacher`"),
        ("P-Rule {", "[[p_rul]] {", "the word [[p_rul]] is not in the glossary"),
        ("--outcome hired", "--outcome hird", "There is no column “hird”"),
        ("--outcome hired", "--out come", "the table “applicants”"),
        ('"applicants.csv"', '"other.csv"', "there is no file other.csv next to the scenario"),
        ('"applicants.csv"', '"../applicants.csv"', "file is a name without a folder"),
        ('title = "Hiring"', 'titel = "Hiring"', "There is no field `titel`"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_step(folder, old, new, says):
    text = OWN.replace(old, new)
    assert text != OWN
    with pytest.raises(ScenarioError) as error:
        read(text, folder)
    assert str(error.value).startswith("mine.en.toml")
    assert says in str(error.value)


def test_a_translation_has_texts_only_and_all_of_them(folder):
    first, entries = read(OWN, folder), tomllib.loads(OWN)
    texts = {name: entries["step"][0][name] for name in ("title", "text", "question", "says", "talk", "teacher")}
    french = {
        "title": "Embauche",
        "step": [texts | {"name": "groups", "explanation": ["P-Rule.", "{after.worse} perdent."]}],
    }

    def translate(**changes):
        changed = {"title": "Embauche", "step": [french["step"][0] | changes]}
        return read_translation(folder / "mine.fr.toml", changed, "fr", entries, first)

    found = translate()
    assert found.steps[0].explanation[1].when == first.steps[0].explanation[1].when
    assert (found.language, found.steps[0].start, found.steps[0].goal) == (
        "fr",
        first.steps[0].start,
        first.steps[0].goal,
    )
    for changes, says in (
        ({"minutes": 9}, "minutes is the same in every language"),
        ({"explanation": ["one"]}, "explanation has 1 texts, the first language's 2"),
        ({"name": "other"}, "the steps must be groups"),
        ({"unit": "people"}, "unit stands in one of the two languages only"),
        ({"question": "{x}"}, "the fact “x” is not known"),
    ):
        with pytest.raises(ScenarioError, match="mine.fr.toml") as error:
            translate(**changes)
        assert says in str(error.value)


# ---- a teacher's own ----


@pytest.mark.slow
def test_a_lesson_on_her_own_table_is_there_for_everybody(folder):
    (folder / "broken.en.toml").write_text("title = ", encoding="utf-8")
    app = fine(run(LESSON, lesson="hiring"))
    assert app.title[0].value == "1. What f does"
    assert any("f was trained on 280 applicants." in html.proto.body for html in app.get("html"))
    assert any("broken.en.toml\\: this is not TOML" in warning.value for warning in app.warning)
    app.number_input[0].set_value(10)
    app = fine(next(b for b in app.button if b.label == "This is my guess").click().run())
    fine(slider(app, "lambda_fair").set_value(3.0).run())
    assert app.query_params["lesson"] == "hiring"
    data = app.query_params["data"]
    assert load_task(data).groups == ("B", "A")
    assert any("Why \\<b\\>?" in text.value for text in app.markdown)
    explore = fine(run(data=data))  # somebody else, on another page
    assert explore.query_params["data"] == data
    assert explore.selectbox(key="set_data").value == data


def test_a_changed_file_is_read_anew(folder):
    assert scenario("hiring", "en").title == "Hiring"
    (folder / "hiring.en.toml").write_text(OWN.replace('"Hiring"', '"Hiring again"'), encoding="utf-8")
    assert scenario("hiring", "en").title == "Hiring again"


# ---- the session ----


@pytest.mark.slow
def test_a_teachers_link_is_there_again_after_the_lesson():
    app = fine(run(data="compas", lambda_fair="4", controls="lambda_fair", rest="hidden"))
    slider(app, "lambda_fair").set_value(2.0)
    app = fine(app.run())
    lesson = fine(app.switch_page(LESSON).run())
    assert lesson.query_params["data"] == "compas"  # after a reload, too
    back = fine(lesson.switch_page("app.py").run())
    assert back.query_params["data"] == "compas"
    assert slider(back, "lambda_fair").value == 2.0
    assert not next(b for b in back.button if b.label == "Undo").disabled


def test_who_comes_back_from_other_data_finds_the_step_as_it_was_left():
    app = fine(run(LESSON, step="fairness", answers=",20", data="compas", lambda_fair="4"))
    assert slider(app, "lambda_fair").value == 3.0
    assert app.sidebar.selectbox(key="lesson_choice").value == FIRST
    assert app.query_params["data"] == "compas"  # their own setting stays, until they press something here


def test_another_language_keeps_the_lesson_though_the_browser_sends_its_old_title():
    app = fine(run(LESSON, answers="40"))
    titles = app.sidebar.selectbox(key="lesson_choice").options
    app = fine(app.sidebar.button(key="speak_fr").click().run())
    choice = app.sidebar.selectbox(key="lesson_choice")
    assert choice.options != titles
    choice.options = titles
    app = fine(choice.set_value(titles[0]).run())
    assert app.query_params["answers"] == "40"
    assert "lesson" not in app.query_params
    assert app.sidebar.selectbox(key="lesson_choice").value == FIRST


def test_another_scenario_is_chosen_in_the_sidebar_and_each_keeps_its_answers(folder):
    app = fine(run(LESSON, answers="40"))
    choice = app.sidebar.selectbox(key="lesson_choice")
    app = fine(choice.set_value("hiring").run())
    assert app.query_params["lesson"] == "hiring"
    assert "answers" not in app.query_params
    app = fine(app.sidebar.selectbox(key="lesson_choice").set_value(FIRST).run())
    assert app.query_params["answers"] == "40"
    assert "lesson" not in app.query_params
