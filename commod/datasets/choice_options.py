"""What is what in a table, as options of a command: one declaration for parsing a command and for writing one."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commod.datasets.own import Choice

__all__ = ["OPTIONS", "Option", "add_options", "given_options", "written_options"]


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _missing(text: str) -> str:
    if text not in ("fill", "drop"):
        raise ValueError
    return text


def _turned(text: str) -> bool:
    if text not in ("favourable", "other"):
        raise ValueError
    return text == "other"


# What an option takes, where it is not any text.
TAKES: dict[Callable[[str], Any], str] = {
    _number: "takes a number",
    _missing: "is fill or drop",
    _turned: "is favourable or other",
}


@dataclass(frozen=True)
class Option:
    """An option and the field of `Choice` that it sets.

    Parameters
    ----------
    name : str
        As it is typed.
    field : str
    shown : str
        What follows it, in the help.
    help : str
    read : callable
        From the text that is typed to the value.
    count : int or None
        How many texts follow it; None for one or more.
    key : optional
        Of a field that maps columns to something: to what this option maps those that follow it.
    write : callable
        From a value to the text.
    """

    name: str
    field: str
    shown: str
    help: str
    read: Callable[[str], Any] = str
    count: int | None = 1
    key: Any = None
    write: Callable[[Any], str] = str

    @property
    def attribute(self) -> str:
        """Under which argparse keeps it; options of the command itself cannot be in its way."""
        return f"choice{self.name.replace('-', '_')}"

    def values_in(self, choice: Choice) -> list[Any]:
        """What has to be typed after it for a choice; nothing if that is what goes without saying."""
        value = getattr(choice, self.field)
        if self.key is not None:
            return [column for column, key in value.items() if key == self.key]
        if value == _default(choice, self.field):
            return []
        return list(value) if self.count != 1 else [value]


def _default(choice: Choice, field: str) -> Any:
    """What a field is where nothing is said of it; a column of scores is guessed, and so is always told."""
    return None if field == "scores" else getattr(type(choice), field, None)


# Every field of `Choice` but its title, which is the name of the file, and the threshold, which every data set has.
# What stands in no option is guessed as the page Your data guesses it.
OPTIONS = (
    Option("--outcome", "target", "COLUMN", "what was decided or what happened"),
    Option("--outcome-cut", "target_cut", "NUMBER", "cut an outcome of numbers in two there", _number),
    Option("--favourable", "favourable", "VALUE", "the outcome that is good for a person"),
    Option("--sensitive", "sensitive", "COLUMN", "whose groups are to be treated alike"),
    Option("--sensitive-cut", "sensitive_cut", "NUMBER", "cut a sensitive attribute of numbers in two there", _number),
    Option("--groups", "groups", "VALUE", "two of its values; rows of others are left out", count=2),
    Option("--scores", "scores", "COLUMN", "f's probabilities of the favourable outcome; '' to train f here"),
    Option(
        "--scores-of",
        "turned",
        "favourable|other",
        "the outcome that the scores are of (default: the favourable one)",
        _turned,
        write=lambda turned: "other" if turned else "favourable",
    ),
    Option("--scores-out-of", "scores_out_of", "NUMBER", "what the scores are divided by (100: percentages)", _number),
    Option("--number", "kinds", "COLUMN", "features that are numbers", count=None, key="number"),
    Option("--category", "kinds", "COLUMN", "features that are categories", count=None, key="category"),
    Option("--leave-out", "kinds", "COLUMN", "columns that are no features", count=None, key="leave out"),
    Option(
        "--missing", "missing", "fill|drop", "missing features: fill them in (default), or drop those rows", _missing
    ),
    Option("--more-is-merit", "merits", "COLUMN", "numbers of which more should never hurt", count=None, key=1),
    Option("--less-is-merit", "merits", "COLUMN", "numbers of which less should never hurt", count=None, key=-1),
    Option("--person", "person", "COLUMN", "whose row it is: all rows of a person on one side of the split"),
    Option("--time", "time", "COLUMN", "when it was: the latest rows are the test part"),
)
# Said of columns that no option names.
ONLY_NAMED = "--only-named"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Let a parser understand the options."""
    group = parser.add_argument_group(
        "for a file", "What is what in it. What is not said is guessed as on the page Your data, and told."
    )
    for option in OPTIONS:
        how: dict[str, Any] = {"metavar": option.shown, "help": option.help, "dest": option.attribute}
        group.add_argument(option.name, nargs=1 if option.count == 1 else "+", action="extend", **how)
    group.add_argument(
        ONLY_NAMED, action="store_true", help="leave out columns that no option names, instead of guessing"
    )


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fields of `Choice` that a command gives, with ``only_named`` if it is asked for.

    Raises
    ------
    ValueError
        In one sentence, if a value cannot be read or a column is given two parts.
    """
    given: dict[str, Any] = {}
    for option in OPTIONS:
        texts = getattr(arguments, option.attribute)
        if texts is None:
            continue
        if option.count is not None and len(texts) != option.count:
            raise ValueError(
                f"{option.name} takes {'one value' if option.count == 1 else 'two values'}, got {len(texts)}."
            )
        values = [_read(option, text) for text in texts]
        if option.key is None:
            given[option.field] = values[0] if option.count == 1 else tuple(values)
            continue
        columns = given.setdefault(option.field, {})
        if twice := [name for name in values if name in columns]:
            raise ValueError(f"“{twice[0]}” is named by {option.name} and by another option: name it once.")
        columns |= dict.fromkeys(values, option.key)
    return given | ({"only_named": True} if arguments.only_named else {})


def _read(option: Option, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError:
        raise ValueError(f"{option.name} {TAKES[option.read]}, got {text!r}.") from None


def written_options(choice: Choice, fields: Collection[str] | None = None) -> list[str]:
    """The words of a command that say what a choice says, all of it or some fields, to be joined with `shlex.join`."""
    words: list[str] = []
    for option in OPTIONS:
        if option.field not in fields if fields is not None else option.key == "leave out":  # as are all not named
            continue
        is_open = False
        for value in option.values_in(choice):
            text = option.write(value)
            tied = not text or text.startswith("-")  # else it would be taken for an option: --number=-5
            words += [f"{option.name}={text}"] if tied else [text] if is_open else [option.name, text]
            is_open = not tied
    return words + ([ONLY_NAMED] if fields is None else [])
