"""Once per server: what starts with and around Streamlit. Imports little, so that the server answers at once.

At the end of a script run, pages wait here for the server's event loop.
"""

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from threading import Event, Lock, Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from streamlit.errors import StreamlitAPIException

from commod.dashboard.rooms import bounds, remove_old_rooms
from commod.dashboard.server.files import OwnFiles, base_path
from commod.dashboard.server.gate import LIMITS, Gate, limit, raise_descriptor_limit
from commod.dashboard.server.headers import BrowserCookie, SecurityHeaders
from commod.dashboard.streamlit_internals import App, settings_files, where_set
from commod.installation import unreadable_settings

# What docs/deploy.md promises, as .streamlit/config.toml sets it.
PROMISED = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "server.disconnectedSessionTTL": 600,
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.maxUploadSize": 50,
}


def check_server_settings() -> None:
    """End the start with one sentence if a settings file is broken or a promised setting is missing.

    Streamlit would ignore the whole file. Settings may be changed on purpose; the log names them.
    """
    problems = [unreadable_settings(settings_files())]
    for option, promised in PROMISED.items():
        value, place = st.get_option(option), where_set(option)
        if not place:
            problems.append(
                f"{option} is not set. It is in the .streamlit/config.toml that comes with app.py: start with "
                "'streamlit run app.py' or 'commod-explorer', and leave that file as it is."
            )
        elif type(value) is not type(promised):
            problems.append(f"{option} is set to {value!r} ({place}): use a value such as {promised!r}.")
        elif value != promised:
            text = "%s is set to %r (%s); what docs/deploy.md says about strangers holds for %r."
            logging.getLogger(__name__).warning(text, option, value, place, promised)
    if problem := next(filter(None, problems), ""):
        raise SystemExit(f"COMMOD Explorer has not started: {problem}")


# Seconds for which a thread keeps the interpreter while others wait. With Python's 0.005, each running script holds up
# every answer of `GET /model` by as much.
SWITCH_SECONDS = 0.0005
# Between two searches for expired rooms.
SWEEP_SECONDS = 60.0
# Longest wait for the event loop. Only a stopped server takes longer.
LOOP_SECONDS = 5.0
# One thread at a time imports the modules of the pages. Two that import the same packages in different orders would
# deadlock, and Python raises.
one_at_a_time = Lock()
_loop: asyncio.AbstractEventLoop | None = None


def server_options(script: str, load: str) -> dict[str, Any]:
    """Keyword arguments of `starlette.applications.Starlette`. A wrong setting ends the start with one sentence.

    Streamlit runs the `script` for every page. The module to `load` is that of the first page: it is imported while the
    browser fetches its own files.
    """
    check_server_settings()
    bounds()
    raise_descriptor_limit()
    # Tells Streamlit that `st.navigation`, not the folder pages/, names the pages. Otherwise the first visitor of a new
    # server who opens the address of a page would see Streamlit's own menu.
    with suppress(StreamlitAPIException):  # an empty menu; app.py draws the real one
        st.navigation([])

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        global _loop
        _loop = asyncio.get_running_loop()
        Thread(target=_load, args=(load,), name="load", daemon=True).start()
        sweeping = asyncio.create_task(_sweep_rooms())
        yield
        sweeping.cancel()

    app = App(script, lifespan=lifespan)
    return {
        "routes": [
            Route(model_address(), _model, methods=["GET"]),
            Route(f"{base_path()}/later", _later, methods=["GET"]),
            Mount("/", app),
        ],
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
    """Answer using a module that is imported with the first page."""
    from commod.dashboard.server.model_route import answer

    return await answer(request)


async def _later(request: Request) -> Response:
    """The address of a page that is gone leads to Decide, which says so."""
    return RedirectResponse(f"decide?{request.url.query}&gone=later")


async def _sweep_rooms() -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            await asyncio.to_thread(remove_old_rooms)
        except Exception:  # a lost database may come back
            logging.getLogger(__name__).exception("Expired rooms could not be deleted. The server will try again.")


def _load(module: str) -> None:
    gc.disable()  # it would scan all imports again and again, and find hardly any garbage
    try:
        with one_at_a_time:
            import_module(module)
    finally:
        gc.enable()
    start()


@st.cache_resource(show_spinner=False)
def start() -> None:
    """After the imports: freeze what is loaded, start the processes, and name damaged data files.

    The garbage collector skips frozen objects: walking all of pandas and scikit-learn takes longer than a script run.
    (Streamlit's own collection after every run is off, see .streamlit/config.toml.)
    """
    from threadpoolctl import threadpool_limits

    from commod.dashboard.jobs.service import process_pool

    name_damaged_files()
    # One thread per matrix product, as in the processes: otherwise the last digit would depend on who computes it.
    threadpool_limits(limits=1, user_api="blas")
    process_pool()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()


def name_damaged_files() -> None:
    """Log which data files cannot be used; the pages work with the others."""
    from commod.datasets import damaged_files

    for sentence in damaged_files().values():
        logging.getLogger(__name__).error(sentence)


def wait_until_handed_over() -> None:
    """Wait in a script thread until the event loop has handled every message drawn so far.

    If a fragment is due (``run_every``) after a script has ended but before the loop has handled its last messages,
    Streamlit drops those messages: the end of the page would be missing. While the script still runs, the fragment
    waits instead. The loop handles messages in order, so ours comes back after all others.
    """
    if _loop is not None and not _loop.is_closed():
        done = Event()
        _loop.call_soon_threadsafe(done.set)
        done.wait(LOOP_SECONDS)
