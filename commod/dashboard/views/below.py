"""The rest of a long page, which is drawn only while it is near the screen: what is not there is not drawn anew."""

from pathlib import Path

import streamlit as st

from commod.dashboard.views.words import say

_BROWSER = Path(__file__).parent / "browser"
_below = st.components.v2.component(
    "commod_below",
    html='<div class="below"><button type="button"></button></div>',
    css=(_BROWSER / "near.css").read_text(),
    js=(_BROWSER / "near.js").read_text(),
)


def is_near(name: str) -> bool:
    """Whether the browser has scrolled near to here; for those who do not scroll, a button with the phrase `name`."""
    near = bool(st.session_state.get("below", {}).get("near"))
    _below(key="below", data={"near": near, "words": say(name)}, on_near_change=lambda: None)
    return near
