"""Who is let in, who is told that the server is full, and how slow one may be."""

import asyncio

import pytest

from commod.dashboard.server import capacity, gate, slow_requests
from commod.dashboard.server.gate import Gate, full, full_for_address, network_of
from commod.dashboard.server.slow_requests import SlowRequests


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


def socket(client="192.0.2.1", *named):
    return {
        "type": "websocket",
        "path": "/_stcore/stream",
        "client": (client, 1),
        "subprotocols": ["streamlit", *named],
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


async def crowded(sockets, sessions=3, of_an_address=2):
    """A gate with these websockets open, and the tasks that hold them."""
    door = Gate(App(), sessions=sessions, of_an_address=of_an_address)
    tasks = [asyncio.create_task(ask(door, scope)) for scope in sockets]
    await asyncio.sleep(0)
    return door, tasks


@pytest.fixture(autouse=True)
def no_sessions(monkeypatch):
    monkeypatch.setattr(gate, "is_known_session", lambda name: name == "known")


def test_a_full_server_says_so_and_lets_people_in_when_others_leave():
    async def act():
        door, tasks = await crowded([socket(f"192.0.2.{n}") for n in range(3)])
        start, body = await ask(door, page())
        assert start["status"] == 503
        assert (b"retry-after", b"60") in start["headers"]
        assert full(3).encode() in body["body"]
        assert full(3) == "COMMOD Explorer is full: 3 people are using it. Try again in a minute."
        assert (await ask(door, page("/lesson", "203.0.113.9")))[0]["status"] == 503
        assert await ask(door, socket("203.0.113.9")) == [{"type": "websocket.close"}]
        for path in ("/_stcore/health", "/static/index.js", "/media/x.png", "/favicon.png", "/_stcore/upload_file/a/b"):
            assert (await ask(door, page(path)))[0]["status"] == 200, path
        door.app.release.set()
        await asyncio.gather(*tasks)
        assert (await ask(door, page()))[0]["status"] == 200
        assert not door.open_from

    asyncio.run(act())


def test_an_address_is_told_when_it_has_its_share_and_others_come_in():
    async def act():
        door, _ = await crowded([socket(), socket()], sessions=10)
        assert full_for_address(2).encode() in (await ask(door, page()))[1]["body"]
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


# ---- capacity ----


def test_the_bound_follows_the_descriptors_and_what_was_asked_for(monkeypatch):
    monkeypatch.delenv("COMMOD_MAX_SESSIONS", raising=False)
    assert capacity.most_sessions(20_000) == capacity.SESSIONS
    assert capacity.most_sessions(256) == 78
    assert capacity.most_sessions(50) == 1
    monkeypatch.setenv("COMMOD_MAX_SESSIONS", "40")
    assert capacity.most_sessions(20_000) == 40
    monkeypatch.setenv("COMMOD_MAX_SESSIONS_PER_ADDRESS", "5")
    assert capacity.most_sessions_of_an_address() == 5
    assert capacity.SESSIONS_OF_AN_ADDRESS >= 2 * 60  # a class behind one router that reloads before its tabs are gone


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "²"])
def test_a_bound_that_is_no_number_is_told(monkeypatch, text):
    monkeypatch.setenv("COMMOD_MAX_SESSIONS", text)
    with pytest.raises(SystemExit, match="COMMOD_MAX_SESSIONS must be a whole number above 0"):
        capacity.most_sessions(1_024)


# ---- slowness ----


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(slow_requests, "BODY_SECONDS", 0.05)
    monkeypatch.setattr(slow_requests, "BODY_BYTES_PER_SECOND", 1_000)
    monkeypatch.setattr(slow_requests, "FIRST_MESSAGE_SECONDS", 0.05)


async def read_all(scope, receive, send):
    """An app that reads a body, as Streamlit's upload does."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client is gone")
        more = message["more_body"]
    await send({"type": "http.response.start", "status": 204, "headers": []})


def chunk(size, more=True):
    return {"type": "http.request", "body": bytes(size), "more_body": more}


def test_half_a_body_is_dropped(short):
    sent = asyncio.run(ask(SlowRequests(read_all), page(method="PUT"), [chunk(10)]))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert b"too slowly" in sent[1]["body"]


def test_a_body_that_comes_may_take_longer_the_more_of_it_there_is(short):
    async def act():
        chunks, sent = [chunk(100), chunk(100), chunk(100), chunk(0, more=False)], []

        async def receive():
            await asyncio.sleep(0.06)  # 0.24 s in all, at 1,000 bytes a second and 0.05 s beyond
            return chunks.pop(0)

        async def send(message):
            sent.append(message["status"])

        receive_first = [chunk(100)]

        async def begun():
            return receive_first.pop() if receive_first else await receive()

        await SlowRequests(read_all)(page(method="PUT"), begun, send)
        return sent

    assert asyncio.run(act()) == [204]


def test_50_megabytes_pass_at_16_kilobytes_a_second():
    assert slow_requests.BODY_BYTES_PER_SECOND <= 16_000


def test_waiting_for_a_client_to_go_has_no_bound(short):
    async def long_answer(scope, receive, send):
        await receive()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 0.2)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    assert asyncio.run(ask(SlowRequests(long_answer), page(), [chunk(0, more=False)]))[0]["status"] == 200


def test_a_fault_that_is_not_slowness_is_not_hidden(short):
    async def fails(scope, receive, send):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(ask(SlowRequests(fails), page()))


def test_a_websocket_that_never_says_anything_is_closed_and_one_that_has_may_be_silent(short):
    async def listens(scope, receive, send):
        assert (await receive())["type"] == "websocket.connect"
        first = await receive()
        if first["type"] == "websocket.receive":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(receive(), 0.2)
        await send(first)

    begin = {"type": "websocket.connect"}
    silent = asyncio.run(ask(SlowRequests(listens), socket(), [begin]))
    assert [message["type"] for message in silent] == ["websocket.close", "websocket.disconnect"]
    spoke = {"type": "websocket.receive", "bytes": b"x"}
    assert asyncio.run(ask(SlowRequests(listens), socket(), [begin, spoke])) == [spoke]
