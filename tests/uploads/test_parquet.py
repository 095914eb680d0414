"""Parquet files in a process of their own: what ends it does not end the server, and it has bounds."""

import io
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commod.uploads import parquet
from commod.uploads.limits import TableError
from commod.uploads.parquet_pages import unpacked_size


def written(**columns):
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


PEOPLE = written(age=[30, 41], city=["North", "South"], hired=["yes", "no"])


def deadly():
    """One bit of the description of the first column: it is neither required nor optional, and pyarrow aborts."""
    start = len(PEOPLE) - 8 - int.from_bytes(PEOPLE[-8:-4], "little")
    optional = b"%\x02\x18\x03age"
    place = PEOPLE.index(optional, start) + 1
    return PEOPLE[:place] + b"\x0a" + PEOPLE[place + 1 :]


def test_a_file_that_ends_its_reader_is_told_to_be_damaged():
    with pytest.raises(TableError, match="damaged or cut off"):
        parquet.unpack_apart(deadly())


def test_the_table_comes_back_as_it_was():
    table = parquet.unpack_apart(PEOPLE)
    assert table.to_pydict() == {"age": [30, 41], "city": ["North", "South"], "hired": ["yes", "no"]}


def child(monkeypatch, source):
    """Have something else run in the place of the reader."""
    started = []
    run = parquet.subprocess.run

    def other(command, **options):
        started.append(options)
        return run([sys.executable, "-c", source], **options)

    monkeypatch.setattr(parquet.subprocess, "run", other)
    return started


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.abort()",
        "import sys; sys.exit(3)",
        "print('X')",
        "print('Tno table')",
        "",
    ],
)
def test_a_reader_that_fails_in_any_way_is_a_damaged_file(monkeypatch, source):
    child(monkeypatch, source)
    with pytest.raises(TableError, match="damaged or cut off"):
        parquet.unpack_apart(PEOPLE)


def test_a_reader_that_takes_too_long_is_ended(monkeypatch):
    child(monkeypatch, "import time; time.sleep(60)")
    monkeypatch.setattr(parquet, "MAX_WAIT", 0.2)
    with pytest.raises(TableError, match="takes too long to unpack"):
        parquet.unpack_apart(PEOPLE)


def test_the_reader_knows_nothing_of_the_server(monkeypatch):
    monkeypatch.setenv("COMMOD_SECRET", "hush")
    started = child(monkeypatch, "print('X')")
    with pytest.raises(TableError):
        parquet.unpack_apart(PEOPLE)
    assert "hush" not in started[0]["env"].values()
    assert len(started[0]["env"]) < len(os.environ)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bounds")
@pytest.mark.parametrize(
    ("greed", "bound"), [("bytearray(8 * 2**30)", "MAX_MEMORY"), ("while True: pass", "MAX_SECONDS")]
)
def test_the_reader_has_bounds(monkeypatch, greed, bound):
    small = {"MAX_MEMORY": 2**30, "MAX_SECONDS": 1}[bound]
    source = f"from commod.uploads import parquet\nparquet.{bound} = {small}\nparquet._bound()\n{greed}\nprint('done')"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, timeout=60, check=False)
    assert done.returncode != 0
    assert b"done" not in done.stdout


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_pages_are_as_large_as_an_honest_footer_says(compression, version):
    target = io.BytesIO()
    table = pa.table({"n": np.arange(30_000), "t": [f"t{i % 50}" for i in range(30_000)], "x": np.zeros(30_000)})
    pq.write_table(table, target, compression=compression, data_page_version=version, row_group_size=20_000)
    meta = pq.ParquetFile(target).metadata
    claimed = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
    assert 0.95 * claimed <= unpacked_size(target.getvalue(), meta, 10**9) <= claimed
