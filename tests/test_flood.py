"""A real server, on both event loops: more people than fit."""

import asyncio
from collections import Counter
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus

from tests.benchmarks.faults import server_of
from tests.browsing import serve, with_faults
from tests.test_server import get
from tests.waiting import PATIENCE
from tests.wire import Tab

FIT = 8


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def server(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("few")
    if request.param == "uvloop":  # which uvicorn uses by itself
        pytest.importorskip("uvloop")
    else:
        (folder / "uvloop.py").write_text("raise ImportError")
    with serve(with_faults(folder, ""), {"COMMOD_MAX_SESSIONS": str(FIT)}, log=folder / "log") as address:
        yield address, folder / "log"


async def open_tabs(address, number):
    """Those who were let in, their pages drawn, and how many were not."""
    tabs = [Tab(address) for _ in range(number)]
    answers = await asyncio.gather(*(tab.open() for tab in tabs), return_exceptions=True)
    inside = [tab for tab, answer in zip(tabs, answers, strict=True) if answer is tab]
    refused = [answer for answer in answers if isinstance(answer, InvalidStatus)]
    assert len(inside) + len(refused) == number
    assert all([await tab.until(lambda tab=tab: "lambda_fair" in tab.link(), PATIENCE) for tab in inside])  # drawn
    return inside, len(refused)


async def leave(tabs):
    for tab in tabs:
        await tab.close()


@pytest.mark.slow
def test_more_people_than_fit(server):
    address, log = server

    async def act():
        inside, refused = await open_tabs(address, 14)
        assert (len(inside), refused) == (FIT, 14 - FIT)
        status, headers, body = await asyncio.to_thread(get, f"{address}/lesson")
        assert status == 503
        assert headers["retry-after"] == "60"
        assert "Content-Security-Policy".lower() in headers
        assert b"COMMOD Explorer is full: 8 people are using it. Try again in a minute." in body
        assert (await asyncio.to_thread(get, f"{address}/_stcore/health"))[0] == 200
        await inside[0].rerun({"Fairness (λ_fair)": ["2"]})
        assert await inside[0].until(lambda: inside[0].link().get("lambda_fair") == "2", PATIENCE)
        assert [tab.problems for tab in inside] == [[]] * FIT
        await leave(inside[1:])
        again, refused = await open_tabs(address, 1)
        assert refused == 0
        assert (await asyncio.to_thread(get, f"{address}/"))[0] == 200
        await leave([inside[0], *again])

    asyncio.run(act())
    assert log.stat().st_size < 2_000, log.read_text()


ROUTES = [
    "GET /",
    "GET /room",
    "GET /nowhere/at/all",
    "GET /_stcore/health",
    "GET /_stcore/host-config",
    "GET /_stcore/stream",
    "GET /_stcore/metrics",
    "GET /static/nothing.js",
    "GET /media/nothing.csv",
    "GET /component/nothing/x.js",
    "GET /model",
    "GET /model?data=law_school&lambda_fair=2",
    "GET /model?" + "x" * 4000,
    "PUT /_stcore/upload_file/nobody/nothing",
    "DELETE /_stcore/upload_file/nobody/nothing",
    "POST /",
    "OPTIONS /model",
]


async def flood(address, route, requests, connections=10):
    """Cheap requests on connections that stay open; how many were answered, by status."""
    place, method = urlsplit(address), route.partition(" ")[0]
    head = f"{route} HTTP/1.1\r\nHost: {place.netloc}\r\n" + (
        "Content-Length: 0\r\n\r\n" if method == "PUT" else "\r\n"
    )
    statuses = Counter()

    async def send():
        reader = writer = None
        for _ in range(requests // connections):
            if writer is None:
                reader, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.write(head.encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            statuses[int(answer.split()[1])] += 1
            length = [line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            if length:
                await reader.readexactly(int(length[0].split(b":")[1]) if method != "HEAD" else 0)
            if not length or b"connection: close" in answer.lower():
                writer.close()
                writer = None
        if writer is not None:
            writer.close()

    await asyncio.gather(*(send() for _ in range(connections)))
    return statuses


@pytest.mark.slow
def test_a_flood_of_cheap_requests_keeps_nobody_from_working(served):
    """Every route in turn, while somebody moves a slider; then the server holds no more than before."""

    async def act():
        (tab,), _ = await open_tabs(served, 1)
        process = server_of(served)
        for number, route in enumerate(ROUTES):
            flooding = asyncio.create_task(flood(served, route, 1000))
            await asyncio.sleep(0.2)
            value = ["1", "2"][number % 2]
            await tab.rerun({"Fairness (λ_fair)": [value]})
            assert await tab.until(lambda value=value: tab.link().get("lambda_fair") == value, PATIENCE), route
            statuses = await flooding
            assert sum(statuses.values()) == 1000
            assert not [status for status in statuses if status == 500], (route, statuses)
            if number == len(ROUTES) // 2:
                held = process.memory_info().rss
        assert not tab.problems
        assert process.memory_info().rss < held + 50e6
        await leave([tab])

    asyncio.run(act())
    assert get(f"{served}/_stcore/health")[0] == 200
