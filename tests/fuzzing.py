"""Hostile uploads by the thousand, the same ones for the same seed: ``python -m tests.fuzzing --cases 10000``.

Every file takes the way it takes on the page: read, guessed, made a task, and now and then trained on. Nothing may come
out but a table or a sentence that a person can read.
"""

import argparse
import gzip
import io
import random
import re
import sys
import time
import warnings
import zipfile
import zlib
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from commod import Commod
from commod.datasets import Choice, ChoiceError, TableError, find_leaks, guess_columns, make_task, read_table, roles
from commod.datasets.example import example_table
from commod.models.evaluation import CollapseWarning

# A file may take so long, and all of them together so much memory.
MAX_SECONDS = 10.0
MAX_MEGABYTES = 1500
# One in so many tasks is trained on.
FITS = 60
ROOT = Path(__file__).parents[1]

ROWS = 120
TABLE = example_table(ROWS, seed=3).drop(columns=["applicant", "city", "interview_language"])
CSV = TABLE.to_csv(index=False).encode()
NASTY = [
    "",
    " ",
    "nan",
    "NaN",
    "-nan",
    "inf",
    "-Infinity",
    "1e308",
    "-1.7976931348623157e308",
    "1e-320",
    "1e999",
    "9" * 400,
    "9223372036854775808",
    "-0",
    "0x1F",
    "1_000",
    "١٢٣",
    "½",
    "TRUE",
    "null",
    "None",
    "#N/A",
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "+HYPERLINK(1)",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](//evil.example/x.png)",
    ":red[x] $x^2$ `x` **x**",
    "{{7*7}} ${7*7} %s %n {0}",
    "'; DROP TABLE people; --",
    "../../etc/passwd",
    "/etc/passwd",
    "__class__",
    "\u202egnp.exe",
    "\u0000",
    "a\u0301" * 30,
    "👩‍👩‍👧‍👦",
    "\x1b[31mred\x07\x08",
    "\ufeff",
    "\u2028",
    "x" * 1999,
    "x" * 2001,
    "2020-01-01",
    "31/12/1999 23:59",
    "0000-00-00",
    "12,5",
    '"',
    '""',
    "'",
    "\\",
]


def parquet(table, **options):
    target = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), target, **options)
    return target.getvalue()


PARQUET = parquet(pa.Table.from_pandas(TABLE, preserve_index=False))
SMALL = parquet({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, 1.5, 2.5]}, compression="none")


# ---- files ----


def _flip(rng, content, most=8, start=0):
    broken = bytearray(content)
    for _ in range(rng.randint(1, most)):
        broken[rng.randrange(start, len(broken))] ^= 1 << rng.randrange(8)
    return bytes(broken)


def _rows(rng, rows=ROWS):
    """A table whose cells can be spoilt: features a, b, c, then group and outcome."""
    group = [rng.choice("AB") for _ in range(rows)]
    outcome = [rng.choice(["yes", "no"]) for _ in range(rows)]
    return [
        [str(rng.randint(0, 99)), f"{rng.random():.3f}", rng.choice(["x", "y", "z"]), group[i], outcome[i]]
        for i in range(rows)
    ]


NAMES = ["a", "b", "c", "group", "hired"]


def _written(names, rows, delimiter=",", end="\n", quote=True):
    def cell(text):
        if quote and any(mark in text for mark in (delimiter, '"', "\n", "\r")):
            return '"' + text.replace('"', '""') + '"'
        return text

    return end.join(delimiter.join(cell(text) for text in row) for row in [names, *rows]) + end


def _spoilt(rng, texts, share=0.2, columns=(0, 1, 2, 3, 4), quote=True):
    rows = _rows(rng)
    for row in rows:
        for column in columns:
            if rng.random() < share:
                row[column] = rng.choice(texts)
    return _written(NAMES, rows, quote=quote).encode("utf-8", "surrogatepass")


def _named(rng, names):
    return _written(names, _rows(rng)).encode("utf-8", "surrogatepass")


def _framed(rng, **columns):
    """A Parquet file with odd columns among the usual ones."""
    rows = _rows(rng)
    usual = {"group": [row[3] for row in rows], "hired": [row[4] for row in rows], "n": [int(row[0]) for row in rows]}
    return parquet(usual | columns)


def _odd_type(rng):
    n = ROWS
    kinds = [
        lambda: pa.array([None] * n),
        lambda: pa.array([b"\x00\xff"] * n),
        lambda: pa.array([[1, 2]] * n),
        lambda: pa.array([{"x": 1}] * n),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([[[1]]] * n),
        lambda: pa.array(np.full(n, 2**63 - 1)),
        lambda: pa.array(np.full(n, 2**64 - 1, dtype=np.uint64)),
        lambda: pa.array(np.array(rng.choices([np.nan, np.inf, -np.inf, 1e308, 5e-324], k=n))),
        lambda: pa.array(np.arange(n).astype(np.float16)),
        lambda: pa.array([Decimal("1.5"), None] * (n // 2)),
        lambda: pa.array([Decimal("9" * 70)] * n, pa.decimal256(76, 0)),
        lambda: pa.array(rng.choices(range(-(2**31), 2**31 - 1), k=n), pa.int32()).cast(pa.date32()),
        lambda: pa.array(rng.choices(range(-(2**53), 2**53), k=n), pa.timestamp(rng.choice(["s", "ms", "us", "ns"]))),
        lambda: pa.array(rng.choices(range(10**9), k=n), pa.timestamp("us", tz=rng.choice(["UTC", "Asia/Tokyo"]))),
        lambda: pa.array(range(n), pa.time64("us")),
        lambda: pa.array(range(n), pa.duration("ns")),
        lambda: pa.array([True, None] * (n // 2)),
        lambda: pa.array(["", "x"] * (n // 2), pa.large_string()),
        lambda: pa.array(rng.choices(NASTY, k=n), pa.string_view()),
        lambda: pa.array(rng.choices(NASTY, k=n)).dictionary_encode(),
        lambda: pa.array([1, 2] * (n // 2)).dictionary_encode(),
        lambda: pa.array([1.5, None] * (n // 2)).dictionary_encode(),
        lambda: pa.array(rng.choices(NASTY, k=n)),
    ]
    return _framed(rng, odd=rng.choice(kinds)(), other=rng.choice(kinds)())


def _lying_footer(rng):
    """Numbers in the footer set to the largest that fit where they are."""
    broken = bytearray(rng.choice([PARQUET, SMALL]))
    start = len(broken) - 8 - int.from_bytes(broken[-8:-4], "little")
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(start, len(broken) - 8)
        for i in range(place, min(place + rng.randint(1, 5), len(broken) - 8)):
            broken[i] = rng.choice([0x7F, 0xFF, 0x80, 0x00])
    if rng.random() < 0.2:
        broken[-8:-4] = rng.randrange(2**32).to_bytes(4, "little")
    return bytes(broken)


def swollen_page(megabytes=64, hidden=True):
    """A page that unpacks to many megabytes, in a few kilobytes, and a footer that says it is small."""
    text = "x" * (megabytes * 2**20)
    content = parquet(
        {"a": [text, "y", "z"], "b": [1, 2, 3], "c": [1, 2, 3]},
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    if not hidden:
        return content
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:-8]
    for claim in (group.total_byte_size, group.column(0).total_uncompressed_size):
        true = _varint(2 * claim)
        assert footer.count(true) == 1
        footer = footer.replace(true, _varint(200, len(true)))
    return content[:start] + footer + content[-8:]


def _varint(number, size=0):
    """As Thrift writes a whole number, in at least `size` bytes."""
    found = bytearray()
    while number or not found or len(found) < size:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found[-1] &= 0x7F
    return bytes(found)


def _repeated(rng):
    """Many rows in very few bytes."""
    rows = rng.choice([1_000, 50_000, 299_999, 300_001])
    text = rng.choice(["x", "x" * 1_999, "x" * 100_000])
    columns = {
        "a": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([text])),
        "b": np.zeros(rows),
        "c": np.arange(rows) % 2,
        "d": np.arange(rows) // 7 % 2,
    }
    return parquet(columns, compression="zstd")


def _archive(rng):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(rng.choice(["xl/workbook.xml", "../../evil.csv", "people.csv"]), b"0" * rng.randrange(10**5))
    return target.getvalue()


def _compressed(rng):
    content = b"a,b,c\n" + b"1,2,3\n" * rng.randrange(10_000)
    packed = rng.choice([gzip.compress, gzip.compress, zlib.compress])(rng.choice([content, CSV]), 9)
    return rng.choice([packed, packed * 2, _flip(rng, packed), packed[: rng.randrange(2, len(packed))]])


def workbook(rows, sheets=1):
    """An Excel workbook with these rows on its first sheet, numbers as numbers."""
    target = io.BytesIO()
    options = {"strings_to_numbers": True, "strings_to_urls": False, "nan_inf_to_errors": True, "in_memory": True}
    with xlsxwriter.Workbook(target, options) as book:
        sheet, *_ = [book.add_worksheet() for _ in range(sheets)]
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    return target.getvalue()


WORKBOOK = workbook([TABLE.columns, *TABLE.astype(object).fillna("").to_numpy().tolist()])


def _odd_workbook(rng):
    """Hostile cells, formulas and names in a sound workbook, one of several sheets."""
    rows, most = _rows(rng), rng.choice([2_001, 2_000, 100])
    for row in rows:
        for i in range(len(row)):
            if rng.random() < 0.2:
                row[i] = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", rng.choice(NASTY))[:most]
    names = [rng.choice(["", "a", *NAMES]) if rng.random() < 0.3 else name for name in NAMES]
    return workbook([names, *rows], sheets=rng.choice([1, 1, 3]))


def _rezipped(rng):
    """A workbook whose archive is sound and whose XML is not."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WORKBOOK)) as sound, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as odd:
        spoilt = rng.choice(sound.namelist())
        for name in sound.namelist():
            part = sound.read(name)
            if name == spoilt:
                ways = [
                    _flip(rng, part),
                    part[: rng.randrange(len(part))],
                    part.replace(b'r="A', b'r="XFD' + str(rng.choice([9, 1_048_576, 10**12])).encode(), 1),
                    part.replace(b"<v>", b"<v>" + rng.choice([b"1e999", b"-1", b"99999999999", b"x"]), 3),
                    part.replace(b"?>", b'?><!DOCTYPE x [<!ENTITY a "' + b"y" * 999 + b'"><!ENTITY b "&a;&a;">]>', 1),
                ]
                part = rng.choice(ways)
            odd.writestr(name, part)
    return target.getvalue()


def _utf16(rng):
    content = _spoilt(rng, NASTY).decode("utf-8", "replace").encode(rng.choice(["utf-16", "utf-16-le", "utf-16-be"]))
    return content if rng.random() < 0.6 else _flip(rng, content)


def _random_bytes(rng):
    start = rng.choice([b"", b"", b"PAR1", b"a,b,c\n", b"\xff\xfe", b"\xef\xbb\xbf"])
    return start + rng.randbytes(rng.randrange(1, 600)) + rng.choice([b"", b"PAR1"])


def _random_text(rng):
    return "".join(rng.choices("ab1.,;\"\n\r\t =@é\\|'#\x0b\x85\u2028\x00", k=rng.randrange(1, 400))).encode()


def _ragged(rng):
    rows = _rows(rng)
    for _ in range(rng.randint(1, 10)):
        row = rng.choice(rows)
        row[:] = rng.choice([row[: rng.randrange(5)], row + ["x"] * rng.choice([1, 5, 1000])])
    if rng.random() < 0.3:
        rows = [row + ["x"] * rng.choice([1, 3]) for row in rows]
    return _written(NAMES, rows).encode()


def _open_quotes(rng):
    text = _written(NAMES, _rows(rng))
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text))
        text = text[:place] + '"' + text[place:]
    return text.encode()


def _other_marks(rng):
    text = _written(
        NAMES, _rows(rng), rng.choice([",", ";", "\t", "|", ":", " ", ";;"]), rng.choice(["\n", "\r\n", "\r"])
    )
    if rng.random() < 0.3:
        text = text.replace("\n", rng.choice(["\n\n", "\x0b", "\x85", "\u2028", "\n\r"]))
    return text.encode(rng.choice(["utf-8", "utf-8-sig", "cp1252"]), "replace")


def _same_names(rng):
    names = rng.choices(["a", "b", " a", "A", "", "a.1", "group", "hired", "Unnamed: 0"], k=5)
    return _named(rng, names)


def _nasty_names(rng):
    return _named(rng, [rng.choice(NASTY) if rng.random() < 0.5 else name for name in NAMES])


def _nasty_parquet_names(rng):
    rows = _rows(rng)
    names = [rng.choice(NASTY) or "x" if rng.random() < 0.5 else name for name in NAMES]
    columns = [pa.array([row[i] for row in rows]) for i in range(5)]
    return parquet(pa.Table.from_arrays(columns, names=names))


def _wide(rng):
    count = rng.choice([199, 200, 201, 2_000, 100_000])
    if rng.random() < 0.3:
        return parquet({f"c{i}": [1, 2] for i in range(min(count, 2_000))})
    mark = rng.choice(",;\t|")
    return (mark.join(f"c{i}" for i in range(count)) + "\n" + mark.join("1" * min(count, 300)) + "\n").encode()


def _few(rng):
    """Tables that are read and cannot be used: one class, one group, a handful of rows."""
    rows = _rows(rng, rng.choice([1, 2, 5, 30, ROWS]))
    for row in rows:
        spoil = rng.choice([(3, "A"), (4, "yes"), (3, ""), (4, ""), (0, "7"), (0, row[0])])
        row[spoil[0]] = spoil[1] if rng.random() < 0.98 else row[spoil[0]]
    return _written(NAMES, rows).encode()


def _huge_numbers(rng):
    texts = ["1e308", "-1e308", "1e200", "5e-324", "9" * 300, "1e16", "0"]
    return _spoilt(rng, texts, rng.choice([0.05, 0.5, 1.0]), columns=(0, 1))


def _scores(rng):
    rows = [
        [
            *row[:1],
            rng.choice([row[1], rng.choice(["0", "1", "0.5", "1.0000001", "-0", "", "nan", "1e-300"])]),
            *row[2:],
        ]
        for row in _rows(rng)
    ]
    return _written(["a", "model_score", "c", "group", "hired"], rows).encode()


KINDS = {
    "nothing": lambda rng: rng.choice([b"", b" ", b"\n\n", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b'"', b",", b"PAR1"]),
    "random bytes": _random_bytes,
    "random text": _random_text,
    "CSV, bits flipped": lambda rng: _flip(rng, CSV),
    "CSV, cut off": lambda rng: CSV[: rng.randrange(len(CSV))],
    "CSV, spliced": lambda rng: CSV[: rng.randrange(len(CSV))] + CSV[rng.randrange(len(CSV)) :],
    "CSV and Parquet spliced": lambda rng: CSV[: rng.randrange(len(CSV))] + PARQUET[rng.randrange(len(PARQUET)) :],
    "NUL bytes": lambda rng: CSV.replace(rng.choice([b"A", b"\n", b"yes"]), b"\x00", rng.randint(1, 9)),
    "UTF-16": _utf16,
    "not UTF-8": lambda rng: (
        _spoilt(rng, ["José", "Köln", "naïve €"]).decode().encode("cp1252") + rng.choice([b"", b"\x81"])
    ),
    "hostile cells": lambda rng: _spoilt(rng, NASTY, rng.choice([0.02, 0.2, 0.9])),
    "hostile cells without quotes": lambda rng: _spoilt(rng, NASTY, 0.05, quote=False),
    "huge numbers": _huge_numbers,
    "NaN and infinity": lambda rng: _spoilt(
        rng, ["nan", "inf", "-inf", "NaN", ""], rng.choice([0.1, 0.6, 1.0]), (0, 1)
    ),
    "formulas": lambda rng: _spoilt(rng, ["=1+1", "@x", "+A1", "-A1", "=cmd|' /C calc'!A0"], 0.3),
    "script tags": lambda rng: _spoilt(rng, [text for text in NASTY if "<" in text], 0.5, (2, 3, 4)),
    "dates": lambda rng: _spoilt(rng, ["2020-01-01", "01.02.2003", "2020-13-45", "12:00"], 0.8, (0, 1, 2)),
    "mixed types": lambda rng: _spoilt(rng, ["1", "x", "1.5", "True", "2020-01-01", ""], 0.6),
    "control characters": lambda rng: _spoilt(rng, [chr(i) for i in range(1, 32)] + ["\x7f", "\x9b", "\u202e"], 0.3),
    "long cells": lambda rng: _spoilt(rng, ["x" * rng.choice([1_999, 2_000, 2_001, 50_000])], 0.01),
    "wide": _wide,
    "ragged": _ragged,
    "open quotes": _open_quotes,
    "other marks and line ends": _other_marks,
    "names twice or missing": _same_names,
    "hostile names": _nasty_names,
    "hostile names in Parquet": _nasty_parquet_names,
    "too few": _few,
    "scores": _scores,
    "Parquet, bits flipped": lambda rng: _flip(rng, rng.choice([PARQUET, SMALL]), start=4),
    "Parquet, cut off": lambda rng: PARQUET[: rng.randrange(4, len(PARQUET))] + rng.choice([b"", PARQUET[-8:]]),
    "Parquet, lying footer": _lying_footer,
    "Parquet, odd types": _odd_type,
    "Parquet, many rows in few bytes": _repeated,
    "ZIP": _archive,
    "workbook, odd cells": _odd_workbook,
    "workbook, odd XML": _rezipped,
    "workbook, bits flipped": lambda rng: _flip(rng, WORKBOOK, start=4),
    "workbook, cut off": lambda rng: WORKBOOK[: rng.randrange(4, len(WORKBOOK))],
    "gzip or deflate": _compressed,
    "PNG": lambda rng: b"\x89PNG\r\n\x1a\n" + rng.randbytes(200),
}
# Files that take long to make or to read come up more seldom.
SELDOM = {"Parquet, many rows in few bytes": 0.02, "wide": 0.15, "Parquet, odd types": 0.6}


# ---- what happens to them ----


def readable(sentence):
    """Whether a person can be shown this."""
    assert 10 < len(sentence) < 400, sentence
    assert sentence.isprintable(), sentence
    for secret in ("Traceback", "object at 0x", str(ROOT), "site-packages", "commod.", "pyarrow", "pandas", "numpy"):
        assert secret not in sentence, sentence


def choice_of(frame, guesses, rng):
    """What the page proposes for a table, or nothing; now and then something that nobody would choose."""
    columns = roles.columns_of_roles(guesses)
    if len(columns) < 2:
        return None
    guess = roles.guess_target(columns, guesses)
    target = "hired" if "hired" in columns and rng.random() < 0.8 else rng.choice([guess, *columns])
    others = [column for column in columns if column != target]
    guess = roles.guess_sensitive(others, guesses)
    sensitive = "group" if "group" in others and rng.random() < 0.8 else rng.choice([guess, *others])
    cuts = [
        roles.guess_cut(frame[column]) if roles.is_cut(column, guesses) and rng.random() < 0.9 else None
        for column in (target, sensitive)
    ]
    values, groups = roles.values_of(frame[target], cuts[0]), roles.values_of(frame[sensitive], cuts[1])
    if not values or len(groups) < 2:
        return None
    kinds = {
        str(column): str(row["kind"]) if rng.random() < 0.95 else rng.choice(["number", "category", "leave out"])
        for column, row in guesses.iterrows()
    }
    possible = roles.possible_scores(frame, guesses, (target, sensitive))
    scores = rng.choice(["", *possible]) if "model_score" in frame.columns else ""
    ways = [{}, {}, *({"person": column} for column in roles.possible_people(frame, guesses))]
    ways += [{"time": column} for column in (*roles.possible_times(guesses), rng.choice(columns))]
    choice = Choice(
        target,
        roles.guess_favourable(values, target, list(frame.columns)),
        sensitive,
        (groups[0], groups[1]),
        kinds,
        scores,
        rng.choice(["fill", "drop"]),
        target_cut=cuts[0],
        sensitive_cut=cuts[1],
        scores_out_of=possible.get(scores, 1.0),
        **rng.choice(ways),
    )
    return choice if rng.random() < 0.5 else _in_more_groups(frame, choice, others, rng)


def _in_more_groups(frame, choice, columns, rng):
    """The same in all groups of one column or two, with what is proposed then; rows weighted by anything."""
    choice = replace(choice, groups=(), unknown=rng.choice(["train", "drop"]))
    if rng.random() < 0.5:
        second = rng.choice(columns)  # maybe the same
        choice = replace(choice, sensitive=(choice.sensitive, second))
    if rng.random() < 0.7:
        choice = replace(choice, merge=roles.guess_merge(frame, choice))
    if rng.random() < 0.7:
        choice = replace(choice, groups=roles.guess_groups(frame, choice))
    return replace(choice, weight=rng.choice(["", "", "", *map(str, frame.columns)]))


def push(content, rng, *, fit=False):
    """One file through everything; returns what became of it."""
    try:
        read = read_table(content)
    except TableError as error:
        readable(str(error))
        return "refused when read"
    for notice in read.notices:
        readable(notice)
    guesses = guess_columns(read.frame)
    choice = choice_of(read.frame, guesses, rng)
    if choice is None:
        return "read, nothing to choose"
    try:
        own = make_task(read.frame, choice)
    except ChoiceError as error:
        readable(str(error))
        return "read, choice refused"
    for sentence in (*own.done, *(find_leaks(own) if rng.random() < 0.25 else ())):
        readable(str(sentence))
    task = own.task
    assert not task.X.isna().any().any()
    assert np.isfinite(task.X.select_dtypes("number").to_numpy()).all()
    if not fit:
        return "a task"
    train, test = task.split(seed=0)
    f = task.spec.scores or task.base_model(LogisticRegression()).fit(train.X, train.y)
    rows = {"sensitive_features": train.sensitive_features, "sample_weight": train.weight}
    g = Commod(f, lambda_fair=2.0, n_concepts=1).fit(train.X, train.y, **rows)
    assert np.isfinite(g.predict_proba(test.X)).all()
    return "a task, trained on"


def most_memory():
    """The most memory that this process has ever had, in KiB."""
    if sys.platform == "win32":
        return psutil.Process().memory_info().peak_wset / 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform == "darwin" else most


def fuzz_uploads(cases, seed=0):
    """Push so many files; returns how many of each kind were tried and what became of them."""
    rng = random.Random(seed)
    kinds, weights = list(KINDS), [SELDOM.get(kind, 1.0) for kind in KINDS]
    count = Counter()
    before = most_memory()
    tasks = 0
    for number in range(cases):
        kind = kinds[number % len(kinds)] if number < len(kinds) else rng.choices(kinds, weights)[0]
        content = KINDS[kind](rng)
        started = time.thread_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", CollapseWarning)
                outcome = push(content, rng, fit=tasks % FITS == 0)
        except Exception as error:
            error.add_note(f"case {number} of seed {seed}: {kind}, beginning {content[:200]!r}")
            raise
        took = time.thread_time() - started
        assert took < MAX_SECONDS, f"case {number} of seed {seed} ({kind}) took {took:.0f} s"
        tasks += outcome.startswith("a task")
        count["tried", kind] += 1
        count["became", outcome] += 1
    grown = (most_memory() - before) / 1024
    assert grown < MAX_MEGABYTES, f"the memory grew by {grown:.0f} MB"
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    count = fuzz_uploads(options.cases, options.seed)
    frame = pd.Series(count).sort_index().rename_axis(["", "what"]).rename("files")
    print(frame.to_string())
    print(f"{options.cases:,} files in {time.monotonic() - started:.0f} s, and nothing but tables and sentences.")


if __name__ == "__main__":
    main()
