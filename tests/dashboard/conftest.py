"""What all tests of pages go without: SHAP, COMMOD's long sweep, a hundred refits, and what is trained ahead."""

import functools
from dataclasses import replace
from inspect import signature

import pandas as pd
import pytest
from altair.utils import schemapi
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from commod.dashboard.jobs import service, tasks
from commod.dashboard.pages.explore import page as explore
from commod.dashboard.pages.lesson import pictures as lesson
from commod.dashboard.pages.what_if import accounts
from commod.dashboard.pages.your_data import page as your_data
from commod.dashboard.views import methods
from commod.datasets.example import example_table
from commod.experiments import checks, start, sweep
from commod.experiments import refits as again
from commod.experiments.refits import Refits
from commod.explain.shap_comparison import explain_with_shap
from commod.models.competitors import METHODS
from tests.dashboard.driving import fine, forget, preview_once, run
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True, scope="session")
def one_look_at_the_installed_packages():
    """Streamlit's harness reads the description of every installed package for each page: a third of a page's time."""
    with pytest.MonkeyPatch.context() as patch:
        scan = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_pauses():
    """The harness waits for a script instead of asking every millisecond."""
    ask = local_script_runner.require_widgets_deltas

    def wait(runner, timeout):
        runner._script_thread.join(max(timeout, PATIENCE))  # Streamlit's own three seconds are few on a busy machine
        ask(runner, 0.1)  # says what is wrong if the script has not ended

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_pauses_for_a_browser():
    """No browser fetches a picture here, and what comes later is looked for at once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in {"PICTURE_FIRST": 0.0, "PICTURE_DRAWN": 0.0, "POLL": 0.01, "SLOW_POLL": 0.01}.items():
            patch.setattr(service, name, seconds)
        patch.setattr(methods, "SLOW_POLL", 0.01)
        yield


@pytest.fixture(autouse=True, scope="session")
def charts_checked_once():
    """Altair checks a chart as a whole, but not each of its parts, which takes a tenth of a second; tests/charts do."""
    with schemapi.debug_mode(False):
        yield


@pytest.fixture(scope="module")
def look():
    """Open a page to read it, once for all tests of a module. A test that moves a widget calls `run` instead."""
    return functools.cache(lambda page="app.py", **query: fine(run(page, **query)))


@pytest.fixture(autouse=True)
def nothing_left_by_a_changed_app(request):
    """What is computed while a test has changed the app is not for others: they may run in any order."""
    if "monkeypatch" not in signature(request.function).parameters:
        yield
        return
    before = set()
    service.queue().forget(lambda key: before.add(key))  # forgets nothing
    yield
    service.queue().forget(lambda key: key not in before)


@pytest.fixture(autouse=True)
def all_is_near(monkeypatch):
    """There is no browser that could say so."""
    monkeypatch.setattr(explore, "is_near", lambda name: True)


@pytest.fixture(autouse=True)
def without_shap(request, monkeypatch):
    """SHAP takes a second, and ten to compile: all tests but those marked ``with_shap`` go without."""
    if "with_shap" not in request.keywords:
        monkeypatch.setattr(accounts, "draw_person_shap", lambda person: None)
        monkeypatch.setattr(explore, "begin_shap", lambda result: None)
        monkeypatch.setattr(lesson, "draw_shap", lambda result: None)


@pytest.fixture(autouse=True, scope="session")
def quicker_shap():
    """Where SHAP runs, it looks at fewer people; tests/explain has it as it is."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"n_rows": 12, "n_background": 10, "redraws": 2}.items():
            patch.setitem(explain_with_shap.__kwdefaults__, name, value)
        yield


@pytest.fixture(autouse=True, scope="session")
def each_table_looked_at_once():
    """Most tables of these tests are the same example: what a preview finds in equal rows is found once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "preview_data", preview_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def smaller_example():
    """The example file of Your data has a third of its rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(your_data, "example_table", lambda: example_table(500))
        yield


@pytest.fixture(autouse=True)
def nothing_ahead(request, monkeypatch):
    """Of the settings beside the one on the screen none is trained, except for tests marked ``with_ahead``."""
    if "with_ahead" not in request.keywords:
        monkeypatch.setattr(explore, "begin_ahead", lambda settings: [])


def _swept(values, ratios):
    method = METHODS["commod"]
    return replace(method, knob=replace(method.knob, sweep=values), others={"lambda_ratio": ratios})


SHORT = _swept((0.0, 2.0, 4.0), (0.05,))
LONGER = _swept((0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0), (0.0, 0.05))


@pytest.fixture(autouse=True, scope="module")
def short_sweeps(request):
    """COMMOD's sweep behind the trade-off has three models, that of every other method on Compare twelve.

    In modules that are marked ``longer_sweeps`` it has more. Modules with the same sweeps share what was trained.
    """
    is_longer = request.node.get_closest_marker("longer_sweeps") is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "commod", LONGER if is_longer else SHORT)
        patch.setattr(sweep, "EFFORT", 12)
        if _kept_sweeps != [is_longer]:
            forget(tasks.sweep)
            _kept_sweeps[:] = [is_longer]
        yield


_kept_sweeps = []  # whether those in the cache are the longer ones


@pytest.fixture(autouse=True, scope="module")
def short_starts():
    """Where own data open is looked for among two λ_fair; ``tests/experiments/test_start.py`` looks among all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "TRIED", (1.0, 3.0))
        patch.setattr(start, "ROWS", 1_200)
        yield


@pytest.fixture(autouse=True)
def no_search_for_a_form(request, monkeypatch):
    """Data open as they are declared, and own data as the paper has it, except for tests marked ``with_start``."""
    if "with_start" not in request.keywords:
        monkeypatch.setattr(tasks.start, "function", _as_declared)


def _as_declared(scene, fairness, report=None):
    return start.Start({"lambda_fair": 3.0, "update": "ratio"}, "They open at 3.")


@pytest.fixture(autouse=True, scope="module")
def no_refits_of_others(request):
    """The tests of a module that is marked ``with_refits`` share what is fitted again, and have no stand-ins."""
    if not request.node.get_closest_marker("with_refits"):
        yield
        return
    forget("refits", "some_refits", "fit")  # models keep what was made of their refits
    yield
    forget("refits", "some_refits", "fit")  # the next module has stand-ins again


@pytest.fixture(autouse=True)
def few_refits(request, monkeypatch):
    """All tests but those of modules marked ``with_refits`` go with two that are the model itself; those, with two."""
    monkeypatch.setenv("COMMOD_REFITS", "2")
    if "with_refits" not in request.keywords:
        monkeypatch.setattr(tasks, "some_refits", _the_model_itself)


def _the_model_itself(result, drawn, first, count, points, report=None):
    figures = result.scene.figures(result.decisions)
    return Refits(count * result.changed_test.astype(int), pd.DataFrame([figures] * count)), {}


@pytest.fixture(autouse=True, scope="module")
def few_refits_of_methods():
    """The same of each method on Compare; also for what a whole module shares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "COMPARED_REFITS", 2)
        patch.setattr(again, "N_SPLITS", 2)
        yield
