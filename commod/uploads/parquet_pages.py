"""What a Parquet file unpacks to, read from the headers of its pages: its footer can claim anything."""

from __future__ import annotations

from typing import Any

__all__ = ["MAX_PAGES", "unpacked_size"]

# A page holds some thousand values; a file of many more pages than this was made to be slow.
MAX_PAGES = 50_000
# Structs in a page's header are two deep.
_DEEPEST = 8
_UNPACKED, _PACKED = 2, 3  # fields of PageHeader
_TRUE, _FALSE, _BYTE, _WHOLE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, 9, 10, 12


def unpacked_size(content: bytes, metadata: Any, most: int) -> int:
    """Bytes of all pages once they are unpacked; the count ends soon after `most`.

    Parameters
    ----------
    content : bytes
        The file.
    metadata : pyarrow.parquet.FileMetaData
        Says where the columns lie; how large they are is not taken from it.
    most : int

    Raises
    ------
    ValueError, IndexError
        If pages are not where they should be, or there are more than `MAX_PAGES`.
    """
    total = pages = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for column in range(metadata.num_columns):
            chunk = row_group.column(column)
            starts = (chunk.data_page_offset, chunk.dictionary_page_offset or 0)
            place = min((start for start in starts if start), default=0)
            end = place + chunk.total_compressed_size
            if not 0 <= place <= end <= len(content):
                raise ValueError("a column lies outside of the file")
            while place < end:
                unpacked, packed, place = _header(content, place)
                if unpacked < 0 or packed < 0 or pages == MAX_PAGES:
                    raise ValueError("a page of no size, or too many pages")
                place += packed
                total += unpacked
                pages += 1
                if total > most:
                    return total
    return total


def _header(content: bytes, place: int) -> tuple[int, int, int]:
    """Unpacked and packed size of the page whose header begins at `place`, and where the header ends."""
    sizes = {_UNPACKED: -1, _PACKED: -1}
    field = 0
    while kind := content[place] & 0x0F:
        step = content[place] >> 4
        place += 1
        if step:
            field += step
        else:
            number, place = _varint(content, place)
            field = _signed(number)
        if field in sizes and kind in _WHOLE:
            number, place = _varint(content, place)
            sizes[field] = _signed(number)
        else:
            place = _skip(content, place, kind, 0)
    return sizes[_UNPACKED], sizes[_PACKED], place + 1


def _skip(content: bytes, place: int, kind: int, depth: int) -> int:
    """Where a value of Thrift's compact protocol ends."""
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if kind in (_TRUE, _FALSE):
        return place
    if kind == _BYTE:
        return place + 1
    if kind in _WHOLE:
        return _varint(content, place)[1]
    if kind == _DOUBLE:
        return place + 8
    if kind == _BINARY:
        length, place = _varint(content, place)
        return place + length
    if kind in (_LIST, _SET):
        head, place = content[place], place + 1
        count = head >> 4
        if count == 15:
            count, place = _varint(content, place)
        for _ in range(count):
            inner = head & 0x0F
            place = place + 1 if inner in (_TRUE, _FALSE) else _skip(content, place, inner, depth + 1)
            if place > len(content):
                break
        return place
    if kind == _STRUCT:
        while inner := content[place] & 0x0F:
            place = place + 1 if content[place] >> 4 else _varint(content, place + 1)[1]
            place = _skip(content, place, inner, depth + 1)
        return place + 1
    raise ValueError("no such type")


def _varint(content: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place
        if shift > 63:
            raise ValueError("no number")


def _signed(number: int) -> int:
    return (number >> 1) ^ -(number & 1)
