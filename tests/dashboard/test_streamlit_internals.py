"""What we rely on though Streamlit does not document it: after an upgrade, each test says what would break."""

import asyncio
import contextvars
import re
import threading
from contextvars import copy_context
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_websocket

from commod.dashboard import streamlit_internals as internals
from commod.dashboard.server import startup
from tests.browsing import ROOT
from tests.dashboard.driving import run, slider
from tests.waiting import PATIENCE


def test_a_thread_without_a_session_is_never_stale(caplog):
    """Breaks: downloads, which are made in such a thread, would warn or fail while they wait for a result."""
    internals.stop_if_stale()
    assert "ScriptRunContext" not in caplog.text


def test_a_stale_run_ends_where_it_touches_the_session():
    """Breaks: trainings that nobody waits for any more would run to their end (jobs/service.py)."""

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


# ---- sessions and their files; tests/test_own_files.py tries the same on a real server ----


def in_a_runtime(tmp_path, what):
    """What `what` gives, called with a runtime of Streamlit's own that has started."""

    async def run():
        script = tmp_path / "script.py"
        script.write_text("")
        runtime = internals.App(script)._create_runtime()
        await runtime.start()
        try:
            return what(runtime)
        finally:
            runtime.stop()
            await runtime.stopped
            type(runtime)._instance = None

    return asyncio.run(run())


def connect(runtime, browser, **more):
    return runtime.connect_session(client=MagicMock(), user_info={"browser": browser}, **more)


def test_a_session_is_taken_up_again_by_its_own_browser_alone(tmp_path):
    """Breaks: who knows the id of a session, which stands in addresses, could take it over (server/headers.py)."""

    def check(runtime):
        mine = connect(runtime, "mine")
        assert connect(runtime, "other", existing_session_id=mine) != mine
        assert internals.is_connected(mine)
        assert internals.sessions_of("mine") == {mine}
        assert internals.sessions_of(None) == set()
        runtime.disconnect_session(mine)
        assert not internals.is_connected(mine)
        assert internals.sessions_of("mine") == set()
        assert connect(runtime, "other", existing_session_id=mine) != mine
        assert connect(runtime, "mine", existing_session_id=mine) == mine

    in_a_runtime(tmp_path, check)


def test_all_that_a_session_keeps_can_be_emptied():
    """Breaks: results on uploaded data would stay in memory until somebody else comes (state/own_data.py)."""

    def script():
        import streamlit as st

        from commod.dashboard.streamlit_internals import state_of_this_session

        st.session_state["held"] = "table"
        st.text_input("Text", key="text")
        st.session_state["state"] = state_of_this_session()

    app = AppTest.from_function(script).run()
    assert "held" in app.session_state
    app.session_state["state"].clear()
    assert "held" not in app.session_state
    assert "text" not in app.session_state
    assert internals.state_of_this_session() is None


def test_the_header_that_names_the_browser_is_read_on_every_websocket():
    """Breaks: all sessions would be of one nobody, whom everybody is."""
    before = config.get_option("server.trustedUserHeaders")
    try:
        internals.bind_sessions("x-test")
        found = starlette_websocket.gather_user_info(Headers({"X-Test": "mine"}))
        assert found == {"browser": "mine"}
    finally:
        config.set_option("server.trustedUserHeaders", before)


def test_a_file_is_taken_once_and_then_held_no_longer():
    """Breaks: uploaded files would stay in memory beside the tables that were read from them."""

    def script():
        import streamlit as st

        from commod.dashboard.streamlit_internals import uploaded_file

        def take():
            st.session_state.setdefault("log", []).append(uploaded_file("u"))

        st.file_uploader("File", key="u", on_change=take)
        take()  # once more, without need

    app = AppTest.from_function(script).run()
    app.file_uploader[0].set_value(("a.csv", b"1,2", "text/csv")).run()
    assert app.session_state["log"] == [None, ("a.csv", b"1,2"), None]
    assert app.file_uploader[0].value.getvalue() == b""  # Streamlit keeps the object until the next run


def test_large_uploads_stay_in_memory(monkeypatch, caplog):
    """Breaks: uploads of more than 1 MB would be written to disk (server/files.py)."""
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1)
    form = Headers({"Content-Type": "multipart/form-data; boundary=x"})
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + bytes(900) + b"\r\n--x--\r\n"

    async def is_on_disk():
        async def stream():
            yield body

        with (await MultiPartParser(form, stream()).parse())["f"].file as file:
            return file._rolled

    assert asyncio.run(is_on_disk())
    internals.keep_uploads_in_memory(1000)
    assert not asyncio.run(is_on_disk())
    assert not caplog.text
    monkeypatch.delattr(MultiPartParser, "spool_max_size")
    internals.keep_uploads_in_memory(1000)
    assert "may be written to disk" in caplog.text


def download(runtime, session_id, content):
    """Name of a file that is made for a session as when its button is clicked."""
    context = MagicMock(session_id=session_id)
    with patch.object(internals, "get_script_run_ctx", lambda **_: context):
        make = internals.for_this_session(lambda: content)
    asked = runtime.media_file_mgr.add_deferred(make, "text/csv", "0.1")
    return copy_context().run(runtime.media_file_mgr.execute_deferred, asked).rpartition("/")[2]


def test_a_made_file_belongs_to_the_session_that_shows_its_button(tmp_path):
    """Breaks: downloads would be refused to everybody, or anybody would get them (server/files.py)."""

    def check(runtime):
        mine, other = connect(runtime, "mine"), connect(runtime, "other")
        names = [download(runtime, session, b"1,2") for session in (mine, other)]
        assert names[0] == names[1]
        for _ in range(3):
            runtime.media_file_mgr.remove_orphaned_files()  # as after every run of anybody's script
        assert internals.media.get_file(names[0]).content == b"1,2"
        assert internals.media.is_for({mine}, names[0])
        assert not internals.media.is_for(set(), names[0])
        internals.media.forget(other)
        assert internals.media.is_for({mine}, names[0])
        assert not internals.media.is_for({other}, names[0])
        runtime.disconnect_session(mine)
        internals.media.forget_closed()
        assert not internals.media.is_for({mine}, names[0])
        assert runtime.media_file_mgr.read_file(names[0]) is None
        late = download(runtime, mine, b"3,4")  # the tab is closed already
        assert not internals.media.is_for({mine}, late)

    in_a_runtime(tmp_path, check)


def test_a_session_has_its_last_downloads_only(tmp_path):
    """Breaks: whoever clicks all day fills the server's memory."""

    def check(runtime):
        mine = connect(runtime, "mine")
        names = [download(runtime, mine, b"%d" % number) for number in range(6)]
        assert [internals.media.is_for({mine}, name) for name in names] == [False] * 2 + [True] * 4
        internals.media.forget(mine)

    in_a_runtime(tmp_path, check)


def test_pictures_are_for_everyone_and_unknown_files_for_nobody():
    """Breaks: the icon of the page would be missing."""

    def check():
        media = internals.OwnMedia()
        icon = media.load_and_get_id(b"icon", "image/png", MediaFileKind.MEDIA)
        assert media.is_for(set(), f"{icon}.png")
        media.delete_file(icon)
        assert not media.is_for(set(), f"{icon}.png")

    contextvars.Context().run(check)  # one in which no session has asked for a file


def test_more_sessions_can_come_back_than_streamlit_keeps_by_default(tmp_path):
    """Breaks: when a class of sixty reloads its pages, whoever closed the lid would find an empty session."""

    def check(runtime):
        first = connect(runtime, "mine")
        runtime.disconnect_session(first)
        for number in range(140):
            runtime.disconnect_session(connect(runtime, str(number)))
        assert internals.is_known_session(first)
        assert connect(runtime, "mine", existing_session_id=first) == first
        assert not internals.is_known_session("nobody")

    in_a_runtime(tmp_path, check)


# ---- the page ----


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
    """Breaks: a slider moved while the page waits for SHAP would be heard 0.2 s later (jobs/service.py)."""
    assert st.get_option("runner.fastReruns")


def test_a_slider_is_sent_with_its_value_in_every_run(monkeypatch):
    """Breaks: whoever clicks before a slider is drawn would find it, and the model, at its first option."""
    app = run(lambda_fair=2)

    def sent():
        proto = slider(app, "lambda_fair").proto
        return proto.options[int(proto.default[0])], proto.set_value

    assert sent() == ("2", True)
    monkeypatch.setattr(type(app._tree), "get_widget_states", lambda tree: WidgetStates())  # it was not drawn yet
    app.run()
    assert sent() == ("2", False), "nothing jumps under a hand that moves it"
    assert slider(app, "lambda_fair").value == 2.0
    monkeypatch.undo()
    slider(app, "lambda_fair").set_value(3.0).run()
    assert sent() == ("3", False)
    next(button for button in app.button if button.label == "Undo").click().run()
    assert sent() == ("2", True)


# ---- fragments ----

SCRIPT = """
import streamlit as st
from commod.dashboard.server.startup import wait_until_handed_over
from tests.dashboard.test_streamlit_internals import drawn

value = st.slider("s", 0, 9, key="s")

@st.fragment(run_every=60)
def board():
    st.text("board")

board()
st.text(f"end {value}")
drawn.set()
wait_until_handed_over()
"""
PLAIN = SCRIPT.replace("wait_until_handed_over()", "")
drawn = threading.Event()  # all of the page


def rerun(slider="", value=0, fragment=""):
    """A request of the browser to run the script, or a fragment."""
    message = BackMsg()
    message.rerun_script.fragment_id, message.rerun_script.is_auto_rerun = fragment, bool(fragment)
    if slider:
        state = message.rerun_script.widget_states.widgets.add()
        state.id = slider
        state.double_array_value.data.append(value)
    return message


def on_a_busy_server(tmp_path, monkeypatch, script, act):
    """Texts drawn, and the slider's last value: `act` sends messages before the loop has heard of a run's end."""
    monkeypatch.setattr(startup, "_loop", None)
    sent = []

    async def run():
        (tmp_path / "script.py").write_text(script)
        runtime = internals.App(tmp_path / "script.py")._create_runtime()
        await runtime.start()
        monkeypatch.setattr(startup, "_loop", asyncio.get_running_loop())
        client = SimpleNamespace(write_forward_msg=sent.append)
        session_id = runtime.connect_session(client=client, user_info={})
        session = runtime.get_app_session(session_id)

        async def idle():
            async with asyncio.timeout(PATIENCE):
                while session._scriptrunner is not None or not session._browser_queue.is_empty():
                    await asyncio.sleep(0.01)

        runtime.handle_backmsg(session_id, rerun())
        await idle()
        async with asyncio.timeout(PATIENCE):  # the queue is empty a moment before its messages are sent
            while not any(m.delta.new_element.HasField("slider") for m in sent):
                await asyncio.sleep(0.01)
        slider = next(m.delta.new_element.slider.id for m in sent if m.delta.new_element.HasField("slider"))
        fragment = next(m.auto_rerun.fragment_id for m in sent if m.HasField("auto_rerun"))
        sent.clear()
        drawn.clear()
        runtime.handle_backmsg(session_id, rerun(slider, 1))
        # The loop is busy while the script draws its last text. Plain, the script then ends; ours waits for the loop.
        assert drawn.wait(PATIENCE)
        if script == PLAIN:
            session._scriptrunner._script_thread.join(PATIENCE)
        for message in act(slider, fragment):
            runtime.handle_backmsg(session_id, message)
        await idle()
        value = session.session_state["s"]
        runtime.stop()
        await runtime.stopped
        type(runtime)._instance = None
        return value

    value = asyncio.run(run())
    return [m.delta.new_element.text.body for m in sent if m.delta.new_element.HasField("text")], value


@pytest.mark.parametrize("script", [SCRIPT, PLAIN], ids=["ours", "plain"])
def test_a_fragment_does_not_undo_a_newer_move(tmp_path, monkeypatch, script):
    """Breaks: a board that is due just before a slider is released would put the slider back."""

    def act(slider, fragment):
        return [rerun(slider, 1, fragment), rerun(slider, 7)]

    texts, value = on_a_busy_server(tmp_path, monkeypatch, script, act)
    assert value == 7
    assert texts[-1] == "end 7"


def test_the_end_of_a_page_is_drawn_though_a_fragment_is_due(tmp_path, monkeypatch):
    """Breaks: on a busy server the end of a page in a room, or the answer to a click, would be missing."""

    def act(slider, fragment):
        return [rerun(slider, 1, fragment)]

    assert "end 1" in on_a_busy_server(tmp_path, monkeypatch, SCRIPT, act)[0]
    assert "end 1" not in on_a_busy_server(tmp_path, monkeypatch, PLAIN, act)[0], "Streamlit waits by itself now"


# ---- settings ----


def test_the_files_of_settings_are_known_and_where_an_option_was_set():
    """Breaks: a broken file of settings would not stop the start (settings_check.py)."""
    assert ROOT / ".streamlit" / "config.toml" in internals.settings_files()
    assert internals.where_set("server.maxUploadSize") == str(ROOT / ".streamlit" / "config.toml")
    assert config.get_option("server.runOnSave") is False
    assert internals.where_set("server.runOnSave") == ""
