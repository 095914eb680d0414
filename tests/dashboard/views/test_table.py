"""Every chart has a table behind it with its values, and no chart is drawn without one."""

import ast
import json
import re
from types import SimpleNamespace
from unittest.mock import MagicMock

import pandas as pd
import pyarrow as pa
import pytest

from commod.dashboard.jobs import service, tasks
from commod.dashboard.pages.what_if import accounts
from commod.dashboard.text.menu import PAGES
from commod.dashboard.views import chart as table_view
from commod.dashboard.views.chart import MAX_ROWS, Table
from tests.browsing import ROOT
from tests.dashboard.driving import figure, fine, run, slider, tables

SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "commod/dashboard").rglob("*.py"))]
QUICK = {"pages/compare.py": {"methods": "commod,lpp"}, "pages/limits.py": {"methods": "lpp"}}
FORMS = (".3f", ".2f", ".1%", ".0%", ",.0f")


def open_all(app):
    """Open every fold, those within others too."""
    for _ in range(3):
        keys = [re.sub(r"^\$\$ID-\w+-", "", fold.proto.id) for fold in app.expander]
        closed = [key for key in keys if key not in app.session_state or not app.session_state[key]]
        if not closed:
            return app
        for key in closed:
            app.session_state[key] = True
        fine(app.run())
    raise AssertionError(f"still closed: {closed}")


def title_of(chart):
    return re.search(r"Values in the table “(.*)”\.$", chart.proto.alt)[1]


def numbers_of(chart):
    """What the marks of a chart stand for: the columns of its axes and colours, as far as they are numbers."""
    frame = pa.ipc.open_stream(chart.proto.data.data).read_pandas()
    spec = json.loads(chart.proto.spec)
    fields = set()
    for layer in spec.get("layer", [spec]):
        for channel in ("x", "y", "color"):
            axis = layer["encoding"].get(channel, {})
            if axis.get("type") == "quantitative" and "field" in axis:
                fields.add(axis["field"])
    # Where a name stands is no value; the spread over splits is in the table of winners.
    axes = ("accuracy", "fairness", "change_rate")
    fields -= {"label_at"} | {f"{axis}_{end}" for axis in axes for end in ("low", "mean")}
    if "account" in frame:  # only one of the two has a range
        fields -= {"low"}
    if "start" in fields:  # where a bar of a sum begins, the one before has ended
        fields = fields - {"start"} | {"end"}
    if "settings" in frame:  # curves beside points are read at whole percents, from their start
        curves = frame[frame.get("kind", pd.Series("", frame.index)).isin(["bound"])]
        frame = pd.concat([frame[frame["settings"].notna()], curves.drop_duplicates("kind")])
    assert fields, chart.proto.alt
    assert len(frame), chart.proto.alt
    return frame[sorted(fields - {"overall"})].astype(float).abs()


def said(value):
    """How a number may be written."""
    return {format(value, form) for form in FORMS} | {f"{100 * value:.1f}"}


@pytest.fixture
def quick_shap(monkeypatch):
    """Numbers of some size in place of SHAP's: how they are shown is what counts here."""
    features = pd.DataFrame({"label": ["LSAT", "Grades"], "commod": [0.31, 0.12], "shap": [0.29, 0.14]})
    features = features.assign(shap_low=features["shap"] - 0.02, shap_high=features["shap"] + 0.03)
    facts = {"agreement": 1.0, "top_kept": 0.9, "background": 50, "redraws": 4, "rows": 100}
    comparison = SimpleNamespace(features=features, evaluations=9, **facts)
    monkeypatch.setattr(tasks.shap, "function", lambda result, report: comparison)
    person = features.set_index(pd.Index(["lsat", "ugpa"]))
    person.attrs["average"] = -0.2
    monkeypatch.setattr(accounts, "result_of", lambda *_: person)
    yield
    service.queue().forget(lambda key: key[0] == "shap")  # it is not SHAP's


@pytest.mark.with_shap
@pytest.mark.usefixtures("quick_shap")
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, id=title, marks=[pytest.mark.slow] * (title not in ("Explore", "Who changed")))
        for script, (title, _) in PAGES.items()
    ],
)
def test_every_chart_has_a_table_with_its_values(script):
    app = open_all(fine(run(script, **QUICK.get(script, {}))))
    shown = tables(app)
    for chart in app.get("vega_lite_chart"):
        assert title_of(chart) in shown, chart.proto.alt
        rows = shown[title_of(chart)]
        cells = {text.lstrip("+−") for row in rows for cell in row for text in cell.split(" / ")}
        values = numbers_of(chart)
        if len(rows) == MAX_ROWS:  # the rest is in the file
            values = values.head(MAX_ROWS)
        missing = [value for value in values.to_numpy().ravel() if pd.notna(value) and not said(value) & cells]
        assert not missing, f"{chart.proto.alt}: {missing[:5]} of {values.columns.tolist()}"


def test_what_is_cut_can_be_taken_away(monkeypatch):
    frame = pd.DataFrame({"name": ["=cmd"] + ["b"] * MAX_ROWS, "share": 0.25})
    table = Table("Shares", "shares", {"share": ("Share", ".1%"), "name": ("Name", "")})
    offered = MagicMock()
    monkeypatch.setattr(table_view, "st", MagicMock())
    monkeypatch.setattr(table_view, "offer", offered)
    table_view.show(table, frame)
    lines = offered.call_args.args[1]().decode("utf-8-sig").splitlines()
    assert lines[:2] == ["Share,Name", "0.25,'=cmd"]
    assert len(lines) == len(frame) + 1


def test_charts_are_drawn_in_one_place():
    for path in SOURCES:
        called = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        drawn = {name for name in called if re.fullmatch(r"\w+_chart|pyplot", name)}
        assert drawn <= ({"vega_lite_chart"} if path.name == "chart.py" else {"export_chart"}), path.name


def test_the_keyboard_goes_back_to_a_setting_tried_before():
    app = run()
    start = figure(app, "P-Rule")
    app.session_state["numbers"] = True
    fine(app.run())
    assert not [box for box in app.selectbox if box.key == "tried_before"]  # there is none yet
    fine(slider(app, "lambda_fair").set_value(1.5).run())
    assert figure(app, "P-Rule") != start
    box = app.selectbox(key="tried_before")
    assert len(box.options) == 1
    fine(box.select_index(0).run())
    assert figure(app, "P-Rule") == start
    assert slider(app, "lambda_fair").value == 3.0
    assert app.selectbox(key="tried_before").value is None
