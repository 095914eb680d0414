"""Who is let in, and who is told that the server is full."""

import asyncio
import importlib
import sys

import pytest

from commod.dashboard.server import gate
from commod.dashboard.server.gate import Gate, network_of


async def ask(app, scope, messages=()):
    """What an app answers, and all that it is sent."""
    sent, waiting = [], list(messages)

    async def receive():
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent


def page(path="/", client="192.0.2.1", method="GET"):
    return {"type": "http", "method": method, "path": path, "client": (client, 1), "headers": []}


def socket(client="192.0.2.1", *named, scheme="ws", **headers):
    return {
        "type": "websocket",
        "scheme": scheme,
        "path": "/_stcore/stream",
        "client": (client, 1),
        "subprotocols": ["streamlit", *named],
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


class App:
    """Holds websockets open until told, and answers requests."""

    def __init__(self):
        self.release = asyncio.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "websocket":
            await self.release.wait()
        else:
            await send({"type": "http.response.start", "status": 200, "headers": []})


async def crowded(sockets, sessions=3, per_address=2):
    """A gate with these websockets open, and the tasks that hold them."""
    door = Gate(App(), sessions=sessions, per_address=per_address)
    tasks = [asyncio.create_task(ask(door, scope)) for scope in sockets]
    await asyncio.sleep(0)
    return door, tasks


@pytest.fixture(autouse=True)
def no_sessions(monkeypatch):
    monkeypatch.setattr(gate, "is_known_session", lambda name: name == "known")


@pytest.mark.parametrize(
    ("scheme", "host", "origin", "is_let_in"),
    [
        ("ws", "explorer.example", None, True),  # no browser
        ("ws", "explorer.example", "http://explorer.example", True),
        ("ws", "explorer.example", "https://explorer.example", True),  # behind a proxy that does not say so
        ("wss", "explorer.example", "https://explorer.example", True),
        ("wss", "explorer.example", "http://explorer.example", False),
        ("ws", "localhost:8501", "http://localhost:8501", True),
        ("ws", "localhost:8501", "http://localhost:8502", False),
        ("ws", "localhost:8501", "http://localhost", False),
        ("ws", "127.0.0.1:8501", "http://localhost:8501", False),
        ("ws", "explorer.example", "null", False),
        ("ws", "explorer.example", "http://evil.example", False),
        ("ws", "explorer.example", "http://explorer.example.evil.example", False),
        ("ws", "explorer.example", "https://friend.example", True),
    ],
)
def test_only_a_page_of_the_same_site_opens_a_session(monkeypatch, scheme, host, origin, is_let_in):
    options = {"server.corsAllowedOrigins": ["https://friend.example"], "server.enableCORS": True}
    monkeypatch.setattr(gate.st, "get_option", options.__getitem__)

    async def act():
        door = Gate(App(), sessions=3, per_address=2)
        door.app.release.set()
        headers = {"host": host} | ({} if origin is None else {"origin": origin})
        assert (await ask(door, socket(scheme=scheme, **headers)) == []) == is_let_in

    asyncio.run(act())


def test_a_full_server_says_so_and_lets_people_in_when_others_leave():
    async def act():
        door, tasks = await crowded([socket(f"192.0.2.{n}") for n in range(3)])
        start, body = await ask(door, page())
        assert start["status"] == 503
        assert (b"retry-after", b"60") in start["headers"]
        assert b"COMMOD Explorer is full: 3 people are using it. Try again in a minute." in body["body"]
        assert (await ask(door, page("/lesson", "203.0.113.9")))[0]["status"] == 503
        assert await ask(door, socket("203.0.113.9")) == [{"type": "websocket.close"}]
        for path in (
            "/_stcore/health",
            "/static/index.js",
            "/media/x.png",
            "/model",
            "/favicon.png",
            "/_stcore/upload_file/a/b",
        ):
            assert (await ask(door, page(path)))[0]["status"] == 200, path
        door.app.release.set()
        await asyncio.gather(*tasks)
        assert (await ask(door, page()))[0]["status"] == 200
        assert not door.open_from

    asyncio.run(act())


def test_an_address_is_told_when_it_has_its_share_and_others_come_in():
    async def act():
        door, _ = await crowded([socket(), socket()], sessions=10)
        assert b"full for your network: 2 tabs are open there." in (await ask(door, page()))[1]["body"]
        assert await ask(door, socket()) == [{"type": "websocket.close"}]
        assert (await ask(door, page(client="192.0.2.2")))[0]["status"] == 200

    asyncio.run(act())


def test_who_comes_back_to_a_session_that_is_known_finds_a_place_beyond_the_bound():
    async def act():
        door, _ = await crowded([socket(f"192.0.2.{n}") for n in range(4)], sessions=4)
        assert await ask(door, socket("192.0.2.9", "token", "unknown")) == [{"type": "websocket.close"}]
        back = [asyncio.create_task(ask(door, socket("192.0.2.9", "token", "known"))) for _ in range(2)]
        await asyncio.sleep(0)
        assert [task.done() for task in back] == [False, True]  # and that is bounded, too

    asyncio.run(act())


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("testclient", "testclient"),
    ],
)
def test_what_counts_as_one_address(address, network):
    assert network_of(address) == network


@pytest.mark.parametrize(("asked", "status"), [("", 404), ("0", 404), ("1", 200)])
def test_metrics_are_closed_unless_asked_for(monkeypatch, asked, status):
    monkeypatch.setenv("COMMOD_METRICS", asked)
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics"):
        assert asyncio.run(ask(Gate(App(), 3, 2), page(path)))[0]["status"] == status


# ---- limits ----


def test_the_limits_are_what_the_environment_says(monkeypatch):
    for name, usual in gate.LIMITS.items():
        monkeypatch.delenv(name, raising=False)
        assert gate.limit(name) == usual
        monkeypatch.setenv(name, "40")
        assert gate.limit(name) == 40
    assert min(gate.LIMITS.values()) >= 2 * 60  # a class behind one router that reloads before its tabs are gone


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "²"])
def test_a_limit_that_is_no_number_ends_the_start(monkeypatch, text):
    monkeypatch.setenv("COMMOD_MAX_SESSIONS", text)
    with pytest.raises(SystemExit, match="COMMOD_MAX_SESSIONS must be a whole number above 0"):
        gate.limit("COMMOD_MAX_SESSIONS")


def test_a_system_without_descriptor_limits_starts_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    with pytest.raises(ImportError):
        importlib.import_module("resource")
    assert gate.raise_descriptor_limit() is None


def test_a_system_that_forbids_the_change_starts_all_the_same(monkeypatch):
    resource, asked = pytest.importorskip("resource"), []

    def forbid(_, limits):
        asked.append(limits)
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4_096))
    monkeypatch.setattr(resource, "setrlimit", forbid)
    gate.raise_descriptor_limit()
    assert asked == [(4_096, 4_096)]


def test_the_server_takes_as_many_descriptors_as_it_may(monkeypatch):
    resource = pytest.importorskip("resource")
    taken = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4_096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: taken.append(limits))
    gate.raise_descriptor_limit()
    assert taken == [(4_096, 4_096)]
