"""Uploaded data of one session: held in it, counted, and forgotten with it."""

import ctypes
import gc
import logging
import secrets
import time
import weakref
from contextlib import suppress
from dataclasses import replace
from threading import Lock, Thread

import pandas as pd
import streamlit as st

from commod.dashboard.state.page_state import HELD
from commod.dashboard.state.settings import OWN_PREFIX
from commod.dashboard.streamlit_internals import is_connected, state_of_this_session, this_session
from commod.datasets import Task, add_task, forget_task
from commod.experiments.start import Start

# Bytes of tables that all sessions together may hold: six of the largest, read and in use, or a class of smaller ones.
MAX_TABLES = 2 * 2**30
_OWN = HELD + "own_data"


class NoRoomError(ValueError):
    """All sessions' tables together have reached the memory limit; a sentence for the page."""


class Held:
    """Uploaded data in a session's memory: a table as it was read, or the data in use.

    It is dropped by `forget`, with its session, or when a closed session has not come back for as long as Streamlit
    keeps it (`server.disconnectedSessionTTL`).
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.session = this_session()
        self.state = state_of_this_session() if size else None
        self.seen = time.monotonic()  # when the session was last known to be open
        if size:
            _count(self)

    def forget(self) -> None:
        """Drop the data and everything that was computed from them."""
        with _lock:
            _all_held.discard(self)
        self.size, self.state = 0, None


_all_held: weakref.WeakSet[Held] = weakref.WeakSet()
_lock = Lock()
_keeper: Thread | None = None


def _count(held: Held) -> None:
    global _keeper
    with _lock:
        if held.size + sum(other.size for other in _all_held) > MAX_TABLES:
            raise NoRoomError(
                f"The tables of all who use this server take as much memory as they may ({MAX_TABLES / 1e9:.1f} GB): "
                "try again in a few minutes, or upload a sample of the rows."
            )
        _all_held.add(held)
        if _keeper is None:
            _keeper = Thread(target=_keep_time, name="own-data", daemon=True)
            _keeper.start()


def _keep_time() -> None:
    """Check all sessions that hold data, so that data go even if nobody visits."""
    last = 0
    while True:
        grace = float(st.get_option("server.disconnectedSessionTTL"))
        pause = min(5.0, grace / 20)
        time.sleep(pause)
        forget_closed(grace + pause)
        with _lock:
            before, last = last, sum(held.size for held in _all_held)
        if before - last > 2**20:
            return_freed_memory()


def forget_closed(grace: float) -> None:
    """Forget the data of sessions last seen `grace` seconds ago, and everything made from them."""
    now = time.monotonic()
    with _lock:
        everything = list(_all_held)
    for held in everything:
        try:
            if is_connected(held.session):
                held.seen = now
            elif now - held.seen >= grace:
                state = held.state
                held.forget()
                if state is not None:
                    state.clear()  # with results and everything else that the pages keep
        except Exception:  # all others must still go
            logging.getLogger(__name__).exception("Some results of uploaded data could not be dropped.")


def return_freed_memory() -> None:
    """Give free memory back to the system: by default the C library keeps it for later, tables and all.

    Ended sessions are in reference cycles, which Python collects only while others are active.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # no glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def table_size(frame: pd.DataFrame) -> int:
    """Bytes that a table takes in memory."""
    return int(frame.memory_usage(deep=True).sum())


class OwnData(Held):
    """Uploaded data of one session. They live as long as this object, which only the session holds."""

    def __init__(self, task: Task) -> None:
        super().__init__(table_size(task.X))
        self.name = f"{OWN_PREFIX}{secrets.token_hex(16)}"
        self.task = replace(task, spec=replace(task.spec, name=self.name))
        add_task(self.task)
        # A session that ends takes its data with it, even without `forget`. In its own thread: this may be called at
        # any moment.
        self._end = weakref.finalize(self, lambda name: Thread(target=forget_task, args=(name,)).start(), self.name)
        self._end.atexit = False
        self.start: Start | None = None

    def begin(self, start: Start) -> None:
        """Set where the pages open, and where Reset leads: at `start`."""
        self.start = start
        spec = self.task.spec
        self.task = replace(self.task, spec=replace(spec, suited={**spec.suited, **start.settings}))
        add_task(self.task)

    def forget(self) -> None:
        super().forget()
        self._end.detach()
        forget_task(self.name)
        vars(self).pop("task", None)  # Streamlit may keep a session, and so this, until another one comes


def session_with(data: str) -> str | None:
    """Id of the session that has uploaded a data set."""
    with _lock:
        return next((held.session for held in _all_held if getattr(held, "name", None) == data), None)


def own_data() -> OwnData | None:
    """What this session has uploaded, if anything."""
    return st.session_state.get(_OWN)


def hold(own: OwnData) -> None:
    """Take data into this session."""
    st.session_state[_OWN] = own


def release() -> None:
    """Forget what this session holds, and everything that was computed from it."""
    own: OwnData = st.session_state.pop(_OWN)
    own.forget()
