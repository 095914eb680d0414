"""What our two runtime patches are worth (docs/upstream.md): ``python -m tests.benchmarks.patches``.

Three runs with each patch and three without, in turn.
"""

import asyncio
import os

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser

from commod.dashboard import streamlit_internals as internals
from tests.browsing import chromium, follow, serve, settled

RUNS = 3
SIZE = 20 * 2**20
MOVES = 5
SLIDER = "Fairness (λ_fair)"


def written_to_disk():
    """Bytes of one upload that starlette writes to a file on its way."""
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'

    async def stream():
        yield head
        for _ in range(SIZE // 2**16):
            yield bytes(2**16)
        yield b"\r\n--x--\r\n"

    async def parse():
        form = await MultiPartParser(Headers({"Content-Type": "multipart/form-data; boundary=x"}), stream()).parse()
        with form["f"].file as file:
            return os.fstat(file.fileno()).st_size if file._rolled else 0

    return asyncio.run(parse())


def steps_back(browser, address, patched):
    """Times that Back must be pressed to leave a page after some moves of a slider."""
    page = browser.new_context().new_page()
    if not patched:
        page.add_init_script("history.oneEntryAPage = true")  # the script believes that it ran already
    page.goto(f"{address}/glossary")
    settled(page)
    follow(page, "pages/people.py")
    settled(page)
    page.get_by_role("group", name=SLIDER).get_by_role("slider").focus()
    for _ in range(MOVES):
        before = page.url
        page.keyboard.press("ArrowRight")
        page.wait_for_function("before => location.href !== before", arg=before)
        settled(page)
    steps = 0
    while "/people" in page.url and steps < 20:
        page.go_back()
        settled(page)
        steps += 1
    page.close()
    return steps


def main():
    by_default = MultiPartParser.spool_max_size
    found = {(name, on): [] for name in ("uploads", "history") for on in (True, False)}
    for on in RUNS * (True, False):
        MultiPartParser.spool_max_size = by_default
        if on:
            internals.keep_uploads_in_memory(2 * SIZE)
        found["uploads", on].append(written_to_disk() / 2**20)
    with chromium() as browser, serve() as address:
        for on in RUNS * (True, False):
            found["history", on].append(steps_back(browser, address, on))
    for (name, on), values in found.items():
        what = f"MB of a {SIZE // 2**20} MB upload on disk" if name == "uploads" else f"times Back after {MOVES} moves"
        print(f"{name:8} {'with' if on else 'without':7} {what}: " + ", ".join(f"{value:g}" for value in values))


if __name__ == "__main__":
    main()
