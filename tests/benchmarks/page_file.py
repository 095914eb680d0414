"""How fast a page without a server is: ``python -m tests.benchmarks.page_file explore.html [--slow 4]``.

From file:// in Chromium, without network. Prints the size, the time until the first picture is drawn, and for each
slider the time from a move of the hand to the frame that shows it. ``--slow 4`` has a processor four times slower, as a
phone's.
"""

import argparse
import statistics
from pathlib import Path

from tests.browsing import chromium

SLIDERS = ("lambda_fair", "lambda_ratio", "lambda_concepts", "k")
WATCH = """() => {
  window.delays = [];
  const after = (done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();  // heard once the frame is drawn
    port1.onmessage = done;
    port2.postMessage(0);
  });
  document.addEventListener('input', (event) => {
    const { timeStamp } = event;
    after(() => window.delays.push(performance.now() - timeStamp));
  }, { capture: true });
}"""
FIRST = """() => new Promise((done) => {
  const drawn = () => requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  const look = () => (window.commod ? drawn() : setTimeout(look, 1));
  look();
})"""


def opened(browser, address, size, slow):
    """A page, and the milliseconds until its first picture was drawn."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, locale="en-GB")
    page.context.set_offline(True)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slow})
    page.goto(address)
    return page, page.evaluate(FIRST)


def drag(page, name, rounds):
    """Milliseconds from each move of a slider to its frame."""
    page.evaluate("() => { window.delays.length = 0; }")
    slider = page.locator(f"#set_{name}")
    slider.scroll_into_view_if_needed()
    box, steps = slider.bounding_box(), int(slider.get_attribute("max"))
    places = [*range(steps), *range(steps, 0, -1)] * rounds
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    for place in places:
        page.mouse.move(box["x"] + 8 + (box["width"] - 16) * place / steps, box["y"] + box["height"] / 2)
    page.mouse.up()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    return page.evaluate("() => window.delays")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--slow", type=float, default=1.0)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    print(f"{given.file.stat().st_size / 1e6:.2f} MB")
    address = given.file.resolve().as_uri()
    with chromium() as browser:
        for size in ((1366, 768), (390, 844)):
            times = []
            for _ in range(given.times):
                page, first = opened(browser, address, size, given.slow)
                times.append(first)
                page.close()
            middle = statistics.median(times)
            print(f"{size[0]} x {size[1]}: first picture after {middle:.0f} ms (median of {given.times})")
            page, _ = opened(browser, f"{address}?lambda_fair=0", size, given.slow)
            page.evaluate(WATCH)
            page.locator("#sliders details").evaluate("details => { details.open = true; }")
            for name in SLIDERS:
                delays = sorted(drag(page, name, 3))
                middle, late = statistics.median(delays), delays[int(0.95 * len(delays))]
                print(f"  {name}: {middle:.0f} ms to the frame, 95%: {late:.0f} ms, {len(delays)} moves")
            page.close()


if __name__ == "__main__":
    main()
