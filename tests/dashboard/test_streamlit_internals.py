"""What we lean on though Streamlit does not document it: after an upgrade, each test says what would break."""

import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from commod.dashboard import streamlit_internals as internals
from tests.browsing import ROOT


def test_a_thread_without_a_session_is_never_stale(caplog):
    """Breaks: downloads, which are made in such a thread, would warn or fail while they wait for a result."""
    internals.stop_if_stale()
    assert "ScriptRunContext" not in caplog.text


def test_a_stale_run_ends_where_it_touches_the_session():
    """Breaks: trainings that nobody waits for any more would run to their end (jobs/wait.py)."""

    def script():
        import streamlit as st
        from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

        from commod.dashboard.streamlit_internals import stop_if_stale

        runs = st.session_state.setdefault("runs", [])
        runs.append(1)
        if len(runs) == 1:
            get_script_run_ctx().script_requests.request_rerun(RerunData())
            stop_if_stale()
            st.text("went on")

    app = AppTest.from_function(script).run()
    assert len(app.session_state["runs"]) == 2
    assert not app.text


def test_streamlits_own_page_is_where_it_was_and_has_scripts_to_be_allowed():
    """Breaks: the Content-Security-Policy would block Streamlit's own scripts, and no page would open."""
    assert internals.inline_scripts()
    assert all(text.strip() for text in internals.inline_scripts())


def test_widgets_of_a_page_that_is_left_are_dropped_and_the_rest_is_kept():
    """Breaks: after a change of page a control would show its first option beside another model."""

    def script():
        import streamlit as st

        from commod.dashboard.streamlit_internals import forget_widgets

        st.session_state["held_x"] = st.session_state["set_k"] = 1
        forget_widgets("held_")
        st.text(sorted(map(str, st.session_state)))

    assert AppTest.from_function(script).run().text[0].value == "['held_x']"


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r'data-testid=\\?"(\w[\w-]*)', internals.STYLE + internals.TO_TOP)))
)
def test_streamlit_still_draws_what_our_style_and_script_look_for(name):
    """Breaks: focus rings, the button that closes the sidebar, and scrolling to the top of a lesson's step."""
    scripts = (Path(st.__file__).parent / "static").rglob("*.js")
    stem = name.removeprefix("stBaseButton-")  # Streamlit adds the kind of a button to it
    assert any(stem in path.read_text() for path in scripts), name


def test_nothing_else_leans_on_what_is_not_documented():
    """Breaks: one would have to look for it elsewhere."""
    for path in (ROOT / "commod").rglob("*.py"):
        if path.name != "streamlit_internals.py":
            found = re.findall(r"streamlit\.(?:runtime|proto|web)\b|st\.\w*\._\w+", path.read_text())
            assert not found, f"{path.name}: {found}"


def test_the_next_run_of_a_script_does_not_wait_for_the_last():
    """Breaks: a slider moved while the page waits for SHAP would be heard 0.2 s later (jobs/wait.py)."""
    assert st.get_option("runner.fastReruns")
