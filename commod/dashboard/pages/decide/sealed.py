"""People whom no page looks at until a decision is made: who they are, and what they say once it is."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.decision import openings, sign
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.datasets import is_shipped
from commod.decisions import RULES, VERDICTS, confirmation, record_json, requirements_in, tried_in_words, with_opened
from commod.uploads.limits import count_of
from commod.wording import with_capital

BOTH = "Explored and sealed people side by side"


def draw_sealed(result: FitResult) -> None:
    """How many people are sealed; of data that ship, the switch."""
    sealed, data = result.task.sealed, result.settings.data
    shipped = is_shipped(result.task.name)
    if shipped:
        other = replace(session.current(), sealed="" if sealed else "half")
        free = session.can_go_to(other)
        about = mirrored("sealed", sealed is not None, lambda _: session.go_to(other))
        text = tip("sealed") if free else tip("frozen")
        st.toggle("Seal half of the test people until you decide", disabled=not free, help=text, **about)
    if sealed is None:
        if not shipped:
            st.caption("Nobody is sealed in these data, so nothing can be confirmed. The switch is on Your data.")
        return
    text = f"{len(sealed.known()):,} people are sealed: no page looks at them. Your decision opens them."
    if times := len(openings(data)):
        text = f"The sealed people were opened {count_of(times, 'time')}. A decision signed again says so."
    practice = " This is practice, since the data are public. On your own data it counts." if shipped else ""
    st.caption(f":material/lock: {text}{practice}")


def open_for(record: dict[str, Any], result: FitResult, place: Any) -> None:
    """Open the sealed people for a record that is frozen."""
    try:
        found = result_of(tasks.opened(result.settings, record_json(record)), place, "Opening the sealed people")
    except ValueError as error:
        place.error(f"The sealed people could not be opened: {error}", icon=":material/error:")
        return
    sign(with_opened(record, found, openings(result.settings.data)))
    st.rerun()  # the top of the page tells of it, too


def tell_opened(record: Mapping[str, Any]) -> None:
    """The verdict on the sealed people, beside the one before."""
    st.markdown(f"**{confirmation(record)}**")
    parts = record, record["confirmed"]
    verdicts = [[_verdict_with_interval(each) for each in part["verdicts"]] for part in parts]
    rows = [*zip(map(with_capital, requirements_in(record).in_words), *verdicts, strict=True)]
    explored, sealed = (f"{part['figures']['people']:,.0f} people" for part in parts)
    headings = ["Required", f"Explored: {explored}", f"Sealed: {sealed}"]
    st.html(html_table(headings, rows, caption=BOTH, text={1, 2}))
    st.caption(f"{tried_in_words(record)} Model and requirements were frozen before these people were opened.")


def _verdict_with_interval(each: Mapping[str, Any]) -> str:
    """A verdict with its value and the interval over people."""
    rule = RULES.get(each["requirement"])
    found = [rule.show(each[name]) for name in ("value", "low", "high") if rule and each[name] is not None]
    ends = f" [{found[1]},\u00a0{found[2]}]" if len(found) == 3 else ""
    return f"{VERDICTS[each['verdict']]} {', '.join([each['verdict'], *found[:1]])}{ends}"
