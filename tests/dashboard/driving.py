"""Driving a page headless, with Streamlit's own test harness."""

import html
import json
import pickle
import re
from functools import cache

import pandas as pd
from streamlit.testing.v1 import AppTest

from commod.dashboard.jobs import service
from commod.dashboard.state.runs_file import Run
from commod.dashboard.state.saved_runs import Shelf
from commod.experiments import Sweep, prepare
from commod.experiments.preflight import preview_data
from commod.experiments.sweep import Cell, Shared, about_cell, as_points, fit_cell
from tests.browsing import ROOT
from tests.waiting import PATIENCE


def run(page="app.py", *, pinned=(), compared=None, **query):
    """A page; `pinned` are saved runs of this session (name and settings, or `Run`), and `compared` their names."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=2 * PATIENCE)
    if pinned:
        runs = [each if isinstance(each, Run) else Run(*each) for each in pinned]
        app.session_state["held_runs"] = Shelf(runs, compared)
    for name, value in query.items():
        app.query_params[name] = value
    if page != "app.py":
        app.switch_page(page)
    return app.run()


def forget(*computations):
    """Have what is known of computations, or of tasks by their kind, computed anew."""
    kinds = {each if isinstance(each, str) else each.function.__name__ for each in computations}
    service.queue().forget(lambda key: key[0] in kinds)


_previews = {}


def preview_once(*given):
    """`preview_data`, remembered; a function of a module, as other processes need it."""
    key = pickle.dumps(given)
    if key not in _previews:
        _previews[key] = preview_data(*given)
    return _previews[key]


def run_compare(**query):
    return run("pages/compare.py", **query)


def figure(app, label):
    return next(m.value for m in app.metric if m.label == label)


def picture(app):
    """The document of the first picture, as the component has it."""
    drawn = [element.proto for element in app.main.get("bidi_component")]
    return next((json.loads(proto.json)["here"] for proto in drawn if proto.component_name == "commod_picture"), None)


def words(app):
    """All that is written on the page, the verdict in the picture, too."""
    drawn = picture(app)
    return " ".join([text.value for text in app.main.markdown] + ([drawn["text"]["verdict"]] if drawn else []))


def captions(app):
    return " ".join(text.value for text in app.main.caption)


def table(app, place):
    """HTML of one of the tables, by its place on the page."""
    return [element.proto.body for element in app.main.get("html") if "<table" in element.proto.body][place]


def tables(app):
    """Title to the texts of the cells, row by row."""
    found = {}
    drawn = [*app.get("html"), *app.markdown]  # those that are filled while they are looked at go through Markdown
    for element in drawn:
        for title, body in re.findall(r'aria-label="([^"]*)"><table.*?<tbody>(.*?)</tbody>', element.proto.body, re.S):
            rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in body.split("</tr>") if row]
            assert html.unescape(title) not in found, f"two tables are called {title}"
            found[html.unescape(title)] = [[html.unescape(cell) for cell in row] for row in rows]
    return found


def slider(app, name):
    return app.select_slider(key=f"set_{name}")


def fine(app):
    assert not app.exception
    assert not app.error, [e.value for e in app.error]
    return app


@cache
def small_sweep():
    """A scene, and a few models of COMMOD on it."""
    scene, criterion = prepare("law_school"), "demographic_parity"
    shared = Shared()
    cells = [Cell("commod", value, (("lambda_ratio", 0.05),)) for value in (0.0, 1.0, 2.0, 3.0, 4.0, 6.0)]
    models = tuple(fit_cell(scene, cell, criterion, shared) for cell in cells)
    rows = [about_cell(scene, model.cell, criterion) | scene.figures(model.decisions_test) for model in models]
    return scene, Sweep("commod", models, as_points(pd.DataFrame(rows)))
