"""A real server with few descriptors: more people than fit, connections that stop half-way, sockets opened and cut."""

import asyncio
import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.browsing import serve, with_faults
from tests.test_server import get
from tests.wire import Tab

# 116 descriptors, of which 100 are reserved: 16 connections, 8 sessions. Bounds of seconds are short.
FEW = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (110, 116))
from commod.dashboard.server import slow_requests as _slow
_slow.HEAD_SECONDS, _slow.BODY_SECONDS, _slow.FIRST_MESSAGE_SECONDS = 1.0, 1.0, 1.0
"""
FIT = 8


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("few")
    with serve(with_faults(folder, FEW), log=folder / "log") as address:
        port = str(urlsplit(address).port)
        yield address, next(p for p in psutil.Process().children() if port in p.cmdline()), folder / "log"


async def open_tabs(address, number):
    """Those who were let in, their pages drawn, and how many were not."""
    tabs = [Tab(address) for _ in range(number)]
    answers = await asyncio.gather(*(tab.open() for tab in tabs), return_exceptions=True)
    inside = [tab for tab, answer in zip(tabs, answers, strict=True) if answer is tab]
    refused = [answer for answer in answers if isinstance(answer, InvalidStatus)]
    assert len(inside) + len(refused) == number
    assert all([await tab.until(lambda tab=tab: "lambda_fair" in tab.link(), 60) for tab in inside])  # drawn
    return inside, len(refused)


async def leave(tabs):
    for tab in tabs:
        await tab.close()


@pytest.mark.slow
def test_more_people_than_fit(server):
    address, process, log = server
    at_rest = process.num_fds()

    async def act():
        inside, refused = await open_tabs(address, 14)
        assert (len(inside), refused) == (FIT, 14 - FIT)
        assert process.num_fds() - at_rest <= FIT + 2  # one of each session, and what comes and goes
        status, headers, body = await asyncio.to_thread(get, f"{address}/lesson")
        assert status == 503
        assert headers["retry-after"] == "60"
        assert "Content-Security-Policy".lower() in headers
        assert b"COMMOD Explorer is full: 8 people are using it. Try again in a minute." in body
        assert (await asyncio.to_thread(get, f"{address}/_stcore/health"))[0] == 200
        await inside[0].rerun({"How much fairness do you ask for? (λ_fair)": ["2"]})
        assert await inside[0].until(lambda: inside[0].link().get("lambda_fair") == "2", 30)
        assert [tab.problems for tab in inside] == [[]] * FIT
        await leave(inside[1:])
        again, refused = await open_tabs(address, 1)
        assert refused == 0
        assert (await asyncio.to_thread(get, f"{address}/"))[0] == 200
        await leave([inside[0], *again])

    asyncio.run(act())
    assert log.stat().st_size < 2_000, log.read_text()


async def seconds_until_dropped(address, first, then=b""):
    """How long a connection lives that sends `first`, and then this again and again; and what was answered."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    begun = time.monotonic()
    writer.write(first)

    async def trickle():
        with suppress(OSError):
            while then:
                await asyncio.sleep(0.1)
                writer.write(then)

    trickling = asyncio.create_task(trickle())
    answer = b""
    try:
        with suppress(
            ConnectionResetError
        ):  # who writes to a closed connection is reset; what was answered before counts
            async with asyncio.timeout(20):
                while some := await reader.read(4096):
                    answer += some
        return time.monotonic() - begun, answer
    finally:
        trickling.cancel()
        writer.close()


HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"
WITH_BODY = b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n"
HEALTHY = b"GET /_stcore/health HTTP/1.1\r\nHost: x\r\n"


DROPPED = {
    "silent": (b"", b""),
    "half a head": (HALF, b""),
    "a head that trickles": (HALF, b"X: y\r\n"),
    "half a second head": (HEALTHY + b"\r\nGET / HT", b"T"),
    "a body that nobody reads": (HEALTHY + b"Content-Length: 90000\r\n\r\n", b"x"),
    "a body that is refused": (WITH_BODY + b"\r\n", b"x"),
}


def test_a_request_that_does_not_come_to_its_end_is_dropped(server):
    async def act():
        return await asyncio.gather(*(seconds_until_dropped(server[0], *sent) for sent in DROPPED.values()))

    for kind, (seconds, _) in zip(DROPPED, asyncio.run(act()), strict=True):
        assert 0.2 < seconds < 8, kind  # uvicorn's own five for what is silent after an answer; a busy machine


WEBSOCKET = (
    b"GET /_stcore/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
UNREADABLE = {
    "a long cookie": WEBSOCKET + b"Cookie: a=" + 10_000 * b"x" + b"\r\n\r\n",
    "many headers": WEBSOCKET + b"".join(b"X-%d: y\r\n" % i for i in range(130)) + b"\r\n",
    "a long address": WEBSOCKET.replace(b"stream", b"stream?" + 9_000 * b"x") + b"\r\n",
    "a body to come": WEBSOCKET + b"Content-Length: 5\r\n\r\n",
    "a body": WEBSOCKET + b"Content-Length: 5\r\n\r\nhello",
    "a body in chunks": WEBSOCKET + b"Transfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_handshake_that_cannot_be_read_is_refused_at_once(server, kind):
    seconds, answer = asyncio.run(seconds_until_dropped(server[0], UNREADABLE[kind]))
    assert answer.startswith(b"HTTP/1.1 4")
    assert seconds < 3


def test_an_upload_that_stops_half_way_is_told_and_dropped(server):
    address = server[0]

    async def act():
        (tab,), _ = await open_tabs(address, 1)
        _, headers, _ = await asyncio.to_thread(get, f"{address}/_stcore/health")
        cookie = next(v for k, v in headers.items() if k.lower() == "set-cookie").split(";")[0]
        path = (await tab.ask_for_upload("a.csv")).upload_url
        head = (
            f"PUT /{path.lstrip('/')} HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\n"
            f"Cookie: {cookie}; {tab.cookie}\r\n"
            f"X-Xsrftoken: {cookie.partition('=')[2]}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            "Content-Length: 90000\r\n\r\n--x\r\n"
        )
        seconds, answer = await seconds_until_dropped(address, head.encode(), b"a")
        assert b"408 " in answer
        assert b"too slowly" in answer
        assert seconds < 8
        assert not tab.problems
        await leave([tab])

    asyncio.run(act())


def test_a_websocket_that_says_nothing_is_closed(server):
    address = server[0]

    async def act():
        silent = await connect(f"{address.replace('http', 'ws')}/_stcore/stream", origin=address)
        async with asyncio.timeout(20):
            with pytest.raises(ConnectionClosed):
                await silent.recv()
        assert silent.close_code == 1008

    asyncio.run(act())


def test_a_flood_of_connections_leaves_those_inside_alone(server):
    """16 connections are listened to; all others are told and closed, and the reserve is never used up."""
    address, _, log = server
    place = urlsplit(address)

    def told(connection):
        connection.settimeout(0.5)
        with connection, suppress(OSError):
            return b"as many connections open as it can" in connection.recv(2000)
        return False

    async def act():
        (tab,), _ = await open_tabs(address, 1)
        flood = [socket.create_connection((place.hostname, place.port)) for _ in range(200)]
        await tab.rerun({"How much fairness do you ask for? (λ_fair)": ["3"]})
        assert await tab.until(lambda: tab.link().get("lambda_fair") == "3", 30)
        assert sum([await asyncio.to_thread(told, one) for one in reversed(flood)]) > 150
        async with asyncio.timeout(20):
            while (await asyncio.to_thread(get, f"{address}/"))[0] != 200:
                await asyncio.sleep(0.1)
        assert not tab.problems
        await leave([tab])

    asyncio.run(act())
    assert "out of system resource" not in log.read_text()
    assert log.stat().st_size < 2_000, log.read_text()
