"""A real server, on both event loops: more people than fit."""

import asyncio

import pytest
from websockets.exceptions import InvalidStatus

from tests.browsing import serve, with_faults
from tests.test_server import get
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
    assert all([await tab.until(lambda tab=tab: "lambda_fair" in tab.link(), 60) for tab in inside])  # drawn
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
