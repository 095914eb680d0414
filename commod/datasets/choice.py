"""The roles that somebody chose for the columns of any table."""

import argparse
import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NoReturn, get_type_hints

import msgspec

from commod.uploads.json_file import check_schema, place_and_reason, read_json
from commod.uploads.limits import content_of

Kind = Literal["number", "category", "leave out"]


class ChoiceError(ValueError):
    """What is wrong with a choice, in a sentence that says what to do."""


@dataclass(frozen=True)
class Choice:
    """The roles of the columns in a table."""

    target: str  # column of the outcome
    favourable: str | tuple[str, ...]  # its value or values that are good for a person, as text
    sensitive: str | tuple[str, ...]  # column of the sensitive attribute; two of them are crossed
    groups: tuple[str, ...]  # groups to keep, as text ("a × b" for a crossing); empty for all
    kinds: dict[str, Kind] = field(hash=False)  # columns that are not named are left out
    scores: str = ""  # column with f's probabilities of the favourable outcome; empty if f is trained here
    missing: Literal["fill", "drop"] = "fill"  # missing features: median or a level of their own, or drop those rows
    title: str = "Your data"
    # Numbers of which more (1) or less (-1) should never count against a person.
    merits: dict[str, Literal[1, -1]] = field(default_factory=dict, hash=False)
    target_cut: float | None = None  # where to cut a numeric outcome in two; `bands_of` names the classes
    sensitive_cut: InitVar[float | None] = None  # short for ``cuts={sensitive: (sensitive_cut,)}``
    scores_out_of: float = 1.0  # scores are divided by it: 100 for percentages
    person: str = ""  # column that identifies people: all rows of a person go to the same side of the split
    time: str = ""  # column of dates or numbers: the latest rows are the test part, whatever the seed
    turned: bool = False  # whether the scores are of the other outcome
    threshold: float = 0.5  # the probability of the favourable outcome above which f decides for it
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict, hash=False)  # of numeric sensitive columns, rising
    # Per sensitive column, new names of values; values with the same name are one group.
    merge: dict[str, dict[str, str]] = field(default_factory=dict, hash=False)
    unknown: Literal["drop", "train"] = "drop"  # rows without a known group: drop them, or use them for training only
    weight: str = ""  # column that says how many people a row stands for, as in surveys
    confirm: float = 0.0  # share of the people to seal, see `Task.seal`
    blanks: tuple[str, ...] = ()  # values of outcome and sensitive attributes that count as empty ("XXX")

    def __post_init__(self, sensitive_cut: float | None) -> None:
        if sensitive_cut is not None:
            if not isinstance(self.sensitive, str):
                raise ChoiceError("There are two sensitive attributes and one cut: say which of them it cuts.")
            object.__setattr__(self, "cuts", {**self.cuts, self.sensitive: (sensitive_cut,)})

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The column of the sensitive attribute, or the two that are crossed."""
        return (self.sensitive,) if isinstance(self.sensitive, str) else self.sensitive

    @property
    def good_values(self) -> tuple[str, ...]:
        """The outcome's values that are good for a person."""
        return (self.favourable,) if isinstance(self.favourable, str) else self.favourable


# What the app calls a file of roles, and how many bytes one may have.
ROLES = "roles.json"
MAX_BYTES = 2**20
# The fields of `Choice` that are not roles: the file has a name already, and every data set has a threshold.
_NO_ROLES = ("title", "threshold")
_TYPES = {name: kind for name, kind in get_type_hints(Choice).items() if name not in _NO_ROLES}
_TYPES |= {"sensitive_cut": float, "only_named": bool, "small_together": int}
# The fields whose values are columns, or that map columns to something.
COLUMN_FIELDS = {"target", "sensitive", "scores", "weight", "person", "time", "kinds", "merits", "cuts", "merge"}
Roles = msgspec.defstruct(
    "Roles",
    [(name, kind | msgspec.UnsetType, msgspec.UNSET) for name, kind in _TYPES.items()],
    forbid_unknown_fields=True,
)


# ---- a file of roles ----


def roles_of(choice: Choice) -> dict[str, Any]:
    """The choice as JSON; defaults are left out."""
    usual = Choice("", "", "", (), {})
    said = {entry.name: getattr(choice, entry.name) for entry in fields(choice) if entry.name not in _NO_ROLES}
    kinds = {column: kind for column, kind in choice.kinds.items() if kind != "leave out"}
    needed = {"scores", "kinds"}  # scores would be guessed
    found = {name: value for name, value in said.items() if name in needed or value != getattr(usual, name)}
    return json.loads(json.dumps(found | {"kinds": kinds, "only_named": True}))  # with lists for tuples


def roles_json(roles: Mapping[str, Any]) -> str:
    """Roles as the text of a file."""
    return json.dumps(roles, ensure_ascii=False, indent=1) + "\n"


def read_roles(content: bytes | str) -> dict[str, Any]:
    """Fields of `Choice`, ``only_named`` and ``small_together`` from a file of roles; ValueError if it is not one."""
    found = read_json(content, "roles of columns", MAX_BYTES)
    check_schema(found, Roles)
    return {name: msgspec.convert(value, _TYPES[name]) for name, value in found.items()}


# ---- options ----

# Option, field of `Choice` (and what it says of the columns that follow), what follows it, and help.
_OPTIONS = (
    ("--outcome", "target", "COLUMN", "what was decided or what happened"),
    ("--favourable", "favourable", "VALUE", "what is good for a person; repeat it for several values"),
    ("--sensitive", "sensitive", "COLUMN", "its groups are to be treated alike; two columns are crossed"),
    ("--groups", "groups", "VALUE", "the groups to look at; rows of others are left out"),
    ("--scores", "scores", "COLUMN", "f's probabilities of the favourable outcome; '' to train f here"),
    ("--scores-of", "turned", "favourable|other", "the outcome that the scores are of (default: favourable)"),
    ("--number", "kinds:number", "COLUMN", "features that are numbers"),
    ("--category", "kinds:category", "COLUMN", "features that are categories"),
    ("--leave-out", "kinds:leave out", "COLUMN", "columns that are not features"),
    ("--confirm", "confirm", "SHARE", "seal this share of the people (0.2) for one verdict at the end"),
)
# Options that only lessons and older decision records use. Commands take these fields from a file of roles.
_FORMER = {
    "--outcome-cut": "target_cut",
    "--sensitive-cut": "sensitive_cut",
    "--cut": "cuts",
    "--merge": "merge",
    "--unknown": "unknown",
    "--blank": "blanks",
    "--weight": "weight",
    "--scores-out-of": "scores_out_of",
    "--missing": "missing",
    "--more-is-merit": "merits:1",
    "--less-is-merit": "merits:-1",
    "--person": "person",
    "--time": "time",
    "--small-together": "small_together",
}
# Fields of which several texts may follow one option, and those whose option may be repeated.
_SEVERAL, _REPEATED = ("sensitive", "groups", "kinds", "merits", "cuts", "merge"), ("favourable", "blanks")
_PLACES = {name: place for name, place, *_ in _OPTIONS} | _FORMER


def _add_option(parser: Any, name: str, **how: Any) -> None:
    field = _PLACES[name].partition(":")[0]
    many = {"nargs": "+", "action": "extend"} if field in _SEVERAL else {"action": "append"}
    parser.add_argument(name, dest=f"choice_{_PLACES[name]}", **many, **how)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Let a parser understand the options that people type."""
    group = parser.add_argument_group(
        "for a file", "The roles of its columns. The rest is guessed as on the page Your data, and reported."
    )
    text = "all roles of columns (see docs/workshop.md), as the app offers them; options override it"
    group.add_argument("--roles", type=Path, metavar="FILE", help=text)
    for name, _, shown, text in _OPTIONS:
        choices = shown.split("|") if "|" in shown else None
        _add_option(group, name, metavar=shown, help=text, choices=choices)
    group.add_argument("--only-named", action="store_true", help="leave out columns that no option names")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"These options cannot be read: {message}.")


def roles_in(words: Sequence[str]) -> dict[str, Any]:
    """Roles from a file's text or, as lessons and older records of decisions have them, from options."""
    if len(words) == 1 and words[0].startswith("{"):
        return read_roles(words[0])
    parser = _Parser(add_help=False)
    add_options(parser)
    for name in _FORMER:
        _add_option(parser, name)
    return given_options(parser.parse_args(list(words)))


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fields of `Choice`, ``only_named`` and ``small_together`` that options give; ValueError says what is wrong."""
    given = {} if arguments.roles is None else read_roles(content_of(arguments.roles, "a roles.json"))
    said: dict[str, Any] = {}
    for name, place in _PLACES.items():
        values: list[str] = getattr(arguments, f"choice_{place}", None) or []
        field, _, key = place.partition(":")
        if key and values:
            columns = said.setdefault(field, {})
            if twice := [column for column in values if column in columns]:
                raise ValueError(f"“{twice[0]}” is named by {name} and by another option: name it once.")
            columns |= dict.fromkeys(values, int(key) if field == "merits" else key)
        elif values:
            said[field] = _joined(field, values)
    for field, value in said.items():
        try:
            found = msgspec.convert(value, _TYPES[field], strict=False)  # numbers are typed as texts
        except msgspec.ValidationError as error:
            name = next(name for name, place in _PLACES.items() if place.partition(":")[0] == field)
            raise ValueError(f"{name}: {place_and_reason(error)}.") from None
        given[field] = {**given.get(field, {}), **found} if field in ("kinds", "merits") else found
    return given | ({"only_named": True} if arguments.only_named else {})


def _joined(field: str, values: list[str]) -> Any:
    if field == "cuts":
        return {column: cuts for column, *cuts in map(_row, values)}
    if field == "merge":
        merged: dict[str, dict[str, str]] = {}
        for column, name, *levels in map(_row, values):
            merged.setdefault(column, {}).update(dict.fromkeys(levels, name))
        return merged
    if field == "turned":
        return values[-1] == "other"
    if field in (*_SEVERAL, *_REPEATED):
        return values[0] if len(values) == 1 and field in ("sensitive", "favourable") else values
    return values[-1]


def _row(text: str) -> list[str]:
    """Texts between commas; a text that contains a comma is in quotes."""
    row = next(csv.reader(io.StringIO(text, newline="")), [])
    if len(row) < 2:
        raise ValueError(f"{text!r} should be a column and its values, with commas between.")
    return row
