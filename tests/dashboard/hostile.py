"""What a stranger wrote, looked for in all that a page sends to the browser."""

import json
import re

from google.protobuf.message import Message

from commod.dashboard.streamlit_internals import ON_EVERY_PAGE, TO_HINT, TO_TOP

MARKUP = "<img src=x onerror=alert(1)>"
PICTURE = "![p](//evil.example/p.png)"
_OURS = re.compile("|".join(re.escape(f"<script>{each}</script>") for each in (ON_EVERY_PAGE, TO_HINT, TO_TOP)))
# Texts that are not read as Markdown: choices of lists, code, what belongs to the browser, and what scripts of ours are
# handed, which write no markup (`test_scripts_of_ours_write_no_markup`).
PLAIN = {"options", "default", "raw_values", "raw_value", "code_text", "id", "url", "spec", "set_value", "file_name"}
PLAIN |= {"json"}


def elements(app):
    """Kind and message of everything on the page."""
    waiting = [app._tree]
    while waiting:
        node = waiting.pop()
        waiting += getattr(node, "children", {}).values()
        proto = getattr(node, "proto", None)
        if isinstance(proto, Message):
            yield getattr(node, "type", ""), proto


def texts(app):
    """Kind, field and text of every text on the page."""
    for kind, proto in elements(app):
        for field, value in proto.ListFields():
            for text in value if isinstance(value, (list, tuple)) or hasattr(value, "extend") else [value]:
                if kind == "dataframe" and field.name == "columns":  # their labels are drawn, their help is Markdown
                    for column in json.loads(text or "{}").values():
                        yield kind, "help", column.get("help") or ""
                elif isinstance(text, str):
                    yield kind, field.name, text


def expressions(spec):
    """Texts that Vega evaluates."""
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key in ("expr", "test", "calculate", "labelExpr", "filter") and isinstance(value, str):
                yield value
            yield from expressions(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from expressions(value)


def let_through(app):
    """What was not escaped: markup in HTML of ours, a picture in Markdown, a stranger's text that Vega evaluates."""
    found = []
    for kind, proto in elements(app):
        is_html = kind == "html" or (kind == "markdown" and proto.allow_html)
        if is_html and re.search(r"<(script|img src=x|svg on|iframe)", _OURS.sub("", proto.body)):
            found.append((kind, proto.body[-300:]))
        if "vega" in kind and proto.spec:
            found += [(kind, text) for text in expressions(json.loads(proto.spec)) if "evil" in text or "<img" in text]
    for kind, field, text in texts(app):
        if kind not in ("html", "code") and field not in PLAIN and re.search(r"(?<!\\)\[p(?<!\\)\]\(", text):
            found.append((kind, field, text[:200]))
    return found
