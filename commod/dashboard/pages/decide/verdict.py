"""Does it hold? The verdict on the model of the sliders, and the others beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from commod.charts.decisions import plot_requirement
from commod.dashboard.pages.decide.models import SCREEN, Candidate, keeping
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import piece, style
from commod.dashboard.views.chart import draw
from commod.dashboard.views.checks import changing_table
from commod.dashboard.views.verdicts import lines_of_verdicts, verdict_in_words
from commod.decisions import RULES, VERDICTS, Requirements

TABLE = "The models side by side"
# What an update is to be by which nobody can lose, or gain.
ONE_WAY = {"improve": "nobody can lose", "worsen": "nobody can gain"}


def draw_verdict(shown: Candidate, required: Requirements) -> None:
    """The decision in one sentence, and a line for each requirement with what it would take."""
    st.markdown(f"**{verdict_in_words(shown.checked, shown.facts.people, 'The model on your screen')}**")
    if shown.collapse:
        st.warning(
            f"It is hardly a model any more, whatever it meets. {escape_markdown(shown.collapse)}",
            icon=":material/warning:",
        )
    st.markdown(lines_of_verdicts(shown.checked))
    _offer_to_keep(shown, required)


def _offer_to_keep(shown: Candidate, required: Requirements) -> None:
    """One click to the setting that keeps features out and to a direction, where the model on the screen does not."""
    verdicts = shown.checked.set_index("requirement")["verdict"]
    if all(verdicts.get(name, "pass") == "pass" for name in ("kept_out", "direction")):
        return
    here = session.current()
    there = keeping(here, required)
    free = session.can_go_to(there)
    told = {"kept_out": "keep these features out", "direction": ONE_WAY.get(required.direction, "")}
    broken = [told[name] for name in told if verdicts.get(name, "pass") != "pass"]
    st.button(
        f"Train it so: {' and '.join(broken)}",
        icon=":material/tune:",
        on_click=session.go_to,
        args=(there,),
        disabled=not free,
        help=None if free else tip("frozen"),
    )


def answer_in_words(candidates: Sequence[Candidate], *, waiting: bool) -> str:
    """Who of the others meets the requirements, in words."""
    others = [one for one in candidates if one.name != SCREEN]
    meets = [one.subject for one in others if one.verdict == "pass"]
    perhaps = [one.subject for one in others if one.verdict == "cannot tell"]
    so_far = "So far, of" if waiting else "Of"
    text = f"{so_far} the {len(others)} others, "
    if meets:
        text += f"{_listed(meets)} {'meets' if len(meets) == 1 else 'meet'} everything"
    else:
        text += "none meets everything beyond doubt"
    if perhaps:
        text += f"; of {_listed(perhaps)} it cannot be told"
    return f"{text}."


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# ---- side by side ----


def paint_table(place: Any, candidates: Sequence[Candidate]) -> Any:
    """Draw the table at a place, or draw it again as more is known; gives the place."""
    return changing_table(place, table_html(candidates))


def table_html(candidates: Sequence[Candidate]) -> Markup:
    """A row for each requirement, a column for each model."""
    first = candidates[0].checked
    rows: list[tuple[str, list[tuple[str, str, str]]]] = [("All together", [_together(one) for one in candidates])]
    for place, wanted in enumerate(first["wanted"]):
        cells = [_cell(one.checked.iloc[place].to_dict(), one) for one in candidates]
        rows.append((_heading(wanted), cells))
    changed = [
        ("", f"{one.facts.changed:,}", f"{one.facts.better:,} better off\n{one.facts.worse:,} worse off")
        for one in candidates
    ]
    rows.append(("Decisions changed", changed))
    models = [(one.title, one.setting) for one in candidates]
    return style() + style("verdicts") + piece("verdicts", "Required", models, rows, TABLE)


_KINDS = {"pass": "pass", "fail": "fail", "cannot tell": "untold"}


def _together(one: Candidate) -> tuple[str, str, str]:
    sign = f"{VERDICTS[one.verdict]} {one.verdict}"
    if one.collapse:
        return "fail", "✗ no model any more", one.collapse
    return _KINDS[one.verdict], sign, f"{one.met} of {len(one.checked)} met"


def _cell(row: Mapping[Any, Any], one: Candidate) -> tuple[str, str, str]:
    """Verdict, value with its intervals, and what it would take."""
    verdict, rule = row["verdict"], RULES.get(row["requirement"])
    parts = []
    if rule is not None and not math.isnan(row["value"]):
        measured = one.facts.measured[rule.name]
        parts.append(rule.show(row["value"]))
        if measured.exact:
            parts[0] += " for whoever comes"
        else:
            parts[0] += f" [{rule.show(row['low'])},\u00a0{rule.show(row['high'])}]"
        if not math.isnan(row["refits_low"]):
            parts.append(f"refits [{rule.show(row['refits_low'])},\u00a0{rule.show(row['refits_high'])}]")
        if row["takes"]:
            parts.append(f"takes {row['takes']}")
        if not math.isnan(row["more_people"]):
            parts.append(f"about {_rounded(row['more_people'])} more people would settle it")
    else:
        parts.append(row["sentence"])
    return _KINDS[verdict], f"{VERDICTS[verdict]} {verdict}", "\n".join(parts)


def _heading(wanted: str) -> str:
    """A requirement at the beginning of a line; f stays f."""
    return wanted if wanted.startswith("f ") else f"{wanted[0].upper()}{wanted[1:]}"


def _rounded(count: float) -> str:
    """To two digits: it is an estimate."""
    return f"{float(f'{count:.2g}'):,.0f}"


# ---- pictures ----


def draw_pictures(candidates: Sequence[Candidate], required: Requirements) -> None:
    """Of each requirement that is a number: the models on either side of its limit."""
    told = [name for name in required.limits if not all(math.isnan(_row(one, name)["value"]) for one in candidates)]
    for pair in (told[i : i + 2] for i in range(0, len(told), 2)):
        for column, name in zip(st.columns(2, gap="large"), pair, strict=False):
            with column:
                rule = RULES[name]
                st.subheader(_heading(rule.wanted(required.limits[name])))
                draw(
                    plot_requirement,
                    _points(candidates, name),
                    alt="Each model's value with its intervals, and the limit as a line.",
                    table=TABLE,
                    title=rule.title.removesuffix(f" {rule.side}"),
                    percent=rule.percent,
                )
    if told:
        st.caption(
            "Dashed: the limit. Thick: 95 % interval over people. Thin below it: where 95 % of the refits are, where "
            "there are any. A model of which there is nothing to measure, as of changes where nobody changes, is not "
            "drawn."
        )


def _row(one: Candidate, name: str) -> Mapping[Any, Any]:
    found: Mapping[Any, Any] = one.checked[one.checked["requirement"] == name].iloc[0].to_dict()
    return found


def _points(candidates: Sequence[Candidate], name: str) -> pd.DataFrame:
    columns = ("value", "low", "high", "refits_low", "refits_high", "limit", "verdict")
    rows = []
    for rank, one in enumerate(candidates):
        row = _row(one, name)
        if not math.isnan(row["value"]):
            shown = f"{one.title} (no model any more)" if one.collapse else one.title
            rows.append({"name": shown, "rank": rank} | {column: row[column] for column in columns})
    frame = pd.DataFrame(rows)
    frame.loc[frame["name"].str.endswith("(no model any more)"), "verdict"] = "fail"
    return frame
