"""What uploads hold in memory: made-up ids, and people with the largest files who leave.

``python -m tests.benchmarks.upload_memory`` prints the resident memory of a server before, during and after.
"""

import argparse
import asyncio
import time
import urllib.error
from contextlib import suppress

import numpy as np

from tests.benchmarks.crowd import at_rest, resident, server_of
from tests.browsing import serve
from tests.wire import Tab, put

ROWS, COLUMNS = 300_000, 66  # 19.8 million cells
TTL = 10


def largest(seed):
    """A CSV of some 38 MB, near the most cells that are taken."""
    cells = np.random.default_rng(seed).integers(0, 10, (ROWS, COLUMNS), dtype=np.uint8)
    cells[:, -2:] %= 2
    text = np.full((ROWS, 2 * COLUMNS), ord(","), np.uint8)
    text[:, ::2] = cells + ord("0")
    text[:, -1] = ord("\n")
    names = [f"x{i}" for i in range(COLUMNS - 2)] + ["group", "hired"]
    return ",".join(names).encode() + b"\n" + text.tobytes()


async def flood(address, tries):
    """Files put to ids that nobody has offered; how many were taken."""
    tab = await Tab(address, page="your_data").open()
    await tab.until(lambda: tab.finished, 60)
    taken = 0
    for number in range(tries):
        with suppress(urllib.error.URLError):  # refused before it was read
            await asyncio.to_thread(
                put, address, f"/_stcore/upload_file/{tab.session_id}/{number}", "a.csv", b"1" * 10**7, tab.cookie
            )
            taken += 1
    await tab.close()
    return taken


async def bring(address, seed, use):
    """A person who brings the largest file; their tab, and how long it took."""
    tab = await Tab(address, page="your_data").open()
    await tab.until(lambda: tab.finished, 60)
    begun, done = time.monotonic(), tab.finished
    await tab.upload("Your file", "large.csv", largest(seed))
    assert await tab.until(lambda: tab.finished > done and "Use these data" in tab.widgets, 300), tab.problems
    if use:
        done = tab.finished
        await tab.click("Use these data")
        assert await tab.until(lambda: tab.finished > done, 600), tab.problems
    return tab, time.monotonic() - begun


async def measure(address, people, use):
    process = server_of(address)

    def tell(when):
        server, family = process.memory_info().rss / 2**20, resident(process)[0] / 2**20
        print(f"{when:<45} {family:6.0f} MB, of them {server:6.0f} MB the server itself", flush=True)

    visitor = await Tab(address, page="your_data").open()
    await visitor.until(lambda: visitor.finished, 60)
    await visitor.close()
    await at_rest(process)
    tell("before")
    taken = await flood(address, 50)
    tell(f"50 files of 10 MB, made-up ids ({taken} taken)")

    most = 0.0

    async def watch():
        nonlocal most
        while True:
            most = max(most, resident(process)[0])
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    came = await asyncio.gather(*(bring(address, seed, use) for seed in range(people)), return_exceptions=True)
    watching.cancel()
    for person in came:
        print("  ", f"{person[1]:.0f} s" if isinstance(person, tuple) else f"not taken: {person}")
    print(f"{'most while they came':<45} {most / 2**20:6.0f} MB")
    tell(f"{people} people with the largest files")
    for person in came:
        if isinstance(person, tuple):
            await person[0].vanish()
    await asyncio.sleep(1)
    tell("1 s after they were gone")
    await asyncio.sleep(1.3 * TTL + 6)
    tell(f"after the {TTL} s for which sessions are kept")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--use", action="store_true", help="they also press Use these data")
    arguments = parser.parse_args()
    environment = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(TTL), "COMMOD_PROCESSES": ""}  # as it is by itself
    with serve(environment=environment) as address:
        asyncio.run(measure(address, arguments.people, arguments.use))


if __name__ == "__main__":
    main()
