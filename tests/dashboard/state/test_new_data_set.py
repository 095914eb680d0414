"""A data set is one declaration and its files: the lists, the app and the command line then know it."""

import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from commod import load_task, task_names
from commod.cli import main
from commod.dashboard.state.settings import defaults
from commod.datasets import TASKS, Feature, TaskSpec, damaged_files, data_directory
from commod.datasets.load import CHECKSUMS
from commod.experiments.sweep import concept_settings
from tests.dashboard.driving import figure, fine, run, slider

LOANS = TaskSpec(
    name="loans",
    title="Invented loans",
    features=(
        Feature("income", "Income", "number", "US$", "Income in a year."),
        Feature("savings", "Savings", "number", "US$", "Savings at the bank."),
        Feature("housing", "Housing", "category", "", "Rented or owned."),
    ),
    target="repaid",
    target_label="repays the loan",
    outcomes=("bad risk", "good risk"),
    favourable=1,
    sensitive="region",
    groups=("North", "South"),
    filter="All rows.",
    people="applicants",
    suited={"lambda_fair": 2.25, "fairness": "equalized_odds", "lambda_concepts": 0.02, "n_concepts": 3},
    targets={"equalized_odds": (0.45, 7.0)},
)
SHEET = "# Invented loans\n\n| Rows | 800 |\n"


@pytest.fixture
def loans(tmp_path, monkeypatch):
    """The declaration, a data file, its checksum and its datasheet."""
    folder = tmp_path / "data"
    shutil.copytree(data_directory(), folder)
    rng = np.random.default_rng(0)
    region = rng.integers(0, 2, 800)
    income, savings = rng.normal(30_000 + 9_000 * region, 8_000), rng.normal(5_000, 2_000, 800)
    chance = 1 / (1 + np.exp(-(income - 34_000) / 6_000 - (savings - 5_000) / 2_000))
    table = {"income": income, "savings": savings, "housing": rng.choice(["rented", "owned"], 800)}
    frame = pd.DataFrame(table | {"repaid": (rng.random(800) < chance).astype(int), "region": region})
    frame.to_parquet(folder / "loans.parquet")
    digest = hashlib.sha256((folder / "loans.parquet").read_bytes()).hexdigest()
    known = json.loads((folder / CHECKSUMS).read_text())
    (folder / CHECKSUMS).write_text(json.dumps(known | {"loans.parquet": digest}))
    (folder / "loans.md").write_text(SHEET)
    monkeypatch.setenv("COMMOD_DATA", str(folder))
    monkeypatch.setitem(TASKS, "loans", LOANS)


@pytest.mark.usefixtures("loans")
def test_the_library_and_the_command_line_know_it(capsys):
    assert task_names()[-1] == "loans"
    assert not damaged_files()
    task = load_task("loans")
    assert list(task.X.columns) == ["income", "savings", "housing"]
    assert concept_settings(task) == {"lambda_concepts": 0.02, "n_concepts": 3}
    assert main(["data", "list"]) == 0
    assert "loans                         800 rows,  3 features; North" in capsys.readouterr().out
    assert main(["fit", "loans", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dataset"] == "loans"


@pytest.mark.slow
@pytest.mark.usefixtures("loans")
def test_the_app_opens_it_where_its_declaration_says():
    there = defaults("loans")
    assert (there.lambda_fair, there.fairness, there.lambda_concepts, there.k) == (2.25, "equalized_odds", 0.02, 3)
    app = fine(run())
    choice = app.selectbox(key="set_data")
    assert "Invented loans" in choice.options
    choice.set_value("loans").run()
    assert fine(app).query_params["data"] == "loans"
    assert slider(app, "lambda_fair").value == 2.25
    assert slider(app, "k").value == 3
    assert app.selectbox(key="set_fairness").value == "equalized_odds"
    limits = [field.value for field in app.number_input if "at most" in field.label]
    assert limits == [0.45, 7.0, None]
    assert float(figure(app, "Disparate mistreatment")) > 0
    sheet = fine(app.switch_page("pages/data.py").run())
    assert any("Invented loans" in text.value for text in sheet.main.markdown)
