"""The first picture follows the hand in Chromium: along every slider and the curve, by mouse, keyboard and touch."""

import json
from urllib.parse import parse_qs, urlparse

import pytest

from tests.browsing import chromium, metric, still
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.browser
LINE = ".st-key-pareto path[aria-label^='Every λ_fair']"
FRONTIER = ".st-key-pareto path[aria-label^='Other settings']"
KNOWN = 21  # stops of the slider
# Counts frames and changes of the figures, and what is sent to the server.
WATCH = """
() => {
  const all = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].map((each) => each.shadowRoot);
  const root = all.find((each) => each.querySelector('.picture'));
  window.seen = { frames: [], changes: [], moves: [] };
  const frame = (time) => { window.seen.frames.push(time); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  new MutationObserver(() => window.seen.changes.push(performance.now()))
    .observe(root.querySelector('.figures'), { subtree: true, childList: true, characterData: true });
  addEventListener('pointermove', () => window.seen.moves.push(performance.now()), true);
}
"""


@pytest.fixture(scope="module")
def page(served):
    """Explore with every λ_fair trained."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768}, has_touch=True)
        page.sent, page.asked = [], []
        page.on("websocket", lambda socket: socket.on("framesent", lambda _: page.sent.append(1)))
        page.on("request", lambda asked: page.asked.append(asked.url) if "/model?" in asked.url else None)
        page.goto(f"{served}/?data=law_school&lambda_fair=3")
        page.wait_for_function(
            f"() => document.querySelectorAll(`{LINE}`).length === {KNOWN} && document.querySelector(`{FRONTIER}`)",
            timeout=1000 * PATIENCE,
        )
        still(page)
        yield page


def figures(page):
    return page.locator("dd.value").all_inner_texts()


def setting(page):
    """The setting of the picture, in words."""
    return page.locator(".picture").get_attribute("data-setting")


def shows(page, name, value):
    """Wait until the complete picture of a setting is drawn."""
    page.wait_for_function(
        """([words]) => {
          const all = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')];
          const box = all.map((each) => each.shadowRoot.querySelector('.picture')).find(Boolean);
          return `${box.dataset.setting},`.includes(words) && !box.classList.contains('partial');
        }""",
        arg=[f"{name} {value},"],
    )


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def slider(page, name):
    return page.locator(f"[class*='st-key-set_{name}']")  # whatever its revision


def value(page, name):
    return slider(page, name).locator("input[type=range]").get_attribute("aria-valuetext")


def press(page, name, *shares, steps):
    """Press the thumb of a slider and move it to shares of its length."""
    thumb = slider(page, name).locator("input[type=range]").locator("xpath=ancestor::div[2]")
    track, (x, y) = slider(page, name).bounding_box(), middle(thumb.bounding_box())
    page.mouse.move(x, y)
    page.mouse.down()
    for share in shares:
        page.mouse.move(track["x"] + share * track["width"], y, steps=steps)


def test_a_drag_along_trained_models_draws_each_and_moves_the_point(page):
    sent = len(page.sent)
    press(page, "lambda_fair", 0.9, steps=8)
    there = value(page, "lambda_fair")
    shows(page, "λ_fair", there)
    during, ghost = figures(page), page.locator(".ghost").bounding_box()
    mark = page.locator(f"{LINE}[aria-label*='λ_fair {there},']").bounding_box()
    assert middle(ghost) == pytest.approx(middle(mark), abs=2)
    assert len(page.sent) == sent  # Streamlit hears nothing of it
    page.mouse.up()
    still(page)
    assert len(page.sent) > sent
    assert figures(page) == during  # what the hand was shown is what is trained there
    assert metric(page, "Accuracy") == during[1]
    assert page.locator(".ghost").is_hidden()


@pytest.mark.slow  # λ_concepts is dragged below
@pytest.mark.parametrize(
    ("name", "symbol"), [("lambda_ratio", "λ_ratio"), ("lambda_concepts", "λ_concepts"), ("k", "k")]
)
def test_every_other_slider_trains_under_the_hand(page, name, symbol):
    before = value(page, name)
    press(page, name, 0.75, steps=4)
    there = value(page, name)
    assert there != before
    shows(page, symbol, there)
    during, verdict = figures(page), page.locator(".verdict").inner_text()
    assert page.locator(".ghost").is_visible()
    assert f"{symbol} {there}" in page.locator(".ghost").get_attribute("data-setting")
    page.mouse.up()
    still(page)
    assert (figures(page), page.locator(".verdict").inner_text()) == (during, verdict)
    assert parse_qs(urlparse(page.url).query)[name] == [there]


@pytest.mark.slow
def test_only_the_last_setting_of_a_quick_drag_is_drawn_in_the_end(page):
    page.asked.clear()
    press(page, "lambda_concepts", 0.2, 0.9, 0.4, steps=12)
    there = value(page, "lambda_concepts")
    shows(page, "λ_concepts", there)
    page.wait_for_timeout(300)  # in which nothing else may come
    assert f"λ_concepts {there}," in f"{setting(page)},"
    last = [url for url in page.asked if "wait=complete" in url][-1] if page.asked else page.url
    assert parse_qs(urlparse(last).query)["lambda_concepts"] == [there]
    page.mouse.up()
    still(page)


def test_a_key_moves_the_picture_with_the_slider(page):
    slider(page, "lambda_fair").locator("input").focus()
    page.keyboard.press("ArrowLeft")
    shows(page, "λ_fair", value(page, "lambda_fair"))
    still(page)
    shows(page, "λ_fair", value(page, "lambda_fair"))


def test_a_picture_that_does_not_come_leaves_the_page_as_it_was(page):
    page.route("**/model?*", lambda route: route.fulfill(status=503, body="<p>full</p>"))
    before = figures(page)
    press(page, "lambda_fair", 0.6, steps=3)  # along which all models are trained
    page.wait_for_timeout(400)
    assert figures(page) == before
    page.mouse.up()
    page.wait_for_function("(old) => location.href !== old", arg=page.url)
    still(page)
    shows(page, "λ_fair", value(page, "lambda_fair"))
    page.unroute("**/model?*")


@pytest.mark.slow
def test_a_picture_that_waits_says_how_many_come_before(page):
    queued = {"schema": 1, "status": "queued", "position": 4}
    page.route("**/model?*", lambda route: route.fulfill(status=202, body=json.dumps(queued)), times=3)
    press(page, "lambda_fair", 0.8, steps=1)
    shows(page, "λ_fair", value(page, "lambda_fair"))
    assert page.locator(".status").inner_text() == ""
    page.mouse.up()
    still(page)
    page.unroute("**/model?*")


@pytest.mark.slow  # Undo is tested on every page, and a key above
def test_undo_shows_the_picture_before(page):
    before, here = figures(page), value(page, "k")
    slider(page, "k").locator("input").focus()
    page.keyboard.press("ArrowRight")
    still(page)
    assert value(page, "k") != here
    page.get_by_role("button", name="Undo").click()
    still(page)
    shows(page, "k", here)
    assert figures(page) == before


@pytest.mark.slow  # a click opens it, too
def test_a_finger_on_the_curve_opens_its_model(page):
    marks = page.locator(LINE).all()
    x, y = middle(marks[len(marks) // 2].bounding_box())
    url, here = page.url, setting(page)
    page.touchscreen.tap(x, y)
    page.wait_for_function("old => location.href !== old", arg=url)
    still(page)
    assert setting(page) != here
    assert f"λ_fair {value(page, 'lambda_fair')}," in setting(page)


# The frontier last: beside its model, which has another λ_ratio, every λ_fair is trained anew.
@pytest.mark.slow
@pytest.mark.parametrize(("marks", "place"), [(LINE, 9), pytest.param(FRONTIER, 0, marks=pytest.mark.slow)])
def test_pointing_shows_a_model_and_a_click_opens_it(page, marks, place):
    before, here, sent = figures(page), setting(page), len(page.sent)
    known = page.locator(marks).all()
    # Of the frontier, one that no other point lies near.
    mark = known[place] if marks == LINE else max(known, key=lambda each: each.bounding_box()["x"])
    x, y = middle(mark.bounding_box())
    page.mouse.move(x + 2, y + 2)
    wait_until(lambda: setting(page) != here and page.locator(".picture.partial").count() == 0)
    shown, words = figures(page), page.locator(".ghost").get_attribute("data-setting")
    assert shown != before
    assert len(page.sent) == sent
    page.mouse.move(x, 5)
    wait_until(lambda: figures(page) == before)
    url = page.url
    page.mouse.click(x + 2, y + 2)
    page.wait_for_function("old => location.href !== old", arg=url)
    still(page)
    assert f"λ_fair {value(page, 'lambda_fair')}" in words
    assert figures(page) == shown


@pytest.mark.slow
def test_thirty_frames_a_second_over_sixty_points(page):
    still(page)
    page.evaluate(WATCH)
    press(page, "lambda_fair", 0.98, 0.02, 0.98, steps=50)
    seen = page.evaluate("() => window.seen")
    page.mouse.up()
    span = [time for time in seen["frames"] if seen["moves"][0] <= time <= seen["moves"][-1]]
    rate = 1000 * len(span) / (span[-1] - span[0])
    first = next(time for time in seen["changes"] if time > seen["moves"][1]) - seen["moves"][1]
    print(f"{rate:.0f} frames a second over {len(seen['changes'])} changes; first answer after {first:.0f} ms")
    assert len(seen["changes"]) >= 50
    assert rate >= 30
