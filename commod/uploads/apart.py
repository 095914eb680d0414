"""Run a reader in a separate process, because some files crash the process that reads them.

pyarrow throws some errors in its own threads, where no ``except`` catches them, and two cells of a workbook that are
far apart make its reader ask for too much memory. One bad file would take down the server. The process has limits on
memory and time that a server cannot have. It is a module of this package, run as ``python -m commod.uploads.parquet``
with the file on its standard input, and ends in `answer`.
"""

import logging
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Semaphore

import pyarrow as pa

from commod.uploads.limits import TableError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

# What a file may hold once it is unpacked.
MAX_UNPACKED = 256 * 1024**2
# Limits of the process: memory, CPU seconds, and seconds on the clock of a busy machine.
MAX_MEMORY = 4 * 1024**3
MAX_SECONDS = 30
MAX_WAIT = 120
# How many run at a time; each takes a few hundred megabytes.
_ABREAST = Semaphore(2)
_TABLE, _SENTENCE = b"T", b"S"
# The part of the server's environment that the process gets: no secrets.
_NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ", "TZDIR")


def read_apart(module: str, content: bytes, damaged: TableError) -> pa.Table:
    """Have a module read a file in a separate process; raises `damaged` if that process fails."""
    environment = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    with _ABREAST:
        try:
            done = subprocess.run(
                [sys.executable, "-m", module],
                input=content,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONSAFEPATH": "1"},
                timeout=MAX_WAIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TableError("The file takes too long to unpack: save it again, or as CSV in UTF-8.") from None
    kind, said = done.stdout[:1], memoryview(done.stdout)[1:]
    if done.returncode or kind not in (_TABLE, _SENTENCE):
        logging.getLogger(__name__).warning("The process that reads a file ended with %d.", done.returncode)
        raise damaged
    if kind == _SENTENCE:
        raise TableError(str(said, "utf-8"))
    try:
        return pa.ipc.open_stream(said).read_all()
    except pa.ArrowException:
        raise damaged from None


def answer(read: Callable[[bytes], pa.Table]) -> None:
    """In the process: read standard input, write a table or an error sentence, and exit."""
    bound_memory(MAX_MEMORY)
    bound_time(MAX_SECONDS)
    out = sys.stdout.buffer
    try:
        table = read(sys.stdin.buffer.read())
    except TableError as error:
        out.write(_SENTENCE + str(error).encode("utf-8", "replace"))
    else:
        out.write(_TABLE)
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    sys.stdout.flush()
    # pyarrow's threads may still crash while the interpreter shuts down: exit at once.
    os._exit(0)


def bound_memory(most: int) -> None:
    """Limit the address space of this process in bytes, where the system can; no core dump is written."""
    if resource is not None:
        for kind, bound in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, most)):
            with suppress(ValueError, OSError):  # macOS knows the last one by name only
                resource.setrlimit(kind, (bound, bound))


def bound_time(seconds: float) -> None:
    """Limit the CPU seconds of this process from now on, where the system can: SIGXCPU ends it."""
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))
