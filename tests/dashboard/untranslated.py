"""Text of a page that nobody has translated: what reads the same in both languages, or has English words in it."""

import html
import json
import re

import pyarrow as pa
from google.protobuf.message import Message

# Fields of Streamlit's messages, and of JSON inside them, that nobody reads.
UNREAD = {
    *("id", "key", "element_id", "form_id", "icon", "page_script_hash", "url", "user_key", "language", "page", "js"),
    *("component_name", "format", "mark", "type", "selection_mode", "$schema", "config", "field", "query", "route"),
    *("sliders", "marks", "layout", "symbols", "axes", "kind", "condition", "filter", "calculate", "as", "sort"),
    *(
        "labelExpr",
        "range",
        "orient",
        "transform",
        "name",
        "groupby",
        "shape",
        "color",
        "params",
        "detail",
        "labelLimit",
    ),
    *("js_content", "css_content", "html_content", "url_pathname", "default", "options_type", "value_type", "aggregate", "op", "labelAlign", "query_params", "delta_type", "selection_mode"),
}
_TAG = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*?\s(?:aria-label|title|alt)=\"([^\"]*)\"[^>]*>|<[^>]+>", re.S)
_WORD = re.compile(r"[^\W\d_]{2,}")
# Words that no French sentence has.
_ENGLISH = set(
    "the of and is was were with for by from not this that these those which who whose whom what when where how it its "
    "they their them there than then more most less few fewer each every any some if or to at be been has have had does "
    "do did can could will would should may might must so such into over under above below between only also other "
    "others another same first last next here now still yet because while about changed people share".split()
) - {"or", "me", "at"}


def shown(page):
    """All strings of a page."""
    return {text for block in (page.main, page.sidebar) for text in _of_block(block) if _WORD.search(text)}


def _of_block(block):
    if getattr(block, "proto", None) is not None:
        yield from _of_message(block.proto)
    for child in getattr(block, "children", {}).values():
        yield from _of_block(child)


def _of_message(message):
    for field, value in message.ListFields():
        if field.name in UNREAD:
            continue
        many = hasattr(value, "__iter__") and not isinstance(value, (str, bytes, Message))
        for one in value if many else [value]:
            if isinstance(one, Message):
                yield from _of_message(one)
            elif isinstance(one, str):
                yield from _of_text(one)
            elif isinstance(one, bytes) and one:
                yield from _of_rows(one)


def _of_rows(data):
    """Text in the rows of a chart."""
    table = pa.ipc.open_stream(data).read_all()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type) and name not in UNREAD:
            yield from (str(value) for value in column.unique().to_pylist())


def _of_text(text):
    if text[:1] in "{[" and text[-1:] in "}]":
        try:
            yield from _of_json(json.loads(text))
            return
        except ValueError:
            pass
    if re.search(r"<\w+[ >]", text):
        parts = _TAG.sub(lambda tag: f"\0{tag[2] or ''}\0", text).split("\0")
    else:
        parts = text.split("\n\n")
    yield from (" ".join(html.unescape(part).split()) for part in parts)


def _of_json(value):
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in UNREAD:
                yield from _of_json(part)
    elif isinstance(value, list):
        for part in value:
            yield from _of_json(part)
    elif isinstance(value, str):
        yield value


def untranslated(french, english, names=()):
    """Strings of a French page that are on the English one, too, or that have English words in them.

    `names`: patterns of what is called the same in both languages, or quoted as it is.
    """
    found = []
    for text in french:
        left = text
        for name in names:
            left = re.sub(name, " ", left)
        words = [word.casefold() for word in _WORD.findall(left)]
        if words and (text in english or _ENGLISH & set(words)):
            found.append(text)
    return sorted(found)
