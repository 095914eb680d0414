"""Pages with more groups than two: the control, the extremes by name, margins, small groups, and no "both groups"."""

import re

import pyarrow as pa
import pytest

from commod.charts.people import AFTER, BEFORE
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.take_home.files import file_name
from commod.dashboard.pages.take_home.report_figures import each_group
from commod.dashboard.state.settings import defaults, described
from commod.experiments import sweep
from commod.metrics import counts
from tests.dashboard.driving import captions, figure, fine, run, tables, words

CROSSED = {"data": "hiring", "groups": "race_sex"}  # 4 groups, 1,200 test people
WRONG = re.compile(r"both groups|the other group\b|the two groups|either group", re.IGNORECASE)


def everything(app):
    said = [*app.markdown, *app.caption, *app.info, *app.warning, *app.metric]
    return " ".join(str(getattr(each, "value", "")) + str(getattr(each, "help", "")) for each in said)


def test_explore_names_the_extremes_and_shows_the_margins():
    explored = fine(run(**CROSSED))
    assert explored.selectbox(key="set_groups").options == ["Black / White", "Sex", "Race × sex"]
    assert "Each group against everyone" in [header.value for header in explored.header]
    told = words(explored).replace("\\", "")
    assert re.search(r"lowest: Black × Female \d", told)
    assert re.search(r"P-Rule by race 0\.\d+ \(f: 0\.9\d+\), by sex 0\.\d+ \(f: 0\.9\d+\), by race × sex 0\.\d", told)
    assert "fair on each margin and unfair to a crossing" in told
    assert not WRONG.search(everything(explored))


def test_who_changed_gives_each_rate_its_own_interval():
    app = fine(run("pages/people.py", **CROSSED))
    drawn = [chart.proto for chart in app.get("vega_lite_chart") if "by group, before and now" in chart.proto.alt]
    assert len(drawn) == 2
    for proto in drawn:
        rates = pa.ipc.open_stream(proto.data.data).read_pandas()
        low, high = counts.wilson_interval(rates["people"], rates["count"])
        assert set(rates["model"]) == {BEFORE, AFTER}
        assert rates["low"].to_numpy() == pytest.approx(low)
        assert rates["high"].to_numpy() == pytest.approx(high)


def test_another_grouping_is_trained_at_once_and_undone():
    app = fine(run(data="hiring", lambda_fair="2"))
    assert "Each group against everyone" not in [header.value for header in app.header]
    before = figure(app, "P-Rule")
    fine(app.selectbox(key="set_groups").set_value("race_sex").run())
    assert app.query_params["groups"] == "race_sex"
    assert app.query_params["lambda_fair"] == "2"  # what somebody has chosen stays
    assert figure(app, "P-Rule") != before
    fine(next(b for b in app.button if b.label == "Undo").click().run())
    assert "groups" not in app.query_params
    assert figure(app, "P-Rule") == before
    fine(app.selectbox(key="set_data").set_value("german").run())
    assert app.selectbox(key="set_groups").value == ""


def test_a_small_group_is_marked_and_named(monkeypatch):
    monkeypatch.setattr(counts, "MIN_GROUP", 200)
    app = fine(run(**CROSSED, lambda_fair="2.5"))
    assert "leave out Black × Female (134 people): of fewer than 200 people" in captions(app).replace("\\", "")
    app.session_state["groups_table"] = True
    rows = {row[0]: row for row in tables(fine(app.run()))["Each group as a table"]}
    assert [row[-1][:3] for row in rows.values()] == ["yes", "yes", "yes", "no,"]
    assert list(rows)[-1] == "Black × Female"


@pytest.mark.parametrize("page", ["people", "what_if", "runs", "take_home", "data", "lesson"])
def test_every_page_opens_with_many_groups(page):
    app = fine(run(f"pages/{page}.py", **CROSSED))
    if page != "lesson":  # which stays with two
        assert not WRONG.search(everything(app))


@pytest.mark.slow
def test_who_changed_has_every_group_in_one_table():
    app = fine(run("pages/people.py", **CROSSED, lambda_fair="10"))
    table = tables(app)["The groups on test, and how many of each changed"]
    assert len(table) == 4
    assert "changes the decision of **" in words(app)


def test_the_report_has_every_group():
    settings = defaults("hiring", "race_sex")
    result = fit_result(settings)
    found = each_group(result)
    assert len(found["rows"]) == 4
    assert found["margins"].startswith("P-Rule by race ")
    assert [model for model, *_ in found["extremes"]] == ["g", "f"]
    assert described(result.settings)["groups"] == "Race × sex"
    assert file_name(result, "report", "html") == "commod_hiring_race_sex_report.html"
    assert each_group(fit_result(defaults("hiring"))) == {}


def test_runs_of_different_groups_are_told_apart():
    groups = {"two": ("hiring", ""), "four": ("hiring", "race_sex"), "old": ("german", "age_sex")}
    app = fine(run("pages/runs.py", data="hiring", pinned=[(name, defaults(*of)) for name, of in groups.items()]))
    rows = {row[0]: row[1:] for row in tables(app)["The runs side by side"]}
    assert rows["Groups"] == ["Black / White", "Race × sex", "Age × sex"]
    assert "They group people differently" in " ".join(info.value for info in app.info)
    assert "These runs differ in data set, groups or split" in words(app)


@pytest.mark.slow
def test_methods_for_two_groups_are_named_where_there_are_more():
    app = fine(run("pages/limits.py", **CROSSED, methods="lpp,oracle_roc"))
    assert "Oracle ROC" in captions(app)
    assert "for two groups, as published, and cannot be asked about more" in captions(app)
    assert app.get("pills")[0].value == ["lpp"]
    assert not WRONG.search(everything(app).replace("It is about two groups", ""))


@pytest.mark.slow  # tests/experiments/test_groups.py counts them
def test_compare_draws_who_changed_by_group(monkeypatch):
    monkeypatch.setattr(sweep, "EFFORT", 3)
    app = fine(run("pages/compare.py", **CROSSED, methods="commod,lpp"))
    assert "Who changed as a table" in [fold.label for fold in app.expander]
    app = fine(app.toggle(key="match_more").set_value(True).run())
    (drawn,) = [text.value for text in app.main.markdown if 'aria-label="Models matched"' in text.value]
    assert "Setting" in drawn
    assert "better / worse" not in drawn
    assert "COMMOD's models here only multiply" in captions(app)  # these data open with an update that may shift
    assert not WRONG.search(everything(app))
