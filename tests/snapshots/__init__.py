"""What each page says, in plain text files, and the figures of the models that it opens with, in a JSON file.

``python -m tests.snapshots`` writes them again; ``git diff tests/snapshots`` then shows what changed. They are compared
by tests/dashboard/pages/test_snapshots.py.
"""

import difflib
import html
import json
import re
from datetime import date
from itertools import zip_longest
from pathlib import Path

from commod.dashboard.text.language import FIRST, LANGUAGES
from commod.dashboard.text.menu import PAGES, TRANSLATED
from commod.datasets import TASKS

FOLDER = Path(__file__).parent
NUMBERS = FOLDER / "numbers.json"
# Pages that say the same whatever the data set.
WITHOUT_DATA = ("lesson", "room", "glossary", "paper", "your_data", "data")
# How a page is opened: with few methods, or so that it has something to say.
OPENED = {
    "compare": {"methods": "commod,oracle_roc"},
    "decide": {"methods": "commod,oracle_roc", "req": "p_rule:0.8;changed:0.1;worse_off:0"},
    "limits": {"methods": "commod"},
}
MOST_OPTIONS = 8  # of a widget that are spelled out
# What comes when it comes.
LATER = re.compile(r",? \\\[[^]]*\] with other training rows|\n +refits \[.*?\]| There are no refits of it yet[^.]*\.")

# Small pictures of ideas, which no diff can show.
PICTURE = re.compile(r"!\[\]\(data:[^)]*\)\s*")


def cases():
    """(page, data set, language) of every file."""
    for script in PAGES:
        name = "explore" if script == "app.py" else Path(script).stem
        for data in list(TASKS)[: 1 if name in WITHOUT_DATA else None]:
            for language in LANGUAGES if script in TRANSLATED else [FIRST]:
                yield name, data, language


def script_of(name):
    return "app.py" if name == "explore" else f"pages/{name}.py"


def query_of(name, data, language):
    return {"data": data, **OPENED.get(name, {}), **({} if language == FIRST else {"lang": language})}


def file_of(name, data, language):
    return FOLDER / name / f"{data}.{language}.txt"


def difference(file, found):
    """What is said now against what the file says, as a diff; empty if they agree."""
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), file.name, "this page", lineterm="", n=1)
    return "\n".join(lines)


def text_of(app):
    """What a page says, an element a line, from top to bottom; the sidebar last."""
    address = "&".join(f"{key}={_joined(value)}" for key, value in sorted(app.query_params.items()))
    text = "\n".join([f"address: ?{address}", *_lines(app.main), "", "sidebar", *_lines(app.sidebar)]) + "\n"
    return PICTURE.sub("", LATER.sub("", text))


def _joined(value):
    return ",".join(value) if isinstance(value, list) else value


def _lines(block):
    for child in block.children.values():
        if hasattr(child, "children"):
            if title := getattr(child, "label", "") or "":
                yield f"{child.type}: {title}"
            yield from _lines(child)
        else:
            kind = {"bidi_component": "picture"}.get(child.type, "chart" if "vega_lite" in child.type else child.type)
            said = [line.strip() for line in _said(child).splitlines() if line.strip()]
            yield from (f"{kind}: {line}" if i == 0 else f"  {line}" for i, line in enumerate(said))


def _said(element):
    title, value = getattr(element, "label", None) or "", getattr(element, "value", None)
    if element.type in ("html", "markdown"):
        return _without_tags(element.proto.body)
    if isinstance(value, date):  # which is so many days from today, whenever that is
        return f"{title} = in {(value - date.today()).days} days"
    if element.type == "metric":
        return f"{title} = {value}" + (f" ({element.delta})" if element.delta else "")
    if "vega_lite" in element.type:
        return element.proto.alt
    if element.type == "bidi_component" and element.proto.component_name == "commod_picture":
        drawn = json.loads(element.proto.json)
        words = drawn["here"]["text"]
        figures = zip_longest(drawn["names"], words["figures"], words["before"], fillvalue="")
        return "\n".join([words["verdict"], *(" ".join(figure).strip() for figure in figures), *words["groups"]])
    if options := getattr(element, "options", None):
        chosen = ", ".join(str(one) for one in (value if isinstance(value, list) else [value]))
        offered = [*options] if len(options) <= MOST_OPTIONS else [*options[:2], f"({len(options)} in all)"]
        return f"{title} = {chosen} [{' | '.join(offered)}]"
    if title:
        return title if value is None or value is False or value == title else f"{title} = {value}"
    return value if isinstance(value, str) else ""


def _without_tags(body):
    """Text of HTML: a line a block or row, a bar between cells. Styles, scripts and tooltips say nothing here."""
    if "<" not in body:
        return body
    body = re.sub(r"<(style|script|svg)\b.*?</\1>|<span role=.tooltip.[^>]*>.*?</span>", "", body, flags=re.S)
    body = re.sub(r"</t[hd]>\s*(?=<t[hd])", " | ", body)
    body = re.sub(r"</?(?:p|div|tr|li|ul|ol|d[ltd]|h\d|summary|table|caption|br|figure)\b[^>]*>", "\n", body)
    text = html.unescape(re.sub(r"<[^>]+>", " ", body))
    return "\n".join(" ".join(line.split()) for line in text.splitlines())
