"""Other splits and a biased record, as pages show them."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from commod.charts.pareto import CURRENT, SPLITS
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.compare.sections import frontier_of
from commod.dashboard.pages.explore.pareto import _fixed_points, _unusual
from commod.dashboard.state.settings import defaults
from commod.dashboard.views.lesson.scenarios import scenario
from commod.dashboard.views.model import known_splits
from commod.experiments.biased import figures_if_missed, scene_in_truth
from commod.experiments.refits import Refits, refit
from tests.dashboard.driving import captions, fine, run, run_compare, tables, words

pytestmark = pytest.mark.with_refits
BIASED = "What if the record is biased?"


def test_explore_shows_where_the_point_falls_on_other_splits():
    fine(run())
    result = fit_result(defaults("law_school").model())
    splits = refit(result.scene, result.cell, "demographic_parity", count=2, drawn="splits")
    assert known_splits(result).figures.equals(splits.figures)  # the page has asked for them
    behind, above = (rows.to_pandas().set_index("kind") for rows in _fixed_points(result, None, splits))
    assert behind.loc[SPLITS, "fairness"].tolist() == splits.figures["p_rule"].tolist()
    mean, sd = splits.spread.loc["p_rule"]
    for told in (behind["settings"].iloc[0], above.loc[CURRENT, "settings"]):  # what a tooltip says
        assert f"on 2 splits with other people P-Rule {mean:.3f} ± {sd:.3f}, accuracy" in told


def test_a_split_that_is_unlike_others_is_said_to_be():
    result = fit_result(defaults("law_school").model())
    here = result.path["fairness"].iloc[-1]
    rows = {gap: pd.DataFrame({"mean": [here + gap], "sd": [0.05]}, index=["p_rule"]) for gap in (-0.1, 0.04, 0.1)}
    said = {gap: _unusual(result, _Splits(spread)) for gap, spread in rows.items()}
    assert not said[0.04]
    assert f"{here + 0.1:.3f} ± 0.050" in said[0.1] != said[-0.1]


class _Splits:
    def __init__(self, spread):
        self.spread = spread

    def __len__(self):
        return 10


def test_where_nobody_changes_or_there_is_no_other_split_none_is_asked_for(monkeypatch):
    nobody = fit_result(replace(defaults("law_school"), lambda_fair=0.0).model())
    assert tasks.splits(nobody) is None
    result = fit_result(defaults("law_school").model())
    assert isinstance(tasks.splits(result), tasks.ComputeTask)
    monkeypatch.setattr(tasks, "wanted_refits", lambda result, drawn: 0)
    assert tasks.splits(result) is None


@pytest.mark.slow
def test_decide_has_no_seed_and_opens_old_links_that_name_one():
    app = fine(run("pages/decide.py", seed="3", methods="commod", req="p_rule:0.5"))
    assert "Seed of the split" not in [field.label for field in app.sidebar.number_input]
    assert app.query_params["seed"] == "3"
    assert "Seed of the split" in [field.label for field in fine(run()).sidebar.number_input]


def test_decide_shows_other_splits_beside_each_verdict():
    app = fine(run("pages/decide.py", methods="commod", req="p_rule:0.5;changed:0.2"))
    result = fit_result(defaults("law_school").model())
    found = refit(result.scene, result.cell, "demographic_parity", count=2, drawn="splits").figures
    met = (found["p_rule"] >= 0.5).sum()
    assert f"met on {met} of 2.]" in words(app)


@pytest.mark.slow  # Decide and Explore show it, too
def test_compare_shows_the_spread_of_cells_and_frontiers():
    app = fine(run_compare(methods="commod,commod_decisions"))
    assert "Crosses: mean ± sd on other splits" in captions(app)
    assert "In brackets: mean ± sd on other splits" in captions(app)
    for title in ("Who wins where", "Mean change rates"):
        assert any("±" in cell for row in tables(app)[title] for cell in row), title
    assert all(re.fullmatch(r"\d+ of \d+|–", row[-1]) for row in tables(app)["Who wins where"])
    charts = [chart.proto.spec for chart in app.main.get("vega_lite_chart")]
    assert any("fairness_low" in spec for spec in charts)


def test_models_of_a_frontier_change_somebody():
    settings = defaults("law_school")
    sweep = result_of(tasks.sweep(settings, "oracle_roc"))
    places = frontier_of(sweep)
    assert places
    assert (sweep.points.loc[places, "change_rate"] > 0).all()
    assert sweep.points.loc[places, "best"].all()


# ---- a biased record ----


def row_of(app, name):
    return next(row for row in tables(app)[BIASED] if row[0] == name)


def headings(app):
    html = next(element.proto.body for element in app.main.get("html") if f'"{BIASED}"' in element.proto.body)
    return re.findall(r'scope="col">([^<]+)<', html)


def test_who_changed_answers_what_if_the_record_is_biased():
    app = fine(run("pages/people.py", data="ratings"))
    result = fit_result(defaults("ratings").model())
    truth = figures_if_missed(scene_in_truth(result.scene), result.decisions)
    assert row_of(app, "Right changes")[-1] == f"{truth['right']:.1%}"
    app = fine(app.select_slider(key="missed").set_value(0.3).run())
    so = figures_if_missed(result.scene, result.decisions, 0.3)
    assert row_of(app, "Right changes")[2] == f"{so['right']:.1%}"
    assert row_of(app, "Accuracy of g")[2] == f"{so['accuracy']:.1%}"
    assert headings(app) == ["By the record", "If it misses 30%", "In truth"]


@pytest.mark.slow
def test_a_data_set_without_the_truth_shows_a_table_once_the_slider_moves():
    app = fine(run("pages/people.py"))
    assert BIASED not in tables(app)
    app = fine(app.select_slider(key="missed").set_value(0.2).run())
    assert headings(app) == ["By the record", "If it misses 20%"]


def test_the_last_step_of_the_lesson_asks_about_the_record():
    for language in ("en", "fr"):
        assert "biased" in scenario("bar_exam", language).steps[-1].shows


def test_refits_of_other_splits_can_be_joined():
    result = fit_result(defaults("law_school").model())
    parts = [tasks.some_refits(result, "splits", i, 1, None)[0] for i in (0, 1)]
    assert len(Refits.joined(parts)) == 2
