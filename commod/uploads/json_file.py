"""Read a stranger's JSON file: one object of limited size and depth with finite numbers, or an error sentence."""

import json
import re
import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec

from commod.uploads.limits import short

# Deep enough for all our files, and far from Python's own recursion limit.
MAX_DEPTH = 30
# The largest number that a double holds: infinity (1e999), and integers of hundreds of digits, are beyond it.
MAX_NUMBER = sys.float_info.max


class JsonError(ValueError):
    """What is wrong with a JSON file and what to do, in a sentence."""


def read_json(content: bytes | str, what: str, most: int) -> dict[str, Any]:
    """The object in a JSON file of at most `most` bytes; a JsonError says `what` it should be ("a decision")."""
    size = len(content)
    if size > most:
        raise JsonError(
            f"The file has {size / 2**20:,.1f} MB, but {what} has at most {most / 2**20:.2g}: choose another file."
        )
    if not content.strip():
        raise JsonError(f"The file is empty: choose one that holds {what}.")
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        found = json.loads(text, parse_constant=_refuse, object_pairs_hook=partial(_named_once, what))
    except RecursionError:
        raise _too_deep(what) from None
    except JsonError:
        raise
    except ValueError:  # no JSON, no UTF-8, NaN, or a number of thousands of digits
        raise JsonError(f"The file is no JSON: choose one that holds {what}, as it was downloaded.") from None
    if not isinstance(found, dict):
        raise JsonError(f"The file does not hold {what}: it should be one JSON object.")
    _check(found, what)
    return found


def check_schema(found: Any, schema: Any, error: type[ValueError] = JsonError) -> None:
    """Refuse what does not fit a msgspec schema, in a sentence that names the field."""
    try:
        msgspec.convert(found, schema)
    except msgspec.ValidationError as wrong:
        raise error(f"The file is damaged: {place_and_reason(wrong)}.") from None


def place_and_reason(error: msgspec.ValidationError) -> str:
    """What a schema says is wrong: "model.seed: Expected `int`, got `str`"."""
    reason, _, place = str(error).partition(" - at `$")
    reason = reason.replace("Object missing required field", "A field is missing,")
    reason = short(reason.replace("Object contains unknown field", "There is no field").rstrip("."), 200)
    return f"{short(place.strip('`.'), 80)}: {reason}" if place.strip("`") else reason


def same_names(part: str, found: Iterable[str], names: Iterable[str]) -> None:
    """Refuse a part with other names than these; schemas call this."""
    if unknown := sorted(set(found) - set(names)):
        raise ValueError(f"Under “{part}” is an unknown name, {short(unknown[0])!r}")
    if missing := sorted(set(names) - set(found)):
        raise ValueError(f"Under “{part}” {missing[0]!r} is missing")


def _too_deep(what: str) -> JsonError:
    return JsonError(f"The file is nested more than {MAX_DEPTH} deep, but {what} never is: choose another file.")


def _check(found: Any, what: str) -> None:
    """Refuse what JSON allows but our files never contain."""
    level: list[Any] = [found]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner += [*value, *value.values()]
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, int | float) and abs(value) > MAX_NUMBER:
                raise JsonError(f"The file holds a number that is too large for {what}: it is damaged.")
            elif isinstance(value, str) and re.search(r"[\ud800-\udfff]", value):  # JSON can spell half a pair
                raise JsonError(f"The file holds a text with half a character, which {what} never has: it is damaged.")
        if not inner:
            return
        level = inner
    raise _too_deep(what)


def _named_once(what: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The names and values of an object; json would silently drop one of two equal names."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise JsonError(f"The file names {short(name)!r} twice, which {what} never does: it is damaged.")
        found[name] = value
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
