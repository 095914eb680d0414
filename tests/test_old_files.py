"""Files that the version of 17 November 2026 wrote still open, and say what they said."""

import json

import pytest

from commod.cli import main
from commod.dashboard.state.runs_file import read_runs
from commod.dashboard.state.settings import defaults
from commod.dashboard.views.lesson.scenarios import all_scenarios
from commod.datasets import load_task
from commod.datasets.example import example_table
from commod.decisions import Requirements, read_record
from commod.portable import load
from tests.browsing import ROOT

pytestmark = pytest.mark.quick

FILES = ROOT / "tests" / "old_files"


def content(name):
    return (FILES / name).read_bytes()


def test_a_decision_about_a_file_is_verified(tmp_path, capsys):
    """It says how the file was read as options of a command; a new one holds roles."""
    table = tmp_path / "applicants.csv"
    example_table(600).to_csv(table, index=False)
    assert main(["verify", str(FILES / "decision.json"), "--data", str(table)]) == 0
    assert "agrees  read as" in capsys.readouterr().out
    assert read_record(content("decision.json"))["signature"]["who"] == "Ada"


def test_a_model_still_predicts():
    """It says what the model was like on the people tested on, which is ignored now."""
    model, rows = load(FILES / "model.json"), load_task("german").split(1)[1].X.to_dict("records")
    assert "reference" in model.content
    assert (len(rows), model.predict(rows).sum()) == (300, 229)


def test_saved_runs():
    runs, problems = read_runs(content("runs.json"))
    assert problems == []
    assert [(run.name, run.settings.data) for run in runs] == [("first", "compas"), ("Größe", "law_school")]
    assert runs[0].settings == defaults("compas")
    assert runs[1].requirements == Requirements(p_rule=0.8)


def test_requirements():
    found = Requirements.from_plain(json.loads(content("requirements.json")))
    assert found == Requirements(p_rule=0.8, changed=0.05, kept_out=("age",), direction="improve")


def test_a_lesson(tmp_path, monkeypatch):
    monkeypatch.setenv("COMMOD_LESSONS", str(tmp_path))
    example_table(400).to_csv(tmp_path / "applicants.csv", index=False)
    (tmp_path / "hiring.en.toml").write_bytes(content("hiring.en.toml"))
    found, problems = all_scenarios()
    assert problems == ()
    (step,) = found["hiring"]["en"].steps
    assert [said.when for said in step.explanation] == ["true", "after.worse > 0 and not move.played"]
