"""The menu and the choice of language."""

import pytest
from streamlit.runtime.context import ContextProxy

from commod.dashboard.state import session
from commod.dashboard.text.language import LANGUAGES, phrase
from commod.dashboard.text.menu import MENU, PAGES, entry_of, page_name
from commod.dashboard.views import pages
from tests.browsing import ROOT
from tests.dashboard.driving import fine, run

pytestmark = pytest.mark.quick


def test_every_script_is_in_the_menu_once_and_has_a_name_of_its_own():
    assert sorted(PAGES) == ["app.py", *sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))]
    assert sum(map(len, MENU.values())) == len(PAGES)
    for language in LANGUAGES:
        assert len({page_name(script, language) for script in PAGES}) == len(PAGES)


def test_the_menu_has_ten_entries_and_hides_the_other_pages_of_each(monkeypatch):
    monkeypatch.setattr(pages, "_made", lambda script, title, hidden: (script, title, hidden))
    assert len(MENU) <= 10
    for language in LANGUAGES:
        found = pages.navigation(language)
        assert [title for _, title, hidden in found if not hidden] == [phrase(language, f"frame.{e}") for e in MENU]
        assert [script for script, _, _ in found] == list(PAGES)


# Every address there was when the menu had an entry for each page, but for one that is gone.
OLD = ("", "people", "what_if", "lesson", "room", "glossary", "decide", "runs", "take_home", "compare")
OLD += ("limits", "paper", "your_data", "data")


def test_every_old_address_is_still_that_of_a_page():
    assert {f"pages/{name}.py" if name else "app.py" for name in OLD} == set(PAGES)


LIMITS = pytest.param("pages/limits.py", marks=pytest.mark.slow)  # its snapshot opens it


@pytest.mark.longer
@pytest.mark.parametrize("script", [LIMITS, "pages/compare.py", "pages/runs.py", "pages/data.py", "pages/paper.py"])
def test_an_old_link_opens_its_page_with_its_parameters_and_leads_to_its_neighbours(script):
    link = {"data": "german", "lambda_fair": "2", "methods": ""}
    app = fine(run(script, **link))
    assert {name: app.query_params[name] for name in ("data", "lambda_fair")} == {"data": "german", "lambda_fair": "2"}
    links = [link.proto.label for link in app.main.get("page_link")][: len(MENU[entry_of(script)])]
    assert links == [PAGES[other][0] for other in MENU[entry_of(script)]]


def test_decide_says_that_a_page_is_gone():
    app = fine(run("pages/decide.py", data="german", lambda_fair="2", gone="later"))
    assert [warning.value for warning in app.warning] == [session.LATER_GONE]
    assert app.query_params["lambda_fair"] == "2"
    assert "gone" not in app.query_params


def test_a_page_is_left_and_found_again_as_the_address_has_it():
    app = fine(run("pages/data.py", data="german"))
    fine(app.switch_page("pages/glossary.py").run())
    app.query_params.update({"lambda_fair": "2"})  # as Back brings the address of a page
    fine(app.switch_page("pages/data.py").run())
    assert app.session_state["held_explore"].settings.lambda_fair == 2.0


def test_the_language_is_chosen_on_a_page_and_stays_in_the_address_of_all():
    app = fine(run())
    assert "lang" not in app.query_params
    assert app.button(key="speak_fr").label == "Français"
    fine(app.button(key="speak_fr").click().run())
    assert app.query_params["lang"] == "fr"
    app = fine(app.switch_page("pages/glossary.py").run())
    assert app.query_params["lang"] == "fr"
    app = fine(app.switch_page("app.py").run())
    fine(app.button(key="speak_en").click().run())
    assert app.query_params["lang"] == "en"


def test_a_browser_is_answered_in_its_language_unless_another_was_chosen(monkeypatch):
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: "fr-CA"))
    app = fine(run("pages/glossary.py"))
    assert app.title[0].value == "Glossaire"
    assert "lang" not in app.query_params
    app = fine(app.button(key="speak_en").click().run())
    assert app.title[0].value == "Glossary"
    assert fine(app.switch_page("pages/room.py").run()).title[0].value == "The room"
    assert fine(run("pages/glossary.py", lang="en")).title[0].value == "Glossary"
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: "de"))
    assert fine(run("pages/glossary.py")).title[0].value == "Glossary"


def test_a_language_that_is_not_known_is_the_first():
    app = fine(run("pages/glossary.py", lang="tlh"))
    assert app.session_state["held_explore"].carried["lang"] == "tlh"
    assert 'data-language="en"' in next(e.proto.body for e in app.main.get("html") if "data-language" in e.proto.body)
