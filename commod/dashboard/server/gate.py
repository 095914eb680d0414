"""Who is let in: a bound on open sessions, said in a sentence to those outside, and addresses that stay closed."""

from __future__ import annotations

import os
from collections import Counter
from ipaddress import IPv6Address, ip_address
from typing import Any

from commod.dashboard.streamlit_internals import is_known_session

RETRY_SECONDS = 60
# In an address that is not a page's. Pages that are open go on asking for these.
NOT_PAGES = {"_stcore", "static", "media", "component", "vendor", "model"}
# Who comes back to a session that is known may go beyond the bound by this share of it: a network that is gone for a
# moment must not cost anybody the place.
FOR_THOSE_WHO_COME_BACK = 0.25

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>COMMOD Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="{seconds}">
<style>body {{ font: 1.1rem/1.5 sans-serif; max-width: 40rem; margin: 15vh auto; padding: 0 1rem; }}</style></head>
<body><h1>COMMOD Explorer</h1><p>{sentence}</p><p>This page tries again by itself.</p></body></html>
"""


def full(people: int) -> str:
    """What those outside are told."""
    are = "1 person is" if people == 1 else f"{people} people are"
    return f"COMMOD Explorer is full: {are} using it. Try again in a minute."


def full_for_address(tabs: int) -> str:
    """What somebody is told whose own address has as many tabs open as one may have."""
    are = "1 tab is" if tabs == 1 else f"{tabs} tabs are"
    return f"COMMOD Explorer is full for your network: {are} open there. Close one, or try again in a minute."


def page_of(sentence: str) -> bytes:
    """A small page that says `sentence`."""
    return _PAGE.format(sentence=sentence, seconds=RETRY_SECONDS).encode()


def raw_answer(sentence: str) -> bytes:
    """The same as a whole answer, for a connection that is not even listened to."""
    body = page_of(sentence)
    head = (
        f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"Retry-After: {RETRY_SECONDS}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def network_of(address: str) -> str:
    """What counts as one address: of IPv6 the first half, since one customer is given all of the second."""
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
    """ASGI middleware: counts open sessions, and tells newcomers when there is no place.

    The address is the one that uvicorn gives: of the connection itself, or, if that comes from a proxy on this machine
    (or in FORWARDED_ALLOW_IPS), what the proxy says in X-Forwarded-For. Nobody else is believed.
    """

    def __init__(self, app: Any, sessions: int, of_an_address: int) -> None:
        self.app, self.sessions, self.of_an_address = app, sessions, of_an_address
        self.open_from: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self._session(scope, receive, send)
        elif scope["type"] == "http" and _is_metrics(scope) and os.environ.get("COMMOD_METRICS") != "1":
            await _answer(send, 404, b"Not Found", [(b"content-type", b"text/plain")])
        elif scope["type"] == "http" and _is_page(scope) and (sentence := self._no_place(scope)):
            await _answer(send, 503, page_of(sentence), _HEADERS)
        else:
            await self.app(scope, receive, send)

    def _no_place(self, scope: Any) -> str:
        """Why somebody cannot be let in, or nothing."""
        people = self.open_from.total()
        if people >= self.sessions * (1 + FOR_THOSE_WHO_COME_BACK * _comes_back(scope)):
            return full(people)
        tabs = self.open_from[_network(scope)]
        return full_for_address(tabs) if tabs >= self.of_an_address else ""

    async def _session(self, scope: Any, receive: Any, send: Any) -> None:
        if self._no_place(scope):
            await send({"type": "websocket.close"})  # its page has the sentence
            return
        network = _network(scope)
        self.open_from[network] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open_from[network] -= 1
            self.open_from += Counter()  # drops those that are gone


_HEADERS = [
    (b"content-type", b"text/html; charset=utf-8"),
    (b"retry-after", str(RETRY_SECONDS).encode()),
    (b"cache-control", b"no-store"),
    (b"connection", b"close"),
]


async def _answer(send: Any, status: int, body: bytes, headers: Any) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _network(scope: Any) -> str:
    return network_of(scope["client"][0]) if scope.get("client") else ""


def _comes_back(scope: Any) -> bool:
    """Whether a websocket names a session that is known: Streamlit's page sends its name as the third protocol."""
    named = scope.get("subprotocols", [])
    return len(named) > 2 and is_known_session(named[2])


def _is_metrics(scope: Any) -> bool:
    return scope["path"].rstrip("/").endswith("/_stcore/metrics")


def _is_page(scope: Any) -> bool:
    """Whether a request is for the page itself, which Streamlit gives at every address that is not taken."""
    parts = scope["path"].strip("/").split("/")
    return scope["method"] in ("GET", "HEAD") and not NOT_PAGES.intersection(parts) and "." not in parts[-1]
