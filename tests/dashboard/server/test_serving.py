"""Start-up: what Streamlit is told, what keeps running, and parts of pages that are drawn one after the other."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from streamlit import runtime
from streamlit.runtime.pages_manager import PagesManager

from commod.dashboard.jobs.service import deferred_paint
from commod.dashboard.server import startup
from commod.dashboard.server.headers import COOKIE, browser_of, headers
from tests.browsing import ROOT
from tests.waiting import PATIENCE


@pytest.fixture
def no_runtime():
    yield
    runtime.Runtime._instance = None


def test_our_own_route_knows_the_browser_and_has_the_security_headers(no_runtime, monkeypatch):
    async def model(request):
        return JSONResponse([browser_of(request.scope), dict(request.query_params)])

    monkeypatch.setattr(startup, "_model", model)
    app = Starlette(**startup.server_options(str(ROOT / "app.py"), load=""))

    def ask(*cookies):
        sent = []

        async def send(message):
            sent.append(message)

        given = [(b"cookie", f"{COOKIE}={secret}".encode()) for secret in cookies]
        scope = {
            "type": "http",
            "scheme": "http",
            "method": "GET",
            "path": "/model",
            "query_string": b"k=5",
            "headers": given,
        }
        asyncio.run(app(scope, None, send))
        return Headers(raw=sent[0]["headers"]), json.loads(sent[1]["body"])

    said, (browser, query) = ask("x" * 43)
    assert len(browser) == 64
    assert query == {"k": "5"}
    assert headers().items() <= {name: said.get(name) for name in headers()}.items()
    assert ask()[1][0] is None


def test_the_folder_pages_is_not_the_menu(no_runtime, monkeypatch):
    """On a new server, the first visitor of a page's address would see Streamlit's own menu."""
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    startup.server_options(str(ROOT / "app.py"), load="")
    assert PagesManager.uses_pages_directory is False


@pytest.mark.slow
def test_the_first_page_does_without_what_takes_long_to_import():
    code = (
        "import sys, commod.dashboard.server.startup, commod.dashboard.pages.explore.page\n"
        "sys.exit(', '.join({'sqlalchemy', 'torch', 'shap', 'fairlearn'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_rooms_are_swept_again_after_an_error(monkeypatch, caplog):
    swept = []

    def sweep():
        swept.append(1)
        if len(swept) == 1:
            raise OSError("the disk is gone")

    monkeypatch.setattr(startup, "remove_old_rooms", sweep)
    monkeypatch.setattr(startup, "SWEEP_SECONDS", 0.001)

    async def act():
        sweeping = asyncio.create_task(startup._sweep_rooms())
        async with asyncio.timeout(PATIENCE):
            while len(swept) < 3:
                await asyncio.sleep(0.001)
        sweeping.cancel()

    asyncio.run(act())
    assert "the disk is gone" in caplog.text


def test_the_rest_of_two_pages_is_drawn_one_after_the_other():
    order, second = [], threading.Event()

    def draw_rest():
        second.set()
        with deferred_paint():
            order.append("second")

    with deferred_paint():
        rest = threading.Thread(target=draw_rest)
        rest.start()
        assert second.wait(PATIENCE)
        order.append("first")
    rest.join()
    assert order == ["first", "second"]
