"""Two app processes behind nginx, as docs/nginx.conf has it: sessions are kept, and one process may go."""

import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from commod.datasets.example import example_table
from tests.browsing import ROOT, chromium, follow, free_port, metric, query, serve, settled, wait_until_healthy

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(NGINX is None, reason="needs nginx (Debian: apt-get install nginx-light)"),
]


@contextmanager
def balance(folder, *addresses):
    """nginx with the documented site, its ports replaced; yields its address and its log."""
    with free_port() as port, _balance(folder, port, *addresses) as log:
        yield f"http://127.0.0.1:{port}", log


@contextmanager
def _balance(folder, port, *addresses):
    site = (ROOT / "docs/nginx.conf").read_text()
    log = folder / "access.log"
    for old, new in (
        ("127.0.0.1:8501", addresses[0]),
        ("127.0.0.1:8502", addresses[1]),
        ("8500", f"127.0.0.1:{port}"),
        ("/var/log/nginx/commod.log", str(log)),
    ):
        assert site.count(old) == 1
        site = site.replace(old, urlsplit(new).netloc or new)
    whole = (
        f"daemon off; worker_processes 1; error_log {folder}/error.log warn; pid {folder}/nginx.pid;\n"
        "events { worker_connections 512; }\n"
        f"http {{ client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;\n"
        f"uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; map_hash_bucket_size 128;\n{site}\n}}\n"
    )
    (folder / "nginx.conf").write_text(whole)
    # As root, nginx would work as another user, who may not enter the folder.
    user = ["-g", "user root;"] if os.getuid() == 0 else []
    server = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), *user])
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}", server, folder / "error.log")
        yield log
    finally:
        server.terminate()
        server.wait(timeout=60)


def processes_of(log):
    """Route of each browser to the processes that answered it."""
    found = defaultdict(set)
    for line in log.read_text().splitlines():
        route, process, status, request = re.match(r'(\S+) (.+?) (\d+) "(.*)"', line).groups()
        if "/_stcore/health" not in request and status != "499":
            found[route].add(process)
    return found


def route_of(context):
    return next(cookie["value"] for cookie in context.cookies() if cookie["name"] == "commod_route")


def test_sessions_stay_where_they_are_and_outlive_a_process(tmp_path):
    secret = {"STREAMLIT_SERVER_COOKIE_SECRET": "one for both"}
    with ExitStack() as stack:
        first = stack.enter_context(serve(environment=secret))
        second_app = ExitStack()
        stack.enter_context(second_app)
        second = second_app.enter_context(serve(environment=secret))
        address, log = stack.enter_context(balance(tmp_path, first, second))
        browser = stack.enter_context(chromium())

        pages = []
        for place in range(8):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = context.new_page()
            page.goto(f"{address}/?lambda_fair={2 + place / 4:g}")
            settled(page)
            pages.append(page)
        shown = [metric(page, "P-Rule") for page in pages]
        assert len(set(shown)) > 4
        first, second = urlsplit(first).netloc, urlsplit(second).netloc

        # A file goes to the process that has the session.
        upload = pages[0]
        follow(upload, "pages/your_data.py")
        file = tmp_path / "people.csv"
        file.write_text(example_table(600).to_csv(index=False))
        upload.locator("input[type=file]").set_input_files(file)
        upload.get_by_role("button", name="Use these data").click()
        upload.get_by_role("heading", name="In use: people.csv").wait_for()
        # And so does what is taken home; no address of either is in the log, and nothing of the file on nginx's disk.
        with upload.expect_download() as taken:
            upload.get_by_role("button", name="Example file").click()
        assert taken.value.path().read_text().startswith("applicant,")
        lines = log.read_text()
        assert '"PUT /_stcore/upload_file/... HTTP/1.1"' in lines
        assert '"GET /media/... HTTP/1.1"' in lines
        assert not re.search(r"(upload_file|[^c]/media)/[\w-]", lines)
        assert "temporary file" not in (tmp_path / "error.log").read_text()
        with pytest.raises(urllib.error.HTTPError):  # a client without the cookie
            urllib.request.urlopen(taken.value.url)

        answer = urllib.request.urlopen(address)
        assert answer.headers.get_all("X-Content-Type-Options") == ["nosniff"]
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"

        for page in pages[1:]:
            page.reload()
            settled(page)
        assert [metric(page, "P-Rule") for page in pages[1:]] == shown[1:]

        # One process goes; the sessions of the other do not notice, and its own are opened again there.
        routes = [route_of(page.context) for page in pages]
        homes = {route: found for route, found in processes_of(log).items() if route in routes}
        assert len(homes) == len(pages)
        assert all(len(found) == 1 for found in homes.values())
        assert set.union(*homes.values()) == {first, second}  # both had work
        second_app.close()
        for page, expected in list(zip(pages, shown, strict=True))[1:]:
            page.reload()
            settled(page)
            assert metric(page, "P-Rule") == expected
        moved = pages[-1]
        moved.get_by_role("group", name="Fairness (λ_fair)").get_by_role("slider").focus()
        moved.keyboard.press("ArrowRight")
        moved.wait_for_url("**lambda_fair=4&**")
        settled(moved)
        assert query(moved)["lambda_fair"] == "4"
        for page in pages:
            page.close()

    after = processes_of(log)
    assert all(after[route] == {first} for route, found in homes.items() if found == {first})
