"""No English where the app speaks French; other pages say that they are in English."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from commod.dashboard.text.glossary import _file, words
from commod.dashboard.text.language import DECLARED, declared, phrase, phrases
from commod.dashboard.text.menu import TRANSLATED
from commod.dashboard.views.tiles import tile_of
from commod.datasets import TASKS, load_task
from commod.metrics.figures import FIGURES
from tests.browsing import ROOT
from tests.dashboard.driving import fine, run
from tests.dashboard.untranslated import shown, untranslated
from tests.snapshots import script_of
from tests.waiting import PATIENCE

# What is folded, or opened by a click.
FOLDS = (
    *("numbers", "share", "python", "pin_here", "changes_table", "groups_table"),
    *("contributions_table", "record_table", "certainty_table", "curve_table", "conflict_table", "rivals_table"),
)
# What is called the same in both languages: symbols, methods, a test.
NAMES = "|".join(
    [
        r"λ_\w+|P-Rule|COMMOD|SHAP|COMPAS|AUC|F1|LSAT|GPA|DM|US|Python|CSV|JSON|HTML|QR|English|logit|Mentor|[Cc]oncepts?",
        r"^ready$|^width$|[Ss]core",
        r"Gradient boosting|FRAPPE|LPP|ROC|AdvDebias|points?|Décision|pages?|questions?|[Mm]inutes?|[Cc]ode",
        r"«\s(?:equalized odds|equalized odds difference|expected calibration error)\s»|et al\.|ABC DEF",
    ]
)
EXPLORE = {
    "the first": {},
    "two that are crossed": {"data": "hiring"},
    "limited": {
        "data": "hiring",
        "groups": "",
        "update": "decisions",
        "direction": "improve",
        "without": "shift",
        "max_changes": "50",
        "fairness": "equalized_odds",
    },
    "three groups, and a link that is wrong": {"data": "compas", "groups": "age", "update": "wood"},
    "few people": {"data": "german"},
    "with a shift": {"data": "ratings"},
    "nothing changes": {"lambda_fair": "0"},
}


def opened(page, **query):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=2 * PATIENCE)
    app.query_params.update(query)
    for fold in FOLDS:
        app.session_state[fold] = True
    if page != "app.py":
        app.switch_page(page)
    return fine(app.run())


def left_in_english(page, **query):
    return untranslated(shown(opened(page, lang="fr", **query)), shown(opened(page, **query)), NAMES)


# Cases whose French is in the slow tests.
OTHER_DATA = ("limited", "three groups, and a link that is wrong", "few people", "with a shift")


@pytest.mark.with_shap
@pytest.mark.parametrize(
    "query",
    [pytest.param(EXPLORE[case], id=case, marks=[pytest.mark.slow] * (case in OTHER_DATA)) for case in EXPLORE],
)
def test_explore_has_no_english_in_french(query):
    assert not left_in_english("app.py", **query)


@pytest.mark.with_shap
@pytest.mark.parametrize("step", [1, 2, 6, 8, *(pytest.param(step, marks=pytest.mark.slow) for step in (3, 4, 5, 7))])
def test_the_lesson_has_no_english_in_french(step):
    assert not left_in_english("pages/lesson.py", step=str(step), answers="9,9,9,9,9,9,a,9")


@pytest.mark.parametrize("page", ["pages/room.py", "pages/glossary.py"])
def test_the_room_and_the_glossary_have_no_english_in_french(page):
    assert not left_in_english(page)


def test_english_left_in_a_french_page_is_found():
    english = {"Whose decisions change", "P-Rule", "On test."}
    french = {"Whose decisions change", "P-Rule", "Sur le test.", "12 of 15 décisions"}
    assert untranslated(french, english, NAMES) == ["12 of 15 décisions", "Whose decisions change"]


@pytest.mark.parametrize("name", ["people", "what_if", "data", "paper", "your_data", "take_home", "runs"])
def test_other_pages_say_that_they_are_in_english(name):
    assert script_of(name) not in TRANSLATED
    app = fine(run(script_of(name), lang="fr"))
    assert phrase("fr", "frame.not_translated") in [caption.value for caption in app.main.caption]
    assert untranslated({app.title[0].value}, {app.title[0].value}, NAMES)


def test_a_page_in_english_does_not_say_so():
    assert "" not in [caption.value for caption in fine(run("pages/data.py")).main.caption]


def test_the_glossary_has_every_word_in_french():
    english = words()
    assert set(_file("fr")["word"]) == set(english)
    for name, word in words("fr").items():
        assert bool(word.more) == bool(english[name].more), name
        assert word.tip != english[name].tip, name


def test_every_picture_belongs_to_a_word():
    assert set(_file()["picture"]) <= set(words())
    assert len(set(_file()["picture"].values())) >= 10


def test_every_measure_has_one_name():
    told = " ".join(text for name, text in phrases("fr").items())
    for old in ("égalité des chances", "Disparité des erreurs", "Traitement inégal"):
        assert old.casefold() not in told.casefold()


@pytest.mark.parametrize("name", TASKS)
def test_every_value_of_the_data_has_a_french_name_of_its_own(name):
    features = load_task(name).X
    for column in features.select_dtypes(exclude="number"):
        levels = [str(level) for level in features[column].unique()]
        assert not {level for level in levels if declared("fr", level) == level}, column
        assert len({declared("fr", level) for level in levels}) == len(levels), column


def test_a_charge_with_a_slash_is_one_charge():
    charge = "Neglect Child / No Bodily Harm"
    for text in (charge, f"Charge: {charge}", f"Charge is {charge}", f"Charge is not {charge}", f"charge “{charge}”"):
        assert declared("fr", text).strip("»\u00a0").endswith("défaut de soins à enfant")
    assert declared("fr", "Non-White / White") == "Non blancs / Blancs"


def test_sentences_with_gaps_are_said_with_what_fills_them():
    assert declared("fr", "LSAT score > 28.4 points") == "Score LSAT > 28,4 points"
    assert declared("fr", "7 of 1,500 changed (0.5%)") == "7 changées sur 1\u202f500 (0,5\u202f%)"
    assert declared("fr", "low LSAT score and sex “male”") == (
        "une valeur basse pour «\u00a0Score LSAT\u00a0» et «\u00a0sexe\u00a0»\u00a0: «\u00a0homme\u00a0»"
    )
    assert declared("fr", "Nothing like this") == "Nothing like this"
    assert declared("en", "7 of 1,500 changed (0.5%)") == "7 of 1,500 changed (0.5%)"


def test_gaps_have_the_same_names_in_both_languages():
    for name, text in phrases("fr").items():
        if name.startswith(f"{DECLARED}."):
            gaps = set(re.findall(r"{(\w+)}", name))
            assert set(re.findall(r"{(\w+)}", text)) <= gaps, name
            assert gaps - set(re.findall(r"{(\w+)}", text)) <= {"same"}, name


def test_an_interval_has_decimal_commas():
    row = {
        "g": 0.613,
        "g_low": 0.529,
        "g_high": 0.704,
        "difference": 0.36,
        "difference_low": 0.3,
        "difference_high": 0.4,
    }
    told = tile_of(FIGURES["p_rule"], row, "fr")["delta_description"]
    assert [char for char in told if char.isdigit() or char in ",."] == list("0,5290,704")
