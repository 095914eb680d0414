"""Link and code of the current model, and a name for it."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.settings import OWN_PREFIX, Settings
from commod.dashboard.views import room
from commod.dashboard.views.pin import pin_popover
from commod.dashboard.views.words import say


def share(settings: Settings) -> None:
    """Link and code of the current model, a name for it, and a room to talk about it."""
    with st.container(horizontal=True, gap="small"):
        # Filled when they are opened: all of it at every move of a slider would cost more than the charts.
        with st.popover(say("share.setting"), icon=":material/share:", key="share", on_change="rerun") as shared:
            if shared.open:
                st.caption(say("share.own" if settings.data.startswith(OWN_PREFIX) else "share.says"))
                st.code(session.address(), language=None, wrap_lines=True)
        with st.popover(say("share.python"), icon=":material/code:", key="python", on_change="rerun") as copied:
            if copied.open:
                st.caption(say("share.library"))
                st.code(to_python(settings), language=None, wrap_lines=True)
        pin_popover(settings)
        room.invite()
