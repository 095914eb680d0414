"""One large upload beside somebody else's slider: ``python -m tests.benchmarks.upload``.

Somebody moves λ_fair of law_school to a new setting again and again. Meanwhile a stranger brings 300,000 rows of 60
columns, says what is what, uses them, opens them, chooses a random forest as f, and closes the tab while it is trained.
Printed, for each of these: how long the other's new settings took (median and 95 %), against those before; and how soon
after the tab was closed the training was over.
"""

import argparse
import asyncio
import itertools
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import psutil
from streamlit.proto.WidgetStates_pb2 import WidgetState

from commod.charts.pareto import CURRENT
from commod.dashboard.state.settings import GRIDS
from tests.browsing import helpers_of, serve
from tests.wire import Tab, data_of

PATIENCE = 300.0
PAUSE = 0.4


def table(rows=300_000):
    """60 columns, an outcome that hangs on some of them, and a group that hangs on two; below the limit on bytes."""
    rng = np.random.default_rng(0)
    group = rng.random(rows) < 0.4
    columns = {
        f"n{i}": rng.normal(0.5 * group, 1).round(1) if i % 3 == 0 else rng.integers(0, 10, rows) for i in range(56)
    }
    frame = pd.DataFrame(columns)
    frame["city"] = rng.choice(list("abcdefgh"), rows)
    frame["job"] = rng.choice([f"j{i}" for i in range(30)], rows)
    merit = 0.8 * frame["n0"] + 0.5 * frame["n3"] + (frame["n1"] - 5) / 4 - 0.6 * group
    frame["sex"] = np.where(group, "f", "m")
    frame["approved"] = np.where(merit + rng.logistic(size=rows) > 0, "yes", "no")
    return frame


class Mover:
    """Moves λ_fair to settings that nobody has seen, and notes how long the chart takes."""

    def __init__(self, address):
        self.tab = Tab(address, query="data=law_school", on_element=self._note)
        self.shown, self.waits = "", []
        ratios = [value for value in GRIDS["lambda_ratio"] if value > 0]
        self.settings = itertools.product(GRIDS["k"], ratios, [value for value in GRIDS["lambda_fair"] if value > 0])

    def _note(self, kind, element):
        if kind == "vega_lite_chart" and element.id.endswith("-pareto"):
            found = data_of(element)
            self.shown = found["settings"][found["kind"].to_pylist().index(CURRENT)].as_py()

    async def open(self):
        await self.tab.open()
        await self.tab.until(lambda: self.tab.finished > 0, PATIENCE)

    async def move(self):
        """One new setting: all three sliders at once, answered by a chart of just that."""
        k, ratio, fair = next(self.settings)
        before, started = self.shown, time.monotonic()
        await self.tab.rerun(
            {
                "Fairness (λ_fair)": [f"{fair:g}"],
                "Stay near f (λ_ratio)": [f"{ratio:g}"],
                "Concepts (k)": [f"{k:g}"],
            }
        )
        answered = await self.tab.until(lambda: self.shown != before, PATIENCE)
        self.waits.append(time.monotonic() - started if answered else float("inf"))

    async def live(self):
        """Until it is cancelled."""
        while True:
            await self.move()
            await asyncio.sleep(PAUSE)


class Stranger:
    """Brings a file, and chooses."""

    def __init__(self, address):
        self.address = address
        self.tab = Tab(address, page="your_data", on_element=self._note)
        self.buttons, self.words = {}, []

    def _note(self, kind, element):
        if kind == "button":
            self.buttons[element.label] = element.id
        elif kind in ("alert", "markdown", "heading"):
            self.words.append(element.body)
        elif kind == "progress":
            self.words.append(element.text)

    async def until_said(self, *words):
        return await self.tab.until(lambda: any(word in said for said in self.words for word in words), PATIENCE)

    async def bring(self, name, content):
        """Upload a file and let the page read it."""
        await self.tab.open()
        await self.tab.until(lambda: self.tab.finished > 0, PATIENCE)
        done = self.tab.finished
        await self.tab.upload("Your file", name, content)
        await self.tab.until(lambda: self.tab.finished > done, PATIENCE)

    async def press(self, label):
        """A button, until the script has come to its end."""
        self.tab.states[self.buttons[label]] = WidgetState(id=self.buttons[label], trigger_value=True)
        done = self.tab.finished
        await self.tab.rerun()
        del self.tab.states[self.buttons[label]]
        await self.tab.until(lambda: self.tab.finished > done, PATIENCE)

    async def explore(self):
        """Open Explore on the data in use."""
        self.tab.page, self.tab.states = "", {}
        done = self.tab.finished
        await self.tab.rerun()
        await self.tab.until(lambda: self.tab.finished > done, PATIENCE)


def training_apart(pid):
    """Processes below this one that train an f of own data, that is, use a core."""
    found = []
    for helper in helpers_of(pid):
        with suppress(psutil.Error):
            if helper.nice() == 19 and helper.cpu_percent(0.05) > 20:
                found.append(helper)
    return found


async def run(address, pid, rows, seconds):
    """All phases, printed one after the other."""
    content = table(rows).to_csv(index=False).encode()
    print(f"{rows:,} rows, {len(content) / 2**20:.0f} MB; new settings of somebody else, milliseconds:")
    mover, stranger = Mover(address), Stranger(address)
    await mover.open()
    for _ in range(20):  # warm
        await mover.move()
    usual = None

    async def phase(name, work):
        nonlocal usual
        mover.waits, started = [], time.monotonic()
        moving = asyncio.create_task(mover.live())
        await work
        moving.cancel()
        waits = 1000 * np.array(mover.waits)
        middle, most = np.median(waits), np.percentile(waits, 95)
        usual = usual or (middle, most)
        ratio = f"{middle / usual[0]:.2f}x and {most / usual[1]:.2f}x"
        took = time.monotonic() - started
        print(
            f"{name:<42}{took:7.1f} s{len(waits):5d} moves{middle:9.0f}{most:9.0f}   {ratio}, longest {waits.max():.0f}"
        )

    await phase("nobody else there", asyncio.sleep(seconds))
    await phase("the file is sent, read and looked at", stranger.bring("people.csv", content))
    await phase("the data are used, a start is looked for", stranger.press("Use these data"))
    await phase("Explore on them", stranger.explore())
    choosing = asyncio.create_task(stranger.tab.rerun({"Base model f": "Random forest"}))
    await phase("a random forest is trained on them", asyncio.sleep(seconds))
    await choosing
    print("said meanwhile:", next((word for word in reversed(stranger.words) if "Training f" in word), "nothing"))
    training = training_apart(pid)
    print("processes that train it:", len(training))
    closed = time.monotonic()
    await stranger.tab.close()
    while any(process.is_running() for process in training) and time.monotonic() - closed < 60:
        await asyncio.sleep(0.02)
    print(f"the tab is closed: {time.monotonic() - closed:.2f} s later nothing of it is trained any more")
    await phase("nobody else there again", asyncio.sleep(seconds))
    await mover.tab.close()
    print("problems:", (mover.tab.problems + stranger.tab.problems) or "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seconds", type=float, default=30.0)
    asked = parser.parse_args()
    with serve(environment={"COMMOD_PROCESSES": ""}) as address:
        pid = next(
            process.pid
            for process in psutil.Process().children(recursive=True)
            if "streamlit" in " ".join(process.cmdline())
        )
        asyncio.run(run(address, pid, asked.rows, asked.seconds))


if __name__ == "__main__":
    main()
