"""Hand to first picture, in Chromium: ``python -m tests.benchmarks.latency``.

Our app and a floor app of trivial compute, in one run on one machine, each in a server of its own: read the ratios.

- *released*: λ_fair is dragged in three steps; from release to the picture of the new setting. Floor: to its chart.
- *dragged*: the thumb is held and moved from value to value; from the new value in the slider to its picture.

A setting is *new* if nobody has trained it (models are not trained ahead here; paths are, as always), and *trained* if
it was in another tab: the picture then comes from the server, not from the browser. With ``--runs 3`` it is done again
at other λ_ratio, so that settings are new again. With ``--ready 700`` people come to a server on which somebody has
looked at each data set some minutes before, so that its paths are known.
"""

import argparse
import asyncio
import statistics
from dataclasses import replace
from urllib.parse import urlencode

from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import GRIDS, SLIDERS, defaults
from tests.benchmarks.crowd import BY_ITSELF, warm_up
from tests.benchmarks.faults import server_of
from tests.browsing import chromium, serve, settled, still
from tests.waiting import wait_until

# Notes when a slider has a new value, when it is released, and when a picture is drawn, with what each says.
WATCH = """
() => {
  const root = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
    .map((each) => each.shadowRoot).find((each) => each.querySelector('.picture'));
  const drawn = root
    ? () => root.querySelector('.picture').dataset.setting
    : () => document.querySelector("path[aria-roledescription='point']")?.getAttribute('aria-label');
  window.noted = [];
  let last = drawn();
  const values = {};
  const look = (name) => {
    if (drawn() && drawn() !== last) noted.push(['drawn', (last = drawn()), performance.now()]);
    for (const thumb of document.querySelectorAll('input[type=range]')) {
      const value = thumb.getAttribute('aria-valuetext'), key = thumb.closest('[class*=st-key-]')?.className ?? '';
      if (value !== values[key]) noted.push(['value', (values[key] = value), performance.now()]);
    }
  };
  const watched = { subtree: true, childList: true, attributes: true };
  watched.attributeFilter = ['aria-label', 'aria-valuetext', 'data-setting'];
  new MutationObserver(look).observe(document.body, watched);
  if (root) new MutationObserver(look).observe(root, watched);
  addEventListener('pointerup', () => noted.push(['released', '', performance.now()]), true);
  look();
}
"""
NAMES = ("law_school", "compas")
USUAL = BY_ITSELF | {"COMMOD_WARM_UP": "1", "COMMOD_PREFETCH": "paths"}
# Times the floor app's release to picture that are asked for, by data set where that differs.
ASKED = {
    "released, new": 2.0,
    "released, trained": 1.0,
    "dragged, new": {"law_school": 1.5, "compas": 2.0},
}
MOST_TRAINED = 50.0  # milliseconds of a drag along trained settings


def thumb_of(page, name):
    return page.locator(f"[class*='st-key-set_{name}'] input[type=range]")


def box_of(page, name):
    """The slider's thumb, its left end and its width, in pixels."""
    thumb = thumb_of(page, name)
    handle = thumb.locator("xpath=ancestor::div[1]").bounding_box()
    track = page.locator(f"[class*='st-key-set_{name}']").bounding_box()
    return handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2, track


def noted(page, kind, after=0.0):
    return [note for note in page.evaluate("() => window.noted") if note[0] == kind and note[2] > after]


def release(page, share, name="lambda_fair"):
    """Drag a slider in three steps and let go; milliseconds from release to the picture."""
    x, y, track = box_of(page, name)
    page.evaluate("() => { window.noted.length = 0; }")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(track["x"] + share * track["width"], y, steps=3)
    page.mouse.up()
    value = thumb_of(page, name).get_attribute("aria-valuetext")
    drawn = wait_until(lambda: picture_of(page, name, value), seconds=30)
    still(page)
    return max(0.0, drawn[2] - noted(page, "released")[-1][2])


def picture_of(page, name, value):
    """The note of the first picture of a value; of the floor app, of its last picture."""
    all_drawn = noted(page, "drawn")
    symbol = name.replace("lambda", "λ")
    ours = [note for note in all_drawn if f"{symbol} {value}," in f"{note[1]},"]
    return ours[0] if ours else all_drawn[-1] if all_drawn and "λ" not in all_drawn[-1][1] else None


def drag(page, name, shares):
    """Hold the thumb and move it from place to place; milliseconds from each new value to its picture."""
    x, y, track = box_of(page, name)
    page.mouse.move(x, y)
    page.mouse.down()
    took = []
    for share in shares:
        page.evaluate("() => { window.noted.length = 0; }")
        page.mouse.move(track["x"] + share * track["width"], y)
        page.wait_for_timeout(30)
        values = noted(page, "value")
        if not values:  # it is there already
            continue
        drawn = wait_until(lambda values=values: picture_of(page, name, values[-1][1]), seconds=30)
        took.append(drawn[2] - values[-1][2])
        page.wait_for_timeout(200)  # for the complete picture
    page.mouse.up()
    still(page)
    return took


def opened(browser, address, query=""):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/{query}")
    settled(page, timeout=180_000)
    page.wait_for_selector("input[type=range]")
    still(page)
    page.evaluate(WATCH)
    return page


def places(moves):
    """Shares of a slider's length, to and fro over it, never twice at one place."""
    half = [0.35 + 0.6 * i / moves for i in range(moves)]
    return half[::2] + half[1::2][::-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--ready", type=float, default=0.0, help="seconds, at most, until all paths are known")
    arguments = parser.parse_args()
    with serve("tests/benchmarks/floor_app.py") as floor, serve(environment=USUAL) as ours:
        if arguments.ready:
            asyncio.run(warm_up(ours, server_of(ours), arguments.ready, NAMES))
        with chromium() as browser:
            for run in range(arguments.runs):
                one_run(browser, floor, ours, places(arguments.moves), run)


def one_run(browser, floor, ours, there, run):
    """Print the floor, and both data sets beside it, at λ_ratio that no other run has."""
    page = opened(browser, floor)
    base = [release(page, share) for share in (*there, *there[-2::-1])]
    page.close()
    floor_ms = statistics.median(base)
    print(f"floor app, released: median {floor_ms:.0f} ms ({min(base):.0f} to {max(base):.0f}, {len(base)} moves)")
    for data in NAMES:
        here, ratios = defaults(data), GRIDS["lambda_ratio"]
        first, second = (
            f"?{urlencode(to_link(replace(here, lambda_ratio=ratios[(2 * run + n) % len(ratios)])))}" for n in (1, 2)
        )
        for what, query in (("new", first), ("trained", first)):
            page = opened(browser, ours, query)
            tell(data, f"released, {what}", [release(page, share) for share in there], floor_ms)
            page.close()
        for what in ("new", "trained"):
            page = opened(browser, ours, second)
            for name in SLIDERS:
                tell(data, f"dragged, {what}", drag(page, name, there), floor_ms, name)
            page.close()


def tell(data, what, times, floor_ms, slider=""):
    """A line: the median, its ratio to the floor, and what was asked for."""
    middle = statistics.median(times)
    asked = ASKED.get(what, MOST_TRAINED / floor_ms)
    asked = asked[data] if isinstance(asked, dict) else asked
    met = "met" if middle <= asked * floor_ms else "MISSED"
    print(
        f"{data:11} {what + (f', {slider}' if slider else ''):34} median {middle:6.0f} ms  {middle / floor_ms:.2f}×  "
        f"(asked for {asked:.2f}×: {met}; {min(times):.0f} to {max(times):.0f} ms, {len(times)} moves)",
        flush=True,
    )


if __name__ == "__main__":
    main()
