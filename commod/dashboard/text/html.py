"""Concepts and trees as HTML: text that wraps, zooms and is read aloud, in the colours of the theme.

Every text from data or settings passes through `html.escape`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from commod.charts import MethodStyle, palette
from commod.explain import ChangeTree
from commod.explain.concepts import in_percent

MAX_BARS = 8

_STYLE = f"""
<style>
.cx-grid {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); gap: 1rem; }}
.cx-card {{ border: 1px solid color-mix(in srgb, currentColor 22%, transparent); border-radius: .5rem;
  padding: .8rem 1rem; min-width: 0; }}
.cx-card h3 {{ margin: 0; padding: 0; font-size: 1.05rem; font-weight: 600; }}
.cx-note {{ margin: .15rem 0 .5rem; font-size: .875rem; }}
.cx-bars {{ list-style: none !important; padding: 0 !important; margin: 0 !important; display: grid;
  grid-template-columns: minmax(0, 11fr) minmax(0, 9fr) 3.2rem; gap: .2rem .5rem;
  align-items: center; font-size: .875rem; }}
.cx-bars li {{ display: contents; }}
.cx-label {{ overflow-wrap: anywhere; line-height: 1.2; }}
.cx-track {{ position: relative; height: .95rem; }}
.cx-track::before {{ content: ""; position: absolute; left: 50%; top: -.1rem; bottom: -.1rem; width: 1px;
  background: color-mix(in srgb, currentColor 45%, transparent); }}
.cx-bar {{ position: absolute; top: 0; bottom: 0; border-radius: 2px;
  background: color-mix(in srgb, currentColor 62%, transparent); }}
.cx-up {{ left: 50%; }}
.cx-down {{ right: 50%; }}
.cx-number {{ text-align: right; font-variant-numeric: tabular-nums; }}
.cx-table {{ border-collapse: collapse; font-size: .875rem; margin: .5rem 0; width: 100%; }}
.cx-table th, .cx-table td {{ text-align: left; padding: .15rem .5rem .15rem 0; font-weight: 400;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }}
.cx-table td {{ text-align: right; font-variant-numeric: tabular-nums; }}
.cx-scroll {{ overflow-x: auto; max-width: 100%; }}
.cx-tall {{ max-height: 26rem; overflow-y: auto; }}
.cx-wide {{ border-collapse: collapse; font-size: .85rem; min-width: 100%; }}
.cx-wide th, .cx-wide td {{ text-align: right; padding: .3rem .6rem; font-variant-numeric: tabular-nums;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); vertical-align: top; }}
.cx-wide td {{ white-space: pre-line; min-width: 4.2rem; }}
.cx-wide thead th {{ vertical-align: bottom; font-weight: 600; line-height: 1.2; }}
.cx-wide th[scope=row] {{ font-weight: 600; }}
.cx-wide th:first-child, .cx-wide .cx-text {{ text-align: left; }}
.cx-wide .cx-text {{ min-width: 8rem; }}
.cx-more {{ font-size: .875rem; margin: .3rem 0; }}
.cx-more summary {{ cursor: pointer; width: fit-content; }}
.cx-more dl {{ margin: .3rem 0; }}
.cx-more dt {{ font-weight: 600; }}
.cx-more dd {{ margin: 0 0 .2rem 1rem; }}
.cx-wide .cx-marked {{ background: color-mix(in srgb, currentColor 13%, transparent); font-weight: 700; }}
.cx-legend {{ display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none !important; padding: 0 !important;
  margin: 0 !important; font-size: .875rem; }}
.cx-legend li {{ display: flex; align-items: center; gap: .4rem; margin: 0 !important; }}
.cx-tree, .cx-tree ul {{ list-style: none !important; margin: 0 !important;
  padding: 0 !important; }}
.cx-tree ul {{ margin-left: .55rem !important;
  border-left: 2px solid color-mix(in srgb, currentColor 30%, transparent); }}
.cx-tree li {{ padding: .18rem 0; position: relative; margin: 0 !important; }}
.cx-tree ul > li {{ padding-left: .9rem; }}
.cx-tree ul > li::before {{ content: ""; position: absolute; left: 0; top: .95rem; width: .7rem; height: 2px;
  background: color-mix(in srgb, currentColor 30%, transparent); }}
.cx-node {{ display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: center; font-size: .9rem; }}
.cx-rule {{ font-weight: 600; }}
.cx-meter {{ display: inline-block; width: 6rem; height: .75rem; border-radius: 2px; flex: none;
  background: color-mix(in srgb, currentColor 14%, transparent); overflow: hidden; }}
.cx-fill {{ display: block; height: 100%; background: {palette.G}; }}
</style>
"""


def concept_cards(loadings: pd.DataFrame, concepts: pd.DataFrame, people: str) -> str:
    """One card per concept: its weight, its features as signed bars, the share changed, and a sentence."""
    used = concepts[concepts["features"] > 0]
    bars: dict[object, list[tuple[str, float]]] = {}
    for concept, label, loading in zip(loadings["concept"], loadings["label"], loadings["loading"], strict=True):
        bars.setdefault(concept, []).append((label, float(loading)))
    rows = used.astype(object).to_dict("index")
    cards = [_card(name, row, bars.get(name, []), people) for name, row in rows.items()]
    left = len(concepts) - len(used)
    note = ""
    if left:
        told = "has no weight at this setting and is" if left == 1 else "have no weight at this setting and are"
        note = f'<p class="cx-note">{left} of {len(concepts)} concepts {told} not shown.</p>'
    return f'{_STYLE}<div class="cx-grid" data-testid="concepts">{"".join(cards)}</div>{note}'


def _card(name: object, row: Mapping[Any, Any], loadings: Sequence[tuple[str, float]], people: str) -> str:
    head = f"<h3>{escape(str(name))}: weight in r {row['weight']:+.3f}</h3>".replace("-", "−")
    shown = loadings[:MAX_BARS]
    largest = max(abs(loading) for _, loading in shown)
    bars = "".join(_bar(label, loading, largest) for label, loading in shown)
    left = len(loadings) - len(shown)
    more = f'<p class="cx-note">and {left} smaller one{"s" if left > 1 else ""}</p>' if left else ""
    rows = [
        (f"Changed among the {row['activated']:,} {escape(people)} who show it most", row["changed_activated"]),
        (f"Changed among the {row['others']:,} others", row["changed_others"]),
    ]
    cells = "".join(
        f"<tr><th scope='row'>{label}</th><td>{in_percent(float(share))}</td></tr>"
        for label, share in rows
        if not pd.isna(share)
    )
    table = f'<table class="cx-table"><tbody>{cells}</tbody></table>'
    return (
        f'<div class="cx-card">{head}<p class="cx-note">Loading per standard deviation of the feature</p>'
        f'<ul class="cx-bars" role="list">{bars}</ul>{more}{table}'
        f'<p class="cx-note">{escape(row["sentence"])}</p></div>'
    )


def _bar(label: str, loading: float, largest: float) -> str:
    side = "cx-up" if loading > 0 else "cx-down"
    width = 50 * abs(loading) / largest
    number = f"{loading:+.2f}".replace("-", "−")
    return (
        f'<li><span class="cx-label">{escape(label)} </span>'
        f'<span class="cx-track" aria-hidden="true"><span class="cx-bar {side}" style="width:{width:.1f}%"></span>'
        f'</span><span class="cx-number">{number}</span></li>'
    )


def tree_list(tree: ChangeTree) -> str:
    """The tree as nested lists: each node its rule, its size and its share of changed decisions."""
    children: dict[int, list[int]] = {}
    rows = {int(row.node): row for row in tree.nodes.itertuples()}
    for row in rows.values():
        children.setdefault(int(row.parent), []).append(int(row.node))

    def item(node: int) -> str:
        row = rows[node]
        says = " · learnt as “changed”" if row.predicts else ""
        text = f"{row.changed:,} of {row.count:,} changed ({in_percent(row.share, 0)}){says}"
        fill = f'<span class="cx-fill" style="width:{row.share:.1%}"></span>'
        meter = f'<span class="cx-meter" aria-hidden="true">{fill}</span>'
        below = "".join(item(child) for child in children.get(node, []))
        nested = f'<ul role="list">{below}</ul>' if below else ""
        rule = escape(str(row.rule))
        return (
            f'<li><span class="cx-node"><span class="cx-rule">{rule[0].upper() + rule[1:]}</span>'
            f"{meter}<span>{text}</span></span>{nested}</li>"
        )

    return f'{_STYLE}<ul class="cx-tree" role="list" data-testid="tree">{item(0)}</ul>'


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
    "stroke": "M-6 0H6",
}


def html_legend(styles: Sequence[MethodStyle]) -> str:
    """What the marks of a chart stand for, in a row that wraps."""
    items = "".join(
        f'<li><img alt="" width="16" height="16" src="{_glyph(style)}">{escape(style.label)}</li>' for style in styles
    )
    return f'{_STYLE}<ul class="cx-legend">{items}</ul>'


def _glyph(style: MethodStyle) -> str:
    """A mark as a picture in an address: Streamlit takes drawings out of HTML, but not pictures."""
    fill = "none" if style.hollow else style.colour
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 16 16">'
        f'<path d="{_GLYPHS[style.shape]}" stroke="{style.colour}" stroke-width="1.5" fill="{fill}"/></svg>'
    )
    return f"data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}"


def html_table(
    headings: Mapping[str, str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    marked: Collection[tuple[int, int]] = (),
    text: Collection[int] = (),
    tall: bool = False,
) -> str:
    """A table that scrolls sideways where it is wider than the page; the first cell of a row is its heading.

    Parameters
    ----------
    headings : mapping
        Heading of each column to what it means (told below the table), or nothing.
    rows : sequence of rows of str
    caption : str
        What the table is, for those who cannot see it.
    marked : collection of (row, column)
        Cells to be shaded.
    text : collection of int
        Columns of words, set left.
    tall : bool
        Whether it may have so many rows that they are to be scrolled, too.
    """

    def kind(i: int, j: int) -> str:
        names = (["cx-marked"] if (i, j) in marked else []) + (["cx-text"] if j in text else [])
        return f' class="{" ".join(names)}"' if names else ""

    head = "".join(f'<th scope="col"{kind(-1, j)}>{escape(name)}</th>' for j, name in enumerate(headings))
    told = "".join(f"<dt>{escape(name)}</dt><dd>{escape(tip)}</dd>" for name, tip in headings.items() if tip)
    below = (
        f'<details class="cx-more"><summary>What the headings mean</summary><dl>{told}</dl></details>' if told else ""
    )
    body = "".join(
        f'<tr><th scope="row"{kind(i, 0)}>{escape(row[0])}</th>'
        + "".join(f"<td{kind(i, j)}>{escape(cell)}</td>" for j, cell in enumerate(row[1:], start=1))
        + "</tr>"
        for i, row in enumerate(rows)
    )
    scroll = "cx-scroll cx-tall" if tall else "cx-scroll"
    return (
        f'{_STYLE}<div class="{scroll}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="cx-wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{below}'
    )
