"""Once per server: what surrounds Streamlit. Imports little, so that the server answers at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from streamlit.errors import StreamlitAPIException

from commod.dashboard.rooms import bounds, sweep
from commod.dashboard.server.browser import BrowserCookie
from commod.dashboard.server.files import OwnFiles, base_path
from commod.dashboard.server.gate import LIMITS, Gate, limit, raise_descriptor_limit
from commod.dashboard.server.headers import SecurityHeaders
from commod.dashboard.server.settings_check import check_settings
from commod.dashboard.server.threads import one_at_a_time, remember_loop
from commod.dashboard.streamlit_internals import App

# Between two searches for expired rooms.
SWEEP_SECONDS = 60.0


def server_options(script: str, load: str) -> dict[str, Any]:
    """Keyword arguments of `starlette.applications.Starlette`. A wrong setting ends the start with one sentence.

    Parameters
    ----------
    script : str
        Path of the script that Streamlit runs for every page.
    load : str
        Module of the first page, imported while the browser fetches its own files.
    """
    check_settings()
    bounds()
    raise_descriptor_limit()
    # Tells Streamlit that `st.navigation`, not the folder pages/, names the pages. Otherwise the first visitor of a new
    # server who opens the address of a page would see Streamlit's own menu.
    with suppress(StreamlitAPIException):  # an empty menu; app.py draws the real one
        st.navigation([])

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        remember_loop()
        Thread(target=_load, args=(load,), name="load", daemon=True).start()
        sweeping = asyncio.create_task(_sweep_rooms())
        yield
        sweeping.cancel()

    app = App(script, lifespan=lifespan)
    return {
        "routes": [Route(model_address(), _model, methods=["GET"]), Mount("/", app)],
        "lifespan": app.lifespan(),
        "middleware": [
            Middleware(SecurityHeaders),
            Middleware(Gate, *map(limit, LIMITS)),
            Middleware(BrowserCookie),
            Middleware(OwnFiles),
        ],
    }


def model_address() -> str:
    """Path of the route for the first picture of a model."""
    return f"{base_path()}/model"


async def _model(request: Request) -> Response:
    """Answer with a module that is imported with the first page."""
    from commod.dashboard.server.model_route import answer

    return await answer(request)


async def _sweep_rooms() -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            await asyncio.to_thread(sweep)
        except Exception:  # a database that is gone may come back
            logging.getLogger(__name__).exception("Expired rooms could not be deleted. The server will try again.")


def _load(module: str) -> None:
    with one_at_a_time:
        import_module(module)
        from commod.dashboard.server.ready import start
    start()
