"""Mouse release to new Pareto point, in Chromium: ``python -m tests.benchmarks.latency``.

Our app and a floor app of trivial compute, in one run on one machine, each in a server of its own: read the ratios.
With ``--runs 3`` it is done again at other λ_ratio, so that settings are new again; with ``--ready 700`` people come to
a server on which somebody has looked at each data set some minutes before, and whose ladders are climbed.
"""

import argparse
import asyncio
import statistics
from dataclasses import replace
from urllib.parse import urlencode

from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import GRIDS, defaults
from tests.benchmarks.crowd import BY_ITSELF, warm_up
from tests.benchmarks.faults import server_of
from tests.browsing import chromium, serve, settled, still

# The mark whose place is read back, in our app and in the floor app.
OURS = "path[aria-label*='g, this setting']"
FLOOR = "path[aria-roledescription='point']"
WATCH = """
(selector) => {
  const find = () => [...document.querySelectorAll(selector)].map(e => e.getAttribute('aria-label')).join('|');
  window.__last = find();
  window.__released = null;
  window.__drawn = null;
  addEventListener('pointerup', () => { window.__released = performance.now(); window.__drawn = null; }, true);
  new MutationObserver(() => {
    const now = find();
    if (now && now !== window.__last) { window.__last = now; window.__drawn = performance.now(); }
  }).observe(document.body, {subtree: true, childList: true, attributes: true, attributeFilter: ['aria-label']});
}
"""
NAMES = ("law_school", "compas")
USUAL = BY_ITSELF | {"COMMOD_WARM_UP": "1"}


def move(page, share):
    """Drag λ_fair to a share of its length; milliseconds from release to the new point."""
    slider = page.get_by_role("group", name="How much fairness do you ask for? (λ_fair)")
    thumb = slider.get_by_role("slider").locator("xpath=ancestor::div[1]").bounding_box()
    track = slider.bounding_box()
    x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(track["x"] + share * track["width"], y, steps=3)
    page.mouse.up()
    page.wait_for_function("() => window.__drawn !== null", timeout=30_000)
    took = page.evaluate("() => window.__drawn - window.__released")
    still(page)
    return took


def places(moves):
    """Shares of a slider's length, to and fro over it, never twice at one place."""
    half = [0.35 + 0.6 * i / moves for i in range(moves)]
    return half[::2] + half[1::2][::-1]


def measure(browser, address, selector, places, query=""):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/{query}")
    return moves(page, selector, places)


def moves(page, selector, places):
    """Milliseconds of moves to new places, and of moves back to places seen."""
    settled(page, timeout=180_000)
    page.wait_for_selector(selector, state="attached")
    still(page)
    page.evaluate(WATCH, selector)
    new = [move(page, place) for place in places]
    seen = [move(page, place) for place in reversed(places[:-1])]
    page.close()
    return new, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=15)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--ready", type=float, default=0.0, help="seconds, at most, until all ladders are climbed")
    arguments = parser.parse_args()
    with (
        serve("tests/benchmarks/floor_app.py") as floor,
        serve(environment=USUAL | {"COMMOD_PREFETCH": "paths"}) as ours,  # or no setting would be new
    ):
        if arguments.ready:
            asyncio.run(warm_up(ours, server_of(ours), arguments.ready, NAMES))
        with chromium() as browser:
            for run in range(arguments.runs):
                one_run(browser, floor, ours, places(arguments.moves), run)


def one_run(browser, floor, ours, there, run):
    """Print the floor, and both data sets beside it, at a λ_ratio that no other run has."""
    base, again = measure(browser, floor, FLOOR, there)
    floor_ms = statistics.median(base + again)
    print(f"floor app                          median {floor_ms:6.0f} ms  1.0×  ({len(base + again)} moves)")
    for data in NAMES:
        here, ratios = defaults(data), GRIDS["lambda_ratio"]
        ratio = ratios[(ratios.index(here.lambda_ratio) + run) % len(ratios)]
        new, seen = measure(browser, ours, OURS, there, f"?{urlencode(to_link(replace(here, lambda_ratio=ratio)))}")
        for what, times, limit in (("new setting", new, 2.5), ("seen before", seen, 1.5)):
            middle = statistics.median(times)
            print(
                f"{data:11} {what:22} median {middle:6.0f} ms  {middle / floor_ms:.1f}×  "
                f"(asked for: {limit:g}×; {min(times):.0f} to {max(times):.0f} ms)",
                flush=True,
            )


if __name__ == "__main__":
    main()
