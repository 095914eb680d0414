"""Once per server: what `streamlit.App` is told. Loads little, so that the server answers at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from itertools import count
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from commod.dashboard.rooms import bounds, sweep
from commod.dashboard.server import capacity
from commod.dashboard.server.browser import BrowserCookie
from commod.dashboard.server.files import OwnFiles
from commod.dashboard.server.gate import Gate, raw_answer
from commod.dashboard.server.headers import SecurityHeaders
from commod.dashboard.server.kept_sessions import KeptSessions
from commod.dashboard.server.loading import one_at_a_time
from commod.dashboard.server.log_limit import LogLimit, limit_logs
from commod.dashboard.server.settings_check import check_settings
from commod.dashboard.server.slow_requests import HEAD_SECONDS, SlowRequests
from commod.dashboard.server.sockets import send_at_once
from commod.dashboard.streamlit_internals import (
    accept_few_at_once,
    bound_connections,
    hand_over_together,
    ignore_pages_folder,
    keep_disconnected_in,
    let_runs_end,
    make_theme_once,
    open_loops_on_demand,
    tell_of_long_runs_only,
    tell_values_until_known,
    wake_loop_once,
)

# Between two looks at sessions whose time is over and at what was left out of the log.
LOOK_SECONDS = 5.0
# Of these looks every such one is for rooms whose time is over, too.
LOOKS_TO_SWEEP = 12


def server_options(load: str) -> dict[str, Any]:
    """Keyword arguments of `streamlit.App`; a server that cannot be what it promises ends here, with a sentence.

    The module `load`, of the first page, is imported while browsers fetch what they need themselves.
    """
    check_settings()
    bounds()
    ignore_pages_folder()
    let_runs_end()
    if os.environ.get("COMMOD_TELL_ALL_RUNS") != "1":  # browser tests wait for short runs, too
        tell_of_long_runs_only()
    tell_values_until_known()
    hand_over_together()
    make_theme_once()
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
        wake_loop_once(asyncio.get_running_loop())
        Thread(target=_load, args=(load,), name="load", daemon=True).start()
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


def _load(module: str) -> None:
    with one_at_a_time:
        import_module(module)
        from commod.dashboard.server.ready import start
    start()
