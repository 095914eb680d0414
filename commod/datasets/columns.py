"""What each column of anybody's table seems to be: numbers, categories, codes, dates, or nothing to learn from."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets.own import _as_numbers, _short, as_text
from commod.datasets.raw import MAX_LEVELS, OTHER

__all__ = ["guess_columns", "words_of"]

# Words in the names of columns that tell one row or person from another, wherever they stand, and of coded classes.
_CODES = re.compile(
    r"\b(id|ids|uid|uuid|guid|ssn|nbr|identifier|identification|key|zip|zipcode|postcode|postal|phone|email|url|iban)\b"
    r"|\b(case|account|acct|customer|client|patient|student|employee|member|person|record|serial|docket|ticket|phone)"
    r" (no|nr|num|number)\b|\b(index|row|rownum|rownames)$"
)
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?")


def words_of(name: str) -> str:
    """A name as words in small letters: ``"customerID2"`` and ``"customer_id_2"`` are ``"customer id 2"``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", parted.lower()))


def guess_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """What each column seems to be.

    Returns
    -------
    DataFrame
        Indexed by column: ``kind`` ("number", "category", "leave out"), ``why`` (in words), ``values`` (how many
        different), ``missing`` (rows), ``not_numbers`` (cells of a column of numbers that are none), ``examples``, and
        ``special``: "code" for what tells one row or person from another, "date", or "".
    """
    rows = [_guess(frame[name]) for name in frame.columns]
    return pd.DataFrame(rows, index=pd.Index(frame.columns, name="column"))


def _guess(values: pd.Series) -> dict[str, Any]:
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    present = values.dropna() if is_numeric else as_text(values).dropna()
    different = int(present.nunique())
    numbers, _ = _as_numbers(values)
    wrong = int(numbers.loc[present.index].isna().sum())
    is_number = len(present) > 0 and wrong <= 0.2 * len(present)
    found: dict[str, Any] = {
        "values": different,
        "missing": len(values) - len(present),
        "not_numbers": wrong if is_number else 0,
        "examples": ", ".join(_short(value) for value in pd.unique(present)[:3]),
        "special": "",
    }
    many = different > MAX_LEVELS
    if different <= 1:
        return {**found, "kind": "leave out", "why": "the same in every row"}
    named_so = bool(_CODES.search(words_of(str(values.name))))
    if named_so and many:
        return {**found, "kind": "leave out", "why": "codes, by its name", "special": "code"}
    if named_so and is_number:
        return {**found, "kind": "category", "why": "codes of classes, by its name"}
    if not is_numeric and _are_dates(present):
        why = "dates: left out, but the rows can be split by them"
        return {**found, "kind": "leave out", "why": why, "special": "date"}
    if is_number and _number_rows(numbers.dropna()):
        why = "a different whole number in nearly every row: a code, it seems"
        return {**found, "kind": "leave out", "why": why, "special": "code"}
    if is_number:
        odd = _short(present[numbers.loc[present.index].isna()].iloc[0]) if wrong else ""
        why = f"numbers; {wrong:,} cells are none (“{odd}”) and count as missing" if wrong else "numbers"
        return {**found, "kind": "number", "why": why}
    if different > max(MAX_LEVELS, 0.2 * len(present)):
        special = "code" if different >= 0.95 * len(present) else ""
        why = "nearly as many texts as rows: names or notes, it seems"
        return {**found, "kind": "leave out", "why": why, "special": special}
    why = f"texts; all but the {MAX_LEVELS - 1} most common become “{OTHER}”" if many else "texts"
    return {**found, "kind": "category", "why": why}


def _are_dates(texts: pd.Series) -> bool:
    sample = pd.Series(pd.unique(texts)[:200], dtype=object)
    return len(sample) > 1 and float(sample.astype(str).str.fullmatch(_DATE.pattern).mean()) > 0.8


def _number_rows(numbers: pd.Series) -> bool:
    """Whether whole numbers tell rows apart: hardly any twice, and without gaps, in order, or of many digits."""
    values = numbers.to_numpy()
    if len(values) < 50 or (values % 1 != 0).any() or numbers.nunique() < 0.95 * len(values):
        return False
    in_order = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    without_gaps = numbers.is_unique and np.ptp(values) < 1.5 * len(values)
    many_digits = bool((values >= 1e7).all()) and float((values % 10 == 0).mean()) < 0.5
    return in_order or without_gaps or many_digits
