"""HTML from the templates beside this file: tables, legends, concepts, trees, and whole documents.

Every text is escaped by jinja2, unless it is a `Markup` that was made here. What is drawn is text: it wraps, zooms and
is read aloud, in the colours of the theme.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.ext import Extension
from markupsafe import Markup

from commod.charts import MethodStyle, palette
from commod.dashboard.text.escape import bold, escape_markdown
from commod.explain import ChangeTree
from commod.explain.concepts import in_percent
from commod.wording import with_capital

MAX_BARS = 8
SHOWN_FROM = 0.005  # of what a feature does; less is rounded to 0.00


class _OneLine(Extension):
    """Takes line breaks and indents between tags and blocks out of a template: they would be sent at every redraw."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"(?:(?<=>)|(?<=[%#]}))\s*\n\s*(?=<|{[%#])", "", source)


@lru_cache(maxsize=1)
def _templates() -> Environment:
    """All templates; each is compiled when it is first used, and kept."""
    found = Environment(
        loader=PackageLoader("commod.dashboard.text"),
        autoescape=select_autoescape(disabled_extensions=("md",), default=True),  # Markdown is escaped by `plain`
        undefined=StrictUndefined,
        extensions=[_OneLine],
        auto_reload=False,
        keep_trailing_newline=True,
    )
    found.globals |= {"enumerate": enumerate, "palette": palette}
    found.filters |= {
        "bold": bold,
        "escaped": lambda cells: enumerate([escape(cell) for cell in cells]),
        "percent": in_percent,
        "plain": lambda text: escape_markdown(" ".join(str(text).split())),
        "signed": lambda value, digits: f"{value:+.{digits}f}".replace("-", "−"),
        "slug": lambda heading: re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-"),
        "thousands": lambda count: f"{count:,}",
    }
    return found


def document(template: str, **values: Any) -> str:
    """One HTML file that can load and run nothing, from a template that extends ``document.html``."""
    # Sections add their headings to the contents as they are written.
    return _templates().get_template(template).render(contents=[], **values)


def piece(macro: str, *arguments: Any, **values: Any) -> Markup:
    """What a macro of ``pieces.html`` makes, without its style."""
    make: Callable[..., Markup] = getattr(_templates().get_template("pieces.html").module, macro)
    return make(*arguments, **values)


def drawing(svg: str, alt: str, names: str = "") -> Markup:
    """An SVG file as a part of a document, with what it shows for those who cannot see it.

    `names` is put in front of the names inside it: several drawings in one document share one space of them.
    """
    named = re.sub(r'(\bid="|url\(#)', rf"\g<1>{names}", svg[svg.index("<svg") :])
    return Markup(named.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1))  # nosec B704


@lru_cache
def style(name: str = "pieces") -> Markup:
    """A style sheet, to stand in front of a piece: on a page each piece brings its own along."""
    return Markup("<style>\n{}</style>\n").format(Markup(_templates().get_template(f"{name}.css").render()))  # nosec B704


# ---- concepts and trees ----


def concept_cards(loadings: pd.DataFrame, concepts: pd.DataFrame) -> Markup:
    """One card per concept: how far its features move the sum, the share changed, and a sentence."""
    return style() + piece("concepts", **cards_of(loadings, concepts))


def cards_of(loadings: pd.DataFrame, concepts: pd.DataFrame) -> dict[str, Any]:
    """What `concept_cards` shows."""
    bars: dict[object, list[tuple[str, float]]] = {}
    for concept, label, moves in zip(loadings["concept"], loadings["label"], loadings["contribution"], strict=True):
        bars.setdefault(concept, []).append((label, float(moves)))
    cards = []
    for name, row in zip(concepts.index, _records(concepts), strict=True):
        if row["features"] == 0:
            continue
        shown = [bar for bar in bars[name] if abs(bar[1]) >= SHOWN_FROM][:MAX_BARS] or bars[name][:1]
        largest = max(abs(moves) for _, moves in shown)
        widths = [(label, moves, f"{50 * abs(moves) / largest:.1f}") for label, moves in shown]
        cards.append({**row, "name": name, "bars": widths, "more": len(bars[name]) - len(shown)})
    return {"cards": cards, "left": len(concepts) - len(cards)}


def _records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows as dicts, None where a value is missing: several times as quick as pandas' own way."""
    names = list(frame)
    columns = [[None if value is pd.NA else value for value in frame[name].tolist()] for name in names]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def tree_list(tree: ChangeTree) -> Markup:
    """The tree as nested lists: each node its rule, its size and its share of changed decisions."""
    return style() + piece("tree", nodes_of(tree))


def nodes_of(tree: ChangeTree) -> list[tuple[Any, ...]]:
    """What `tree_list` shows of the root: rule, width of its bar, size in words, and the same of those below it."""
    below: dict[int, list[tuple[Any, ...]]] = {-1: []}
    for row in _records(tree.nodes):  # a node comes after its parent
        says = " · learnt as “changed”" if row["predicts"] else ""
        part = f"{row['changed']:,} of {row['count']:,} changed ({in_percent(row['share'], 0)})"
        size = (part if row["count"] else "nobody on test") + says
        rule = with_capital(row["rule"])
        below[row["parent"]].append((rule, f"{row['share']:.1%}", size, below.setdefault(row["node"], [])))
    return below[-1]


def html_columns(parts: Sequence[tuple[str, str, str]]) -> Markup:
    """Title, note and HTML of each part, side by side, or one above the other where the page is narrow."""
    share = {1: 100, 3: 30}.get(len(parts), 45)  # of the row, at least: four stand two by two
    safe = [(title, note, Markup(body)) for title, note, body in parts]  # nosec B704
    return style() + style("beside") + piece("beside", safe, share)


# ---- legends and tables ----

# A mark of each shape that Vega knows, drawn around the origin.
_GLYPHS = {
    "circle": "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
    "square": "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "diamond": "M0 -6L5 0L0 6L-5 0Z",
    "triangle-up": "M0 -5L5.5 4.5H-5.5Z",
    "triangle-down": "M0 5L5.5 -4.5H-5.5Z",
    "triangle-right": "M5 0L-4.5 5.5V-5.5Z",
    "triangle-left": "M-5 0L4.5 5.5V-5.5Z",
    "cross": "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    "wedge": "M0 -6L3.5 5H-3.5Z",
    "stroke": "M-7 0H7",
    "dotted": "M-7 0h2m2 0h2m2 0h2m2 0h2",
    "upright": "M0 -7V7",
}


def html_legend(styles: Sequence[MethodStyle], *, narrow: bool = False) -> Markup:
    """What the marks of a chart stand for, in a row that wraps; if `narrow`, only in a narrow window."""
    marks = [(_picture(each.shape, each.colour, hollow=each.hollow), each.label) for each in styles]
    return style() + piece("legend", marks, narrow)


@lru_cache
def _picture(shape: str, colour: str, *, hollow: bool) -> str:
    """A mark as a picture in an address: Streamlit takes drawings out of HTML, but not pictures."""
    return _address(piece("glyph", _GLYPHS[shape], colour, "none" if hollow else colour))


@lru_cache
def idea(macro: str) -> str:
    """A picture of ``pictures.html`` in an address."""
    return _address(getattr(_templates().get_template("pictures.html").module, macro)())


def _address(drawing: Markup) -> str:
    return f"data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}"


def html_table(
    headings: Mapping[str, str] | Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    marked: Collection[tuple[int, int]] = (),
    text: Collection[int] = (),
    tall: bool = False,
    dense: bool = False,
) -> Markup:
    """A table that scrolls sideways where it is wider than the page; the first cell of a row is its heading.

    `headings`: heading of each column, or a mapping to what it means (told below the table), or nothing. `rows`:
    sequence of rows of str. `caption`: what the table is, for those who cannot see it. `marked`: cells to be shaded.
    `text`: columns of words, set left. `tall`: whether it may have so many rows that they are to be scrolled, too.
    `dense`: whether it has so many columns that they are to stand closer.
    """
    table = style() + piece("table", headings, rows, caption, marked, text, tall, dense)
    meanings = {name: says for name, says in headings.items() if says} if isinstance(headings, Mapping) else {}
    return table + piece("meanings", meanings.items()) if meanings else table


@dataclass(frozen=True)
class SortColumn:
    """A column of a table that can be sorted: `best` is 1 where more is better, −1 where less is, 0 where none is."""

    heading: str
    best: int = 0
    is_text: bool = False


# What a cell shows, and the number by which it is sorted.
SortCell = tuple[str, float | None]
# Whether a row is shaded, and its cells; the first is its heading.
SortRow = tuple[bool, Sequence[SortCell]]


def html_sortable(
    columns: Sequence[SortColumn], families: Sequence[tuple[str, str, Sequence[SortRow]]], *, caption: str
) -> Markup:
    """A table in families (name, title, rows) that the browser sorts and folds, see ``views/browser/sort.js``."""

    def plain(key: float | None) -> str:
        return "" if key is None or key != key else f"{key:.12g}"  # NaN, too

    sections = [
        (name, title, [(marked, [(shown, plain(key)) for shown, key in cells]) for marked, cells in rows])
        for name, title, rows in families
    ]
    return style() + piece("sortable", columns, sections, caption)


def html_meanings(meanings: Mapping[str, str]) -> Markup:
    """What headings mean, in a fold of its own: below a table that is drawn again while somebody reads."""
    return style() + piece("meanings", meanings.items())
