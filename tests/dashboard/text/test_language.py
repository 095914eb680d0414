"""Phrases in more than one language: the same ones everywhere, with the same fields."""

from string import Formatter

import pytest

from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.language import DECLARED, FIRST, LANGUAGES, fill, phrase, phrases
from commod.datasets import TASKS
from commod.metrics.figures import CRITERIA, key_figures

pytestmark = pytest.mark.quick

OTHERS = [language for language in LANGUAGES if language != FIRST]


def fields(text):
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", OTHERS)
def test_every_phrase_is_there_with_its_fields(language):
    here = phrases(FIRST)
    there = {name: text for name, text in phrases(language).items() if not name.startswith(f"{DECLARED}.")}
    assert list(there) == list(here)
    for name, text in here.items():
        assert fields(there[name]) == fields(text), name


@pytest.mark.parametrize("language", OTHERS)
def test_what_the_first_screen_takes_from_declarations_is_translated(language):
    there = {name.removeprefix(f"{DECLARED}."): text for name, text in phrases(language).items()}
    asked = {text for spec in TASKS.values() for text in (spec.title, spec.people, spec.story, *spec.outcomes)}
    asked |= {text for spec in TASKS.values() for text in spec.called.values()}
    asked |= {control.label for control in CONTROLS.values() if control.decides != "note"}
    asked |= {criterion.label for criterion in CRITERIA.values()} | {figure.title for figure in key_figures()}
    assert not asked - set(there)
    for text in asked:
        assert fields(there[text]) == fields(text), text


def test_numbers_are_written_as_in_the_language():
    assert fill("en", "{n:,} of {share:.1%}, {r:.2f}, {name}", n=1234, share=0.085, r=-0.5, name="a, b.") == (
        "1,234 of 8.5%, -0.50, a, b."
    )
    assert fill("fr", "{n:,} et {share:.1%}, {r:.2f}, {name}", n=1234, share=0.085, r=-0.5, name="a, b.") == (
        "1\u202f234 et 8,5\u202f%, -0,50, a, b."
    )


def test_a_phrase_is_found_by_its_name():
    assert [phrase(language, "controls.undo") for language in LANGUAGES] == ["Undo", "Annuler"]
