"""Who decides, for which model and why; signed, it is a small JSON file with a hash over all of it."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.decide.models import Candidate, shown
from commod.dashboard.pages.decide.sealed import open_for, tell_opened
from commod.dashboard.state import session
from commod.dashboard.state.controls import clean_line
from commod.dashboard.state.decision import draft, sign, signed_decision
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.verdicts import verdict_in_words
from commod.dashboard.views.chart import offer
from commod.datasets import is_shipped
from commod.decisions import DecisionError, Requirements, Signature, confirmation, is_of, make_record, record_json
from commod.decisions.record import MAX_TEXT
from commod.uploads.limits import count_of
from commod.wording import with_capital

FILE_NAME = "commod-decision.json"
# Letters of a name, of a role and of a reason for rejecting one model.
MAX_LINE = 200
# What the record says, after how it stands, of an alternative of which nobody has said why it is rejected.
NO_REASON = "No reason given."
NOT_KEPT = "Reloading or closing the page loses what you type and sign here: download the decision once it is signed."


def draw_sign(result: FitResult, candidates: Sequence[Candidate], required: Requirements, *, growing: bool) -> None:
    """What was signed, and the form, which is folded once it is; more models may come while they are `growing`."""
    known = {one.name: one for one in candidates}
    decided = known.get(draft().decided, candidates[0])
    record = signed_decision()
    with st.container():  # in its own place, or the form before would stay in it until all is computed
        if record is not None:
            _tell(record, decided, required)
    is_done = record is not None and _is_about(record, decided, required)
    with st.expander("Decide again") if is_done else st.container():
        rejected = _draw_form(known, decided, growing=growing)
        _offer_to_sign(result, decided, required, rejected)


def _draw_form(known: Mapping[str, Candidate], decided: Candidate, *, growing: bool) -> dict[str, str]:
    here = draft()
    st.selectbox(
        "The decision is for",
        list(known),
        format_func=lambda name: f"{known[name].title}{f': {known[name].setting}' if known[name].setting else ''}",
        **_field("decided", decided.name),
    )
    _say_how_it_stands(decided)
    left, right = st.columns(2, gap="medium")
    with left:
        st.text_input("Who decides", max_chars=MAX_LINE, placeholder="Name", **_field("who"))
    with right:
        st.text_input("In what role", max_chars=MAX_LINE, placeholder="Head of admissions", **_field("role"))
    st.text_area("Why", max_chars=MAX_TEXT, height=100, placeholder="What tipped the scales", **_field("why"))
    tomorrow = date.today() + timedelta(days=1)
    here.look_again = max(here.look_again, tomorrow)
    st.date_input("Look at it again on", min_value=tomorrow, width=220, **_field("look_again"))
    with st.expander("Why not another model? (optional)"):
        if growing:
            st.caption("More models follow as the methods above are done.")
        return _rejected([one for one in known.values() if _differs(one, decided)])


def _differs(one: Candidate, decided: Candidate) -> bool:
    """Whether it is an alternative: one that decides alike is none."""
    return one is not decided and not np.array_equal(one.decisions, decided.decisions)


def _offer_to_sign(result: FitResult, decided: Candidate, required: Requirements, rejected: dict[str, str]) -> None:
    here = draft()
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Sign" if result.task.sealed is None else "Decide and open the sealed people"
        st.button(label, type="primary", icon=":material/lock:", on_click=_press, help=tip("sign"))
        st.caption(NOT_KEPT)
        place = st.empty()
    if here.signing:
        here.signing = False
        _make(result, decided, required, rejected, place)
    if (record := signed_decision()) is not None and "tried" in record and not confirmation(record):
        open_for(record, result, place)


def _field(name: str, shown: Any = None) -> dict[str, Any]:
    """Arguments of a widget for a field of the draft."""
    here = draft()

    def take(value: Any) -> None:
        if value is not None:  # a date can be taken away
            setattr(draft(), name, value)

    return mirrored(f"sign_{name}", getattr(here, name) if shown is None else shown, take)


def _press() -> None:
    draft().signing = True


def _say_how_it_stands(decided: Candidate) -> None:
    """What is signed, before it is; a requirement that is not met is no hindrance, and stands in the record."""
    text = standing(decided, decided.subject if decided.cell is None else with_capital(decided.subject))
    if decided.verdict != "pass":
        text += " You can sign it all the same: the signed decision says so."
    if decided.facts.changed and not decided.facts.n_refits:
        text += " There are no refits of it yet, so the signed decision will have intervals over people only."
    st.caption(escape_markdown(text))


def standing(one: Candidate, subject: str) -> str:
    """How many requirements a model meets, and whether it has collapsed."""
    return f"{verdict_in_words(one.checked, one.facts.people, subject)} {one.collapse}".strip()


def _rejected(others: Sequence[Candidate]) -> dict[str, str]:
    """The alternatives that are rejected, each with a reason: at first all that are shown."""
    here, titles = draft(), {one.name: one.title for one in others}
    if not others:
        return {}

    def choose(names: list[str]) -> None:
        draft().kept = set(titles) - set(names)

    st.pills(
        "Rejected alternatives",
        list(titles),
        selection_mode="multi",
        format_func=lambda name: titles[name],
        **mirrored("sign_rejected", [name for name in titles if name not in here.kept], choose),
    )
    found = {}
    columns = st.columns(2, gap="medium")
    for place, one in enumerate(sorted(others, key=lambda one: one.name in here.kept)):
        with columns[place % 2]:
            if one.name in here.kept:
                st.empty()
            else:
                found[one.in_full] = _reason(one)
    return found


def _reason(one: Candidate) -> str:
    """What somebody typed, or else how it stands."""
    reason = draft().reasons.get(one.name, "")
    unsaid = f"{standing(one, 'It')} {NO_REASON}"

    def take(text: str) -> None:
        draft().reasons[one.name] = clean_line(text, MAX_LINE)

    st.text_input(
        f"Why not {one.subject}",
        max_chars=MAX_LINE,
        placeholder=f"Empty means: {NO_REASON}",
        **mirrored(f"sign_why_{one.name}", reason, take),
    )
    return reason or unsaid


def _make(result: FitResult, decided: Candidate, required: Requirements, rejected: dict[str, str], place: Any) -> None:
    """The record of the decision, or a sentence why there is none."""
    here = draft()
    try:
        signature = Signature(
            clean_line(here.who, MAX_LINE),
            clean_line(here.role, MAX_LINE),
            here.why.strip(),
            date.today(),
            here.look_again,
            rejected,
        )
    except DecisionError as error:
        place.error(str(error), icon=":material/error:")
        return
    settings, scene = result.settings, result.scene
    sha256 = result_of(tasks.hash_of_data(settings), place, "Hashing the data")
    what = (decided.cell, settings.fairness, required, decided.facts)
    tried = {name: len(found) for name, found in session.tried_on(settings.data).items()}
    openings = None if scene.task.sealed is None else tried
    sign(make_record(signature, scene, decided.decisions, *what, sha256=sha256, tried=openings))
    shown.set("sign")
    if openings is None:  # else the sealed people are opened first
        st.rerun()


def _tell(record: Mapping[str, Any], decided: Candidate, required: Requirements) -> None:
    """What was signed, and the file of it."""
    signature = record["signature"]
    verdicts = [each["verdict"] for each in record["verdicts"]]
    open_ones = [
        f"{count_of(verdicts.count(name), 'requirement')} {words}"
        for name, words in (("fail", "not met"), ("cannot tell", "that cannot be determined"))
        if name in verdicts
    ]
    despite = f" with {' and '.join(open_ones)}" if open_ones else ""
    with st.container(border=True):
        st.markdown(
            f":material/lock: **Signed{despite}** on {signature['signed']}, in the name of "
            f"{escape_markdown(signature['who'])}, {escape_markdown(signature['role'])}; "
            f"look again on {signature['look_again']}."
        )
        if confirmation(record):
            tell_opened(record)
        if not _is_about(record, decided, required):
            st.markdown(
                "You signed another model than the one chosen below, or other requirements. Sign again to replace it."
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            offer("Signed decision as JSON", record_json(record).encode(), FILE_NAME, key="decision_json")
            st.page_link("pages/take_home.py", label="The report has a page of it", icon=":material/description:")
        own = "" if is_shipped(record["data"]["name"]) else " --data YOUR_FILE"
        st.caption(
            f"Its hash `{record['sha256'][:16]}…` reveals accidental changes, not forgery. To check the figures, run "
            f"`commod verify {FILE_NAME}{own}`: it trains the model again and compares every line."
        )


def _is_about(record: Mapping[str, Any], decided: Candidate, required: Requirements) -> bool:
    return record["requirements"] == required.plain and is_of(record, decided.cell)
