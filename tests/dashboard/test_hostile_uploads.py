"""Broken files and hostile names through the pages themselves: no traceback, and nothing unescaped."""

import re
from pathlib import Path

import pytest

from commod.dashboard import views
from commod.dashboard.text.menu import PAGES
from commod.datasets.example import example_table
from tests.dashboard.driving import fine, run
from tests.dashboard.hostile import MARKUP, PICTURE, let_through
from tests.fuzzing import NASTY, readable
from tests.uploads.test_reading import WRONG, wrong

PAGE = "pages/your_data.py"
SCRIPTS = Path(views.__file__).parent / "browser"


def press(app, label):
    return next(button for button in app.button if button.label == label).click().run()


@pytest.mark.slow
def test_a_corpus_of_broken_files_on_the_page():
    app = fine(run(PAGE))
    for case in WRONG:
        content, _ = wrong(case)
        if len(content) > 10_000_000:
            continue
        app.file_uploader[0].set_value((f"{MARKUP}{PICTURE}.csv", content, "text/csv")).run()
        assert not app.exception, case
        assert len(app.error) == 1, case
        readable(app.error[0].value)
        assert not let_through(app), case
    fine(press(app, "Open it here"))  # and a sound one is still taken


@pytest.fixture(scope="module")
def hostile_table():
    names = {
        "experience_years": MARKUP,
        "test_score": PICTURE,
        "education": "$x$ :red[y] `z`",
        "city": "a' || alert(1)",
    }
    table = example_table(600).rename(columns={**names, "group": f"{MARKUP} group", "hired": f"{PICTURE} hired"})
    values = {
        "A": PICTURE,
        "B": MARKUP,
        "yes": f"yes {PICTURE}",
        "no": f"no {MARKUP}",
        "university": "' + alert(1) + '",
    }
    return table.replace(values)


@pytest.fixture
def app(hostile_table):
    app = run(PAGE)
    content = hostile_table.to_csv(index=False).encode()
    fine(app.file_uploader[0].set_value((f"{PICTURE}.csv", content, "text/csv")).run())
    assert not let_through(fine(app))  # it asks which column is the outcome
    for answer in ("hired", "is yes", " group "):  # outcome, its good value, sensitive attribute
        next(button for button in app.button if answer in button.label).click().run()
        assert not let_through(fine(app))
    return fine(press(app, "Use these data"))


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.js")), ids=lambda script: script.stem)
def test_scripts_of_ours_write_no_markup(script):
    """A stranger's text that they are handed stays text."""
    written = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|Function\(|\.(src|href)\b"
    assert not re.findall(written, script.read_text())
    if "createElement" in script.read_text():
        assert "textContent" in script.read_text()


QUICK = ("app.py", "pages/your_data.py")


@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.slow] * (page not in QUICK)) for page in PAGES])
@pytest.mark.slow
def test_hostile_names_are_text_on_every_page(app, page):
    app.query_params["methods"] = "commod,oracle_roc"
    fine(app.switch_page(page).run())
    assert not let_through(app)


@pytest.mark.slow
def test_hostile_names_are_text_in_the_filters_of_people(app, hostile_table):
    fine(app.switch_page("pages/people.py").run())
    features = list(hostile_table.columns[:4])
    fine(next(box for box in app.multiselect if box.label == "Filter by").set_value(features).run())
    assert not let_through(app)


@pytest.mark.slow
def test_nasty_cells_as_levels_of_every_feature():
    table = example_table(300)
    for place, column in enumerate(("education", "city", "interview_language")):
        table[column] = [NASTY[(i * 7 + place) % len(NASTY)][:200].replace("\0", "") or "-" for i in range(len(table))]
    app = run(PAGE)
    fine(app.file_uploader[0].set_value(("people.csv", table.to_csv(index=False).encode(), "text/csv")).run())
    fine(press(app, "Use these data"))
    fine(app.switch_page("app.py").run())
    assert not let_through(app)
