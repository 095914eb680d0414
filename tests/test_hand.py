"""The picture follows the hand in Chromium: along the slider, along the curve, by keyboard and by touch."""

import pytest

from tests.browsing import chromium, metric, still

pytestmark = pytest.mark.browser
SLIDER = ".st-key-set_lambda_fair"
LINE = ".st-key-pareto path[aria-label^='Every λ_fair']"
FRONTIER = ".st-key-pareto path[aria-label^='Frontier of a sweep']"
KNOWN = 25  # values of the slider
# Counts frames and changes of the figures, and what is sent to the server.
WATCH = """
() => {
  const hand = document.querySelector('[data-testid="stBidiComponentIsolated"]').shadowRoot;
  window.seen = { frames: [], changes: [], moves: [] };
  const frame = (time) => { window.seen.frames.push(time); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  new MutationObserver(() => window.seen.changes.push(performance.now()))
    .observe(hand.querySelector('.figures'), { subtree: true, childList: true, characterData: true });
  addEventListener('pointermove', () => window.seen.moves.push(performance.now()), true);
}
"""


@pytest.fixture(scope="module")
def page(served):
    """Explore with every λ_fair trained."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768}, has_touch=True)
        page.sent = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda _: page.sent.append(1)))
        page.goto(f"{served}/?data=law_school&lambda_fair=3")
        page.wait_for_function(
            f"() => document.querySelectorAll(`{LINE}`).length === {KNOWN} && document.querySelector(`{FRONTIER}`)",
            timeout=120_000,
        )
        still(page)
        yield page


def figures(page):
    return page.locator("dd").all_inner_texts()


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def thumb(page):
    return middle(page.locator(f"{SLIDER} input[type=range]").locator("xpath=ancestor::div[2]").bounding_box())


def drag(page, *shares, steps):
    """Press the slider's thumb and move it to shares of its length."""
    track, (x, y) = page.locator(SLIDER).bounding_box(), thumb(page)
    page.mouse.move(x, y)
    page.mouse.down()
    for share in shares:
        page.mouse.move(track["x"] + share * track["width"], y, steps=steps)


def test_figures_and_dots_follow_a_drag_and_nothing_is_asked_of_the_server(page):
    before, sent = figures(page), len(page.sent)
    drag(page, 0.9, steps=8)
    page.wait_for_function(
        "old => document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot"
        ".querySelector('dd').textContent !== old",
        arg=before[0],
    )
    during, ghost = figures(page), page.locator(".ghost").bounding_box()
    value = page.locator(f"{SLIDER} input").get_attribute("aria-valuetext")
    mark = page.locator(f"{LINE}[aria-label*='λ_fair {value},']").bounding_box()
    assert middle(ghost) == pytest.approx(middle(mark), abs=2)
    assert len(page.sent) == sent
    page.mouse.up()
    still(page)
    assert len(page.sent) > sent
    assert figures(page) == during  # what the hand was shown is what is trained there
    assert metric(page, "Accuracy") == during[1]


def test_a_key_moves_the_picture_with_the_slider(page):
    before = figures(page)
    page.locator(f"{SLIDER} input").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "old => document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot"
        ".querySelector('dd').textContent !== old",
        arg=before[0],
        timeout=2_000,
    )
    still(page)


def test_a_finger_on_the_curve_opens_its_model(page):
    marks = page.locator(LINE).all()
    x, y = middle(marks[10].bounding_box())
    url = page.url
    page.touchscreen.tap(x, y)
    page.wait_for_function("old => location.href !== old", arg=url)
    still(page)


# The frontier last: beside its model, which has another λ_ratio, every λ_fair is trained anew.
@pytest.mark.parametrize(("marks", "place"), [(LINE, 6), (FRONTIER, 0)])
def test_pointing_shows_a_model_and_a_click_opens_it(page, marks, place):
    before, sent = figures(page), len(page.sent)
    known = page.locator(marks).all()
    # Of the frontier, one that no other point lies near.
    mark = known[place] if marks == LINE else max(known, key=lambda each: each.bounding_box()["x"])
    x, y = middle(mark.bounding_box())
    page.mouse.move(x + 2, y + 2)
    page.wait_for_timeout(100)
    shown, words = figures(page), page.locator(".ghost").get_attribute("data-setting")
    assert shown != before
    assert len(page.sent) == sent
    page.mouse.move(x, 5)
    page.wait_for_timeout(100)
    assert figures(page) == before
    url = page.url
    page.mouse.click(x + 2, y + 2)
    page.wait_for_function("old => location.href !== old", arg=url)
    if marks == LINE:
        still(page)
    value = page.locator(f"{SLIDER} input").get_attribute("aria-valuetext")
    assert words.split(",")[0] == f"λ_fair {value}"
    if marks == LINE:
        assert figures(page) == shown


@pytest.mark.slow
def test_thirty_frames_a_second_over_sixty_points(page):
    still(page)
    page.evaluate(WATCH)
    drag(page, 0.98, 0.02, 0.98, steps=50)
    seen = page.evaluate("() => window.seen")
    page.mouse.up()
    span = [time for time in seen["frames"] if seen["moves"][0] <= time <= seen["moves"][-1]]
    rate = 1000 * len(span) / (span[-1] - span[0])
    first = next(time for time in seen["changes"] if time > seen["moves"][1]) - seen["moves"][1]
    print(f"{rate:.0f} frames a second over {len(seen['changes'])} changes; first answer after {first:.0f} ms")
    assert len(seen["changes"]) >= 50
    assert rate >= 30
