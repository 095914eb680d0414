"""Phrases in more than one language: the same ones everywhere, with the same fields."""

from string import Formatter

import pytest

from commod.dashboard.text.language import FIRST, LANGUAGES, fill, phrase, phrases

OTHERS = [language for language in LANGUAGES if language != FIRST]


def fields(text):
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", OTHERS)
def test_every_phrase_is_there_with_its_fields(language):
    here, there = phrases(FIRST), phrases(language)
    assert list(there) == list(here)
    for name, text in here.items():
        assert fields(there[name]) == fields(text), name


def test_numbers_are_written_as_in_the_language():
    assert fill("en", "{n:,} of {share:.1%}, {r:.2f}, {name}", n=1234, share=0.085, r=-0.5, name="a, b.") == (
        "1,234 of 8.5%, -0.50, a, b."
    )
    assert fill("fr", "{n:,} et {share:.1%}, {r:.2f}, {name}", n=1234, share=0.085, r=-0.5, name="a, b.") == (
        "1\u202f234 et 8,5\u202f%, -0,50, a, b."
    )


def test_a_phrase_is_found_by_its_name():
    assert [phrase(language, "language.choose") for language in LANGUAGES] == ["Language", "Langue"]
