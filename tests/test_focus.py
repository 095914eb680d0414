"""Who is on a page with the keyboard keeps the focus when a later part of the page arrives and the script runs again.

A part that is taken out of the page for a moment, and drawn anew, is another one for the browser: the focus that was in
it is lost, and Tab begins at the top. `st.empty` does so to what the last run has put into it, unless the two messages
come together. Here the server is so busy that they never do.
"""

import pytest

from commod.dashboard.text.menu import PAGES
from tests.browsing import chromium, rerun, serve, settled, with_faults
from tests.keyboard import in_focus, lost, mark
from tests.screenshots import address_of

pytestmark = pytest.mark.browser
BUSY = """
import time
import streamlit
from streamlit.delta_generator import DeltaGenerator

if not hasattr(DeltaGenerator, "quick_empty"):
    DeltaGenerator.quick_empty = DeltaGenerator.empty

    def _empty(self):
        made = self.quick_empty()
        time.sleep(0.15)
        return made

    DeltaGenerator.empty = _empty
    streamlit.empty = streamlit._main.empty

    from commod.dashboard.jobs import tasks

    def slowly(compute):
        def computed(*arguments, **options):
            time.sleep(2)
            return compute(*arguments, **options)
        return computed

    for computed in (tasks.merit, tasks.refits_of_model):
        computed.function = slowly(computed.function)
"""
# Pages that wait for something before they draw it; at λ_fair 0 there is nothing for SHAP, which takes its time.
WAITING = (
    "?lambda_fair=0",
    pytest.param("limits?methods=commod", marks=pytest.mark.slow),
    pytest.param("compare?methods=commod,oracle_roc", marks=pytest.mark.slow),
)
ALL = [*WAITING, *(pytest.param(address_of(script), marks=pytest.mark.slow) for script in PAGES)]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serve(with_faults(tmp_path_factory.mktemp("busy"), BUSY)) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL)
def test_nothing_that_can_have_the_focus_is_taken_out_of_the_page_when_the_script_runs_again(address, browser, path):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/{path}")
    settled(page)
    fold = page.locator("summary", has_text="as a table")
    if fold.count():
        fold.first.click()
        page.get_by_role("region", name=fold.first.inner_text().split("\n")[-1]).wait_for()
        settled(page)
    assert mark(page) > 10
    rerun(page)
    assert not lost(page)
    page.close()


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("compare?methods=commod,lpp&seed=3", "Models matched"),  # of which no other test has the answers
        ("runs?lambda_fair=1", "The runs side by side"),
    ],
)
@pytest.mark.slow
def test_a_table_of_checks_keeps_the_focus_when_an_answer_arrives(address, browser, path, title):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/{path}")
    if path.startswith("runs"):
        page.get_by_role("button", name="Pin this model").click()
    table = page.get_by_role("region", name=title)
    table.get_by_text("…").first.wait_for()
    mark(page)
    table.focus()
    page.wait_for_function("() => !document.activeElement.innerText.includes('…')")
    assert in_focus(page) == title
    page.close()
