"""How a raw cell becomes a number, a date or a level, with numpy alone.

`commod.portable` is downloaded with this file in it: a row of text is read there as it was read here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Words for "no value", in upper or lower case; never a level. "None" counts only in this spelling: "none" is often an
# answer.
MISSING_WORDS = frozenset(
    [
        *("", "?", "-", "--", ".", "na", "n/a", "n.a.", "<na>", "nan", "-nan", "null", "nil", "undefined"),
        *("(null)", "<null>", "[null]", "\\n", "(blank)", "(missing)", "(unknown)", "<missing>", "<unknown>"),
        *("unknown", "unknown/invalid", "not known", "not available", "missing"),
        *("#n/a", "#na", "#n/a n/a", "#null!", "#value!", "#ref!", "#name?", "#div/0!", "#num!"),
        *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"),
    ]
)
# Numbers beyond this, and infinity, count as missing: the square of one has to be a number, too.
LARGEST = 1e100
CURRENCIES = "$€£¥₹"
# Between groups of three digits, besides the other mark: spaces, including narrow ones, and apostrophes.
_BETWEEN = " \u00a0\u2009\u202f'’"
_NUMBER_WITH = {
    mark: re.compile(
        rf"[+-]?(?:[1-9][0-9]{{0,2}}(?:(?P<by>[{other}{_BETWEEN}])[0-9]{{3}})(?:(?P=by)[0-9]{{3}})*(?:[{mark}][0-9]*)?"
        rf"|[0-9]+(?:[{mark}][0-9]*)?|[{mark}][0-9]+)(?:[eE][+-]?[0-9]+)?"
    )
    for mark, other in ((".", ","), (",", "."))
}
_AS_PYTHON = {mark: str.maketrans({**dict.fromkeys(_BETWEEN + ".,"), mark: "."}) for mark in ".,"}
_POSSIBLE = re.compile(rf"[0-9.,eE%\s'’+\-\N{{MINUS SIGN}}{CURRENCIES}]+")
_UNITS = re.compile(rf"^([+-]?)[{CURRENCIES}]\s?|\s?[{CURRENCIES}%]$")
_DATE = re.compile(
    r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})"
    r"(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([AaPp][Mm])?\s*(?:Z|([+-])(\d{2}):?(\d{2}))?)?"
)
EPOCH = datetime(1970, 1, 1)


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, pandas' NA, or a word for "missing"."""
    if isinstance(value, str):
        text = value.strip()
        return text == "None" or text.lower() in MISSING_WORDS
    return is_gap(value)


def number_in(value: Any, decimal: str = ".") -> float:
    """The number that a cell holds, NaN if it holds none.

    Texts such as "69,487.00", "1 200", "67,8", "$1,200" and "45%" (which is 45) are numbers. An ambiguous one, such as
    "1,234" or "1.234", is read by `decimal`, the decimal mark of its column. True and False are not numbers.
    """
    if isinstance(value, (bool, np.bool_)):
        return math.nan
    try:
        number = _number_in_text(value, decimal) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if abs(number) <= LARGEST else math.nan


def decimal_marks(text: str) -> str:
    """The decimal marks with which a text can be read as a number: ".", ",", ".," or none."""
    bare = _bare(text)
    return "".join(mark for mark, pattern in _NUMBER_WITH.items() if pattern.fullmatch(bare))


def _number_in_text(text: str, decimal: str) -> float:
    bare = _bare(text)
    for mark in (decimal, "," if decimal == "." else "."):
        if bare and _NUMBER_WITH[mark].fullmatch(bare):
            return float(bare.translate(_AS_PYTHON[mark]))
    return math.nan


def _bare(text: str) -> str:
    """A text that may be a number, without signs of currency and per cent; empty if it cannot be one."""
    if not _POSSIBLE.fullmatch(text):
        return ""
    bare = text.strip().replace("\N{MINUS SIGN}", "-")
    return bare if bare[:1].isdigit() and bare[-1:].isdigit() else _UNITS.sub(r"\1", bare)


def days_in(value: Any, order: str = "mdy") -> float:
    """The date that a cell holds, as days since 1 January 1970 (a time of day is a fraction), NaN if it holds none.

    Texts such as 2024-01-31, and 1/31/2024 or 31.1.2024 with the `order` "mdy" or "dmy" of the column, each with or
    without a time. A number counts as days.
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, date) and not is_gap(value):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return (moment.replace(tzinfo=None) - (moment.utcoffset() or timedelta(0)) - EPOCH) / timedelta(days=1)
    if not isinstance(value, str):
        return number_in(value)
    found = _DATE.fullmatch(value.strip())
    if found is None:
        return math.nan
    first, _, second, third, hour, minute, second_, fraction, half, sign, off_hours, off_minutes = found.groups()
    year, month, day = (first, second, third) if len(first) == 4 else (third, first, second)
    if len(first) != 4 and order == "dmy":
        month, day = day, month
    if len(year) != 4 or len(month) > 2 or len(day) > 2:
        return math.nan
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + 12 * (half.lower() == "pm")
    try:
        moment = datetime(int(year), int(month), int(day), hours, int(minute or 0), int(second_ or 0))
    except ValueError:
        return math.nan
    if sign:
        ahead = timedelta(hours=int(off_hours), minutes=int(off_minutes))
        moment = moment - ahead if sign == "+" else moment + ahead
    return (moment - EPOCH) / timedelta(days=1) + float(f"0.{fraction or 0}") / 86_400


def level_in(value: Any, *, decimal: str = "") -> str | None:
    """The level of a category that a cell holds, as text; None if it holds nothing.

    "1", 1 and 1.0 are one level, and so are "true", "TRUE" and True. With the decimal mark of a column of numbers, all
    texts that `number_in` reads are numbers here, too.
    """
    if is_gap(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    text = str(value).strip()
    if isinstance(value, str) and text.lower() in ("true", "false"):
        return text.capitalize()
    plain = not isinstance(value, str) or decimal or re.fullmatch(r"[+-]?[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?", text)
    number = number_in(value, decimal or ".") if plain else math.nan
    if math.isnan(number):
        return text
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.10g}"


def folded(level: str) -> str:
    """A level without differences in capitals and spaces."""
    return " ".join(level.casefold().split())


# Words that mean the same if only one of them is a level.
_ALIKE = {"True": "1", "1": "True", "False": "0", "0": "False"}


@dataclass(frozen=True)
class ColumnRule:
    """How a cell of one column becomes the number or the level that a model uses.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "category"}
        A date becomes a number, days since 1 January 1970.
    decimal : {"", ".", ","}
        Decimal mark for ambiguous texts ("1,234"); for a category, "" unless it held numbers.
    order : {"mdy", "dmy"}
        For dates that do not begin with the year.
    divide : float
        Numbers are divided by this: 100 for probabilities given as percentages.
    turned : bool
        Whether the file has the probability p of the other outcome, so that 1 − p is used.
    fill : float, str or None
        What a missing cell becomes: a number, usually the median, or a level. With None a missing cell is refused. A
        cell that should hold a number but does not counts as missing.
    levels : tuple of str
        Known levels of a category.
    other : str or None
        The level that all unknown ones become; with None they stay unknown.
    """

    name: Any
    kind: str
    decimal: str = "."
    order: str = "mdy"
    divide: float = 1.0
    turned: bool = False
    fill: float | str | None = None
    levels: tuple[str, ...] = ()
    other: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("number", "date", "category") or not self.divide > 0:
            raise ValueError(f"a rule of kind {self.kind!r} that divides by {self.divide}")
        if self.decimal not in (".", ",", *([""] if self.kind == "category" else [])) or self.order not in (
            "mdy",
            "dmy",
        ):
            raise ValueError(f"a rule with the decimal mark {self.decimal!r} and dates in the order {self.order!r}")
        if self.kind != "category" and self.fill is not None:
            finite_number(self.fill)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ColumnRule:
        return cls(**{**content, "levels": tuple(content.get("levels", ()))})

    def read(self, value: Any) -> float | str | None:
        """What a cell becomes; None if it is missing and nothing fills it."""
        if self.kind == "category":
            return self._level(value)
        number = days_in(value, self.order) if self.kind == "date" else number_in(value, self.decimal)
        if math.isnan(number):
            return self.fill
        return 1.0 - number / self.divide if self.turned else number / self.divide

    def _level(self, value: Any) -> float | str | None:
        level = level_in(value, decimal=self.decimal)
        if level is None or level in self.levels:
            return self.fill if level is None else level
        if _ALIKE.get(level) in self.levels:
            return _ALIKE[level]
        if is_missing(level):
            return self.fill
        alike = [known for known in self.levels if folded(known) == folded(level)]
        if len(alike) == 1:
            return alike[0]
        return level if self.other is None else self.other


def is_gap(value: Any) -> bool:
    """None, NaN, and what pandas calls NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def finite_numbers(values: Any, length: int) -> NDArray[np.float64]:
    """An array of finite numbers; ValueError if it has another length, or gaps."""
    out = np.array(values, dtype=np.float64)
    if out.shape != (length,) or not np.isfinite(out).all():
        raise ValueError(f"{length} finite numbers were expected, not {out.shape}")
    return out


def finite_number(value: Any) -> float:
    """A finite number; ValueError if it is none."""
    return float(finite_numbers([value], 1)[0])
