"""Parquet files: one that ends its reader is told to be damaged, and pages are as large as they are."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commod.uploads import parquet
from commod.uploads.limits import TableError
from commod.uploads.parquet_pages import unpacked_size

pytestmark = pytest.mark.quick


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


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_pages_are_as_large_as_an_honest_footer_says(compression, version):
    target = io.BytesIO()
    table = pa.table({"n": np.arange(30_000), "t": [f"t{i % 50}" for i in range(30_000)], "x": np.zeros(30_000)})
    pq.write_table(table, target, compression=compression, data_page_version=version, row_group_size=20_000)
    meta = pq.ParquetFile(target).metadata
    claimed = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
    assert 0.95 * claimed <= unpacked_size(target.getvalue(), meta, 10**9) <= claimed
