"""One real server: its headers, whom it refuses, what it gives away, and sessions that vanish or fail."""

import urllib.error
import urllib.request
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from websockets.exceptions import InvalidStatus

from commod.dashboard.server import headers as security
from commod.dashboard.text.menu import PAGES
from tests.browsing import ROOT, chromium, serve, settled, with_faults
from tests.waiting import PATIENCE, wait_until
from tests.wire import Wire, put, stalled_upload

SECRET = "swordfish-5f2c9e"
# The app itself, in which some splits go wrong: 13 a section of the page, 14 trains until nobody waits, 15 to 17 fail.
FAULTS = """
import os, time
from pathlib import Path
from commod.dashboard.model import training as _compute
from commod.dashboard.pages.explore import page as _explore
from commod.dashboard.server import files as _files

_files.UPLOAD_SECONDS = 2.0
if not hasattr(_compute, "sound_fit"):
    _compute.sound_fit, _explore.sound_changes = _compute.train_model, _explore.draw_changes

    def _fit(scene, settings, path, report):
        if settings.seed == 14:
            mark = Path(os.environ["MARKS"]) / f"{settings.lambda_fair:g}"
            mark.write_text("begun")
            try:
                while True:
                    report(0.5)
                    time.sleep(0.01)
            finally:
                mark.write_text("ended")
        wrong = {15: RuntimeError, 16: MemoryError, 17: SystemExit}.get(settings.seed)
        if wrong is not None:
            raise wrong(os.environ["FAKE_SECRET"] + __file__)
        return _compute.sound_fit(scene, settings, path, report)

    def _changes(result):
        if result.settings.seed == 13:
            raise RuntimeError(os.environ["FAKE_SECRET"] + __file__)
        return _explore.sound_changes(result)

    _compute.train_model, _explore.draw_changes = _fit, _changes
    _explore.begin_shap = _explore.begin_sweep = lambda *_: None  # which take their time
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    marks = folder / "private-marks"
    marks.mkdir()
    with serve(with_faults(folder, FAULTS), {"FAKE_SECRET": SECRET, "MARKS": str(marks)}) as address:
        yield address, marks


@pytest.fixture(scope="module")
def address(server):
    return server[0]


def get(url, method="GET", data=None, **headers):
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def gives_nothing_away(text):
    home = str(Path.home())
    for private in (
        SECRET,
        str(ROOT),
        "Traceback",
        "site-packages",
        "private-marks",
        *([home] if len(home) > 5 else []),
    ):
        assert private not in text, private


def test_every_answer_has_the_headers(address):
    for path in ("", "lesson", "nonsense", "_stcore/health", "static/none.js", "media/none", "%2e%2e/x"):
        _, headers, content = get(f"{address}/{path}")
        found = {name.lower(): value for name, value in headers.items()}
        wanted = {name.lower(): value for name, value in security.headers().items()}
        assert {name: found.get(name) for name in wanted} == wanted, path
        gives_nothing_away(content.decode("utf-8", "replace"))


def test_it_is_healthy(address):
    assert get(f"{address}/_stcore/health")[0] == 200


def test_scripts_come_from_the_server_alone(address):
    policy = security.headers()["Content-Security-Policy"]
    assert "script-src 'self' blob: 'sha256-" in policy
    assert "unsafe" not in policy.split("script-src")[1].split(";")[0]


@pytest.mark.parametrize("token", [None, "2|aaaa|bbbb|1"])
def test_an_upload_without_the_token_is_refused(address, token):
    wire = Wire(address, page="glossary")
    assert wire.read()
    headers = {} if token is None else {"X-Xsrftoken": token, "Cookie": "_streamlit_xsrf=another"}
    status, _, content = get(f"{address}/_stcore/upload_file/{wire.session_id}/1", "PUT", b"a,b,c\n1,2,3\n", **headers)
    assert status == 403
    gives_nothing_away(content.decode())
    wire.close()


def test_an_upload_with_the_token_is_taken(address):
    """What else it takes: tests/test_own_files.py."""
    wire = Wire(address, page="glossary")
    assert wire.read()
    path = wire.do("ask_for_upload", "a.csv").upload_url
    assert get(f"{address}{path}", "PUT", b"a,b", Cookie=wire.cookie)[0] == 403
    path = wire.do("ask_for_upload", "a.csv").upload_url
    assert put(address, path, "a.csv", b"a,b", wire.cookie) == 204
    wire.close()


def test_an_upload_that_stops_half_way_is_told_and_dropped(address):
    """On uvloop's loop, which uvicorn takes where it is installed; on asyncio's: tests/test_own_files.py."""
    assert stalled_upload(address) == []


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "http://localhost", "null"])
def test_a_page_of_another_site_gets_no_session(address, origin):
    with pytest.raises(InvalidStatus):
        Wire(address, origin=origin)


def test_no_leave_is_given_to_other_sites(address):
    headers = get(f"{address}/_stcore/health", Origin="http://evil.example")[1]
    assert not any(name.lower() == "access-control-allow-origin" for name in headers)


def test_no_way_leads_to_files(address):
    places = ["static", "media", "component/x", "app/static", "_stcore/bidi-components/x", "."]
    ways = ["../../../../../../etc/passwd", "..\\..\\etc\\passwd", "//etc/passwd", "\0/etc/passwd"]
    for place, way in product(places, ways):
        for path in (quote(way, safe=""), quote(way, safe="/\\"), quote(quote(way, safe=""), safe="")):
            status, _, content = get(f"{address}/{place}/{path}")
            assert b"root:" not in content, (place, path)
            # The app's own first page, as for any address.
            assert status >= 400 or content.lstrip().startswith(b"<!--"), (place, path)
            gives_nothing_away(content.decode("utf-8", "replace"))


def test_the_agent_api_is_off(address):
    assert get(f"{address}/_stcore/agent/interact", "POST", b"{}", **{"Content-Type": "application/json"})[0] >= 400


def test_a_page_that_is_not_there(address):
    wire = Wire(address, page="../../etc/passwd<script>")
    assert wire.read()
    gives_nothing_away(wire.text)
    wire.close()


def test_the_address_of_a_page_that_is_gone_leads_to_decide(address):
    for link in ("", "data=german&lambda_fair=2"):
        with urllib.request.urlopen(f"{address}/later?{link}", timeout=PATIENCE) as answer:
            assert answer.url == f"{address}/decide?{link}&gone=later"


@pytest.mark.parametrize("seed", [13, 16, 17])
def test_a_fault_tells_nothing_and_harms_nobody_else(address, seed):
    bystander = Wire(address)
    broken = Wire(address, f"seed={seed}&lambda_fair=1")
    assert broken.read()
    gives_nothing_away(broken.text)
    if seed > 13:
        assert "our fault" in broken.text
    assert bystander.read()
    assert "Decisions changed" in bystander.text
    for wire in (bystander, broken):
        wire.close()


@pytest.mark.slow
def test_sessions_that_vanish_in_mid_training_free_their_slots(server):
    """The slot is taken by a training without end; its connection is cut, and the next in line is served."""
    address, folder = server
    mark = folder / "0.25"
    mark.write_text("")
    endless = Wire(address, "seed=14&lambda_fair=0.25")  # of small data sets, one is trained at a time
    wait_until(lambda: mark.read_text() == "begun")
    waits = Wire(address, "seed=21&lambda_fair=1")
    assert not waits.read(1.0)
    endless.cut()
    wait_until(lambda: mark.read_text() == "ended")
    assert waits.read()
    waits.close()


@pytest.mark.slow
@pytest.mark.browser
def test_no_page_asks_for_what_the_policy_forbids():
    with serve() as address, chromium() as browser:
        page = browser.new_context().new_page()
        refused = []
        page.on("console", lambda message: "Security Policy" in message.text and refused.append(message.text))
        for script in PAGES:
            page.goto(f"{address}/{'' if script == 'app.py' else Path(script).stem}?methods=commod")
            settled(page)
        with page.expect_console_message(lambda message: "evil.example" in message.text):
            page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://evil.example/x.png'}))")
        assert len(refused) == 1, refused  # the picture that was brought in for the test
        with page.expect_console_message(lambda message: "unsafe-eval" in message.text):
            page.evaluate("setTimeout('compiled from text')")
