"""Excel workbooks (.xlsx): the first sheet, read in a separate process; formulas keep their last values."""

import datetime as dt
import io
import zipfile
import zlib
from typing import Any

import pyarrow as pa
from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum

from commod.uploads.apart import MAX_UNPACKED, answer, read_apart
from commod.uploads.limits import TITLES, TableError, check_size, short

# A workbook has a few dozen parts.
MAX_PARTS = 5_000
_NOTICES = b"notices"


def _damaged() -> TableError:
    return TableError("The workbook is damaged or too large, or its cells lie too far apart: save it as CSV in UTF-8.")


def unpack_workbook_apart(content: bytes) -> tuple[pa.Table, list[str]]:
    """The first sheet of a workbook, read in a separate process, and notices; TableError says what is wrong."""
    table = read_apart(__name__, content, _damaged())
    return table, table.schema.metadata[_NOTICES].decode().splitlines()


def _unpack(content: bytes) -> pa.Table:
    _check_archive(content)
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [sheet.name for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        sheet = workbook.get_sheet_by_name(sheets[0]) if sheets else None
    except (CalamineError, OSError, ValueError):
        raise _damaged() from None
    if sheet is None:
        raise TableError("The workbook has no sheet with cells: save the table as CSV in UTF-8.")
    if sheet.height < 1:
        raise TableError(f"The first sheet, “{short(sheets[0])}”, is empty: put the table on the first sheet.")
    check_size(sheet.height - 1, sheet.width)
    notices = []
    if len(sheets) > 1:
        notices.append(f"Of the workbook's {len(sheets)} sheets the first one, “{short(sheets[0])}”, was read.")
    # Empty rows and columns around the table are left out by the reader, those among its rows here.
    rows = [row for row in sheet.iter_rows() if any(cell != "" for cell in row)]
    above = next((place for place, row in enumerate(rows) if sum(cell != "" for cell in row) > 1), 0)
    if above:  # a title
        notices.append(TITLES.format(above))
    columns = list(zip(*rows[above:], strict=True))
    names = [_text(cells[0]).strip() for cells in columns]
    table = pa.table([_column(cells[1:]) for cells in columns], names=names)
    return table.replace_schema_metadata({_NOTICES: "\n".join(notices)})


def _check_archive(content: bytes) -> None:
    """Refuse a file that is not a workbook or unpacks to too much; sizes are measured, not trusted."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            names = {part.filename for part in parts}
            if "xl/workbook.xml" not in names:
                what = "a binary Excel workbook (.xlsb)" if "xl/workbook.bin" in names else "a ZIP archive"
                raise TableError(f"The file is {what}: upload the table as CSV in UTF-8, .xlsx or Parquet.")
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
                most = MAX_UNPACKED // 2**20
                raise TableError(f"The workbook unpacks to more than {most} MB. Save the table as CSV in UTF-8.")
            if archive.testzip() is not None:  # a part larger than it claims fails its checksum
                raise _damaged()
    except TableError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, RuntimeError):
        raise _damaged() from None


def _column(cells: tuple[Any, ...]) -> pa.Array:
    """An array of numbers or booleans if all cells are; otherwise texts."""
    present = {type(cell) for cell in cells if cell != ""}
    if present == {bool}:
        return pa.array([None if cell == "" else cell for cell in cells], pa.bool_())
    if present and present <= {float, int}:
        numbers = pa.array([None if cell == "" else float(cell) for cell in cells], pa.float64())
        whole = all(cell == "" or (cell == int(cell) and abs(cell) < 2**53) for cell in cells)
        return numbers.cast(pa.int64()) if whole else numbers
    return pa.array([None if cell == "" else _text(cell) for cell in cells], pa.string()).dictionary_encode()


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ") if cell.time() != dt.time() else cell.date().isoformat()
    return str(cell)


if __name__ == "__main__":
    answer(_unpack)
