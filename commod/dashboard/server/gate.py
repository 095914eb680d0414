"""Who gets in: a limit on open sessions, a page that says when the server is full, and closed metrics."""

import os
from collections import Counter
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse

from commod.dashboard.rooms import number_asked
from commod.dashboard.streamlit_internals import is_known_session
from commod.uploads.limits import count_of

# Open sessions, in all and from one address: a class behind one router that reloads its pages. docs/benchmarks.md says
# how 200 people fare on two cores.
LIMITS = {"COMMOD_MAX_SESSIONS": 250, "COMMOD_MAX_SESSIONS_PER_ADDRESS": 150}
# File descriptors that the server asks for; a session takes four. Not more, because some programs close every number up
# to the limit when they start.
DESCRIPTORS = 65_536
RETRY_SECONDS = 60
# Parts of addresses that are not pages. Pages that are open keep asking for these.
NOT_PAGES = {"_stcore", "static", "media", "model", "component", "vendor"}
# Share of the limit by which returning sessions may exceed it: nobody loses their place when the network fails briefly.
RETURNING = 0.25

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>COMMOD Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="{seconds}">
<style>body {{ font: 1.1rem/1.5 sans-serif; max-width: 40rem; margin: 15vh auto; padding: 0 1rem; }}</style></head>
<body><h1>COMMOD Explorer</h1><p>{sentence}</p><p>This page tries again by itself.</p></body></html>
"""
_HEADERS = {"retry-after": str(RETRY_SECONDS), "cache-control": "no-store", "connection": "close"}


def limit(variable: str) -> int:
    """A limit on open sessions, from the environment or the default."""
    return number_asked(variable, LIMITS[variable], int)


def raise_descriptor_limit() -> None:
    """Let this process open as many files as the system allows: many systems start with 1,024."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit; a system may forbid the change
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def network_of(address: str) -> str:
    """What counts as one address: for IPv6 the first half, because one customer owns the whole second half."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(IPv6Address(int(found) >> 64 << 64))
    return str(found)


class Gate:
    """ASGI middleware that counts open sessions and turns newcomers away when the server is full.

    The address comes from uvicorn: it is the connection's or, if that comes from a proxy on this machine (or in
    FORWARDED_ALLOW_IPS), the address that the proxy names in X-Forwarded-For.
    """

    def __init__(self, app: Any, sessions: int, per_address: int) -> None:
        self.app, self.sessions, self.per_address = app, sessions, per_address
        self.open_from: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_http, path = scope["type"] == "http", scope.get("path", "").rstrip("/")
        if scope["type"] == "websocket":
            await self._session(scope, receive, send)
        elif is_http and path.endswith("/_stcore/metrics") and os.environ.get("COMMOD_METRICS") != "1":
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
        elif is_http and _is_page(scope) and (sentence := self._refusal(scope)):
            page = _PAGE.format(sentence=sentence, seconds=RETRY_SECONDS)
            await HTMLResponse(page, 503, _HEADERS)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Any) -> str:
        """Why nobody can come in; "" if they can."""
        people = self.open_from.total()
        if people >= self.sessions * (1 + RETURNING * _returns(scope)):
            are = count_of(people, "person is", "people are")
            return f"COMMOD Explorer is full: {are} using it. Try again in a minute."
        tabs = self.open_from[_network(scope)]
        if tabs >= self.per_address:
            are = count_of(tabs, "tab is", "tabs are")
            return f"COMMOD Explorer is full for your network: {are} open there. Close one, or try again in a minute."
        return ""

    async def _session(self, scope: Any, receive: Any, send: Any) -> None:
        if _is_foreign(scope) or self._refusal(scope):
            await send({"type": "websocket.close"})  # the page has the sentence
            return
        network = _network(scope)
        self.open_from[network] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open_from[network] -= 1
            self.open_from += Counter()  # drops addresses without sessions


def _network(scope: Any) -> str:
    return network_of(scope["client"][0]) if scope.get("client") else ""


def _returns(scope: Any) -> bool:
    """Whether a websocket asks to resume a known session, which Streamlit's page names in the third subprotocol."""
    named = scope.get("subprotocols", [])
    return len(named) > 2 and is_known_session(named[2])


def _is_foreign(scope: Any) -> bool:
    """Whether a page of another site (or port, or plain http) opens a websocket; Streamlit lets some in."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    allowed = st.get_option("server.corsAllowedOrigins")
    if origin is None or origin in allowed or not st.get_option("server.enableCORS"):
        return False
    schemes = ("http", "https") if scope["scheme"] == "ws" else ("https",)  # a proxy may not say that it has https
    return origin not in [f"{scheme}://{headers.get('host')}" for scheme in schemes]


def _is_page(scope: Any) -> bool:
    """Whether a request is for the page itself, which Streamlit serves at every otherwise unused address."""
    parts = scope["path"].strip("/").split("/")
    return scope["method"] in ("GET", "HEAD") and not NOT_PAGES.intersection(parts) and "." not in parts[-1]
