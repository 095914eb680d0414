"""What is what in a table, as options of a command: one declaration for parsing a command and for writing one."""

from __future__ import annotations

import argparse
import csv
import io
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from commod.datasets.raw import OTHER

if TYPE_CHECKING:
    from commod.datasets.choice import Choice


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _missing(text: str) -> str:
    if text not in ("fill", "drop"):
        raise ValueError
    return text


def _unknown(text: str) -> str:
    if text not in ("train", "drop"):
        raise ValueError
    return text


def _row(text: str) -> list[str]:
    """Texts between commas; one that holds a comma itself stands in quotes."""
    try:
        return next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    except csv.Error:
        raise ValueError from None


def _merged(text: str) -> tuple[str, dict[str, str]]:
    column, name, *values = _row(text)
    if not values:
        raise ValueError
    return column, dict.fromkeys(values, name)


def _cuts(text: str) -> tuple[str, tuple[float, ...]]:
    column, *cuts = _row(text)
    if not cuts:
        raise ValueError
    return column, tuple(map(_number, cuts))


def _as_row(texts: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(texts)
    return line.getvalue().removesuffix("\r\n")


def _merges_of(merge: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    return [
        [column, name, *(value for value, new in names.items() if new == name)]
        for column, names in merge.items()
        for name in dict.fromkeys(names.values())
    ]


def _cuts_of(cuts: Mapping[str, tuple[float, ...]]) -> list[list[str]]:
    return [[column, *map(repr, numbers)] for column, numbers in cuts.items()]


def _all_merges(merges: list[tuple[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    columns: dict[str, dict[str, str]] = {}
    for column, names in merges:
        columns[column] = columns.get(column, {}) | names
    return columns


def _columns_of(value: str | tuple[str, ...]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _one_or_two(columns: list[str]) -> str | tuple[str, ...]:
    return columns[0] if len(columns) == 1 else tuple(columns)


def _turned(text: str) -> bool:
    if text not in ("favourable", "other"):
        raise ValueError
    return text == "other"


# What an option takes, where it is not any text.
TAKES: dict[Callable[[str], Any], str] = {
    _number: "takes a number",
    _missing: "is fill or drop",
    _turned: "is favourable or other",
    _unknown: "is train or drop",
    _merged: "takes a column, a name and the values that are to have it, with commas between",
    _cuts: "takes a column and numbers, with commas between",
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
    join, part : callable
        Of an option that may be given more than once: from its values to the field's value, and back.
    """

    name: str
    field: str
    shown: str
    help: str
    read: Callable[[str], Any] = str
    count: int | None = 1
    key: Any = None
    write: Callable[[Any], str] = str
    join: Callable[[list[Any]], Any] = tuple
    part: Callable[[Any], list[Any]] = list

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
        return self.part(value) if self.count != 1 else [value]


def _default(choice: Choice, field: str) -> Any:
    """What a field is where nothing is said of it; a column of scores is guessed, and so is always told."""
    return None if field == "scores" else getattr(type(choice), field, None)


# Every field of `Choice` but its title, which is the name of the file, and the threshold, which every data set has.
# What stands in no option is guessed as the page Your data guesses it.
OPTIONS = (
    Option("--outcome", "target", "COLUMN", "what was decided or what happened"),
    Option("--outcome-cut", "target_cut", "NUMBER", "cut an outcome of numbers in two there", _number),
    Option("--favourable", "favourable", "VALUE", "the outcome that is good for a person"),
    Option(
        "--sensitive",
        "sensitive",
        "COLUMN",
        "whose groups are to be treated alike; two of them are crossed",
        count=None,
        join=_one_or_two,
        part=_columns_of,
    ),
    Option("--sensitive-cut", "sensitive_cut", "NUMBER", "cut a sensitive attribute of numbers in two there", _number),
    Option(
        "--cut",
        "cuts",
        "COLUMN,NUMBER,…",
        "cut a sensitive attribute of numbers into bands there",
        _cuts,
        count=None,
        write=_as_row,
        join=dict,
        part=_cuts_of,
    ),
    Option(
        "--merge",
        "merge",
        "COLUMN,NAME,VALUE,…",
        "put values of a sensitive attribute together under a name",
        _merged,
        count=None,
        write=_as_row,
        join=_all_merges,
        part=_merges_of,
    ),
    Option("--groups", "groups", "VALUE", "those of its groups to look at; rows of others are left out", count=None),
    Option(
        "--unknown",
        "unknown",
        "train|drop",
        "rows whose group is not known: train on them (default), or leave them out",
        _unknown,
    ),
    Option("--weight", "weight", "COLUMN", "for how many people a row stands, as in a survey"),
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
# Makes merges of what the file has.
SMALL_TOGETHER = "--small-together"


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
    group.add_argument(
        SMALL_TOGETHER,
        type=int,
        metavar="ROWS",
        help=f"put values of a sensitive attribute that fewer rows have together as “{OTHER}”",
    )


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fields of `Choice` that a command gives, with ``only_named`` and ``small_together`` if they are asked for.

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
            raise ValueError(f"{option.name} takes one value, got {len(texts)}.")
        values = [_read(option, text) for text in texts]
        if option.key is None:
            given[option.field] = values[0] if option.count == 1 else option.join(values)
            continue
        columns = given.setdefault(option.field, {})
        if twice := [name for name in values if name in columns]:
            raise ValueError(f"“{twice[0]}” is named by {option.name} and by another option: name it once.")
        columns |= dict.fromkeys(values, option.key)
    if arguments.small_together is not None:
        given["small_together"] = arguments.small_together
    return given | ({"only_named": True} if arguments.only_named else {})


def _read(option: Option, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError:
        raise ValueError(f"{option.name} {TAKES[option.read]}, got {text!r}.") from None


class _Parser(argparse.ArgumentParser):
    """One that says what is wrong instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"These options say nothing about a file: {message}.")


def options_in(words: Sequence[str]) -> dict[str, Any]:
    """Fields of `Choice` that the words of a command give, as `written_options` writes them.

    Raises
    ------
    ValueError
        In one sentence, if they are no such words.
    """
    parser = _Parser(add_help=False, allow_abbrev=False)
    add_options(parser)
    return given_options(parser.parse_args(list(words)))


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
