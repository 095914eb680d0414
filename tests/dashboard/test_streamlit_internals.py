"""What we lean on though Streamlit does not document it: after an upgrade, each test says what would break."""

import asyncio
import inspect
import os
import re
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime import app_session, media_file_manager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.session_manager import ActiveSessionInfo
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_websocket
from uvicorn.config import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

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


def test_a_server_asks_the_main_script_for_its_pages_from_the_first_visit_on(tmp_path, monkeypatch):
    """Breaks: who comes first to a new server, with the address of a page, would find no menu (views/frame.py)."""
    (tmp_path / "pages").mkdir()
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    assert PagesManager(str(tmp_path / "main.py")).uses_pages_directory
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    internals.ignore_pages_folder()
    assert PagesManager(str(tmp_path / "main.py")).uses_pages_directory is False


# ---- sessions and their files; tests/test_own_files.py tries the same on a real server ----


def in_a_runtime(tmp_path, what):
    """What `what` gives, called with a runtime of Streamlit's own that has started."""

    async def run():
        script = tmp_path / "script.py"
        script.write_text("")
        runtime = st.App(script)._create_runtime()
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
    """Breaks: who knows the id of a session, which stands in addresses, could take it over (server/browser.py)."""

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


def test_ids_of_uploads_are_noted_as_they_are_offered_and_not_too_many(tmp_path, monkeypatch):
    """Breaks: no upload would be taken, or any, or large ones would be written to disk (server/files.py)."""
    offered = []
    monkeypatch.setattr(internals.MultiPartParser, "spool_max_size", 1)

    def check(runtime):
        internals.watch_uploads(lambda *both: offered.append(both), most=2, in_memory=1000)
        mine = connect(runtime, "mine")
        message = BackMsg()
        message.file_urls_request.file_names.extend("abc")
        runtime.handle_backmsg(mine, message)
        assert [session for session, _ in offered] == [mine, mine]
        manager = runtime.uploaded_file_mgr
        manager.add_file(mine, UploadedFileRec(offered[0][1], "a.csv", "text/csv", b"12345"))
        assert internals.uploaded_bytes() == {mine: 5}
        internals.forget_uploads(mine)
        assert internals.uploaded_bytes() == {}

    in_a_runtime(tmp_path, check)
    parser = MultiPartParser(Headers({"Content-Type": "multipart/form-data; boundary=x"}), None)
    assert parser.spool_max_size == 1000


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


def test_a_file_that_is_made_on_request_belongs_to_the_session_that_shows_its_button(tmp_path, monkeypatch):
    """Breaks: downloads would be refused to everybody, or stay in memory when their tab is closed (server/files.py)."""

    def check(runtime):
        manager = runtime.media_file_mgr
        internals.keep_made_files()
        mine, other = connect(runtime, "mine"), connect(runtime, "other")
        names = []
        for session in (mine, other):
            monkeypatch.setattr(media_file_manager, "_get_session_id", lambda session=session: session)
            asked = manager.add_deferred(lambda: b"1,2", "text/csv", "0.1")
            names.append(manager.execute_deferred(asked).rpartition("/")[2])
        assert names[0] == names[1]
        assert internals.shows_file({mine}, names[0])
        assert not internals.shows_file(set(), names[0])
        assert internals.sessions_with_made_files() == {mine, other}
        internals.forget_made_files(other)
        assert internals.shows_file({mine}, names[0])
        assert not internals.shows_file({other}, names[0])
        manager.clear_session_refs(mine)  # as when the script runs again
        assert not internals.shows_file({mine}, names[0])
        assert manager.read_file(names[0])
        for _ in range(2):
            internals.forget_files_that_nobody_shows()
        assert manager.read_file(names[0]) is None
        monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: mine)
        late = manager.add_deferred(lambda: runtime.disconnect_session(mine) or b"3,4", "text/csv", "0.1")
        assert manager.read_file(manager.execute_deferred(late).rpartition("/")[2]) is None  # closed meanwhile

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
    """Breaks: a slider moved while the page waits for SHAP would be heard 0.2 s later (jobs/wait.py)."""
    assert st.get_option("runner.fastReruns")


def test_a_part_waits_until_all_of_the_run_before_it_is_sent(monkeypatch):
    """Breaks: on a busy server the end of a page, or the answer to a click, would never appear (views/room_line.py)."""
    asked, later = [], []
    monkeypatch.setattr(internals, "_request_rerun", lambda session, state: asked.append(state))
    monkeypatch.setattr(app_session.AppSession, "request_rerun", app_session.AppSession.request_rerun)
    internals.let_runs_end()
    request = app_session.AppSession.request_rerun
    runner = ScriptRunner(
        "s", "app.py", SessionState(), *[MagicMock() for _ in range(2)], RerunData(), *[MagicMock() for _ in range(4)]
    )
    loop = SimpleNamespace(call_later=lambda seconds, *what: later.append(what))
    session = SimpleNamespace(_scriptrunner=runner, _event_loop=loop)
    part, page = ClientState(fragment_id="part", is_auto_rerun=True), ClientState()

    request(session, part)
    assert asked == [part], "a script that runs takes it itself"
    runner.request_stop()  # as its requests are once it has ended
    request(session, part)
    assert asked == [part]
    request(session, page)
    assert asked == [part, page], "a whole page waits for nobody"
    call, *arguments = later.pop()
    call(*arguments)
    assert asked == [part, page]
    assert later, "not all is sent yet"
    session._scriptrunner = None  # as Streamlit says when it is
    call, *arguments = later.pop()
    call(*arguments)
    assert asked == [part, page, part]


def test_a_browser_is_told_of_a_run_that_lasts_and_at_once_of_its_end(monkeypatch):
    """Breaks: with every move a browser would go over the whole page once more, a third of the wait (startup.py)."""
    sent, later = [], []
    enqueue = app_session.AppSession._enqueue_forward_msg
    monkeypatch.setattr(app_session.AppSession, "_enqueue_forward_msg", enqueue)
    monkeypatch.setattr(internals, "_enqueue", lambda session, message: sent.append(message))
    internals.tell_of_long_runs_only()
    loop = SimpleNamespace(call_later=lambda seconds, what: later.append(what))
    session = SimpleNamespace(_event_loop=loop, _run_on_save=False, _state=None)

    def tell(state):
        session._state = state
        message = app_session.AppSession._create_session_status_changed_message(session)
        app_session.AppSession._enqueue_forward_msg(session, message)
        return message

    running, ended = app_session.AppSessionState.APP_IS_RUNNING, app_session.AppSessionState.APP_NOT_RUNNING
    tell(running)
    end = tell(ended)
    assert sent == [end]
    later.pop()()
    assert sent == [end], "the run was over before anybody was told of it"
    begun = tell(running)
    later.pop()()
    assert sent == [end, begun]
    element = ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
    app_session.AppSession._enqueue_forward_msg(session, element)
    assert sent[-1] is element


def test_a_widget_is_told_its_value_until_its_browser_has_it(monkeypatch):
    """Breaks: who clicks before a slider is drawn finds it, and the model, at its first option (state/session.py)."""
    monkeypatch.setattr(SessionState, "register_widget", SessionState.register_widget)
    internals.tell_values_until_known()
    app = AppTest.from_string(
        "import streamlit as st\n"
        "if 'k' not in st.session_state:\n    st.session_state.k = 'c'\n"
        "st.select_slider('s', ['a', 'b', 'c'], key='k')\n"
    ).run()
    slider = app.select_slider[0].proto
    assert (slider.set_value, list(slider.raw_value)) == (True, ["c"])
    # A click before the slider is drawn: the browser says nothing of it.
    monkeypatch.setattr(type(app._tree), "get_widget_states", lambda tree: WidgetStates())
    slider = app.run().select_slider[0].proto
    assert (slider.set_value, list(slider.raw_value)) == (True, ["c"])
    monkeypatch.undo()
    internals.tell_values_until_known()
    assert not app.run().select_slider[0].proto.set_value, "it has said so: nothing jumps under a hand that moves it"
    assert app.session_state.k == "c"


def test_a_loop_is_woken_once_and_hears_everybody():
    """Breaks: the server would not hear its scripts, or each element would cost a switch of threads (startup.py)."""
    heard, woken, most = [], [], 2000

    async def listen():
        loop = asyncio.get_running_loop()
        write = loop._write_to_self
        loop._write_to_self = lambda: woken.append(1) or write()
        internals.wake_loop_once(loop)
        done = asyncio.Event()

        def hear(number):
            heard.append(number)
            if len(heard) == most:
                done.set()

        def send(numbers):
            for number in numbers:
                loop.call_soon_threadsafe(hear, number)
                if number % 50 == 0:
                    time.sleep(0.001)  # until the loop sleeps again

        parts = [range(start, most, 4) for start in range(4)]
        threads = [threading.Thread(target=send, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        await asyncio.wait_for(done.wait(), 20)
        for thread in threads:
            thread.join()

    began = time.monotonic()
    asyncio.run(listen())
    assert time.monotonic() - began < 10, "a sign was lost, and the loop slept on"
    assert sorted(heard) == list(range(most))
    assert 0 < len(woken) < most


def test_what_a_script_draws_is_taken_together_in_its_order_and_nothing_of_an_old_run(monkeypatch):
    """Breaks: with sixty people, handing over elements one by one takes as long as drawing them."""
    monkeypatch.setattr(app_session.AppSession, "_on_scriptrunner_event", app_session.AppSession._on_scriptrunner_event)
    internals.hand_over_together()
    element, started = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, ScriptRunnerEvent.SCRIPT_STARTED
    most, seen, wakes = 2000, [], []

    class Session:
        _scriptrunner = "now"

        def _enqueue_forward_msg(self, message):
            if message == "broken":
                raise ValueError
            seen.append(message)

        def _handle_scriptrunner_event_on_event_loop(self, sender, event, message, **more):
            seen.append((event, more["page_script_hash"]))

        def _call_soon_on_event_loop(self, callback):
            wakes.append(1)
            self._event_loop.call_soon_threadsafe(callback)

    async def listen():
        session = Session()
        session._event_loop = asyncio.get_running_loop()
        session._event_loop.set_exception_handler(lambda loop, context: None)  # of what is broken

        def draw():
            tell = app_session.AppSession._on_scriptrunner_event
            tell(session, "now", started, page_script_hash="page")
            for number in range(most):
                tell(session, "now", element, number)
                if number == most // 2:
                    tell(session, "now", element, "broken")
                    tell(session, "before", element, "of an old run")

        await asyncio.to_thread(draw)
        while len(seen) <= most:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(listen(), 20))
    assert seen == [(started, "page"), *range(most)]
    assert len(wakes) < most


def test_the_theme_is_the_same_however_often_it_is_made(monkeypatch):
    """Breaks: every run of a script goes over all settings of Streamlit six times."""
    monkeypatch.setattr(app_session, "_populate_theme_msg", make := app_session._populate_theme_msg)
    asked = []
    get = app_session.config.get_options_for_section
    monkeypatch.setattr(
        app_session.config, "get_options_for_section", lambda section: asked.append(section) or get(section)
    )
    themes = [CustomThemeConfig() for _ in range(3)]
    make(themes[0], "theme.light")
    internals.make_theme_once()
    for theme in themes[1:]:
        app_session._populate_theme_msg(theme, "theme.light")
    assert themes[0] == themes[1] == themes[2]
    assert asked == ["theme.light"] * 2


# ---- sessions that are open, and those that may come back ----


def manager_with(storage, monkeypatch):
    """Streamlit's manager of sessions with one that is open, as ours find it."""
    manager = WebsocketSessionManager(None, None, MagicMock(), None)
    client = SimpleNamespace(client_context=SimpleNamespace(remote_ip="192.0.2.7"))
    session = MagicMock(id="open")
    session.is_resumable.return_value = True
    manager._active_session_info_by_id["open"] = ActiveSessionInfo(client, session)
    monkeypatch.setattr(internals, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    internals.keep_disconnected_in(storage)
    return manager


def test_a_session_without_its_browser_is_saved_while_its_address_is_known(monkeypatch):
    """Breaks: closed lids would be kept by Streamlit's own rule, or all count as of one address (kept_sessions.py)."""
    seen = []
    storage = MagicMock(save=lambda info: seen.append(internals.address_of_session(info.session.id)))
    manager_with(storage, monkeypatch).disconnect_session("open")
    assert seen == ["192.0.2.7"]
    assert internals.address_of_session("open") == ""


def test_a_session_is_known_while_it_is_open_or_kept(monkeypatch):
    """Breaks: who comes back to a full server would be refused (gate.py)."""
    manager_with(MagicMock(get={"kept": 1}.get), monkeypatch)
    assert [internals.is_known_session(name) for name in ("open", "kept", "nobody")] == [True, True, False]


def test_all_that_a_script_has_put_into_its_session_is_found():
    """Breaks: sessions with uploaded data would be the first to be dropped (kept_sessions.py)."""
    state = SessionState()
    state["before"] = 1
    state._compact_state()  # as at the end of a run
    state["now"] = 2
    assert sorted(internals.values_held_by(SimpleNamespace(session_state=state))) == [1, 2]


# ---- descriptors ----


def descriptors():
    return len(os.listdir("/dev/fd"))


def test_a_sessions_loop_takes_no_descriptor_until_it_is_used_and_then_works():
    """Breaks: every session takes three descriptors more, or code that runs the loop of its session fails."""
    before = descriptors()
    loop = internals.LoopOnDemand()
    assert descriptors() == before
    loop.call_soon_threadsafe(lambda: None)
    assert loop.run_until_complete(asyncio.sleep(0, "slept")) == "slept"
    assert descriptors() == before + 3

    async def woken():
        done = loop.create_future()
        threading.Timer(0.01, loop.call_soon_threadsafe, (done.set_result, "woken")).start()
        return await asyncio.wait_for(done, 10)

    assert loop.run_until_complete(woken()) == "woken"
    loop.close()
    assert descriptors() == before
    unused = internals.LoopOnDemand()
    unused.close()
    assert unused.is_closed()
    with pytest.raises(RuntimeError, match="closed"):
        unused.run_forever()


def test_a_loop_that_is_asked_to_watch_before_it_runs_does():
    loop = internals.LoopOnDemand()
    here, there = socket.socketpair()
    with here, there:
        loop.add_reader(here, loop.stop)
        there.send(b"x")
        loop.run_forever()
        loop.remove_reader(here)
    loop.close()


def test_streamlit_makes_the_loop_of_a_session_where_ours_is_put(monkeypatch):
    """Breaks: every session takes three descriptors more."""
    monkeypatch.setattr(app_session, "asyncio", asyncio)
    internals.open_loops_on_demand()
    assert app_session.asyncio.new_event_loop is internals.LoopOnDemand
    assert app_session.asyncio.get_running_loop is asyncio.get_running_loop
    assert "= asyncio.new_event_loop()" in inspect.getsource(app_session.AppSession.__init__)


# ---- connections ----


def test_uvicorns_connections_have_what_their_bounds_are_made_of():
    """Breaks: half-sent requests are held for ever, and a flood takes all descriptors (see test_flood.py)."""
    for method in ("connection_made", "connection_lost", "data_received"):
        assert method in vars(AutoHTTPProtocol)
    written = inspect.getsource(AutoHTTPProtocol)
    for attribute in ("self.connections", "self.cycle", "self.loop", "self.transport", "cycle.response_complete"):
        assert attribute in written


def test_asyncio_accepts_through_what_is_bounded():
    """Breaks: a flood takes the reserve of descriptors before it is refused."""
    parameters = list(inspect.signature(asyncio.SelectorEventLoop._accept_connection).parameters)
    assert parameters[:6] == ["self", "protocol_factory", "sock", "sslcontext", "server", "backlog"]


# ---- settings ----


def test_the_files_of_settings_are_known_and_where_an_option_was_set():
    """Breaks: a broken file of settings would not stop the start (settings_check.py)."""
    assert ROOT / ".streamlit" / "config.toml" in internals.settings_files()
    assert internals.where_set("server.maxUploadSize") == str(ROOT / ".streamlit" / "config.toml")
    assert config.get_option("server.runOnSave") is False
    assert internals.where_set("server.runOnSave") == ""


def test_a_websocket_says_whether_its_handshake_could_be_read():
    """Else `bound_connections` closes none that cannot, and a few of them fill the server."""
    protocol = WebSocketsSansIOProtocol(Config(app=None, lifespan="off"), ServerState(), {}, asyncio.new_event_loop())
    assert protocol.handshake_initiated is False
    protocol.loop.close()
