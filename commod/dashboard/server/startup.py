"""Once per server: what `streamlit.App` is told, what is loaded and frozen, and which data files cannot be used."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import count
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from threadpoolctl import threadpool_limits

from commod.dashboard.jobs.scheduling import uses
from commod.dashboard.jobs.service import process_pool
from commod.dashboard.rooms import bounds, sweep
from commod.dashboard.server import capacity
from commod.dashboard.server.browser import BrowserCookie
from commod.dashboard.server.files import OwnFiles
from commod.dashboard.server.gate import Gate, raw_answer
from commod.dashboard.server.headers import SecurityHeaders
from commod.dashboard.server.kept_sessions import KeptSessions
from commod.dashboard.server.log_limit import LogLimit, limit_logs
from commod.dashboard.server.settings_check import check_settings
from commod.dashboard.server.slow_requests import HEAD_SECONDS, SlowRequests
from commod.dashboard.server.sockets import send_at_once
from commod.dashboard.streamlit_internals import (
    accept_few_at_once,
    bound_connections,
    ignore_pages_folder,
    keep_disconnected_in,
    let_runs_end,
    open_loops_on_demand,
    tell_values_until_known,
    wake_loop_once,
)
from commod.datasets import damaged_files
from commod.explain.shap_comparison import warm_up

# Between two looks at sessions whose time is over and at what was left out of the log.
LOOK_SECONDS = 5.0
# Of these looks every such one is for rooms whose time is over, too.
LOOKS_TO_SWEEP = 12


def server_options() -> dict[str, Any]:
    """Keyword arguments of `streamlit.App`; a server that cannot be what it promises ends here, with a sentence."""
    check_settings()
    bounds()
    name_damaged_files()
    ignore_pages_folder()
    let_runs_end()
    tell_values_until_known()
    descriptors = capacity.raise_descriptor_limit()
    sessions, of_an_address = capacity.most_sessions(descriptors), capacity.most_sessions_of_an_address()
    open_loops_on_demand()
    crowded = raw_answer("COMMOD Explorer has as many connections open as it can. Try again in a minute.")
    bound_connections(capacity.most_connections(descriptors), HEAD_SECONDS, crowded)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        kept = KeptSessions(sessions, float(st.get_option("server.disconnectedSessionTTL")))
        keep_disconnected_in(kept)
        accept_few_at_once(capacity.ACCEPTED_AT_ONCE)
        if uses("one_wake"):
            wake_loop_once(asyncio.get_running_loop())
        looking = asyncio.create_task(_look_after(kept, limit_logs()))
        async with send_at_once(app):
            yield
        looking.cancel()

    return {
        "lifespan": lifespan,
        "middleware": [
            Middleware(SecurityHeaders),
            Middleware(Gate, sessions=sessions, of_an_address=of_an_address),
            Middleware(SlowRequests),
            Middleware(BrowserCookie),
            Middleware(OwnFiles),
        ],
    }


async def _look_after(kept: KeptSessions, limit: LogLimit) -> None:
    for look in count():
        await asyncio.sleep(LOOK_SECONDS)
        kept.end_old()
        limit.tell()
        if look % LOOKS_TO_SWEEP == 0:
            await asyncio.to_thread(sweep)


@lru_cache(maxsize=1)
def name_damaged_files() -> None:
    """Say once in the server's log which data files cannot be used; the pages work on the others."""
    for sentence in damaged_files().values():
        logging.getLogger(__name__).error(sentence)


@st.cache_resource(show_spinner=False)
def start() -> None:
    """After the imports: freeze what is loaded, start the processes, let SHAP compile.

    Walking all of pandas and scikit-learn for garbage takes longer than a run of a page; frozen objects are not walked
    (and Streamlit's own walk after every run is off, see .streamlit/config.toml). With COMMOD_WARM_UP=0 in the
    environment SHAP compiles when it is needed.
    """
    name_damaged_files()
    # One thread for each product of matrices, as in the processes: its last digit would else depend on who is at work.
    threadpool_limits(limits=1, user_api="blas")
    process_pool()
    _freeze()
    if os.environ.get("COMMOD_WARM_UP") != "0":
        Thread(target=_compile_shap, name="warm-up", daemon=True).start()


def _compile_shap() -> None:
    warm_up()
    _freeze()


def _freeze() -> None:
    if uses("gc_freeze"):
        gc.collect()
        gc.freeze()
