"""Uploaded data of one session: held in it, and forgotten with it."""

from __future__ import annotations

import secrets
import time
import weakref
from dataclasses import replace
from threading import Thread, Timer

import streamlit as st

from commod.dashboard.state.page_state import HELD
from commod.dashboard.state.settings import OWN_PREFIX
from commod.datasets import Task, add_task, forget_task
from commod.experiments.start import Start

_OWN = HELD + "own_data"


class OwnData:
    """Uploaded data of one session. They live as long as this object does, and it lives in the session alone."""

    is_own_data = True  # a session that holds such is kept longest (server/kept_sessions.py)

    def __init__(self, task: Task) -> None:
        self.name = f"{OWN_PREFIX}{secrets.token_hex(16)}"
        self.task = replace(task, spec=replace(task.spec, name=self.name))
        add_task(self.task)
        # A session that ends takes its data with it, whether or not anybody said so. In a thread of its own: this may
        # be called in the middle of anything.
        self._end = weakref.finalize(self, lambda name: Thread(target=forget_task, args=(name,)).start(), self.name)
        self._end.atexit = False
        self.seen = time.monotonic()
        self.start: Start | None = None

    def begin(self, start: Start) -> None:
        """Let the pages open, and go back by Reset, where `start` says."""
        self.start = start
        spec = self.task.spec
        self.task = replace(self.task, spec=replace(spec, suited={**spec.suited, **start.settings}))
        add_task(self.task)

    def forget(self) -> None:
        """Drop the data and everything that was computed from them."""
        self._end.detach()
        forget_task(self.name)


def own_data() -> OwnData | None:
    """What this session has uploaded, if anything."""
    found: OwnData | None = st.session_state.get(_OWN)
    if found is not None:
        found.seen = time.monotonic()
    return found


def _closed(uploaded: list[OwnData]) -> None:
    """Forget the data of a session that was closed and does not come back: Streamlit may keep it for much longer."""
    grace = float(st.get_option("server.disconnectedSessionTTL"))

    def forget(own: OwnData) -> None:
        if time.monotonic() - own.seen >= grace:
            own.forget()

    for own in uploaded:
        timer = Timer(1.05 * grace, forget, (own,))
        timer.daemon = True
        timer.start()


@st.cache_resource(scope="session", show_spinner=False, on_release=_closed)
def _uploaded() -> list[OwnData]:
    """What has to be forgotten when this session is closed."""
    return []


def forget_when_closed() -> None:
    """To be called in every run: a browser that has come back may close again."""
    if (own := own_data()) is not None:
        _uploaded()[:] = [own]


def hold(task: Task) -> OwnData:
    """Take data into this session."""
    own = st.session_state[_OWN] = OwnData(task)
    return own


def release() -> None:
    """Forget what this session holds, and everything that was computed from it."""
    own: OwnData = st.session_state.pop(_OWN)
    own.forget()
