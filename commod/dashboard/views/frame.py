"""What all pages share: the menu that leads to them, and how each begins."""

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path

import streamlit as st

from commod.dashboard.server.startup import start, wait_until_handed_over
from commod.dashboard.state import session
from commod.dashboard.state.settings import sound_data
from commod.dashboard.streamlit_internals import ON_EVERY_PAGE, STYLE, TO_TOP
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import FIRST, LANGUAGES, phrase
from commod.dashboard.text.menu import MENU, entry_of, page_name
from commod.dashboard.views import room
from commod.dashboard.views.pages import menu_page, navigation
from commod.dashboard.views.widgets import button
from commod.datasets import damaged_files

# Two points, f and g; an icon by name would be fetched from elsewhere.
_ICON = str(Path(__file__).parent / "browser" / "icon.png")
# Whether this thread is drawing a page already.
_is_open: ContextVar[bool] = ContextVar("is_open", default=False)


def open_page(explore: Callable[[], None]) -> None:
    """Draw the menu and the page that the address asks for: what app.py does.

    app.py is the script of the Explore page, too. Streamlit runs it again, inside this run, if that is the page; then
    `explore` draws it.
    """
    if _is_open.get():
        explore()
        return
    # Set before the menu: otherwise the icon of the menu becomes that of the page, and is fetched from elsewhere.
    st.set_page_config(page_icon=_ICON, layout="wide")
    before = _is_open.set(True)
    try:
        st.navigation(navigation(_language()), position="top").run()
    finally:
        _is_open.reset(before)
        wait_until_handed_over()


def page(script: str) -> None:
    """Begin a page: its title, the session as it is on entering it, and the room that it is in."""
    st.set_page_config(page_title=f"{page_name(script, _language())} · COMMOD Explorer")
    start()
    if not sound_data():
        st.error("No data file of this app can be used.", icon=":material/error:")
        for sentence in damaged_files().values():
            st.markdown(escape_markdown(sentence))
        st.stop()
    session.enter(script)
    entry, *others = MENU[entry_of(script)]
    st.html(STYLE + _in_the_menu(entry))
    st.html(
        f'<span data-language="{session.language()}"></span><script>{ON_EVERY_PAGE}</script>',
        unsafe_allow_javascript=True,
    )
    if others:
        with st.container(horizontal=True, gap="small"):
            for one in (entry, *others):
                st.page_link(menu_page(one))
    if session.language() != session.spoken():
        st.caption(phrase(session.spoken(), "frame.not_translated"))
    room.strip(script)
    if "only" not in st.query_params:  # a part of a page, in a frame elsewhere
        with st.sidebar:
            for code, name in LANGUAGES.items():
                if code != session.spoken():
                    button(name, "translate", session.speak, code, key=f"speak_{code}")


def _in_the_menu(entry: str) -> str:
    """A style that marks the entry of this page: Streamlit marks only those that the menu shows."""
    address = entry.removeprefix("pages/").removesuffix(".py")
    return f'<style>[data-testid="stTopNavLink"][href$="/{address}"] {{ font-weight: 600; }}</style>'


def _language() -> str:
    return session.spoken() if sound_data() else FIRST


def scroll_to(anchor: str = "", *, turn: int = 0) -> None:
    """Scroll to a heading, or to the top of the page, and read it out: once for every `turn`."""
    span = f'<span data-part="{anchor}" data-turn="{turn}"></span>'
    st.html(f"{span}<script>{TO_TOP}</script>", unsafe_allow_javascript=True)
