"""Outcome, favourable value and sensitive attribute, guessed of tables in the likeness of public ones.

``python -m tests.datasets.test_guesses`` prints how often guesses are right, on tables that have shaped the rules and
on tables that have not, and how often those are that somebody is not asked about.
"""

from dataclasses import dataclass, replace

import pytest

from commod.datasets import guess_columns, read_table, roles
from commod.datasets.own_groups import classes_of
from tests.datasets.held_out import HELD_OUT, NAMES
from tests.datasets.likenesses import SEEN

PARTS = ("outcome", "favourable", "sensitive")


@dataclass(frozen=True)
class Told:
    """What is guessed of one part of a table."""

    what: str
    confidence: float
    is_sure: bool
    is_right: bool
    is_offered: bool  # whether the right answer is among those that a question shows


def told_of(likeness):
    """What the page would say of a file: of the favourable value and the group, once the right outcome is known."""
    table = read_table(likeness.table().to_csv(index=False).encode()).frame
    guesses = guess_columns(table)
    columns = roles.columns_of_roles(guesses)
    found = {"outcome": _told(roles.guess_target(columns, guesses), [likeness.target])}
    cut = roles.guess_cut(table[likeness.target]) if roles.is_cut(likeness.target, guesses) else None
    values = [str(value) for value in classes_of(table[likeness.target], cut).value_counts().index]
    good = [value for value in values if value.startswith(likeness.good)]
    if len(values) > 2:
        guessed = roles.guess_good_values(values)
        right = bool(guessed) and set(guessed) <= set(good)
        found["favourable"] = Told(str(guessed), 0.95 if guessed else 0.0, bool(guessed), right, True)
    else:
        guess = roles.guess_favourable(values, likeness.target, list(table.columns))
        told = _told(guess, good)
        found["favourable"] = replace(told, is_sure=told.is_sure and cut is None, is_offered=True)
    if likeness.sensitive:
        others = [column for column in columns if column != likeness.target]
        found["sensitive"] = _told(roles.guess_sensitive(others, guesses), likeness.sensitive)
    return found


def _told(guess, right):
    offered = any(each in right for each in (guess, *guess.others[:2]))
    return Told(str(guess), guess.confidence, guess.is_sure, guess in right, offered)


def rates(tables, part):
    """Of the guesses of one part: how many, how many unasked, how many of those right, and right answers offered."""
    all_told = [told[part] for told in tables.values() if part in told]
    sure = [told for told in all_told if told.is_sure]
    asked = [told for told in all_told if not told.is_sure]
    return (
        len(all_told),
        len(sure),
        sum(told.is_right for told in sure),
        len(asked),
        sum(told.is_offered for told in asked),
    )


@pytest.fixture(scope="module")
def seen():
    return {name: told_of(likeness) for name, likeness in SEEN.items()}


@pytest.fixture(scope="module")
def held_out():
    return {name: told_of(likeness) for name, likeness in HELD_OUT.items()}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_what_nobody_is_asked_about_is_nearly_always_right(seen, part):
    _, sure, right, asked, offered = rates(seen, part)
    assert right >= 0.95 * sure
    assert offered >= 0.8 * asked


def by_confidence(tables):
    """Confidence of guesses to how many there are and how many of them are right."""
    found = {}
    for told in (each for parts in tables.values() for each in parts.values() if each.confidence):
        n, right = found.get(told.confidence, (0, 0))
        found[told.confidence] = n + 1, right + told.is_right
    return dict(sorted(found.items()))


def test_guesses_are_right_as_often_as_they_say(seen):
    for confidence, (n, right) in by_confidence(seen).items():
        assert right >= confidence * n


def test_most_files_need_few_answers(seen):
    """Who asks about everything is never wrong either."""
    for part, least in (("outcome", 0.6), ("favourable", 0.55), ("sensitive", 0.8)):
        n, sure, *_ = rates(seen, part)
        assert sure >= least * n, part


@pytest.mark.slow
def test_the_held_out_tables_are_those_named_before_the_rules_were_made(held_out):
    assert tuple(HELD_OUT) == NAMES
    assert not set(HELD_OUT) & set(SEEN)
    for part in PARTS:
        _, sure, right, *_ = rates(held_out, part)
        assert right >= roles.ASK_BELOW * sure, part


@pytest.mark.parametrize("name", [*SEEN, *NAMES])
def test_no_harm_is_called_good_unasked(seen, held_out, name):
    told = (seen | held_out)[name]["favourable"]
    assert told.is_right or not told.is_sure


def main():
    for title, tables in (("may shape the rules", SEEN), ("may not", HELD_OUT)):
        told = {name: told_of(likeness) for name, likeness in tables.items()}
        print(f"{len(tables)} tables that {title}:")
        for part in PARTS:
            n, sure, right, asked, offered = rates(told, part)
            best = sum(each[part].is_right for each in told.values() if part in each)
            print(
                f"  {part}: first guess right {best} of {n} ({best / n:.0%}); "
                f"not asked about {sure}, right {right} ({right / max(sure, 1):.0%}); "
                f"asked about {asked}, the right answer shown {offered}"
            )
        for confidence, (n, right) in by_confidence(told).items():
            print(f"  guesses that say they are right in {confidence:.0%}: {n}, right {right} ({right / n:.0%})")
        wrong = [name for name, parts in told.items() if any(t.is_sure and not t.is_right for t in parts.values())]
        print(f"  tables of which nothing wrong is taken for sure: {len(tables) - len(wrong)} of {len(tables)}")
        for name in wrong:
            parts = {part: t.what for part, t in told[name].items() if t.is_sure and not t.is_right}
            print(f"    {name}: {parts}")


if __name__ == "__main__":
    main()
