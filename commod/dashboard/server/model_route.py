"""``GET /model``: the first picture of a model, for a browser that follows a slider (docs/picture.md).

It takes the parameters of a share link. It uses the queue and the cache of the pages, so that equal settings are
trained once for everyone. An answer that is not ready yet says so, with its place in the queue, and the browser asks
again.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from commod import __version__
from commod.dashboard.jobs import service, tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.model.picture import SCHEMA, picture_of
from commod.dashboard.rooms.buckets import Buckets
from commod.dashboard.server.headers import browser_of
from commod.dashboard.state.link import settings_of_link
from commod.dashboard.state.own_data import session_with
from commod.dashboard.state.settings import OWN_PREFIX, Settings
from commod.dashboard.streamlit_internals import sessions_of
from commod.dashboard.text.language import FIRST, LANGUAGES

# Seconds until an answer that is not ready says so, and until a place in the queue is given up unless the browser asks
# again. A browser that closes the connection gives its place up at once.
LONGEST_WAIT, GRACE = 1.0, 1.0
# Requests that a browser may make at once, and per second in the long run: a moving slider makes about 30 a second.
BURST, RATE = 120, 40.0
_NOT_STORED = {"Cache-Control": "no-store"}
_log = logging.getLogger(__name__)
_requests = Buckets(BURST, RATE, time.monotonic)
# By browser, its place in the queue, kept until it asks again.
_places: dict[str, Ticket] = {}


def _hold(browser: str, ticket: Ticket) -> None:
    """Keep a place for a while; an earlier one is given up."""
    _let_go(browser)
    _places[browser] = ticket
    asyncio.get_running_loop().call_later(GRACE, _let_go, browser, ticket)


def _let_go(browser: str, ticket: Ticket | None = None) -> None:
    """Give up a browser's place, if it is this one."""
    if browser in _places and ticket in (None, _places[browser]):
        _places.pop(browser).leave()


async def answer(request: Request) -> Response:
    """The picture (200), its place in the queue (202), or the reason for an error (4xx, 5xx)."""
    browser = browser_of(request.scope)
    name = browser or (request.client.host if request.client else "")
    if not _requests.take(name):
        return _refused(429, "Too many requests. Wait a second.", {**_NOT_STORED, "Retry-After": "1"})
    try:
        return await _answer(request, browser, name)
    except ValueError as error:
        return _refused(400, str(error))
    except Exception:
        _log.exception("A picture could not be made.")
        return _refused(500, "Training failed because of an error in the app. Choose another setting.")


async def _answer(request: Request, browser: str | None, name: str) -> Response:
    parameters = dict(request.query_params)
    language = parameters.get("lang", FIRST)
    if language not in LANGUAGES:
        raise ValueError(f"The language must be one of {', '.join(LANGUAGES)}.")
    own = _owned(parameters.get("data", ""), browser)
    settings = settings_of_link(parameters, own) if own else _settings_of_link(tuple(parameters.items()))
    stage = 1 if parameters.get("wait") == "complete" else 0
    ticket = service.submit(tasks.fit(settings))
    _let_go(name)
    is_there = False
    try:
        is_there = await _is_done(ticket, stage, request)
    finally:
        if not is_there:
            ticket.leave()
    if not is_there:
        return Response(status_code=499)  # nobody listens any more
    _hold(name, ticket)
    if not ticket.has(0):
        return JSONResponse({"schema": SCHEMA, "status": "queued", "position": ticket.before}, 202, _NOT_STORED)
    complete = ticket.has(1) and not ticket.failed
    picture = picture_of(ticket.result(0), language, complete=complete, movable=parameters.get("movable") != "0")
    if not complete or settings.data.startswith(OWN_PREFIX):
        return JSONResponse(picture, headers=_NOT_STORED)
    return _cacheable(request, picture)


@lru_cache(maxsize=4096)  # otherwise half of the time of a ready answer
def _settings_of_link(parameters: tuple[tuple[str, str], ...]) -> Settings:
    return settings_of_link(dict(parameters))


def _owned(data: str, browser: str | None) -> str | None:
    """`data`, if one of this browser's open sessions uploaded them."""
    return data if data.startswith(OWN_PREFIX) and session_with(data) in sessions_of(browser) else None


async def _is_done(ticket: Ticket, stage: int, request: Request) -> bool:
    """Wait until a stage is done, `LONGEST_WAIT` at most; false if the browser has closed the connection."""
    if ticket.has(stage):
        return True
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        changed.set()

    ticket.listen(lambda: loop.call_soon_threadsafe(changed.set))
    gone = asyncio.create_task(disconnected())
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while not ticket.has(stage) and not gone.done():
                await changed.wait()
                changed.clear()
    except TimeoutError:
        pass
    finally:
        is_there = gone.cancel()
    return is_there


def _cacheable(request: Request, picture: Mapping[str, Any]) -> Response:
    """A complete picture never changes: a browser that has it gets "not modified"."""
    answer = JSONResponse(picture, headers={"Cache-Control": "private, no-cache"})
    tag = f'"{sha256(__version__.encode() + bytes(answer.body)).hexdigest()[:32]}"'
    answer.headers["ETag"] = tag
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag, "Cache-Control": "private, no-cache"})
    return answer


def _refused(status: int, reason: str, headers: Mapping[str, str] = _NOT_STORED) -> Response:
    return JSONResponse({"schema": SCHEMA, "status": "refused", "reason": reason}, status, headers)
