"""Link and code of the current model, and a name for it."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.settings import OWN_PREFIX, Settings
from commod.dashboard.views import room
from commod.dashboard.views.pin import pin_popover
from commod.dashboard.views.words import say_declared


def share(settings: Settings) -> None:
    """Link and code of the current model, a name for it, and a room to talk about it."""
    with st.container(horizontal=True, gap="small"):
        # Filled when they are opened: all of it at every move of a slider would cost more than the charts.
        with st.popover(
            say_declared("Share this setting"), icon=":material/share:", key="share", on_change="rerun"
        ) as shared:
            if shared.open:
                told = (
                    "The address of this page holds the complete setting, but not your data: it leads back here in "
                    "this session only. Others need your file, too."
                    if settings.data.startswith(OWN_PREFIX)
                    else "The address of this page holds the complete setting: whoever opens it sees the same picture."
                )
                st.caption(say_declared(told))
                st.code(session.address(), language=None, wrap_lines=True)
        with st.popover(
            say_declared("Copy as Python"), icon=":material/code:", key="python", on_change="rerun"
        ) as copied:
            if copied.open:
                st.caption(say_declared("The same model with the library:"))
                st.code(to_python(settings), language=None, wrap_lines=True)
        pin_popover(settings)
        room.invite()
