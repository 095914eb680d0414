"""Parquet files, checked and unpacked in a separate process."""

import io

import pyarrow as pa
import pyarrow.parquet as pq

from commod.uploads.apart import MAX_UNPACKED, answer, read_apart
from commod.uploads.limits import TableError, check_size, short

# Bytes of a file's footer, and its row groups.
MAX_FOOTER = 2 * 1024**2
MAX_GROUPS = 2_000


def damaged() -> TableError:
    """The error of a file that cannot be read."""
    return TableError("The Parquet file is damaged or cut off: save it again.")


def _in_parts() -> TableError:
    return TableError("The Parquet file is cut into too many parts: save it again, with large row groups.")


def _too_large() -> TableError:
    return TableError(f"The file unpacks to more than {MAX_UNPACKED // 2**20} MB. Write fewer rows or shorter texts.")


def unpack_apart(content: bytes) -> pa.Table:
    """The table in a Parquet file, read in a separate process; TableError says what is wrong."""
    footer = int.from_bytes(content[-8:-4], "little")
    if footer > len(content) or content[-4:] != b"PAR1":
        raise damaged()
    if footer > MAX_FOOTER:
        raise _in_parts()
    return read_apart(__name__, content, damaged())


def _unpack(content: bytes) -> pa.Table:
    try:
        file = pq.ParquetFile(io.BytesIO(content), thrift_container_size_limit=10_000)
        meta, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise damaged() from None
    check_size(meta.num_rows, len(schema.names))
    if meta.num_row_groups > MAX_GROUPS:
        raise _in_parts()
    for entry in schema:
        if not _is_plain(entry.type):
            raise TableError(f"Column “{short(entry.name)}” holds {short(entry.type)}, not single values: drop it.")
    # A footer can lie. The limits of this process catch that, and the table is measured below.
    if sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups)) > MAX_UNPACKED:
        raise _too_large()
    texts = [entry.name for entry in schema if pa.types.is_string(entry.type) or pa.types.is_large_string(entry.type)]
    try:
        # As dictionaries, repeated texts are stored once.
        table = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts).read(use_threads=False)
        for place, entry in enumerate(table.schema):
            if pa.types.is_decimal(entry.type) or pa.types.is_float16(entry.type):
                table = table.set_column(place, entry.name, table.column(place).cast(pa.float64()))
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError):
        raise damaged() from None
    if table.nbytes > MAX_UNPACKED:
        raise _too_large()
    return table


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    known = "integer floating boolean string large_string decimal date timestamp".split()
    return any(getattr(pa.types, f"is_{name}")(kind) for name in known)


if __name__ == "__main__":
    answer(_unpack)
