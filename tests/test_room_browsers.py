"""A room in three browsers: who leads it before a wall, somebody with a phone and a keyboard, and one with a phone."""

import re

import pytest

from tests.browsing import WITH_PROCESSES, chromium, cut_off, query, serve, settled
from tests.keyboard import in_focus, mark
from tests.screenshots import SIZES

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ANN_GUESSES, BO_GUESSES = 83, 91  # which no page says of anything else
ANSWER = re.compile(r"Of 100 Non-White students[^?]* \d+\.")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    rooms = tmp_path_factory.mktemp("rooms") / "rooms.sqlite"
    with serve(environment={**WITH_PROCESSES, "COMMOD_ROOMS_FILE": str(rooms)}) as running:
        yield running


@pytest.fixture
def open_browser(address):
    """A browser of somebody else at each call: own cookies, and all that the server sends to it is kept."""
    with chromium() as running:

        def open_at(path, size, dark=False):
            width, height = SIZES[size]
            colours = "dark" if dark else "light"
            page = running.new_context(
                viewport={"width": width, "height": height}, color_scheme=colours, has_touch=size == "narrow"
            ).new_page()
            page.problems, page.received = [], []
            page.on("pageerror", lambda error: page.problems.append(str(error)))
            page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: page.received.append(frame)))
            page.goto(f"{address}/{path}")
            settled(page)
            return page

        yield open_at


def text(page):
    return page.locator("body").inner_text()


def says(page, words):
    page.get_by_text(words).first.wait_for()


def is_read_out(page, words):
    """Whether a screen reader says something: in an element that stays, as others come and go."""
    page.wait_for_function("words => document.getElementById('commod-aloud')?.textContent.includes(words)", arg=words)
    region = page.locator("#commod-aloud")
    assert region.get_attribute("aria-live") == "polite"
    assert region.get_attribute("role") == "status"


def lead(page, name):
    page.get_by_test_id("stSidebar").get_by_role("button", name=name, exact=True).click()


def tab_to(page, name, most=60):
    """Press Tab until something of this name is in focus."""
    mark(page)
    for _ in range(most):
        if in_focus(page).endswith(name) and not in_focus(page).startswith("Help for"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not come to {name}")


def type_into(page, field, words):
    tab_to(page, field)
    page.keyboard.type(words)


def press(page, name):
    """Go to a button or a link by the keyboard, and press it."""
    tab_to(page, name)
    page.keyboard.press("Enter")


def join(page, name, keyboard):
    if keyboard:
        type_into(page, "Nickname (optional)", name)
        press(page, "Join a room")
    else:
        page.get_by_role("textbox", name="Nickname (optional)").fill(name)
        page.get_by_role("button", name="Join a room").tap()
    page.wait_for_url("**seat=*")
    says(page, f"You are {name}")
    assert not cut_off(page)


def guess(page, number, keyboard):
    if keyboard:
        page.get_by_label("Your guess (of 100)").wait_for()
        settled(page)
        type_into(page, "Your guess (of 100)", str(number))
        press(page, "This is my guess")
    else:
        page.get_by_label("Your guess (of 100)").wait_for()
        settled(page)
        page.get_by_label("Your guess (of 100)").fill(str(number))
        page.get_by_role("button", name="This is my guess").tap()
    says(page, f"Your guess: {number}")
    assert not cut_off(page)


def vote(page, why, keyboard):
    field = page.get_by_label("Why this one? One sentence, up to 200 characters")
    field.wait_for()
    settled(page)
    if keyboard:
        type_into(page, "Why this one? One sentence, up to 200 characters", why)
        press(page, "Send this model as my vote")
    else:
        field.fill(why)
        page.get_by_role("button", name="Send this model as my vote").tap()
    says(page, "Your vote is in")
    assert not cut_off(page)


def ask_for_more_fairness(page):
    """Go to the sliders, move one, and come back to the room."""
    page.get_by_role("link", name="Choose another model with the sliders").tap()
    slider = page.get_by_role("group", name="Fairness (λ_fair)").get_by_role("slider")
    slider.press("End")
    page.wait_for_url("**lambda_fair=10&*")
    page.get_by_role("link", name="Answer the question").tap()


def test_a_class_joins_guesses_votes_and_votes_again(open_browser):
    leader = open_browser("room", "wide", dark=True)
    leader.get_by_role("button", name="Open a room").click()
    leader.wait_for_url("**seat=*")
    leader.get_by_role("button", name="Leader's link").click()
    leader.get_by_test_id("stCode").last.wait_for()
    secret = re.search(r"lead=([\w-]{32})", leader.get_by_test_id("stCode").last.inner_text())[1]
    leader.keyboard.press("Escape")
    leader.get_by_test_id("stCode").last.wait_for(state="detached")
    code = query(leader)["room"]

    ann, bo = (open_browser(f"room?room={code}", "narrow") for _ in range(2))
    join(ann, "Ann", keyboard=True)
    join(bo, "Bo", keyboard=False)
    says(leader, "2 here")

    guess(ann, ANN_GUESSES, keyboard=True)
    guess(bo, BO_GUESSES, keyboard=False)
    says(leader, "Guesses: 2 of 2")
    assert not re.search(rf"\b({ANN_GUESSES}|{BO_GUESSES})\b", text(leader))
    assert not re.search(rf"\b{ANN_GUESSES}\b", text(bo))
    assert not ANSWER.search(text(leader))
    lead(leader, "Reveal the guesses")
    for page in (leader, ann, bo):
        is_read_out(page, "The guesses are revealed.")
    says(leader, ANSWER)
    says(bo, f"You said {BO_GUESSES} of 100.")
    leader.get_by_text("The guesses as a table").click()
    table = leader.get_by_role("region", name="The guesses as a table")
    table.get_by_role("row").nth(2).wait_for()

    lead(leader, "Which model would you sign?")
    is_read_out(ann, "Which model would you sign?")
    vote(ann, "Kinder near the line.", keyboard=True)
    vote(bo, "It is <b>right</b> about most.", keyboard=False)
    says(leader, "Votes: 2 of 2")
    assert not any("Kinder" in text(page) for page in (leader, bo))
    lead(leader, "Show the votes")
    says(leader, "“Kinder near the line.” (Ann)")
    says(bo, "“It is <b>right</b> about most.” (Bo)")  # as text
    bo.get_by_label("Why this one? One sentence").wait_for(state="hidden")  # until there is a vote to send it with
    assert not cut_off(bo)

    lead(leader, "Vote again")
    is_read_out(bo, "Second vote")
    vote(ann, "I stay.", keyboard=True)
    ask_for_more_fairness(bo)
    vote(bo, "Ann is right.", keyboard=False)
    says(leader, "Votes: 2 of 2")
    lead(leader, "Show the votes")
    says(leader, "1 of 2 who voted twice changed their vote")
    for page in (ann, bo):
        says(page, "1 of 2 who voted twice changed their vote")
        settled(page)
        assert not cut_off(page)

    lead(leader, "Close the room")
    leader.get_by_role("button", name="Close it now").click()
    for page in (ann, bo):
        says(page, "The room is closed and takes no more answers.")
    is_read_out(ann, "The room is closed.")
    bo.reload()
    says(bo, "The room is closed and takes no more answers.")
    assert query(bo)["lambda_fair"] == "10"  # her own work stays

    seat = query(leader)["seat"]
    assert secret not in text(leader)
    for page in (ann, bo):
        assert page.received
        assert not [frame for frame in page.received if secret.encode() in frame or seat.encode() in frame]
    assert not any(page.problems for page in (leader, ann, bo))
