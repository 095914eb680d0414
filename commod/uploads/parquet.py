"""Parquet files, unpacked in a process of its own: a damaged one can end the process that reads it.

pyarrow throws some faults in its own threads, where no ``except`` hears of them (``terminate called after throwing an
instance of 'parquet::ParquetException'``), so one bad file would take the server down with everybody on it. The process
has bounds on its memory and its time that a server cannot have, and leaves nothing behind. It is this module, run as
``python -m commod.uploads.parquet`` with the file on its standard input.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Semaphore

import pyarrow as pa
import pyarrow.parquet as pq

from commod.uploads.limits import TableError, check_names, check_size, short
from commod.uploads.parquet_pages import unpacked_size

__all__ = ["damaged", "unpack_apart"]

# What a file may hold once it is unpacked, the description at its end, and the parts it may be cut into.
MAX_UNPACKED = 256 * 1024**2
MAX_FOOTER = 2 * 1024**2
MAX_GROUPS = 2_000
# What the process may take: memory, seconds of a core, and seconds on the clock of a machine that has much to do.
MAX_MEMORY = 4 * 1024**3
MAX_SECONDS = 30
MAX_WAIT = 120
# So many are unpacked at a time; each takes some hundred megabytes.
_ABREAST = Semaphore(2)
_TABLE, _SENTENCE = b"T", b"S"
# Of the server's environment, what a process needs to start; secrets are not.
_NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ", "TZDIR")


def damaged() -> TableError:
    """What is said of a file that cannot be read."""
    return TableError("The Parquet file is damaged or cut off: write it anew.")


def _in_parts() -> TableError:
    return TableError("The Parquet file is cut into too many parts: write it anew, with large row groups.")


def unpack_apart(content: bytes) -> pa.Table:
    """The table in a Parquet file, checked before it is unpacked, in a process of its own.

    Raises
    ------
    TableError
        With one sentence for each way in which a file can be wrong; also where it ended the process.
    """
    footer = int.from_bytes(content[-8:-4], "little")
    if footer > len(content) or content[-4:] != b"PAR1":
        raise damaged()
    if footer > MAX_FOOTER:
        raise _in_parts()
    environment = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    with _ABREAST:
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__],
                input=content,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONSAFEPATH": "1"},
                timeout=MAX_WAIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TableError(
                "The Parquet file takes too long to unpack: write it anew, or save it as CSV in UTF-8."
            ) from None
    kind, answer = done.stdout[:1], memoryview(done.stdout)[1:]
    if done.returncode or kind not in (_TABLE, _SENTENCE):
        logging.getLogger(__name__).warning("The process that unpacks a Parquet file ended with %d.", done.returncode)
        raise damaged()
    if kind == _SENTENCE:
        raise TableError(str(answer, "utf-8"))
    try:
        return pa.ipc.open_stream(answer).read_all()
    except pa.ArrowException:
        raise damaged() from None


def _unpack(content: bytes) -> pa.Table:
    try:
        file = pq.ParquetFile(io.BytesIO(content), thrift_container_size_limit=10_000)
        meta, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise damaged() from None
    check_size(meta.num_rows, len(schema.names))
    if meta.num_row_groups > MAX_GROUPS:
        raise _in_parts()
    check_names(list(schema.names))
    for entry in schema:
        if not _is_plain(entry.type):
            raise TableError(
                f"Column “{short(entry.name)}” holds {short(entry.type)} and not one value a cell: leave it out or "
                "spread it over several columns."
            )
    try:
        unpacked = unpacked_size(content, meta, MAX_UNPACKED)
    except (ValueError, IndexError, pa.ArrowException, OSError):
        raise damaged() from None
    if unpacked > MAX_UNPACKED:
        raise TableError(
            f"The file unpacks to more than {MAX_UNPACKED // 2**20} MB: that is refused. Write fewer rows or shorter "
            "texts."
        )
    texts = [entry.name for entry in schema if pa.types.is_string(entry.type) or pa.types.is_large_string(entry.type)]
    try:
        # Texts stay as a dictionary: a text repeated in every row is held once, however long it is.
        table = pq.read_table(io.BytesIO(content), read_dictionary=texts, use_threads=False)
        for place, entry in enumerate(table.schema):
            if pa.types.is_decimal(entry.type) or pa.types.is_float16(entry.type):
                table = table.set_column(place, entry.name, table.column(place).cast(pa.float64()))
        table.validate(full=True)  # the server is to trust what it gets
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError):
        raise damaged() from None
    return table


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_decimal,
        pa.types.is_date,
        pa.types.is_timestamp,
    )
    return any(test(kind) for test in tests)


def _bound() -> None:
    """Limits on this process, where the system has them; no image of its memory is left when it is ended."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: MAX_SECONDS,
        resource.RLIMIT_AS: MAX_MEMORY,
    }
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # macOS knows the last one by name only
            resource.setrlimit(kind, (most, most))


def _main() -> None:
    _bound()
    answer = sys.stdout.buffer
    try:
        table = _unpack(sys.stdin.buffer.read())
    except TableError as error:
        answer.write(_SENTENCE + str(error).encode("utf-8", "replace"))
        return
    answer.write(_TABLE)
    with pa.ipc.new_stream(answer, table.schema) as stream:
        stream.write_table(table)


if __name__ == "__main__":
    _main()
    # The answer is given: what pyarrow's threads do at the end of the interpreter shall not call it in question.
    sys.stdout.flush()
    os._exit(0)
