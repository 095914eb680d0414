"""The lower half of Explore, which is drawn only while it is near the screen."""

import pytest

from tests.browsing import chromium, query, serve, settled

pytestmark = pytest.mark.browser
WHO, LAST = "Whose decisions change", "Post hoc or built in: SHAP beside COMMOD"


@pytest.fixture(scope="module")
def address():
    with serve() as running:
        yield running


@pytest.fixture
def page(address):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.goto(f"{address}/?data=german")
        settled(page)
        yield page
        assert not page.problems


def scroll(page, to):
    page.evaluate("to => document.querySelector('[data-testid=stMain]').scrollTo(0, to)", to)


def heading(page, name):
    return page.get_by_role("heading", name=name)


def test_it_is_drawn_when_it_comes_near_and_of_the_model_that_is_there_then(page):
    assert heading(page, WHO).count() == 0
    page.get_by_role("group", name="How much fairness do you ask for? (λ_fair)").get_by_role("slider").focus()
    page.keyboard.press("Home")  # where nobody changes
    page.wait_for_url("**lambda_fair=0&*")
    settled(page)
    assert heading(page, WHO).count() == 0
    scroll(page, 2000)
    heading(page, WHO).wait_for()
    heading(page, LAST).wait_for()
    page.get_by_text("there is nothing to check").wait_for()
    scroll(page, 0)
    heading(page, WHO).wait_for(state="detached")
    assert query(page)["lambda_fair"] == "0"


@pytest.mark.slow
def test_who_does_not_scroll_has_a_button(page):
    button = page.get_by_role("button", name="Further down: whose decisions change")
    button.focus()  # which brings it into sight
    heading(page, WHO).wait_for()
    heading(page, LAST).wait_for()
    button.wait_for(state="hidden")


@pytest.mark.slow
def test_the_tour_leads_there(page):
    page.get_by_role("button", name="90-second tour").click()
    for step in (1, 2, 3):
        page.get_by_text(f"{step} of 4").wait_for()
        page.wait_for_function("() => document.querySelectorAll('.st-key-tour_hint').length === 1")
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Done").wait_for()
    settled(page)
    assert heading(page, LAST).count() == 1
    hint = page.locator(".st-key-tour_hint").bounding_box()
    assert 0 <= hint["y"] < 768


@pytest.mark.slow
def test_a_search_goes_on_while_one_looks_elsewhere(page):
    scroll(page, 2000)
    page.get_by_role("button", name="Find the setting").click()
    page.get_by_role("button", name="Stop the search").wait_for()
    scroll(page, 0)
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Stop the search").wait_for(state="detached", timeout=120_000)
    settled(page)
    scroll(page, 2000)
    page.get_by_text("On test:").first.wait_for()
