"""The app as a person meets it: Chromium, a real server, the drawn values read back."""

import json
import re
import subprocess
import sys
import time
from itertools import pairwise, product
from urllib.parse import unquote

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe

from commod.dashboard.text.language import LANGUAGES, phrase
from commod.dashboard.text.menu import MENU, PAGES
from commod.datasets import TASKS
from commod.datasets.example import example_table
from commod.decisions import read_record
from tests import first_screen
from tests.browsing import ROOT, WITH_PROCESSES, chromium, cut_off, follow, metric, query, serve, settled, still
from tests.keyboard import in_focus, mark, walk
from tests.screenshots import SIZES, address_of

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def open_page(browser, served):
    contexts = []

    def open_at(path="", size="wide", dark=False, until=settled):
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.goto(f"{served}/{path}")
        until(page)
        return page

    yield open_at
    for context in contexts:
        context.close()


def thumb(page, label):
    return page.get_by_role("group", name=label).get_by_role("slider")


def press(page, label, key, times=1):
    thumb(page, label).focus()
    for _ in range(times):
        page.keyboard.press(key)


def drawn(page, kind="g, this setting"):
    """Values of a Pareto point as the chart tells them."""
    text = page.locator(f"path[aria-label*='{kind}']").last.get_attribute("aria-label")
    fairness, accuracy, changed = re.findall(r": ([\d.]+)", text)[:3]
    return float(fairness), float(accuracy), float(changed)


def command_line(**options):
    arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "commod", "fit", "law_school", "--json", *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)


@pytest.mark.slow
def test_tile_point_and_command_line_agree(open_page):
    page = open_page()
    press(page, "Fairness (λ_fair)", "ArrowRight")
    page.wait_for_url("**lambda_fair=3.5*")
    settled(page)
    expected = command_line(lambda_fair=3.5, lambda_concepts=0.05)
    assert metric(page, "P-Rule") == f"{expected['g']['p_rule']:.3f}"
    assert metric(page, "Accuracy") == f"{expected['g']['accuracy']:.1%}"
    assert metric(page, "Decisions changed") == f"{expected['change_rate']:.1%}"
    g, f = expected["g"], expected["f"]
    assert drawn(page) == pytest.approx((g["p_rule"], g["accuracy"], expected["change_rate"]), abs=5e-4)
    assert drawn(page, "f, as deployed") == pytest.approx((f["p_rule"], f["accuracy"], 0), abs=5e-4)
    assert not page.problems


@pytest.mark.slow
def test_every_slider_redraws(open_page):
    page = open_page()
    seen = {drawn(page)}
    for label, key in (
        ("Fairness (λ_fair)", "ArrowLeft"),
        ("Stay near f (λ_ratio)", "End"),
        ("Few features (λ_concepts)", "End"),
    ):
        before = drawn(page)
        press(page, label, key)
        page.wait_for_function(
            "old => [...document.querySelectorAll(\"path[aria-label*='g, this setting']\")].pop()"
            "?.getAttribute('aria-label').indexOf(old) < 0",
            arg=f"{before[0]:.3f}",
        )
        settled(page)
        seen.add(drawn(page))
    assert len(seen) == 4
    page.get_by_role("button", name="Reset").click()
    page.wait_for_url("**lambda_fair=3&*")
    settled(page)
    press(page, "Concepts (k)", "ArrowRight", times=2)
    page.wait_for_url("**k=4*")
    settled(page)
    assert page.locator("[data-testid='concepts'] h3").count() == 4
    press(page, "Depth of the tree", "Home")
    page.wait_for_url("**depth=1*")
    settled(page)
    assert page.locator("[data-testid='tree'] li").count() == 3


@pytest.mark.slow
def test_a_link_opens_the_same_picture_elsewhere_and_survives_reload_and_page_change(open_page, served):
    page = open_page()
    press(page, "Fairness (λ_fair)", "ArrowLeft", times=3)
    page.wait_for_url("**lambda_fair=1.5*")
    settled(page)
    figures = [metric(page, name) for name in ("Accuracy", "P-Rule", "Decisions changed")]
    other = open_page(page.url.removeprefix(f"{served}/"))
    assert [metric(other, name) for name in ("Accuracy", "P-Rule", "Decisions changed")] == figures
    assert drawn(other) == drawn(page)
    assert query(other) == query(page)
    page.reload()
    settled(page)
    assert [metric(page, name) for name in ("Accuracy", "P-Rule", "Decisions changed")] == figures
    follow(page, "pages/glossary.py")
    page.get_by_role("heading", name="What figures do not tell").wait_for()
    follow(page, "app.py")
    page.get_by_role("heading", name="Whose decisions change").wait_for()
    settled(page)
    assert [metric(page, name) for name in ("Accuracy", "P-Rule", "Decisions changed")] == figures


ALWAYS = {("law_school", "en")}  # of the others each takes seconds


@pytest.mark.parametrize(
    ("data", "language"),
    [
        pytest.param(data, language, marks=[pytest.mark.slow] * ((data, language) not in ALWAYS))
        for data in TASKS
        for language in LANGUAGES
    ],
)
def test_the_first_screen_is_short(browser, served, data, language):
    page = browser.new_page(viewport=first_screen.SIZE)
    page.goto(f"{served}/?data={data}&lang={language}")
    still(page)
    found = first_screen.count(page)
    page.close()
    most = {"en": 130, "fr": 145}[language]  # French takes a tenth more words for the same
    assert len(found["words"]) <= most, found["words"]
    assert len(found["stops"]) <= 25, found["stops"]


@pytest.mark.slow  # the keyboard opens an entry of it below
def test_the_menu_is_within_five_tab_stops(open_page):
    page = open_page("glossary")
    mark(page)
    page.evaluate("() => document.activeElement.blur()")
    for _ in range(4):
        page.keyboard.press("Tab")
        if in_focus(page) == "Menu":
            break
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.closest('[data-testid=stHeader], nav, [role=navigation]')")


def test_a_phone_shows_the_menu_and_closes_it_behind_a_choice(open_page):
    page = open_page("glossary", size="narrow")
    button = page.get_by_test_id("stExpandSidebarButton")
    assert button.evaluate("e => getComputedStyle(e, '::after').content") == '"Menu"'
    assert button.bounding_box()["y"] < 100
    button.click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Data").click()
    button.wait_for()


@pytest.mark.slow
def test_undo_redo_and_back_to_a_point_tried_before(open_page):
    page = open_page()
    start = drawn(page)
    press(page, "Fairness (λ_fair)", "Home")
    page.wait_for_url("**lambda_fair=0&*")
    settled(page)
    moved = drawn(page)
    assert moved != start
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url("**lambda_fair=3&*")
    settled(page)
    assert drawn(page) == start
    page.get_by_role("button", name="Redo").click()
    page.wait_for_url("**lambda_fair=0&*")
    settled(page)
    assert drawn(page) == moved
    page.locator("path[aria-label*='Tried before'][aria-label*='λ_fair 3,']").last.click()
    page.wait_for_url("**lambda_fair=3&*")
    settled(page)
    assert drawn(page) == start


@pytest.mark.slow
def test_six_quick_moves_wait_for_one_training_not_six(open_page):
    page = open_page("?data=adult&lambda_fair=1", until=lambda page: metric(page, "P-Rule"))
    page.wait_for_url("**lambda_fair=1&*")
    started = time.monotonic()
    press(page, "Fairness (λ_fair)", "ArrowRight")
    page.wait_for_url("**lambda_fair=1.5*")
    one = time.monotonic() - started
    started = time.monotonic()
    press(page, "Fairness (λ_fair)", "ArrowRight", times=6)
    page.wait_for_url("**lambda_fair=4.5*")
    six = time.monotonic() - started
    assert six < 4 * one
    assert not page.problems


@pytest.mark.slow
def test_compare_draws_what_the_command_line_writes(open_page, tmp_path):
    page = open_page("compare?methods=commod,lpp,oracle_roc&seed=1")
    csv = tmp_path / "points.csv"
    command = [sys.executable, "-m", "commod", "compare", "law_school", "--seed", "1", "--out", str(csv)]
    subprocess.run([*command, "--methods", "oracle_roc,commod,lpp"], cwd=ROOT, capture_output=True, check=True)
    with page.expect_download() as download:
        page.get_by_role("button", name="Points as CSV").click()
    assert download.value.path().read_text() == csv.read_text()
    points = pd.read_csv(csv).set_index("settings")
    accuracy, fairness, changed = points.loc["λ_fair 4, λ_ratio 0.05", ["accuracy", "p_rule", "change_rate"]]
    text = page.locator("path[aria-label*='λ_fair 4, λ_ratio 0.05']").first.get_attribute("aria-label")
    shown = [float(value) for value in re.findall(r": ([\d.]+)", text)[:3]]
    assert shown == pytest.approx([fairness, accuracy, changed], abs=5e-4)


@pytest.mark.slow
def test_compare_takes_a_clicked_model_to_the_match_and_on_to_explore(open_page):
    page = open_page("compare?methods=commod,lpp,oracle_roc")
    before = page.get_by_text("gets as fair with about").inner_text()
    page.locator("path[aria-label*='λ_fair 8, λ_ratio 0.05']").first.click()
    page.wait_for_url("**model=8*")  # written when the match is drawn
    settled(page)
    assert page.get_by_text("gets as fair with about").inner_text() != before
    own = page.get_by_role("region", name="Models matched").get_by_role("row", name="COMMOD")
    matched = [own.locator("td").nth(i).inner_text().split("\n")[0].strip() for i in (0, 1)]
    for name, kind in (("Trade-off as SVG", b"<svg"), ("Who changed as PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.path().read_bytes().startswith(kind)
    page.get_by_role("button", name="Open this COMMOD model").click()
    page.wait_for_url("**lambda_fair=8&lambda_ratio=0.05*")
    page.get_by_role("heading", name="Whose decisions change").wait_for()
    settled(page)
    assert [metric(page, "P-Rule"), metric(page, "Accuracy")] == matched
    assert not page.problems


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_compare_sorts_by_a_heading_folds_a_family_and_no_names_overlap(open_page, size):
    page = open_page("compare?methods=commod,fst,oracle_lpp,oracle_roc", size=size)
    table = page.get_by_role("region", name="Models matched")
    table.get_by_text("…").first.wait_for(state="detached")
    settled(page)

    def shown():
        """Method and changes of the rows in sight, as a number."""
        rows = table.locator("tbody tr:not([hidden]):not([data-head])").all()
        return [
            (row.locator("th").inner_text(), float(row.locator("td").nth(2).inner_text().split("%")[0])) for row in rows
        ]

    by_family = shown()
    assert by_family[0][0] == "COMMOD"
    heading = table.get_by_role("button", name="Changed")
    heading.click()
    assert [value for _, value in shown()] == sorted(value for _, value in by_family)
    assert table.get_by_role("columnheader", name="Changed").get_attribute("aria-sort") == "ascending"
    heading.focus()
    page.keyboard.press("Enter")
    assert [value for _, value in shown()] == sorted((value for _, value in by_family), reverse=True)
    page.keyboard.press("Enter")
    assert shown() == by_family
    family = table.get_by_role("button", name="Correct f with the group (2)")
    family.focus()
    page.keyboard.press("Enter")
    assert family.get_attribute("aria-expanded") == "false"
    assert shown() == by_family[:-2]
    page.keyboard.press("Enter")
    assert shown() == by_family
    boxes = page.locator('[data-testid="stVegaLiteChart"]').first.evaluate(
        """chart => [...chart.querySelectorAll('.mark-text.role-mark text')].map(text => {
          const box = text.getBoundingClientRect(), room = chart.getBoundingClientRect();
          return [text.textContent, box.top, box.bottom, room.right - box.right];
        })"""
    )
    boxes = [box for box in boxes if not box[0].startswith("↖")]  # the corner says which way is better
    names = {"COMMOD", "FST", "Oracle LPP ○", "Oracle ROC ○"}
    if size == "narrow":  # a legend has the names
        legend = page.locator(".cx-legend").filter(visible=True).first
        assert (boxes, set(legend.locator("li").all_inner_texts())) == ([], names)
        assert not page.problems
        return
    assert {name for name, *_ in boxes} == names | {"f"}
    boxes.sort(key=lambda box: box[1])
    middles = [(top + bottom) / 2 for _, top, bottom, _ in boxes]
    assert all(
        below - above >= 12 for above, below in pairwise(middles)
    )  # letters are 12 pixels high, with all strokes
    assert min(right for *_, right in boxes) >= 0  # nor is one cut off
    assert not page.problems


@pytest.mark.slow
def test_compare_can_be_stopped_and_taken_up_again(open_page):
    page = open_page("compare?methods=fst")
    page.locator("summary", has_text="Methods shown").click()
    page.get_by_role("button", name="AdvDebias").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.get_by_text(re.compile(r"AdvDebias (ready|\d)")).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped: 1 of 2 methods are drawn.").wait_for()
    settled(page)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.get_by_role("button", name="AdvDebias").click()  # not wanted any more
    page.get_by_role("button", name="Stop").wait_for(state="detached")
    settled(page)
    assert not page.problems


# What the bar reads: of each entry the name of its icon, and its own.
BAR = [
    f"{next(iter(pages.values())).split('/')[1].rstrip(':')} {phrase('en', f'frame.{entry}')}"
    for entry, pages in MENU.items()
]


@pytest.mark.slow
def test_cold_deep_links_show_the_right_page_and_menu(browser):
    """One such link over the wire: tests/test_own_files.py."""
    with serve(environment=WITH_PROCESSES) as fresh:
        for script in reversed(PAGES):  # the first visit of all is not to the first page
            page = browser.new_page()
            for query in ("", "?data=compas&lambda_fair=2"):
                page.goto(f"{fresh}/{address_of(script)}{query}")
                page.wait_for_function("name => document.title.startsWith(name)", arg=PAGES[script][0])
                menu = page.get_by_role("navigation", name="App pages")
                menu.get_by_role("link").nth(len(MENU) - 1).wait_for()
                assert menu.inner_text().split() == " ".join(BAR).split()
                assert page.get_by_text("Page not found").count() == 0
            page.close()


@pytest.mark.slow
def test_back_leads_to_the_page_before(open_page):
    page = open_page("people?lambda_fair=2", until=lambda page: page.wait_for_url("**lambda_fair=2&*"))
    entries = page.evaluate("() => history.length")
    press(page, "Fairness (λ_fair)", "ArrowRight", times=3)
    page.wait_for_url("**lambda_fair=3.5&*")
    follow(page, "pages/glossary.py")
    page.wait_for_url("**/glossary?*lambda_fair=3.5&*")
    assert page.evaluate("() => history.length") == entries + 1
    page.go_back()
    page.wait_for_function("() => document.title.startsWith('Who changed')")
    page.get_by_role("heading", name="Glossary").wait_for(state="detached")
    page.wait_for_url("**/people?*lambda_fair=3.5&*")
    thumb(page, "Fairness (λ_fair)").wait_for()
    assert thumb(page, "Fairness (λ_fair)").get_attribute("aria-valuetext") == "3.5"
    assert not page.problems


PHONE = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"


@pytest.mark.slow
def test_on_a_phone_the_menu_closes_behind_the_page_that_was_chosen(browser, served):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, user_agent=PHONE, is_mobile=True, has_touch=True
    )
    page = context.new_page()
    page.goto(f"{served}/glossary?lang=fr")
    page.get_by_role("button", name="Expand sidebar").tap()
    page.get_by_role("link", name="Leçon").tap()
    page.wait_for_url("**/lesson?*lang=fr*")
    page.locator("[data-testid='stSidebar'][data-collapsed='true']").wait_for(state="attached")
    page.wait_for_function("() => document.documentElement.lang === 'fr' && document.title.startsWith('Leçon')")
    context.close()


@pytest.mark.slow
def test_the_sidebar_shows_the_setting_on_every_page(open_page):
    page = open_page("?data=compas&fairness=equalized_odds&lambda_fair=2.5&k=3")
    for script in ("pages/what_if.py", "app.py"):
        follow(page, script)
        settled(page)
        assert thumb(page, "Fairness (λ_fair)").get_attribute("aria-valuetext") == "2.5"
        assert thumb(page, "Concepts (k)").get_attribute("aria-valuetext") == "3"
        assert page.get_by_role("combobox", name="Data set").input_value() == "COMPAS"
        assert page.get_by_role("combobox", name="Criterion").input_value() == "Equalized odds (mistreatment)"


@pytest.mark.slow
def test_the_lesson_turns_its_pages(open_page):
    page = open_page("lesson?step=cheap&answers=,,,4", size="narrow")
    page.get_by_role("button", name="Next: Two kinds of fair").click()
    page.wait_for_function("() => document.activeElement.innerText === '5. Two kinds of fair'")
    assert page.evaluate("() => document.querySelector('[data-testid=\"stMain\"]').scrollTop") == 0
    page.get_by_role("spinbutton").fill("40")
    page.get_by_role("button", name="This is my guess").click()
    # It had been at 4, and was put to 3 while it was not drawn.
    slid = page.locator(".st-key-set_lambda_fair").get_by_role("slider")
    slid.wait_for()
    assert slid.get_attribute("aria-valuetext") == "3"
    slid.press("End")
    page.get_by_text("At λ_fair = 10,").wait_for()
    page.locator("svg.marks").first.wait_for()
    assert not page.problems


@pytest.mark.slow
def test_a_file_is_uploaded_used_and_forgotten(open_page, tmp_path):
    page = open_page("your_data")
    picture = tmp_path / "photo.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    page.locator("input[type=file]").set_input_files(picture)
    page.get_by_text("The file is a PNG picture, whatever its name says").wait_for()
    people = tmp_path / "people.csv"
    people.write_text(example_table(600).rename(columns={"city": "<b>city</b>"}).to_csv(index=False))
    page.locator("input[type=file]").set_input_files(people)
    page.get_by_role("heading", name="Columns of people.csv").wait_for()
    assert page.get_by_text("The file is a PNG picture").count() == 0
    page.get_by_role("button", name="Use these data").click()
    page.get_by_role("heading", name="In use: people.csv").wait_for()
    page.get_by_role("link", name="Explore these data").click()
    page.locator(".below").scroll_into_view_if_needed()
    page.get_by_role("heading", name="Whose decisions change").wait_for()
    page.locator("[data-testid='tree']").wait_for()  # the last that is drawn before what goes on behind it
    page.wait_for_url("**f=scores*")
    assert metric(page, "P-Rule")
    assert page.locator("[data-testid='stMain'] b", has_text="city").count() == 0  # names are text, not markup
    follow(page, "pages/your_data.py")
    page.get_by_role("button", name="Forget these data").click()
    page.get_by_role("heading", name="In use: people.csv").wait_for(state="detached")
    assert not page.problems


@pytest.mark.slow
def test_a_hostile_link_reaches_no_html(open_page):
    page = open_page("?data=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&lambda_fair=NaN&k=99999999999999999999&seed=-1")
    assert page.locator("[data-testid='stAlert']").count() == 4
    assert page.locator("img[src='x']").count() == 0
    assert metric(page, "P-Rule")
    assert not page.problems


@pytest.mark.parametrize("script", [pytest.param(s, marks=() if s == "app.py" else pytest.mark.slow) for s in PAGES])
@pytest.mark.slow
def test_the_keyboard_reaches_everything(open_page, script):
    page = open_page(address_of(script))
    found = walk(page)
    assert not found["missed"]
    assert not found["no ring"]
    assert not found["out of order"]
    assert found["names"][:2] == ["Menu", "Skip to main content"]
    # A page that stands beside others under its entry is linked a second time, below the bar.
    assert [name for name in dict.fromkeys(found["names"]) if name in BAR] == BAR


def test_the_keyboard_opens_an_entry_of_the_menu_and_its_other_page(open_page):
    page = open_page("glossary")
    page.get_by_role("navigation", name="App pages").get_by_role("link", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.title.startsWith('Compare')")
    page.get_by_test_id("stPageLink-NavLink").filter(has_text="Limits").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.title.startsWith('Limits')")


@pytest.mark.slow
def test_the_keyboard_changes_the_view_and_goes_back_to_a_setting_tried_before(open_page):
    page = open_page()
    start = drawn(page)
    press(page, "Fairness (λ_fair)", "Home")
    page.wait_for_url("**lambda_fair=0&*")
    settled(page)
    mark(page)
    page.locator("summary", has_text="Numbers").focus()
    page.keyboard.press("Enter")
    page.get_by_text("The models as a table").wait_for()
    settled(page)
    assert "Numbers" in in_focus(page)
    page.get_by_role("radio", name="Fairness and accuracy").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**view=changes*")
    settled(page)
    page.keyboard.press("Tab")
    assert in_focus(page) == "Go back to a setting tried before"
    still(page)  # the focus scrolls it into view, and Streamlit closes a list that is open when the page scrolls
    page.keyboard.press("ArrowDown")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**lambda_fair=3&*")
    settled(page)
    assert drawn(page) == start
    assert in_focus(page) == "Go back to a setting tried before"


# The first page on a phone at night; all else is in the slow tests.
DEFAULT = {("app.py", "narrow", True)}
LOOKS = [
    pytest.param(
        *look,
        id=f"{look[0]}-{look[1]}-{'dark' if look[2] else 'light'}",
        marks=() if look in DEFAULT else pytest.mark.slow,
    )
    for look in product(PAGES, SIZES, (False, True))
]
# Streamlit's own: its drop zone has a role that says it is nothing, and a name; on a phone its list of pages has groups
# between the list and its items.
NOT_OURS = {
    "presentation-role-conflict": ".stFileUploaderDropzone, [data-testid=stFileUploaderDropzone]",
    "list": "[data-testid=stSidebarNavItems]",
    "listitem": "[data-testid=stSidebarNavItems] li",
}


@pytest.mark.parametrize(("script", "size", "dark"), LOOKS)
def test_accessible_and_nothing_is_cut_off(open_page, script, size, dark):
    page = open_page(address_of(script), size=size, dark=dark)
    still(page)
    folder = ROOT / "screenshots"  # git ignores it
    folder.mkdir(exist_ok=True)
    name = PAGES[script][0].lower().replace(" ", "-")
    page.screenshot(path=folder / f"{name}-{size}-{'dark' if dark else 'light'}.png")
    results = Axe().run(page)
    found = [
        (v["id"], n["html"][:120])
        for v in results.response["violations"]
        for n in v["nodes"]
        if not page.evaluate(
            "([part, known]) => !!known && document.querySelector(part).matches(known)",
            [n["target"][0], NOT_OURS.get(v["id"])],
        )
    ]
    assert not found
    assert not cut_off(page)
    assert not page.problems


@pytest.mark.slow
def test_a_models_name_stays_in_sight_beside_many_requirements(open_page):
    required = "p_rule:0.5;dm:0.2;accuracy_lost:0.02;changed:0.1;worse_off:0"
    page = open_page(f"decide?methods=commod,oracle_roc&req={required}")
    page.set_viewport_size({"width": 800, "height": 768})
    still(page)
    table = page.get_by_role("region", name="The models side by side")
    heading = table.get_by_role("rowheader", name="f, as it is")
    before = heading.bounding_box()
    assert table.evaluate("part => { part.scrollLeft = 200; return part.scrollLeft; }") > 0
    assert heading.bounding_box() == before
    assert not page.problems


@pytest.mark.slow
def test_a_decision_is_signed_and_taken_away(open_page, tmp_path):
    page = open_page("decide?methods=commod,oracle_roc&req=p_rule:0.5;changed:0.2;worse_off:0")
    still(page)
    assert not cut_off(page)
    page.get_by_label("Who decides").fill("Ada")
    page.get_by_label("In what role").fill("head")
    page.get_by_label("Why", exact=True).fill("Few lose.")
    page.get_by_role("button", name="Sign", exact=True).click()
    page.get_by_text("Signed with 1 requirement not met").wait_for()
    still(page)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Signed decision as JSON").click()
    file = tmp_path / "decision.json"
    taken.value.save_as(file)
    assert read_record(file.read_bytes())["signature"]["who"] == "Ada"
    assert unquote(query(page)["req"]) == "p_rule:0.5;changed:0.2;worse_off:0"
    assert not page.problems


# ---- the lower half of Explore ----

WHO, LAST = "Whose decisions change", "A second explanation: SHAP"


def scroll(page, to):
    page.evaluate("to => document.querySelector('[data-testid=stMain]').scrollTo(0, to)", to)


def heading(page, name):
    return page.get_by_role("heading", name=name)


@pytest.fixture
def page(open_page):
    """Explore, whose lower half is drawn only while it is near the screen."""
    page = open_page(until=lambda page: metric(page, "P-Rule"))
    yield page
    assert not page.problems


def test_the_lower_half_is_drawn_when_it_comes_near(page):
    page.set_viewport_size({"width": 1366, "height": 500})
    page.get_by_role("group", name="Fairness (λ_fair)").get_by_role("slider").focus()
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
    page.get_by_role("button", name="Tour", exact=True).click()
    for step in (1, 2, 3, 4):
        page.get_by_text(f"{step} of 5", exact=True).wait_for()
        page.wait_for_function("() => document.querySelectorAll('.st-key-tour_hint').length === 1")
        chart, hint = (page.locator(f".st-key-{key}").bounding_box() for key in ("pareto", "tour_hint"))
        assert hint["y"] + hint["height"] <= chart["y"], "the hint hides the chart"
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Done").wait_for()
    settled(page)
    assert heading(page, LAST).count() == 1
    hint = page.locator(".st-key-tour_hint").bounding_box()
    assert 0 <= hint["y"] < page.viewport_size["height"]
    page.wait_for_function("() => document.querySelector('.st-key-why').style.outline")
    assert not page.evaluate("() => document.querySelector('.st-key-pareto').style.outline")


@pytest.mark.slow
def test_a_search_goes_on_while_one_looks_elsewhere(page):
    scroll(page, 2000)
    page.get_by_role("button", name="Find the setting").click()
    page.get_by_role("button", name="Stop the search").wait_for()
    scroll(page, 0)
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Stop the search").wait_for(state="detached")
    settled(page)
    scroll(page, 2000)
    page.get_by_text("On test:").first.wait_for()
