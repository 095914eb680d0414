"""A figure is one declaration and its formula: one that is added here appears wherever figures stand."""

import json
from dataclasses import replace

import pytest

from commod.cli import main
from commod.dashboard.jobs import service
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.lesson import notes
from commod.dashboard.pages.take_home.report import report_html
from commod.dashboard.state.runs_file import Run, figures_of_run, write_runs
from commod.dashboard.state.settings import defaults
from commod.dashboard.text import glossary
from commod.dashboard.views.lesson.scenarios import scenario
from commod.experiments import prepare, sweep_method
from commod.experiments.limits import limits_of
from commod.metrics import FIGURES, Figure, compare_decisions
from tests.dashboard.driving import fine, run, tables
from tests.dashboard.refitting import refits

NAME, TITLE = "balanced_accuracy", "Balanced accuracy"
MEANING = "Mean of the shares of right decisions among people of either label."


def balanced(counts):
    """From (..., groups, label, prediction)."""
    by_label = counts.sum(axis=-3)
    right = [by_label[..., label, label] / by_label[..., label, :].sum(axis=-1) for label in (0, 1)]
    return (right[0] + right[1]) / 2


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """What was computed without it, or with it, must not be found by others."""
    service.queue().forget(lambda key: True)
    monkeypatch.setitem(FIGURES, NAME, Figure(NAME, TITLE, MEANING, balanced, direction=1, percent=True, key=True))
    yield
    service.queue().forget(lambda key: True)


@pytest.fixture
def result():
    return fit_result(defaults("german"))


def test_the_library_counts_it(result):
    scene = result.scene
    frame = compare_decisions(
        scene.test.y, scene.decisions_test, result.decisions, sensitive_features=scene.test.sensitive
    )
    row = frame.loc[NAME]
    y, g = scene.test.y.to_numpy(), result.decisions
    assert row["g"] == pytest.approx(((g[y == 0] == 0).mean() + (g[y == 1] == 1).mean()) / 2)
    assert row["g_low"] < row["g"] < row["g_high"]
    assert result.path[NAME].iloc[-1] == row["g"]
    assert result.g.path_[NAME].between(0, 1).all()


def test_methods_are_swept_with_it():
    points = sweep_method(prepare("german"), "oracle_roc", "demographic_parity").points
    assert points.columns[-4:].tolist() == [NAME, "right", "sure", "best"]
    assert points[NAME].between(0, 1).all()


def test_the_command_line_prints_it(capsys):
    assert main(["fit", "german"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(TITLE))
    assert line.endswith(NAME)
    assert line.count("%") == 2
    assert " points [" in line
    assert main(["fit", "german", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {NAME} <= set(found["f"]) & set(found["g"])
    assert main(["compare", "german", "--methods", "oracle_roc", "--jobs", "1"]) == 0
    assert TITLE in capsys.readouterr().out


@pytest.mark.slow
def test_explore_has_a_tile_of_it():
    app = fine(run(data="german"))
    assert [tile.label for tile in app.metric][:4] == [
        "Accuracy",
        "P-Rule",
        "Decisions changed",
        TITLE,
    ]
    tile = app.metric[3]
    assert tile.value.endswith("%")
    assert tile.delta.endswith(" points")
    assert tile.help.startswith(MEANING)


@pytest.mark.slow
def test_the_report_has_it(result):
    tree = result.tree(3)
    limits = limits_of(result.scene, result.settings.fairness)
    page = report_html(
        result,
        tree,
        limits,
        result.evidence(),
        result.merit(),
        refits(result),
        code="",
        date="1 May 2026",
        fingerprint="abc",
    )
    figure = FIGURES[NAME]
    assert TITLE in page
    assert figure.show(result.figures.loc[NAME, "g"]) in page
    assert MEANING in page


def test_saved_runs_have_it_in_their_table_and_side_by_side(result):
    strengths = {"A": 5.0, "B": 2.0, "C": 1.0}
    pinned = [(name, replace(defaults("german"), lambda_fair=value)) for name, value in strengths.items()]
    app = fine(run("pages/runs.py", pinned=pinned, compared=["A", "B"]))
    found = tables(app)
    shown = FIGURES[NAME].show(result.figures.loc[NAME, "g"])
    assert shown in next(row for row in found["All saved runs"] if row[0] == "A")
    by_title = {row[0]: row[1:] for row in found["The runs side by side"]}
    of_f, of_g, _ = by_title[TITLE]
    assert of_f.startswith(FIGURES[NAME].show(result.figures.loc[NAME, "f"]))
    assert of_g.startswith(shown)


def test_the_file_of_saved_runs_has_it(result):
    known = figures_of_run(result.figures)
    run_of_it = Run("A", result.settings)
    content = write_runs([run_of_it], {result.settings: known})
    assert json.loads(content)["runs"][0]["figures"]["g"][NAME] == result.figures.loc[NAME, "g"]


def test_the_teachers_notes_list_it():
    taught = scenario("bar_exam", "en")
    page = notes.notes_html(replace(taught, steps=taught.steps[:1]))
    model = fit_result(taught.steps[0].start)
    assert TITLE in page
    assert FIGURES[NAME].show(model.figures.loc[NAME, "g"]) in page


def test_the_glossary_explains_it():
    assert glossary.tip(NAME) == MEANING
    assert TITLE in {word.title for words in glossary.chapters().values() for word in words.values()}
    page = fine(run("pages/glossary.py"))
    assert any(TITLE in text.value for text in page.main.markdown)
