"""A model is given a name and kept among the saved runs."""

from dataclasses import replace

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.runs_file import MAX_NAME, MAX_RUNS, default_name
from commod.dashboard.state.saved_runs import no_room_in_words, pin, shelf
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.words import say, say_declared, tip
from commod.datasets import load_task


def pin_popover(settings: Settings) -> None:
    """A button beside the model of `settings` that gives it a name and keeps it, looked at as it is now."""
    settings = replace(settings.looked_at_as(session.current()), reason=session.current().reason)
    with st.popover(say("pin.this"), icon=":material/push_pin:", key="pin_here", on_change="rerun") as opened:
        if not opened.open:
            return
        here = shelf()
        same = here.find(settings)
        if same is not None:
            st.markdown(say("pin.saved", name=escape_markdown(same.name)))
        elif len(here.runs) >= MAX_RUNS:
            st.markdown(say_declared(no_room_in_words()))
        else:
            st.caption(say("pin.keep"))
            _form(settings)
        if here.runs:
            st.page_link("pages/runs.py", label=f"{say('frame.runs')} ({len(here.runs)})", icon=":material/push_pin:")


def pin_here(settings: Settings) -> None:
    """The same on the page of the runs."""
    here = shelf()
    same = here.find(settings)
    model = f"{escape_markdown(load_task(settings.data).spec.title)}, {in_words(settings)}"
    if same is not None:
        name = escape_markdown(same.name)
        st.caption(f"The model of the sliders ({model}) is saved as “{name}”. Move them to pin another.")
    elif len(here.runs) >= MAX_RUNS:
        st.info(no_room_in_words(), icon=":material/inventory_2:")
    else:
        with st.container(border=True):
            st.markdown(f"**The model of the sliders:** {model}")
            _form(settings)


def _form(settings: Settings) -> None:
    usual = default_name(settings)
    key = f"pin_name_{usual}"
    with st.form("pin", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(say("pin.name"), usual, max_chars=MAX_NAME, key=key, help=tip("run_name", most=MAX_NAME))
        st.form_submit_button(say("pin.this"), icon=":material/push_pin:", on_click=pin, args=(settings, key))
