"""The process in which files are read: what ends it does not end the server, and it has bounds."""

import os
import subprocess
import sys

import pytest

from commod.uploads import apart
from commod.uploads.limits import TableError
from commod.uploads.workbook import unpack_workbook_apart
from tests.uploads.test_reading import workbook
from tests.waiting import PATIENCE


def read():
    return apart.read_apart("commod.uploads.parquet", b"a file", TableError("damaged or cut off"))


def child(monkeypatch, source):
    """Have something else run in the place of the reader."""
    started = []
    run = apart.subprocess.run

    def other(command, **options):
        started.append(options)
        return run([sys.executable, "-c", source], **options)

    monkeypatch.setattr(apart.subprocess, "run", other)
    return started


def test_a_table_comes_back_with_what_is_said_of_it():
    table, notices = unpack_workbook_apart(workbook([["age", "city"], [30, "North"], [41, "South"]], sheets=2))
    assert table.to_pydict() == {"age": [30, 41], "city": ["North", "South"]}
    assert "2 sheets" in notices[0]


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
        read()


def test_a_reader_that_takes_too_long_is_ended(monkeypatch):
    child(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(apart, "MAX_WAIT", 0.2)
    with pytest.raises(TableError, match="takes too long to unpack"):
        read()


def test_the_reader_knows_nothing_of_the_server(monkeypatch):
    monkeypatch.setenv("COMMOD_SECRET", "hush")
    started = child(monkeypatch, "print('X')")
    with pytest.raises(TableError):
        read()
    assert "hush" not in started[0]["env"].values()
    assert len(started[0]["env"]) < len(os.environ)


@pytest.mark.linux
@pytest.mark.parametrize(
    ("bound", "greed", "end"),
    [
        ("bound_memory(2**31)", "bytearray(8 * 2**30)", b"MemoryError"),
        ("bound_time(1)", "while True: pass", -24),  # SIGXCPU
    ],
)
def test_the_reader_has_bounds(bound, greed, end):
    source = f"from commod.uploads import apart\napart.{bound}\nprint('bounded', flush=True)\n{greed}\nprint('done')"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, timeout=PATIENCE, check=False)
    assert done.stdout == b"bounded\n"
    assert end in done.stderr if isinstance(end, bytes) else done.returncode == end
