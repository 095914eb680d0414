"""What each column of any table seems to be: numbers, categories, codes, dates, or nothing to learn from."""

import re
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets.raw import MAX_LEVELS, OTHER, read_levels, read_numbers
from commod.uploads.limits import count_of, short
from commod.wording import some_of

# Words, anywhere in a column's name, of columns that identify rows or people, and of columns of coded classes.
_CODES = re.compile(
    r"\b(id|ids|uid|uuid|guid|ssn|mrn|nbr|identifier|identification|key|zip|zipcode|postcode|postal|phone|email|url|iban)\b"
    r"|\b(case|account|acct|customer|client|patient|student|employee|member|person|record|serial|docket|ticket|phone)"
    r" (no|nr|num|number)\b|\b(index|row|rownum|rownames)$"
    r"|\b([ipsuc]|subj|user|person|pers|cust|case|stud|pat|emp|member|acct|client|resp|part)id\b"
    r"|^(subject|participant|respondent|person|patient|student|customer|client|defendant|player|user)$"
)
# Words for columns that say how many people a row stands for, as in surveys. In data on people, "weight" alone is
# mostly their body weight.
_WEIGHTS = re.compile(
    r"\b(fnl|final|sample|sampling|survey|instance|case|person|household|design|population) ?(weights?|wgt|wt)\b"
    r"|\b(wgt|fnlwgt|finlwt|pweight|pwgtp|wgtp|perwt|hhwt|asecwt|wtfinl|wtint|wtmec)\b|^weights$"
)
_PERHAPS_WEIGHTS = re.compile(r"^(weight|wt)$")
_AGES = re.compile(r"\b(age|ages|aged)\b")
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?")


def words_of(name: str) -> str:
    """A name as words in small letters: ``"customerID2"`` and ``"customer_id_2"`` are ``"customer id 2"``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", parted.lower()))


def guess_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """What each column seems to be, one row per column.

    Columns ``kind`` ("number", "category", "leave out"), ``why`` (in words), ``values`` (distinct ones), ``missing``
    (rows), ``not_numbers`` (such cells in a column of numbers), ``odd`` (numbers that may be mistakes, in words),
    ``examples``, and ``special``: "code" (identifies rows or people), "date", "weight" (how many people a row stands
    for), or "".
    """
    rows = [_guess(frame[name]) for name in frame.columns]
    return pd.DataFrame(rows, index=pd.Index(frame.columns, name="column"))


def _guess(values: pd.Series) -> dict[str, Any]:
    # Few different cells among many rows: each is read once and counts for all rows that have it.
    counts = values.value_counts()
    rows = counts[counts > 0].to_numpy()
    cells = pd.Series(counts.index[counts > 0], name=values.name)
    cells = cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    texts = cells if is_numeric else read_levels(cells)
    known = texts.notna().to_numpy()
    shown = cells[known].drop_duplicates().head(3)  # as written: 31.000 may be read as 31,000
    if pd.api.types.is_float_dtype(values.dtype):
        shown = shown.map(lambda number: np.format_float_positional(number, 4, trim="-"))
    numbers = read_numbers(cells)[0]
    no_number = known & numbers.isna().to_numpy()
    present, wrong = int(rows[known].sum()), int(rows[no_number].sum())
    different = int(texts.nunique())
    is_number = present > 0 and wrong <= 0.2 * present
    found: dict[str, Any] = {
        "values": different,
        "missing": len(values) - present,
        "not_numbers": wrong if is_number else 0,
        "examples": ", ".join(short(value, 24) for value in shown),
        "odd": "",
        "special": "",
    }
    if different <= 1:
        return {**found, "kind": "leave out", "why": "the same in every row"}
    words = words_of(str(values.name))
    if is_number and _WEIGHTS.search(words):
        why = "weights of a survey, by its name: no feature, and can be chosen as weights"
        return {**found, "kind": "leave out", "why": why, "special": "weight"}
    many, named_so = different > MAX_LEVELS, bool(_CODES.search(words))
    if named_so and many:
        return {**found, "kind": "leave out", "why": "codes, by its name", "special": "code"}
    if named_so and is_number:
        return {**found, "kind": "category", "why": "codes of classes, by its name"}
    if not is_numeric and _are_dates(texts[known]):
        why = "dates: left out, but the rows can be split by them"
        return {**found, "kind": "leave out", "why": why, "special": "date"}
    if is_number and different >= 0.95 * present and _number_rows(read_numbers(values)[0].dropna()):
        why = "a different whole number in nearly every row: a code, it seems"
        return {**found, "kind": "leave out", "why": why, "special": "code"}
    if is_number:
        odd = f"; read as missing: {count_of(wrong, 'cell')} (“{short(cells[no_number].iloc[0], 24)}”)" if wrong else ""
        perhaps = "; if they are weights of a survey, choose them as such" if _PERHAPS_WEIGHTS.search(words) else ""
        return {**found, "kind": "number", "why": f"numbers{odd}{perhaps}", "odd": _odd(words, numbers, rows)}
    if different > max(MAX_LEVELS, 0.2 * present):
        why = "nearly as many texts as rows: names or notes, it seems"
        if 2 * wrong < present:
            why = f"mostly numbers, but {count_of(wrong, 'cell')} such as “{short(cells[no_number].iloc[0], 24)}”"
        return {**found, "kind": "leave out", "why": why}
    why = f"texts; all but the {MAX_LEVELS - 1} most common become “{OTHER}”" if many else "texts"
    return {**found, "kind": "category", "why": why}


def _odd(words: str, numbers: pd.Series, rows: np.ndarray) -> str:
    """Impossible ages, and up to three numbers further from the others than the others are from each other."""
    values = np.unique(numbers.dropna())
    if len(values) < 10:
        return ""
    gaps = np.diff(values)
    at = int(gaps.argmax()) + 1
    far = values[at:] if at > len(values) / 2 else values[:at]
    odd = set(far) if len(far) <= 3 and 2 * gaps.max() > np.ptp(values) else set()
    if _AGES.search(words) and 0 <= np.median(values) <= 120:
        odd |= set(values[(values < 0) | (values > 120)])
    if not odd:
        return ""
    others = values[~np.isin(values, list(odd))]
    listed = some_of([f"{value:.10g}".replace("-", "−") for value in sorted(odd)], 3)
    text = f"{listed} in {count_of(int(rows[numbers.isin(odd)].sum()), 'row')}"
    return f"{text}; all others lie between {others[0]:.10g} and {others[-1]:.10g}"


def _are_dates(texts: pd.Series) -> bool:
    sample = texts.head(200)
    return len(sample) > 1 and float(sample.astype(str).str.fullmatch(_DATE.pattern).mean()) > 0.8


def _number_rows(numbers: pd.Series) -> bool:
    """Whether whole numbers, hardly any of them twice, identify rows: without gaps, in order, or with many digits."""
    values = numbers.to_numpy()
    if len(values) < 50 or (values % 1 != 0).any():
        return False
    in_order = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    without_gaps = numbers.is_unique and np.ptp(values) < 1.5 * len(values)
    many_digits = bool((values >= 1e7).all()) and float((values % 10 == 0).mean()) < 0.5
    return in_order or without_gaps or many_digits
