"""What a slider that was just added can do. Run by test_new_slider.py in a copy of the project that has one."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.take_home.report import report_html
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.runs_file import Run, default_name, read_runs, write_runs
from commod.dashboard.state.settings import defaults, in_words
from commod.experiments.limits import limits_of
from tests.dashboard.driving import fine, run, slider, tables, words
from tests.dashboard.refitting import refits

LABEL, NAME = "Weight of sparsity", "weight of sparsity"


@pytest.fixture(scope="module")
def heavy():
    return replace(defaults("german"), sparsity_weight=2.0)


def press(app, label):
    return fine(next(b for b in app.button if b.label == label).click().run())


def test_sidebar_link_undo_and_reset_and_the_model_is_trained_with_it():
    app = fine(run(data="german"))
    moved = slider(app, "sparsity_weight")
    assert (moved.label, moved.value, moved.help) == (LABEL, 1.0, "How much sparsity counts.")
    fine(moved.set_value(2.0).run())
    assert app.query_params["sparsity_weight"] == "2"
    assert app.session_state["held_explore"].last_good.g.sparsity_weight == 2.0
    press(app, "Undo")
    assert app.query_params["sparsity_weight"] == "1"
    press(app, "Redo")
    assert slider(app, "sparsity_weight").value == 2.0
    press(app, "Reset")
    assert slider(app, "sparsity_weight").value == 1.0
    assert slider(run(data="german", sparsity_weight="0.5"), "sparsity_weight").value == 0.5
    assert "weight of sparsity = “x”, which is not known" in run(sparsity_weight="x").warning[0].value


def test_another_value_is_another_model(heavy):
    usual, other = fit_result(defaults("german")), fit_result(heavy)
    assert (usual.g.sparsity_weight, other.g.sparsity_weight) == (1.0, 2.0)
    assert not np.array_equal(usual.g.coef_, other.g.coef_)
    assert in_words(heavy).endswith(f"k 3, {NAME} 2")


def test_a_teacher_can_freeze_it_and_finds_it_on_the_page():
    frozen = fine(run(controls="lambda_fair", sparsity_weight="2"))
    assert slider(frozen, "sparsity_weight").disabled
    assert slider(frozen, "sparsity_weight").value == 2.0
    assert not slider(fine(run(controls="sparsity_weight")), "sparsity_weight").disabled
    lesson = fine(run("pages/lesson.py"))
    (controls,) = lesson.multiselect
    assert NAME in controls.options
    controls.set_value(["sparsity_weight"]).run()
    assert any("controls=sparsity_weight" in code.value for code in lesson.code)


def test_saved_runs_have_it_in_file_name_and_table(heavy):
    runs = [Run("A", heavy), Run("B", defaults("german"))]
    assert read_runs(write_runs(runs, {}).encode()) == (runs, [])
    assert default_name(heavy) == f"German credit: λ_fair 5, {NAME} 2"
    page = fine(run("pages/runs.py", pinned=runs))
    assert [LABEL, "–", "2", "1"] in tables(page)["The runs side by side"]


def test_files_from_before_it_was_there_mean_its_default(heavy):
    file = json.loads(write_runs([Run("A", heavy)], {}))
    del file["runs"][0]["settings"]["sparsity_weight"]
    assert read_runs(json.dumps(file).encode()) == ([Run("A", defaults("german"))], [])


def test_report_and_python_have_it(heavy, capsys):
    result = fit_result(heavy)
    tree, limits = result.tree(3), limits_of(result.scene, heavy.fairness)
    report = report_html(
        result,
        tree,
        limits,
        result.evidence(),
        result.merit(),
        refits(result),
        code="",
        date="today",
        fingerprint="",
    )
    assert f"<dt>{LABEL}</dt><dd>2</dd>" in report
    code = to_python(heavy)
    assert "    sparsity_weight=2.0,\n" in code
    namespace = {}
    exec(compile(code, "copied", "exec"), namespace)
    np.testing.assert_array_equal(namespace["g"].coef_, result.g.coef_)
    app = run(**{name: str(value) for name, value in asdict(heavy).items()})
    app.session_state["python"] = True
    assert any("sparsity_weight=2.0" in block.value for block in fine(app.run()).code)


def test_the_glossary_explains_it():
    assert "How much sparsity counts." in words(fine(run("pages/glossary.py")))
