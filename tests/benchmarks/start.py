"""From ``streamlit run`` to the first picture in the browser: ``python -m tests.benchmarks.start``.

A server is started anew each time, its browser waits; the files of Python are in the system's cache, as after the first
start on a machine. Also what the server holds at rest, and how much its packages take on the disk.
"""

import argparse
import statistics
import time
from importlib.metadata import distributions
from pathlib import Path

import psutil

from tests.benchmarks.latency import USUAL
from tests.browsing import ROOT, chromium, serve

# What a first picture has.
FLOOR, OURS = "path[aria-roledescription='point']", ".picture[data-setting]"
REST = 20.0  # seconds after the first picture


def first_picture(browser, script, mark, environment):
    """Seconds to the first picture, and bytes of the server and its processes a while later, shared ones once."""
    started = time.monotonic()
    with serve(script, environment) as address:
        healthy = time.monotonic() - started
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(address)
        page.wait_for_selector(mark, state="attached", timeout=60_000)
        drawn = time.monotonic() - started
        page.close()
        time.sleep(REST)
        port = int(address.rpartition(":")[2])
        server = next(
            process
            for process in psutil.process_iter(["cmdline"])
            if "streamlit" in (line := " ".join(process.info["cmdline"] or [])) and f"--server.port {port}" in line
        )
        held = sum(process.memory_full_info().pss for process in (server, *server.children(recursive=True)))
    return healthy, drawn, held


def installed():
    """Bytes of all packages of this environment."""
    files = (Path(file.locate()) for package in distributions() for file in package.files or ())
    return sum(file.stat().st_size for file in files if file.is_file())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    with chromium() as browser:
        for title, script, mark in (
            ("floor app", "tests/benchmarks/floor_app.py", FLOOR),
            ("COMMOD Explorer", "app.py", OURS),
        ):
            runs = [first_picture(browser, script, mark, USUAL) for _ in range(arguments.times)]
            times = [drawn for _, drawn, _ in runs]
            healthy, drawn, held = (statistics.median(column) for column in zip(*runs, strict=True))
            print(
                f"{title:16} answers after {healthy:.1f} s, first picture after {drawn:.1f} s "
                f"({min(times):.1f} to {max(times):.1f}), {held / 2**20:.0f} MB at rest"
            )
    data = sum(file.stat().st_size for file in (ROOT / "data").rglob("*") if file.is_file())
    print(f"installed packages {installed() / 2**20:.0f} MB, data {data / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
