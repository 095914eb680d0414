"""Where f draws its line, and whether its scores are of the other outcome."""

from dataclasses import replace

import streamlit as st

from commod.dashboard.pages.your_data.draft import draft, kept
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.datasets import Choice
from commod.models.threshold import ONE_HALF

TURN = {True: "Turn them round: 1 less the score is used", False: "Leave them as they are"}


def choose_line(choice: Choice) -> tuple[Choice, bool]:
    """The choice with f's cut-off, its scores turned round if wanted; and whether all that is asked is answered."""
    here, about = draft(), f"{choice.target}_{choice.favourable}_{choice.scores}"
    answered = True
    look = here.look(choice)
    turned = next((doubt for doubt in look.doubts(choice) if doubt.kind == "turned"), None)
    if turned is not None:
        name = f"turned_{about}"
        if here.chosen.get(name) is None:
            st.warning(f"{escape_markdown(turned.text)} Turn them round?", icon=":material/swap_vert:")
        answer = st.radio(
            "The scores",
            list(TURN),
            format_func=TURN.get,
            label_visibility="collapsed",
            horizontal=True,
            **kept(name, here.chosen.get(name)),
        )
        answered = answer is not None
        choice = replace(choice, turned=bool(answer))
    proposals = (doubt.threshold for doubt in look.doubts(choice))
    proposed = next((threshold for threshold in proposals if threshold is not None), ONE_HALF)
    name = f"threshold_{about}_{choice.turned}"
    line = st.number_input(
        "Cut-off of f: the favourable outcome above this probability",
        0.001,
        0.999,
        step=0.01,
        format="%.3f",
        help=tip("threshold"),
        **kept(name, here.chosen.get(name, proposed)),
    )
    if proposed != ONE_HALF:
        st.caption(f"At {proposed:g} f says it as often as the record does; at one half, hardly ever or nearly always.")
    choice = replace(choice, threshold=round(float(line), 3))
    if any(doubt.kind == "worse" for doubt in look.doubts(choice)):
        name = f"worse_{about}_{choice.turned}"
        answered &= st.checkbox(
            "f does worse than a constant: use it all the same", **kept(name, here.chosen.get(name, False))
        )
    return choice, answered
