"""Shared by browser tests, benchmarks and screenshots: a server of ours, and Chromium."""

import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[1]
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# A server that computes in processes, as users have it. They do not give way to the rest of the machine, which in a run
# of all tests is never at rest, and precompute no paths, which would keep it from that for minutes.
WITH_PROCESSES = {"COMMOD_PROCESSES": "1", "COMMOD_IDLE_CLASS": "0", "COMMOD_PREFETCH": "line"}


def chromium_path():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def with_faults(folder, source):
    """The script of the app with `source` run before it, written into `folder`."""
    script = (ROOT / "app.py").read_text()
    start = script.index("from starlette")
    (folder / "app.py").write_text(script[:start] + source + script[start:])
    shutil.copytree(ROOT / "pages", folder / "pages")  # Windows makes no links
    return folder / "app.py"


@contextmanager
def free_port():
    """A port of loopback that no other program is given meanwhile."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        if sys.platform != "linux":  # only there a server may listen on a port that is bound but not listened on
            held.close()
        yield port


def wait_until_healthy(address, server, log=None):
    """Wait until a server answers that a process of ours gives; what it has written to `log` is told if it ends."""

    def answers():
        assert server.poll() is None, f"the server has not started {log.read_text() if log else ''}"
        with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=20) as answer:
            return answer.status == 200
        return False

    wait_until(answers, pause=0.1)


@contextmanager
def serve(script="app.py", environment=None, root=ROOT, log=None):
    """Start Streamlit on a free port of loopback; yields its address.

    Unless the `environment` says otherwise, SHAP is not compiled and no path precomputed. What the server writes
    goes to the file `log`, if there is one.
    """
    command = [sys.executable, "-m", "streamlit", "run", str(root / script)]
    quick = {"OMP_NUM_THREADS": "1", "COMMOD_WARM_UP": "0", "COMMOD_PROCESSES": "0", "COMMOD_REFITS": "2"}
    quick["COMMOD_PREFETCH"] = "line"
    paths = os.pathsep.join([str((root / script).parent), str(root)])
    env = {**os.environ, "PYTHONPATH": paths, **quick, **(environment or {})}
    with running(command, root, env, log) as (address, _):
        yield address


@contextmanager
def running(command, folder, environment, log=None):
    """The app as a command starts it in a folder, on a free port of loopback; yields its address and its process."""
    with free_port() as port, open(log or os.devnull, "w") as written:
        command = [*command, "--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true"]
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=written, stderr=written)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_until_healthy(address, server)
            yield address, server
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:  # it compiles SHAP and does not listen
                server.kill()
                server.wait()


def helpers_of(server):
    """The processes that compute for a server, by its id: they alone lead groups of their own."""
    found = []
    for child in psutil.Process(server).children(recursive=True):
        with suppress(ProcessLookupError):  # it has ended meanwhile
            found += [child] if os.getpgid(child.pid) == child.pid else []
    return found


@contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        for name in ("new_context", "new_page"):
            setattr(browser, name, _patient(getattr(browser, name)))
        try:
            yield browser
        finally:
            browser.close()


def _patient(open_one):
    """Open a page or a context that waits as long as all tests do, and not half a minute."""

    def opened(**options):
        made = open_one(**options)
        made.set_default_timeout(1000 * PATIENCE)
        return made

    return opened


def settled(page, timeout=1000 * PATIENCE):
    """Wait until the script has run to its end, and no other run follows at once, as after `st.rerun`."""
    page.evaluate("() => { window.quiet = 0; }")
    page.wait_for_function(
        """() => {
          const runs = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== 'notRunning';
          window.quiet = runs || document.querySelector('[data-testid="stSkeleton"]') ? 0 : (window.quiet ?? 0) + 1;
          return window.quiet > 3;  // frames
        }""",
        timeout=timeout,
    )


def still(page):
    """Wait until charts are drawn and nothing moves or grows any more: ten frames in a row are alike."""
    settled(page)
    page.evaluate("""() => new Promise((done, fail) => {
      let last = '', alike = 0;
      const until = performance.now() + 180_000;
      const look = () => {
        const parts = [...document.querySelectorAll('[data-testid="stMain"], [data-testid="stSidebar"], .marks')];
        const now = parts.map(e => [e.scrollHeight, ...Object.values(e.getBoundingClientRect().toJSON())]).join();
        // One that follows a scroll bar always runs, and moves nothing by itself.
        const moves = document.getAnimations().some(
          animation => animation.playState === 'running' && animation.timeline === document.timeline);
        const waits = [...document.querySelectorAll('.vega-embed')].some(e => !e.querySelector('.marks'));
        alike = now === last && !moves && !waits ? alike + 1 : 0;
        last = now;
        if (alike >= 10) done();
        else if (performance.now() < until) requestAnimationFrame(look);
        else fail(new Error(`After three minutes it still moves (${moves}), waits (${waits}) or grows: ${now}`));
      };
      look();
    })""")


def rerun(page):
    """Have the script run once more, as a part of the page that comes late does, and wait until it has."""
    page.evaluate("""() => {
      const app = document.querySelector('[data-testid="stApp"]');
      let began = false;
      window.ran = new Promise((done, fail) => {
        setTimeout(fail, 180_000, 'the script did not run');
        new MutationObserver((_, observer) => {
          began ||= app.dataset.testScriptState !== 'notRunning';
          if (!began || app.dataset.testScriptState !== 'notRunning') return;
          observer.disconnect();
          done();
        }).observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
      });
      document.activeElement.blur();
    }""")
    page.keyboard.press("r")
    page.evaluate("() => window.ran")
    settled(page)


def follow(page, script):
    """Go to a page by the menu, as the English reader finds it: an entry, and the link to the page at its top."""
    from commod.dashboard.text.language import FIRST, phrase
    from commod.dashboard.text.menu import MENU, PAGES, entry_of  # which takes a while, and benchmarks do without

    entry = entry_of(script)
    first = next(iter(MENU[entry]))
    menu = page.get_by_role("navigation", name="App pages")
    menu.get_by_role("link", name=phrase(FIRST, f"frame.{entry}")).click()
    page.wait_for_function("name => document.title.startsWith(name)", arg=PAGES[first][0])
    if script != first:
        page.get_by_test_id("stPageLink-NavLink").filter(has_text=PAGES[script][0]).first.click()
        page.wait_for_function("name => document.title.startsWith(name)", arg=PAGES[script][0])


def cut_off(page):
    """What reaches over the right edge: charts, by their descriptions, and the page itself."""
    return page.evaluate("""() => {
      const charts = [...document.querySelectorAll('[data-testid="stMain"] svg.marks')];
      const wide = document.documentElement.scrollWidth > innerWidth + 1 ? ['the page'] : [];
      return [...wide, ...charts.filter(e => e.getBoundingClientRect().right > innerWidth + 1)
        .map(e => e.getAttribute('aria-label') || 'a chart')];
    }""")


def metric(page, label):
    """Value of a figure tile even in a closed fold."""
    tile = page.locator("[data-testid='stMetric']").filter(has_text=label).first
    return tile.locator("[data-testid='stMetricValue']").text_content().strip()


def query(page):
    return dict(re.findall(r"[?&]([^=&]+)=([^&]*)", page.url))
