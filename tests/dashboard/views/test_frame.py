"""The menu and the choice of language."""

import pytest

from commod.dashboard.text.language import LANGUAGES
from commod.dashboard.text.menu import MENU, PAGES, page_name
from tests.browsing import ROOT
from tests.dashboard.driving import fine, run

pytestmark = pytest.mark.quick


def test_every_script_is_in_the_menu_once_and_has_a_name_of_its_own():
    assert sorted(PAGES) == ["app.py", *sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))]
    assert sum(map(len, MENU.values())) == len(PAGES)
    for language in LANGUAGES:
        assert len({page_name(script, language) for script in PAGES}) == len(PAGES)


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
    assert "lang" not in app.query_params


def test_a_language_that_is_not_known_is_the_first():
    app = fine(run("pages/glossary.py", lang="tlh"))
    assert app.session_state["held_explore"].carried["lang"] == "tlh"
    assert 'data-language="en"' in next(e.proto.body for e in app.main.get("html") if "data-language" in e.proto.body)
