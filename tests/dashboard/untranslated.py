"""Text of a page that nobody has translated: what reads the same in both languages, or has English words in it."""

import html
import json
import re

import pyarrow as pa
from google.protobuf.message import Message

# Fields of Streamlit's messages, and of JSON inside them, that nobody reads.
UNREAD = set(
    "id key element_id form_id icon page_script_hash url user_key language page code_text component_name format mark "
    "type selection_mode $schema config field query route sliders marks layout symbols axes kind line filter calculate "
    "as labelExpr range orient transform name groupby shape color params js_content css_content html_content "
    "url_pathname autosize theme test aggregate op labelAlign query_string raw_value default_value".split()
)
# Pictures, icons, addresses and code are no words.
_NO_WORDS = re.compile(r"!\[\]\([^)]*\)|:material/\w+:|:(?:gray|green|orange|red)\[|\?data=\S+|https?://\S+|`[^`]*`")
_TAG = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*?\s(?:aria-label|title|alt)=\"([^\"]*)\"[^>]*>|<[^>]+>", re.S)
_WORD = re.compile(r"[^\W\d_]{2,}")
# Words that no French sentence has.
_ENGLISH = set(
    "the of and is was were with for by from not this that these those which who whose whom what when where how it its "
    "they their them there than then more most less few fewer each every any some if to be been has have had does did "
    "can could will would should may might must so such into over under above below between only also other others "
    "another same first last next here now still yet because while about changed people share group setting".split()
)


def shown(page):
    """All strings of a page that have words in them."""
    found = (_NO_WORDS.sub(" ", text) for block in (page.main, page.sidebar) for text in _of_block(block))
    return {" ".join(text.split()) for text in found if _WORD.search(text)}


def _of_block(block):
    if isinstance(proto := getattr(block, "proto", None), Message):
        yield from _of_message(proto)
    for child in getattr(block, "children", {}).values():
        yield from _of_block(child)


def _of_message(message):
    for field, value in message.ListFields():
        if field.name in UNREAD:
            continue
        many = hasattr(value, "__iter__") and not isinstance(value, str | bytes | Message)
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
            yield from map(str, column.unique().to_pylist())


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
    yield from map(html.unescape, parts)


def _of_json(value):
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in UNREAD and not (name == "settings" and isinstance(part, dict)):  # by their names in links
                yield from _of_json(part)
    elif isinstance(value, list):
        for part in value:
            yield from _of_json(part)
    elif isinstance(value, str):
        yield value


def untranslated(french, english, names):
    """Strings of a French page that the English one has, too, or that have English words in them.

    `names`: pattern of what is called the same in both languages, or quoted as it was recorded.
    """
    found = []
    for text in french:
        words = {word.casefold() for word in _WORD.findall(re.sub(names, " ", text))}
        if words and (text in english or _ENGLISH & words):
            found.append(text)
    return sorted(found)
