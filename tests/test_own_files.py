"""A session, its uploads and its downloads belong to one browser: two clients on one real server, and what is left."""

import http.client
import json
import urllib.error
import urllib.request
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from commod.dashboard.server.files import SESSION_FILES
from commod.dashboard.server.headers import COOKIE, HEADER
from commod.dashboard.text.menu import MENU, PAGES
from commod.datasets.example import example_table
from tests.browsing import chromium, chromium_path, follow, serve, settled, with_faults
from tests.waiting import PATIENCE, wait_until
from tests.wire import Wire, put, stalled_upload

# The app with small bounds, which writes down what it holds. For what is held of tables, an hour passes with each byte
# of a file.
WATCHED = """
import json, os, threading, time
from pathlib import Path
from types import SimpleNamespace
from streamlit import runtime
from commod.dashboard import streamlit_internals as _internals
from commod.dashboard.server import files as _files
from commod.dashboard.state import own_data as _own

_files.SESSION_BYTES, _files.SERVER_BYTES, _own.MAX_TABLES = 160_000, 200_000, 200_000
_files.UPLOAD_SECONDS = 2.0
_own.time = SimpleNamespace(
    monotonic=lambda: time.monotonic() + 3600 * os.path.getsize(os.environ["HOURS"]),
    sleep=lambda seconds: time.sleep(min(seconds, 0.1)),
)

def _watch():
    mark = Path(os.environ["HELD"])
    while True:
        time.sleep(0.02)
        if runtime.exists():
            files = list(_internals.media._files_by_id.values())
            held = {"uploads": sum(map(sum, _internals.upload_sizes().values())),
                    "downloads": sum(file.kind.value == "downloadable" for file in files),
                    "tables": sum(held.size for held in list(_own._all_held))}
            mark.with_suffix(".new").write_text(json.dumps(held))
            mark.with_suffix(".new").replace(mark)

if not any(thread.name == "watch" for thread in threading.enumerate()):
    threading.Thread(target=_watch, name="watch", daemon=True).start()
"""
SMALL = example_table(200).to_csv(index=False).encode()  # some 9 kB


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Address, what it writes down, and what the first visitor of all is told. It runs without uvloop."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "uvloop.py").write_text("raise ImportError")
    held, hours = folder / "held", folder / "hours"
    hours.touch()
    with serve(with_faults(folder, WATCHED), {"HELD": str(held), "HOURS": str(hours)}) as address:
        first = Wire(address, page="your_data")
        assert first.read()
        first.close()
        wait_until(held.exists)
        yield address, held, first


@pytest.fixture
def address(server):
    return server[0]


@pytest.fixture
def held(server):
    """What the server holds of people's files now, by kind."""
    return lambda kind: json.loads(server[1].read_text())[kind]


@pytest.fixture
def no_tables(server, held):
    """Let hours pass until no table is held: those of sessions that are closed go."""

    def are_gone():
        with server[1].with_name("hours").open("a") as hours:
            hours.write(".")
        return held("tables") == 0

    return lambda: wait_until(are_gone, pause=0.1)


@pytest.fixture
def tab(address, no_tables):
    """Opens pages, and closes those that are still open."""
    opened = []

    def open_tab(page="your_data", **options):
        opened.append(Wire(address, page=page, **options))
        assert opened[-1].read()
        assert opened[-1].until(lambda: opened[-1].session_id)  # the run before it may end first
        return opened[-1]

    yield open_tab
    for wire in opened:
        if not wire.is_closed:
            wire.close()
    no_tables()


def get(address, path, cookie="", method="GET"):
    request = urllib.request.Request(f"{address}{path}", method=method, headers={"Cookie": cookie})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


# ---- the cookie ----


def test_a_page_brings_a_cookie_that_no_script_can_read(address):
    status, headers, _ = get(address, "/your_data")
    assert status == 200
    name, _, rest = headers["Set-Cookie"].partition("=")
    secret, *flags = rest.split("; ")
    assert name == COOKIE
    assert len(secret) == 43
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} == set(flags)  # and Secure with https
    assert headers["Cache-Control"] == "no-store"
    cookie = f"{name}={secret}"
    assert COOKIE not in get(address, "/", cookie)[1].get("set-cookie", "")  # it stays
    assert COOKIE in get(address, "/", f"{COOKIE}=guessed")[1]["Set-Cookie"]
    other = get(address, "/your_data")[1]["Set-Cookie"]
    assert secret not in other


def test_a_page_that_the_browser_has_is_sent_again_with_the_cookie(address):
    etag = get(address, "/")[1].get("etag") or get(address, "/")[1]["Last-Modified"]
    conditions = {"If-None-Match": etag, "If-Modified-Since": etag}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/", headers=conditions), timeout=PATIENCE) as answer:
        assert COOKIE in answer.headers["Set-Cookie"]


# ---- sessions ----


def test_the_first_visit_of_all_may_be_to_any_page(server):
    first = server[2]
    kinds = [message.WhichOneof("type") for message in first.received]
    menu = first.received[kinds.index("navigation")].navigation
    assert [page.url_pathname for page in menu.app_pages] == ["", *(Path(page).stem for page in [*PAGES][1:])]
    assert sum(not page.is_hidden for page in menu.app_pages) == len(MENU)
    assert {page.page_script_hash: page.url_pathname for page in menu.app_pages}[menu.page_script_hash] == "your_data"
    assert "page_not_found" not in kinds
    assert "Your file" in first.widgets


def test_who_knows_the_id_of_a_session_does_not_get_it(address, tab):
    victim = tab()
    victim.do("upload", "Your file", "people.csv", SMALL)
    assert victim.read(words="Columns of people.csv")
    browser = sha256(victim.cookie.partition("=")[2].encode()).hexdigest()
    for how in ({"cookie": ""}, {}, {"cookie": "", "headers": {HEADER: browser}}):
        thief = tab(resume=victim.session_id, **how)
        assert thief.session_id != victim.session_id
        assert "people.csv" not in thief.text
    assert not victim.is_closed
    victim.do("rerun")
    assert victim.read()
    assert browser not in victim.text  # it is nobody's business, not even the page's


def test_a_browser_that_comes_back_finds_its_session(tab):
    first = tab()
    first.do("upload", "Your file", "people.csv", SMALL)
    assert first.read(words="Columns of people.csv")
    first.cut()
    back = tab(resume=first.session_id, cookie=first.cookie)
    assert back.session_id == first.session_id
    assert back.read(words="Columns of people.csv")
    # Also if the server has not noticed yet that the connection is gone.
    again = tab(resume=first.session_id, cookie=first.cookie)
    assert again.session_id == first.session_id


def test_a_session_without_a_cookie_is_taken_up_by_nobody(tab):
    first = tab(cookie="")
    assert tab(resume=first.session_id, cookie="").session_id != first.session_id


# ---- uploads ----


def status_of_put(*arguments):
    try:
        return put(*arguments)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_file_goes_to_a_session_of_the_same_browser(address, tab, held):
    mine, other = tab(), tab()
    path = mine.do("ask_for_upload", "a.csv").upload_url
    for cookie in ("", other.cookie, f"{COOKIE}=guessed"):
        assert status_of_put(address, path, "a.csv", SMALL, cookie) == 403
    wait_until(lambda: held("uploads") == 0)
    assert status_of_put(address, path, "a.csv", SMALL, mine.cookie) == 204
    assert get(address, path, other.cookie, "DELETE")[0] == 403
    wait_until(lambda: held("uploads") == len(SMALL))
    mine.close()  # before the file is read
    wait_until(lambda: held("uploads") == 0)


def test_a_session_holds_few_files_that_nobody_reads(address, tab, held):
    mine = tab()
    for _ in range(SESSION_FILES):
        path = mine.do("ask_for_upload", "a.csv").upload_url
        assert status_of_put(address, path, "a.csv", b"a,b", mine.cookie) == 204
    wait_until(lambda: held("uploads") == 3 * SESSION_FILES)
    mine.do("upload", "Your file", "people.csv", SMALL)
    assert mine.read(words="Your last file is still being read")
    assert held("uploads") == 3 * SESSION_FILES


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Transfer-Encoding": "chunked", "X-Xsrftoken": "x"}, 411),
        ({"Content-Length": str(51 * 2**20), "X-Xsrftoken": "x"}, 413),
        ({"Content-Length": "80000"}, 403),
        ({"Content-Length": "80000", "X-Xsrftoken": "x"}, 403),
    ],
)
def test_what_cannot_be_counted_or_is_too_large_is_refused_before_it_is_read(address, tab, headers, status):
    mine = tab()
    path = mine.do("ask_for_upload", "a.csv").upload_url
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.putrequest("PUT", path)
    for name, value in ({"Cookie": mine.cookie} | headers).items():
        connection.putheader(name, value)
    connection.endheaders()  # and nothing of the body
    assert connection.getresponse().status == status
    connection.close()
    mine.do("upload", "Your file", "people.csv", SMALL)
    assert mine.read(words="Columns of people.csv"), "nothing of it takes the place of the next file"


def test_a_file_that_was_read_is_held_no_longer(tab, held):
    mine = tab()
    mine.do("upload", "Your file", "people.csv", SMALL)
    assert mine.read(words="Columns of people.csv")
    wait_until(lambda: held("uploads") == 0)
    mine.do("upload", "Your file", "photo.csv", b"\x89PNG" + SMALL)
    assert mine.read(words="The file is a PNG picture")
    wait_until(lambda: held("uploads") == 0)


def test_who_meets_the_bounds_is_told_in_the_page(address, tab, held):
    first, second = tab(), tab()
    path = first.do("ask_for_upload", "a.csv").upload_url
    assert status_of_put(address, path, "a.csv", SMALL * 8, first.cookie) == 204  # and it is not read yet
    wait_until(lambda: held("uploads") == 8 * len(SMALL))
    first.do("upload", "Your file", "b.csv", SMALL * 8)  # which takes twice its size on the way
    assert first.read(words="Your last file is still being read")
    second.do("upload", "Your file", "people.csv", SMALL * 8)
    assert second.read(words="The server holds as many files as it can")
    first.close()
    wait_until(lambda: held("uploads") == 0)
    second.do("upload", "Your file", "people.csv", SMALL)
    assert second.read(words="Columns of people.csv")


@pytest.mark.slow
def test_an_upload_that_stops_half_way_is_told_and_dropped(address):
    """On asyncio's loop; on uvloop's: tests/test_server.py."""
    assert stalled_upload(address) == []


# ---- tables ----


def test_tables_that_are_left_go_by_themselves(tab, held, no_tables):
    """Nobody comes after them, and the client was killed."""
    mine = tab()
    mine.do("upload", "Your file", "people.csv", SMALL)
    assert mine.read(words="Use these data")
    drafted = wait_until(lambda: held("tables"))
    mine.do("click", "Use these data")
    assert mine.read(words="In use: people.csv")
    wait_until(lambda: held("tables") > drafted > 10_000)
    mine.cut()
    no_tables()


def test_tables_are_bounded_together_and_who_meets_the_bound_is_told(tab, held):
    tabs = [tab() for _ in range(2)]
    table = example_table(1_500).to_csv(index=False).encode()
    tabs[0].do("upload", "Your file", "people.csv", table)
    assert tabs[0].read(words="Columns of people.csv")
    wait_until(lambda: held("tables") > 100_000)
    tabs[1].do("upload", "Your file", "people.csv", table)
    assert tabs[1].read(words="The tables of all who use this server take as much memory as they may")
    tabs[1].do("upload", "Your file", "people.csv", SMALL)
    assert tabs[1].read(words="Columns of people.csv")


# ---- downloads ----


def test_a_file_is_for_the_browser_that_shows_its_page(address, tab, held):
    wait_until(lambda: held("downloads") == 0)
    mine, other = tab(), tab()
    path = mine.do("ask_for_download", mine.widgets["Example file"].deferred_file_id)
    status, headers, content = get(address, path, mine.cookie)
    assert status == 200
    assert content.startswith(b"applicant,")
    assert headers["Cache-Control"] == "no-store"
    for cookie in ("", other.cookie, f"{COOKIE}=guessed"):
        assert get(address, path, cookie)[0] == 404
        assert get(address, path, cookie, "HEAD")[0] == 404
    wait_until(lambda: held("downloads") == 1)
    mine.do("go_to", "glossary")
    assert mine.read()
    assert get(address, path, mine.cookie)[0] == 404
    mine.close()
    wait_until(lambda: held("downloads") == 0)


def test_a_file_goes_at_once_with_the_tab(address, tab, held):
    mine = tab()
    path = mine.do("ask_for_download", mine.widgets["Example file"].deferred_file_id)
    assert get(address, path, mine.cookie)[0] == 200
    mine.close()
    wait_until(lambda: get(address, path, mine.cookie)[0] == 404)
    wait_until(lambda: held("downloads") == 0)


def test_one_of_two_who_have_the_same_file_leaves_and_the_other_keeps_it(address, tab):
    both = [tab(), tab()]
    paths = [one.do("ask_for_download", one.widgets["Example file"].deferred_file_id) for one in both]
    assert paths[0] == paths[1]  # its name is a hash of what is in it
    both[0].close()
    wait_until(lambda: get(address, paths[0], both[0].cookie)[0] == 404)
    assert get(address, paths[1], both[1].cookie)[0] == 200


# ---- in a browser ----


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(chromium_path() is None, reason="Chromium is not installed")
def test_a_browser_brings_a_file_and_takes_home_what_nobody_else_gets(address, tmp_path):
    small, large = tmp_path / "people.csv", tmp_path / "large.csv"
    small.write_text(example_table(300).to_csv(index=False))
    large.write_text(example_table(2_000).to_csv(index=False))
    with chromium() as browser:
        mine, other = browser.new_context(), browser.new_context()
        stranger = other.new_page()
        stranger.goto(address)
        page = mine.new_page()
        page.goto(f"{address}/your_data")
        settled(page)
        assert mine.cookies()[0]["httpOnly"]
        assert COOKIE not in page.evaluate("document.cookie")
        page.locator("input[type=file]").set_input_files(large)
        page.get_by_text("Your last file is still being read").wait_for()
        page.locator("input[type=file]").set_input_files(small)
        page.get_by_role("button", name="Use these data").click()
        page.get_by_role("heading", name="In use: people.csv").wait_for()
        settled(page)
        follow(page, "pages/take_home.py")
        settled(page)
        with page.expect_download() as taken:
            page.get_by_role("button", name="Predictions (CSV)").click()
        assert len(taken.value.path().read_text().splitlines()) == 91  # 30 % of the people, and the headings
        link = taken.value.url
        assert mine.request.get(link).status == 200
        assert other.request.get(link).status == 404
        page.close()
        wait_until(lambda: mine.request.get(link).status == 404)
