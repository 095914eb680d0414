"""One HTML file that needs nothing else, to be read, printed and sent on: the report and the teacher's notes.

Every text passed as such is escaped, and the file carries a policy that lets it load and run nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape


def html_document(kicker: str, title: str, lead: str, sections: Mapping[str, str]) -> str:
    """A document with its contents in front.

    Parameters
    ----------
    kicker, title, lead : str
        The line above the title, the title, and the paragraph below it.
    sections : mapping
        Heading of each section to its HTML.
    """
    places = {heading: re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in sections}
    links = "".join(f'<li><a href="#{place}">{escape(heading)}</a></li>' for heading, place in places.items())
    body = "".join(
        f'<section id="{places[heading]}"><h2>{escape(heading)}</h2>{content}</section>'
        for heading, content in sections.items()
    )
    # The pieces that the pages share bring their style along, each its own copy: one will do.
    styles = list(dict.fromkeys(re.findall(r"<style>(.*?)</style>", body, flags=re.DOTALL)))
    body = re.sub(r"\s*<style>.*?</style>\s*", "", body, flags=re.DOTALL)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{''.join(styles)}{_STYLE}</style></head>"
        f"<body><header><p>{escape(kicker)}</p><h1>{escape(title)}</h1>"
        f'<p class="lead">{escape(lead)}</p></header>'
        f'<nav aria-label="Contents"><ol>{links}</ol></nav><main>{body}</main></body></html>\n'
    )


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Pairs of a name and of HTML."""
    return f'<dl class="facts">{"".join(f"<dt>{escape(name)}</dt><dd>{text}</dd>" for name, text in pairs)}</dl>'


def listed(items: Sequence[str]) -> str:
    """A list of texts."""
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


_STYLE = """
:root { color-scheme: light dark; --text: #14161a; --page: #ffffff; --soft: #f3f4f6; --line: #d4d7dc; --link: #0060a0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e9ebee; --page: #14171c; --soft: #20242b; --line: #3a404a; --link: #7cc4f2; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 2.5rem) 4rem; max-width: 62rem; background: var(--page);
  color: var(--text); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .3rem 0 .8rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.2rem 0 .7rem; padding-top: .9rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p, ul, dl { margin: .5rem 0; }
a { color: var(--link); }
header p:first-child { margin: 0; font-size: .9rem; }
.lead { font-size: 1.1rem; }
.note { font-size: .9rem; }
nav { background: var(--soft); border-radius: .5rem; padding: .3rem 1rem; }
nav ol { columns: 2 16rem; padding-left: 0; margin: .5rem 0; list-style: none; }
.facts { display: grid; grid-template-columns: minmax(7rem, 12rem) minmax(0, 1fr); gap: .35rem 1.2rem; }
.facts dt { font-weight: 600; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: .8rem 0; background: #ffffff; color: #14161a; border: 1px solid var(--line); border-radius: .5rem;
  padding: .8rem; }
figure svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { font-size: .9rem; margin-top: .5rem; }
pre { background: var(--soft); border-radius: .5rem; padding: .9rem 1rem; overflow-x: auto; font-size: .85rem; }
pre, code { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; }
@media (max-width: 34rem) {
  .facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .facts dd { margin-bottom: .6rem; }
  .cx-wide th, .cx-wide td { padding: .3rem .25rem !important; min-width: 0 !important; }
}
@media print {
  :root { color-scheme: light; --text: #000000; --page: #ffffff; --soft: #f3f4f6; --line: #bbbbbb; --link: #000000; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  figure, tr, .cx-card, .facts > * { break-inside: avoid; }
  pre { white-space: pre-wrap; }
  .cx-scroll { overflow: visible !important; }
  .cx-bar, .cx-fill, .cx-meter { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
