"""Nobody gets at what another session has uploaded, by link, file, forged message, undo or queue; and it goes alone.

Each attack is tried twice: with the name of the other session's data, which gives nothing, and with that of data which
everybody may see, which gives what was asked for: so the attack is one.
"""

import gc
import json
import weakref
from dataclasses import replace

import pytest

from commod.dashboard.jobs.queue import WorkQueue
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.link import from_link
from commod.dashboard.state.runs_file import Run, write_runs
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.menu import PAGES
from commod.datasets import load_task
from commod.datasets.example import example_table
from commod.experiments import Scene
from commod.models import Commod, WarmStart
from tests.dashboard.driving import figure, fine, run, slider
from tests.dashboard.hostile import elements

SECRET = "Zanzibar"
PUBLIC = "german"
SOME = ("app.py", "pages/runs.py", "pages/people.py", "pages/data.py", "pages/take_home.py")


def press(app, label):
    return fine(next(button for button in app.button if button.label == label).click().run())


def with_upload(city=SECRET):
    """A session that has uploaded data with this city in them, tried two settings and saved one as a run."""
    app = run("pages/your_data.py")
    content = example_table(400).replace({"South": city}).to_csv(index=False).encode()
    fine(app.file_uploader[0].set_value((f"{city}.csv", content, "text/csv")).run())
    press(app, "Use these data")
    fine(app.switch_page("app.py").run())
    fine(slider(app, "lambda_fair").set_value(2.0).run())
    app.session_state["pin_here"] = True
    press(app.run(), "Pin this model")
    return app


def name_of(app):
    return app.session_state["held_own_data"].name


@pytest.fixture(scope="module")
def sessions():
    """What outlives a test of this module."""
    return {}


@pytest.fixture
def owner(sessions):
    """Whose data they are: one session for all tests, on the Explore page."""
    if not sessions:  # made in a test, where sweeps are short
        sessions["owner"] = with_upload()
    app = fine(sessions["owner"].switch_page("app.py").run())
    name = name_of(app)
    assert len(name) >= 4 + 32  # 128 bits: not to be guessed
    assert load_task(name).spec.title == f"{SECRET}.csv"
    assert SECRET in shown(app)
    return app


@pytest.fixture
def asked(monkeypatch):
    """Keys of all results that anybody asks the queue for from now on."""
    keys = []
    for method in ("peek", "submit"):
        sound = getattr(WorkQueue, method)

        def noting(self, key, *rest, sound=sound, **more):
            keys.append(repr(key))
            return sound(self, key, *rest, **more)

        monkeypatch.setattr(WorkQueue, method, noting)
    return keys


def shown(app):
    """Everything that the page has sent to the browser."""
    return " ".join(str(proto) for _, proto in elements(app))


def held(app):
    """Every setting that a session holds: current, to go back and forward to, tried, saved and removed."""
    explore = app.session_state["held_explore"]
    settings = [explore.settings, *explore.past, *explore.future, *explore.tried]
    if "held_runs" in app.session_state:
        shelf = app.session_state["held_runs"]
        settings += [
            *(run.settings for run in shelf.runs),
            *([shelf.removed.settings] if shelf.removed else []),
            *shelf.figures,
        ]
    return settings


def runs_of(app):
    return [(run.name, run.settings.data, run.settings.k) for run in app.session_state["held_runs"].runs]


def got_nothing(thief, name, asked):
    assert not thief.exception
    assert SECRET not in shown(thief)
    assert "held_own_data" not in thief.session_state
    assert all(settings.data != name for settings in held(thief))
    assert not any(name in key for key in asked)


def link_to(data, **more):
    """All that a link can say of data: the setting, a person, methods, answers."""
    return {"data": data, "person": "3", "methods": "oracle_roc", "answers": ",,,4", "step": "cheap"} | more


@pytest.mark.parametrize("pages", [SOME, pytest.param([*PAGES], marks=pytest.mark.slow)], ids=["some", "all"])
def test_a_link_opens_no_others_data(owner, asked, pages):
    name = name_of(owner)
    for page in pages:
        asked.clear()
        got_nothing(run(page, **link_to(name, f="scores")), name, asked)
    assert from_link({"data": name})[0].data == "law_school"
    assert name not in run().selectbox(key="set_data").options


def file_about(data):
    """A file of saved runs as the page writes it, about other data."""
    content = write_runs([Run("one", replace(defaults(PUBLIC), k=3))], {})
    assert content.count(f'"{PUBLIC}"') == 1
    return content.replace(f'"{PUBLIC}"', f'"{data}"').encode()


def test_a_file_brings_no_others_saved_runs(owner, asked):
    name = name_of(owner)
    for data, taken in ((name, []), (PUBLIC, [("one", PUBLIC, 3)])):
        content = file_about(data)
        thief = fine(run("pages/runs.py"))
        asked.clear()
        thief.file_uploader[0].upload("runs.json", content, "application/json").run()
        assert runs_of(thief) == taken
        if data == name:
            got_nothing(thief, name, asked)
            assert "it is about uploaded data" in " ".join(warning.value for warning in thief.warning)


def test_the_owners_own_file_leaves_their_runs_out(owner):
    name = name_of(owner)
    fine(owner.switch_page("pages/runs.py").run())
    assert [run.settings.data for run in owner.session_state["held_runs"].runs] == [name]
    content = write_runs(owner.session_state["held_runs"].runs, {})
    assert json.loads(content)["runs"] == []
    for text in (content, *owner.query_params.values()):
        assert SECRET not in str(text)


def send(app, key, text):
    """Run the script as if the browser had sent this text as the value of a list."""
    states = app._tree.get_widget_states()
    box = app.selectbox(key=key)
    next(state for state in states.widgets if state.id == box.id).string_value = text
    return app._run(states)


def test_a_forged_choice_of_others_data_is_not_taken(owner, asked):
    name = name_of(owner)
    thief = fine(run())
    for text in (name, f"{SECRET}.csv"):
        asked.clear()
        send(thief, "set_data", text)
        assert thief.session_state["held_explore"].settings.data == "law_school"
        got_nothing(thief, name, asked)
    fine(send(thief, "set_data", load_task(PUBLIC).spec.title))
    assert thief.session_state["held_explore"].settings.data == PUBLIC


@pytest.mark.slow
def test_undo_and_redo_lead_to_no_others_data(owner, asked):
    name = name_of(owner)
    thief = fine(run(**link_to(name)))
    for value in (1.0, 2.0):
        slider(thief, "lambda_fair").set_value(value).run()
    asked.clear()
    for label in ("Undo", "Undo", "Redo", "Redo", "Undo"):
        press(thief, label)
        got_nothing(thief, name, asked)
    assert thief.session_state["held_explore"].past
    # The owner's own way back leads over the data.
    fine(owner.selectbox(key="set_data").set_value(PUBLIC).run())
    press(owner, "Undo")
    assert owner.session_state["held_explore"].settings.data == name


def test_equal_settings_on_equal_files_share_nothing(owner, asked):
    """Two who upload one file have two data sets: no result of one is found by the other."""
    asked.clear()
    other = with_upload()
    assert name_of(other) != name_of(owner)
    assert figure(other, "P-Rule") == figure(owner, "P-Rule")
    assert any(name_of(other) in key for key in asked)
    assert not any(name_of(owner) in key for key in asked)


# ---- what is forgotten, and what is not ----


def alive(kind, name):
    """Objects of a kind that were made of these data."""
    task_of = {Scene: lambda made: made.task, FitResult: lambda made: made.task}[kind]
    # Not by isinstance: some objects of torch warn when they are asked for their class.
    return [made for made in gc.get_objects() if type(made) is kind and task_of(made).name == name]


@pytest.mark.slow
def test_who_forgets_their_data_takes_all_that_was_made_of_them_and_nothing_of_others(monkeypatch):
    climbs = []

    class Noted(WarmStart):
        """Says when it was made."""

        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            climbs.append(weakref.ref(self))

    monkeypatch.setattr("commod.dashboard.model.training.WarmStart", Noted)
    leaver = with_upload("Atlantis")
    of_leaver = len(climbs)
    stayer = with_upload("Lemuria")
    gone, kept = name_of(leaver), name_of(stayer)
    gc.collect()
    assert of_leaver >= 1
    assert len(climbs) > of_leaver
    assert alive(Scene, gone)
    assert alive(FitResult, gone)
    scenes, fits = ({id(made) for made in alive(kind, kept)} for kind in (Scene, FitResult))
    assert scenes
    assert fits
    shipped = {id(made) for made in alive(Scene, PUBLIC)}

    fine(leaver.switch_page("pages/your_data.py").run())
    press(leaver, "Forget these data")
    gc.collect()
    assert not alive(Scene, gone)
    assert not alive(FitResult, gone)
    assert [climb() is None for climb in climbs] == [True] * of_leaver + [False] * (len(climbs) - of_leaver)
    assert {id(made) for made in alive(Scene, kept)} == scenes
    assert {id(made) for made in alive(FitResult, kept)} == fits
    assert {id(made) for made in alive(Scene, PUBLIC)} == shipped
    # And who stays is shown what was there, without a training.
    monkeypatch.setattr(Commod, "fit", lambda *_, **__: pytest.fail("trained anew"))
    fine(stayer.switch_page("pages/people.py").run())
    fine(stayer.switch_page("app.py").run())
    assert figure(stayer, "P-Rule")
