"""Parquet files: one that ends its reader is told to be damaged."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commod.uploads import parquet
from commod.uploads.limits import TableError
from tests.fuzzing import swollen_page

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


@pytest.mark.longer
def test_a_table_that_is_too_large_is_refused_whatever_its_footer_says():
    with pytest.raises(TableError, match="unpacks to more than 256 MB"):
        parquet.unpack_apart(swollen_page(300, hidden=True))
