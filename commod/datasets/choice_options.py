"""What is what in a table, as a file of roles (``--roles roles.json``) and as options of a command.

A file of roles has the fields of `Choice`. What it does not say is guessed as the page Your data guesses it, unless
``only_named`` is true.
"""

import argparse
import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

import msgspec

from commod.datasets.choice import Choice
from commod.datasets.raw import OTHER
from commod.uploads.json_file import check_schema, read_json

# What the app calls a file of roles, and how many bytes one may have.
ROLES = "roles.json"
MAX_BYTES = 2**20
# The fields of `Choice` that are none of a role: the file has a name already, and every data set has a threshold.
_NO_ROLES = ("title", "threshold")
_TYPES = {name: kind for name, kind in get_type_hints(Choice).items() if name not in _NO_ROLES}
_TYPES |= {"sensitive_cut": float, "only_named": bool, "small_together": int}
Roles = msgspec.defstruct(
    "Roles",
    [(name, kind | msgspec.UnsetType, msgspec.UNSET) for name, kind in _TYPES.items()],
    forbid_unknown_fields=True,
)


# ---- a file of roles ----


def roles_of(choice: Choice) -> dict[str, Any]:
    """What a choice says, as JSON has it; what goes without saying is left out."""
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
    """Fields of `Choice`, ``only_named`` and ``small_together`` from a file of roles; ValueError if it is none."""
    found = read_json(content, "roles of columns", MAX_BYTES)
    check_schema(found, Roles)
    return {name: msgspec.convert(value, _TYPES[name]) for name, value in found.items()}


def roles_in(words: Sequence[str]) -> dict[str, Any]:
    """Roles as a record of a decision has them: a file's text, or in older records the options of a command."""
    if len(words) == 1 and words[0].startswith("{"):
        return read_roles(words[0])
    return given_options(options_parser("These options say nothing about a file").parse_args(list(words)))


# ---- options ----


def _number(text: str) -> float:
    try:
        if math.isfinite(number := float(text)):
            return number
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"takes a number, got {text!r}")


def _row(text: str) -> list[str]:
    """Texts between commas; one that holds a comma itself stands in quotes."""
    try:
        return next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    except csv.Error:
        return []


def _merged(text: str) -> tuple[str, dict[str, str]]:
    if len(row := _row(text)) < 3:
        raise argparse.ArgumentTypeError(f"takes COLUMN,NAME,VALUE,… with commas between, got {text!r}")
    column, name, *values = row
    return column, dict.fromkeys(values, name)


def _cuts(text: str) -> tuple[str, tuple[float, ...]]:
    column, *cuts = _row(text) or [""]
    try:
        numbers = tuple(map(float, cuts))
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise argparse.ArgumentTypeError(f"takes a column and numbers, with commas between, got {text!r}")
    return column, numbers


_MANY: dict[str, Any] = {"nargs": "+", "action": "extend"}
_AGAIN: dict[str, Any] = {"action": "append"}
# Option, field of `Choice` (and what it says of the columns that follow), what follows it, help, and how it is read.
_OPTIONS: tuple[tuple[str, str, str, str, dict[str, Any]], ...] = (
    ("--outcome", "target", "COLUMN", "what was decided or what happened", {}),
    ("--outcome-cut", "target_cut", "NUMBER", "cut an outcome of numbers in two there", {"type": _number}),
    ("--favourable", "favourable", "VALUE", "what is good for a person; repeat it for several values", _AGAIN),
    ("--sensitive", "sensitive", "COLUMN", "whose groups are to be treated alike; two of them are crossed", _MANY),
    ("--sensitive-cut", "sensitive_cut", "NUMBER", "cut a sensitive attribute in two there", {"type": _number}),
    ("--cut", "cuts", "COLUMN,NUMBER,…", "cut a sensitive attribute into bands there", _MANY | {"type": _cuts}),
    ("--merge", "merge", "COLUMN,NAME,VALUE,…", "put its values together under a name", _MANY | {"type": _merged}),
    ("--groups", "groups", "VALUE", "those of its groups to look at; rows of others are left out", _MANY),
    ("--unknown", "unknown", "train|drop", "rows of unknown group: train on them (default), or leave them out", {}),
    ("--blank", "blanks", "VALUE", "a value of outcome or group that says nothing; repeatable", _AGAIN),
    ("--weight", "weight", "COLUMN", "for how many people a row stands, as in a survey", {}),
    ("--scores", "scores", "COLUMN", "f's probabilities of the favourable outcome; '' to train f here", {}),
    ("--scores-of", "turned", "favourable|other", "the outcome that the scores are of (default: favourable)", {}),
    ("--scores-out-of", "scores_out_of", "NUMBER", "what they are divided by (100: percentages)", {"type": _number}),
    ("--number", "kinds:number", "COLUMN", "features that are numbers", _MANY),
    ("--category", "kinds:category", "COLUMN", "features that are categories", _MANY),
    ("--leave-out", "kinds:leave out", "COLUMN", "columns that are no features", _MANY),
    ("--missing", "missing", "fill|drop", "missing features: fill them in (default), or drop those rows", {}),
    ("--more-is-merit", "merits:1", "COLUMN", "numbers of which more should never hurt", _MANY),
    ("--less-is-merit", "merits:-1", "COLUMN", "numbers of which less should never hurt", _MANY),
    ("--person", "person", "COLUMN", "whose row it is: all rows of a person on one side of the split", {}),
    ("--time", "time", "COLUMN", "when it was: the latest rows are the test part", {}),
    ("--confirm", "confirm", "SHARE", "seal so many people (0.2) for one verdict at the end", {"type": _number}),
)
# The fields whose values are columns, or that map columns to something.
COLUMN_FIELDS = {field.partition(":")[0] for _, field, shown, _, _ in _OPTIONS if shown.startswith("COLUMN")}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Let a parser understand the options."""
    group = parser.add_argument_group(
        "for a file", "What is what in it. What is not said is guessed as on the page Your data, and told."
    )
    group.add_argument("--roles", type=Path, metavar="FILE", help="roles.json from the app; options come on top")
    for name, field, shown, told, how in _OPTIONS:
        choices = shown.split("|") if "|" in shown else None
        group.add_argument(name, dest=f"choice_{field}", metavar=shown, help=told, choices=choices, **how)
    group.add_argument("--only-named", action="store_true", help="leave out columns that no option names")
    group.add_argument(
        "--small-together",
        type=int,
        metavar="ROWS",
        help=f"put values of a sensitive attribute that fewer rows have together as “{OTHER}”",
    )


class _Parser(argparse.ArgumentParser):
    def __init__(self, wrong: str) -> None:
        super().__init__(add_help=False)
        self.wrong = wrong

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{self.wrong}: {message}.")


def options_parser(wrong: str) -> argparse.ArgumentParser:
    """A parser of the options alone. It raises a ValueError that begins with `wrong` instead of ending the program."""
    parser = _Parser(wrong)
    add_options(parser)
    return parser


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fields of `Choice`, ``only_named`` and ``small_together`` that a command gives.

    Raises ValueError if the file of roles cannot be read or a column is given two parts.
    """
    given: dict[str, Any] = {}
    if arguments.roles is not None:
        try:
            given = read_roles(arguments.roles.read_bytes())
        except OSError as error:
            raise ValueError(f"{arguments.roles} cannot be read ({error.strerror}): give a roles.json.") from None
    named: dict[str, dict[str, Any]] = {}
    for name, place, _, _, _ in _OPTIONS:
        value = getattr(arguments, f"choice_{place}")
        if value is None:
            continue
        field, _, key = place.partition(":")
        if key:
            columns = named.setdefault(field, {})
            if twice := [column for column in value if column in columns]:
                raise ValueError(f"“{twice[0]}” is named by {name} and by another option: name it once.")
            columns |= dict.fromkeys(value, int(key) if field == "merits" else key)
        else:
            given[field] = _joined(field, value)
    for field, columns in named.items():
        given[field] = {**given.get(field, {}), **columns}
    if arguments.small_together is not None:
        given["small_together"] = arguments.small_together
    return given | ({"only_named": True} if arguments.only_named else {})


def _joined(field: str, value: Any) -> Any:
    """The value of a field from what was typed after its option."""
    if field == "merge":
        return {column: {k: v for c, names in value if c == column for k, v in names.items()} for column, _ in value}
    if field == "turned":
        return value == "other"
    if field in ("sensitive", "favourable") and len(value) == 1:
        return value[0]
    return dict(value) if field == "cuts" else tuple(value) if isinstance(value, list) else value
