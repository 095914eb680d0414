import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import Commod, cli, evaluate, load_task
from commod.cli import main
from commod.datasets import guess_columns, make_task
from commod.datasets.example import example_table
from commod.datasets.from_file import complete_choice
from commod.datasets.leaks import sample_rows
from commod.experiments import compare, grid, start
from commod.experiments.preflight import preview_data
from commod.experiments.scene import prepare
from commod.experiments.start import suited_start
from commod.explain.checks import CHECKS, MARKS
from commod.uploads.reading import read_table
from tests.benchmarks import starts

KEYS = ["dataset", "fairness", "settings", "f", "g", "change_rate", "fit_seconds"]
FIGURES = (
    "accuracy auc calibration_within_groups p_rule p_rule_of_negative dm delta_tpr delta_fpr "
    "predictive_parity_difference positive_rate_0 positive_rate_1"
).split()


@pytest.fixture(autouse=True)
def short_starts(request, monkeypatch):
    """Where a file opens is not looked for, or (``with_start``) among two λ_fair; test_start.py looks among all."""
    monkeypatch.setattr(start, "TRIED", (1.0, 3.0))
    monkeypatch.setattr(start, "ROWS", 1_200)
    if "with_start" not in request.keywords:
        at_three = start.Start({"lambda_fair": 3.0, "update": "ratio"}, "It opens at 3.")
        monkeypatch.setattr(start, "suited_start", lambda scene, fairness: at_three)


def test_fit_prints_exactly_the_figures_of_the_library(capsys):
    assert main(["fit", "law_school", "--lambda-fair", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == KEYS
    assert list(report["f"]) == list(report["g"]) == FIGURES

    task = load_task("law_school")
    train, test = task.split(seed=0)
    f = task.base_model(LogisticRegression()).fit(train.X, train.y)
    g = Commod(
        f, lambda_fair=2.0, lambda_ratio=0.05, lambda_concepts=0.01, n_concepts=2, fairness="demographic_parity"
    ).fit(train.X, train.y, sensitive_features=train.sensitive)
    frame = evaluate(task, f, g, test)
    for model in ("f", "g"):
        assert report[model] == {name: frame.loc[name, model] for name in FIGURES}
    assert report["change_rate"] == frame.loc["change_rate", "g"]


def test_two_processes_give_the_same_digits(capsys):
    """This one, which has trained much before, and a new one."""
    arguments = ["fit", "law_school", "--json"]
    new = subprocess.run([sys.executable, "-m", "commod", *arguments], capture_output=True, check=True)
    assert main(arguments) == 0
    runs = [json.loads(new.stdout), json.loads(capsys.readouterr().out)]
    for run in runs:
        assert run.pop("fit_seconds") > 0
    assert runs[0] == runs[1]


def test_fit_warns_of_a_model_as_the_page_does(capsys, tmp_path):
    starts.grants().to_csv(tmp_path / "grants.csv", index=False)
    roles = "--outcome granted --favourable yes --sensitive region --update decisions --lambda-fair 4 --json".split()
    assert main(["fit", str(tmp_path / "grants.csv"), *roles]) == 0
    told = re.search(r"Take care: g is right for (.+)% of people, f for .+” for (.+)%", capsys.readouterr().err)
    assert float(told[1]) < float(told[2])


def test_fit_as_text_names_the_concepts(capsys):
    assert main(["fit", "compas", "-k", "5", "--fairness", "equalized_odds"]) == 0
    out = capsys.readouterr().out
    assert "equalized odds" in out
    assert "Concept 5" in out
    assert "age" in out


@pytest.mark.slow
def test_an_update_that_may_shift(capsys):
    assert main(["fit", "law_school", "--lambda-fair", "3", "--update", "affine", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["settings"]["update"] == "affine"
    assert main(["fit", "law_school", "--lambda-fair", "3", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["settings"]["update"] == "ratio"
    assert plain["g"] != report["g"]
    assert main(["fit", "law_school", "--lambda-fair", "3", "--update", "affine"]) == 0
    assert "Concept 2, shift [+" in capsys.readouterr().out
    assert main(["check", "german", "--lambda-fair", "5", "--refits", "1", "--update", "affine"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "moon"], "There is no task 'moon'"),
        (["fit", "moon.csv"], "moon.csv cannot be read (No such file or directory)"),
        (["fit", "german", "--outcome", "y"], "The roles of columns in german are declared"),
        (["fit", "german", "--base-model", "scores"], "comes without scores"),
        (["fit", "german", "--lambda-fair", "-1"], "lambda_fair must be a number of 0 or more"),
        (["fit", "german", "--base-model", "oracle"], "There is no base model 'oracle'"),
        (["fit", "german", "--fairness", "none"], "fairness must be one of"),
        (["fit", "german", "--update", "affine", "--solver", "adversarial"], "update='affine' is available for"),
        (["compare", "moon"], "There is no task 'moon'"),
        (["compare", "german", "--methods", "roc"], "There is no method 'roc' for demographic parity"),
        (["compare", "german", "--out", "/nowhere/points.csv"], "The folder of --out"),
        (["compare", "german", "--fairness", "none"], "fairness must be one of"),
        (["sweep", "--out", "/nowhere/all.csv"], "The folder of --out"),
        (["sweep", "--out", "all.csv", "--splits", "0"], "--splits must be 1 or more"),
        (["sweep", "--out", "all.csv", "--methods", "lpp,roc"], "There is no method 'roc' here"),
        (["sweep", "--out", "all.csv", "--fairness", "none"], "fairness must be one of"),
        (["sweep", "--out", "all.csv", "--dataset", "moon"], "There is no task 'moon'"),
        (
            ["sweep", "--out", "all.csv", "--backend", "serial", "--scheduler", "tcp://127.0.0.1:9"],
            "--scheduler goes with --backend dask, not with serial",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_data_list(capsys):
    assert main(["data", "list"]) == 0
    assert "4,586 rows" in capsys.readouterr().out


@pytest.mark.slow
def test_compare_writes_all_points(capsys, tmp_path):
    out = tmp_path / "points.csv"
    assert main(["compare", "german", "--methods", "oracle_roc,lpp", "--jobs", "1", "--out", str(out)]) == 0
    points = pd.read_csv(out)
    assert points["method"].unique().tolist() == ["lpp", "oracle_roc"]
    assert "72 models in" in capsys.readouterr().out
    pd.testing.assert_frame_equal(points, compare("german", methods=["lpp", "oracle_roc"], n_jobs=1))


@pytest.mark.slow
def test_a_sweep_goes_on_where_it_was(capsys, tmp_path, monkeypatch):
    out = tmp_path / "all.csv"
    command = ["sweep", "--out", str(out), "--dataset", "german", "--methods", "oracle_roc,fst", "--backend", "serial"]
    command += ["--fairness", "demographic_parity", "--splits"]
    assert main([*command, "1"]) == 0
    assert f"72 models in {out} after" in capsys.readouterr().out
    first = pd.read_csv(out)
    trained, made = [], grid.fit_cell
    monkeypatch.setattr(grid, "fit_cell", lambda scene, *given: trained.append(scene.seed) or made(scene, *given))
    assert main([*command, "2"]) == 0
    assert trained == [1] * 72
    both = pd.read_csv(out)
    assert {"accuracy", "p_rule", "change_rate", "right", "sure", "error"} <= set(both)
    pd.testing.assert_frame_equal(both[both["split"] == 0].reset_index(drop=True), first, check_exact=True)
    assert len((tmp_path / "all.csv.jsonl").read_text().splitlines()) == len(both) == 144


def test_a_place_that_cannot_be_written_to_is_one_sentence(capsys, tmp_path):
    assert main(["compare", "german", "--methods", "oracle_roc", "--jobs", "1", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"commod: {tmp_path}: Is a directory. Choose another place.\n"


def test_methods_are_listed(capsys):
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert "oracle_lpp" in out
    assert "not yet" in out
    assert "methods of the paper's overview run here" in out


def test_check_says_whether_the_changes_make_sense(capsys):
    assert main(["check", "german", "--lambda-fair", "5", "--refits", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [MARKS[mark(line)][1] for line in lines]
    assert [check.title in line for check, line in zip(CHECKS.values(), lines, strict=True)] == [True] * 4
    assert main(["check", "german", "--lambda-fair", "5", "--refits", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["checks"]
    assert {name: row["mark"] for name, row in found.items()} == {
        name: mark(line) for name, line in zip(CHECKS, lines, strict=True)
    }
    assert found["merit"]["value"] is None


def mark(line):
    return next(mark for mark, (word, sign) in MARKS.items() if line.startswith(f"{sign} {word} "))


def test_no_refits_are_one_sentence(capsys):
    assert main(["check", "german", "--refits", "0"]) == 2
    assert "--refits must be 1 or more" in capsys.readouterr().err


def test_limits_on_the_update(capsys):
    limited = ["--direction", "improve", "--without", "lsat,sex", "--lambda-fair", "3"]
    assert main(["fit", "law_school", *limited, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["settings"]["direction"] == "improve"
    assert report["settings"]["features"] == ["ugpa", "zfygpa", "zgpa", "fam_inc", "study", "tier"]
    assert report["change_rate"] > 0
    assert main(["check", "law_school", *limited, "--refits", "1"]) == 0
    assert "Right by the record: " in capsys.readouterr().out
    assert main(["fit", "law_school", "--without", "race"]) == 2
    assert "--without names race; the features are lsat, ugpa" in capsys.readouterr().err
    assert main(["fit", "law_school", "--direction", "up"]) == 2
    assert "direction must be one of" in capsys.readouterr().err


# ---- files ----


@pytest.fixture
def path(tmp_path):
    example_table(500).to_csv(tmp_path / "applicants.csv", index=False)
    return str(tmp_path / "applicants.csv")


def test_a_file_in_the_place_of_a_data_set(capsys, path):
    assert main(["fit", path, "--json"]) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert list(report) == KEYS
    assert report["dataset"] == "applicants.csv"
    assert report["settings"]["base_model"] == "scores"
    assert 'Guessed: "target": "hired", "favourable": "yes", "sensitive": "group"' in told.err
    roles = "--outcome hired --favourable yes --sensitive group --groups A B --scores model_score".split()
    assert main(["fit", path, *roles, "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["g"] == report["g"]
    assert "Guessed" not in told.err
    assert main(["check", path, "--refits", "1", "--json", "--base-model", "logistic_regression"]) == 0
    assert list(json.loads(capsys.readouterr().out)["checks"]) == list(CHECKS)


@pytest.mark.with_start
def test_a_file_opens_as_in_the_app(capsys, tmp_path):
    table = example_table().drop(columns="model_score")
    rare = table[(table["hired"] == "no") | (np.arange(len(table)) % 6 == 0)]  # some 12 % are hired
    path = tmp_path / "rare.csv"
    rare.to_csv(path, index=False)
    assert main(["fit", str(path), "--json"]) == 0
    told = capsys.readouterr()
    settings = json.loads(told.out)["settings"]

    frame = read_table(path.read_bytes()).frame
    choice = complete_choice(frame, guess_columns(frame), "rare.csv", {})
    look = preview_data(frame, sample_rows(frame, choice), choice, len(frame))
    (line,) = [concern.threshold for concern in look.concerns(choice) if concern.threshold is not None]
    assert settings["threshold"] == line < 0.5
    assert f"Cut-off of f: {line:g}." in told.err
    task = make_task(frame, replace(choice, threshold=line), name="rare.csv").task
    opened = suited_start(prepare(task.name, "logistic_regression", 0, line), "demographic_parity")
    assert opened.settings.items() <= settings.items()
    assert settings["lambda_fair"] > 0
    assert opened.text in told.err
    right = [concern.text for concern in look.concerns(replace(choice, threshold=line)) if concern.kind == "constant"]
    assert bool(right) == ("That is the price of finding the rarer outcome" in told.err)
    assert main(["fit", str(path), "--update", "affine", "--lambda-fair", "1", "--threshold", "0.5", "--json"]) == 0
    given = json.loads(capsys.readouterr().out)["settings"]
    assert (given["update"], given["lambda_fair"], given["threshold"]) == ("affine", 1.0, 0.5)


def test_decisions_can_be_counted(capsys):
    assert main(["fit", "law_school", "--lambda-fair", "5", "--update", "decisions"]) == 0
    out = capsys.readouterr().out
    assert "The balance starts at -" in out
    assert "Concept 1 [+" in out


def test_a_budget_is_kept_and_told(capsys):
    fitted = ["fit", "law_school", "--lambda-fair", "8", "--update", "decisions", "--max-changes"]
    assert main([*fitted, "150"]) == 0
    told = re.search(
        r"(\d+) training rows change. On 1,000 new people expect (\d+) to (\d+) changes", capsys.readouterr().out
    )
    changed, low, high = map(int, told.groups())
    assert 100 < changed <= 150
    assert low < high
    with pytest.raises(SystemExit):
        main([*fitted, "many"])
    assert "'many' is neither a number of people nor a share of them" in capsys.readouterr().err
    assert main(["fit", "law_school", "--max-changes", "60"]) == 2
    assert "update='decisions'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_target_of_a_file(capsys, path):
    assert main(["target", path, "--min-fairness", "0.5", "--max-change", "0.3", "--scores", ""]) == 0
    assert "P-Rule of at least 0.5" in capsys.readouterr().out


def test_a_method_that_fails_costs_no_other_its_points(capsys, monkeypatch, tmp_path):
    def failing(scene, method, fairness, **how):
        if method == "lpp":
            raise RuntimeError("no minimum")
        return swept(scene, method, fairness, **how)

    module = sys.modules["commod.experiments.compare"]  # whose function has its name
    swept = module.sweep_method
    monkeypatch.setattr(module, "sweep_method", failing)
    out = tmp_path / "points.csv"
    assert main(["compare", "german", "--methods", "oracle_roc,lpp", "--jobs", "1", "--out", str(out)]) == 1
    told = capsys.readouterr()
    assert told.err.strip() == "LPP could not be swept: RuntimeError: no minimum"
    assert set(pd.read_csv(out)["method"]) == {"oracle_roc"}
    with pytest.raises(ValueError, match="LPP could not be swept"):
        compare("german", methods=["lpp"], n_jobs=1)


def test_compare_of_a_file_as_json(capsys, path):
    assert main(["compare", path, "--methods", "oracle_roc", "--jobs", "1", "--json"]) == 0
    told = capsys.readouterr()
    points = pd.DataFrame(json.loads(told.out))
    assert points["dataset"].unique().tolist() == ["applicants.csv"]
    assert len(points) == 36
    assert "Left out: applicant" in told.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--outcome", "hire"], "There is no column “hire” in the file"),
        (["--favourable", "maybe"], "“maybe” is not a value of “hired”"),
        (["--groups", "A"], "Choose two different groups of “group”, or more of them."),
        (["--scores", "", "--base-model", "scores"], "comes without scores"),
    ],
)
def test_wrong_options_of_a_file_are_one_sentence(options, message, capsys, path):
    for command in ("fit", "compare", "check", "target"):
        assert main([command, path, *options]) == 2
        told = capsys.readouterr()
        assert message in told.err
        assert told.err.count("commod: ") == 1
        assert not told.out


def test_a_cut_off_from_a_shell(capsys):
    assert main("fit law_school --lambda-fair 0 --threshold 0.8 --json".split()) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["settings"]["threshold"] == 0.8
    assert report["f"]["positive_rate_1"] < 0.35
    assert main("fit law_school --lambda-fair 0 --threshold budget:0.2 --json".split()) == 0
    assert 0.7 < json.loads(capsys.readouterr().out)["settings"]["threshold"] < 0.99
    assert main("fit law_school --threshold 80%".split()) == 2
    assert "threshold must be a probability" in capsys.readouterr().err


def test_scores_of_the_other_outcome_are_asked_about(capsys, tmp_path):
    path = str(tmp_path / "turned.csv")
    table = example_table(500)
    table.assign(model_score=1 - table["model_score"]).to_csv(path, index=False)
    assert main(["fit", path, "--json"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "These scores seem to be of the other outcome" in told.err
    assert "Use --scores-of other to turn them round" in told.err
    found = []
    for words in (["--scores-of", "other"], ["--scores-of", "favourable"]):
        assert main(["fit", path, *words, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["f"]["accuracy"])
    assert found[0] > 0.6 > 0.4 > found[1]


def test_a_rare_outcome_and_repeated_people_from_a_shell(capsys, tmp_path):
    path = str(tmp_path / "rare.csv")
    table = example_table(500)
    table = table.assign(model_score=table["model_score"] / 4, person_id=table["applicant"] // 2)  # all below one half
    table.drop(columns="applicant").to_csv(path, index=False)
    assert main(["fit", path, "--threshold", "budget", "--json"]) == 0
    told = capsys.readouterr()
    assert 0.05 < json.loads(told.out)["settings"]["threshold"] < 0.25
    assert "rows share their “person_id” with another row" in told.err
    assert main(["fit", path, "--threshold", "0.9"]) == 2
    assert "choose a cut-off between" in capsys.readouterr().err
    assert main(["fit", "german", "--seed", "-1"]) == 2
    assert "--seed must be 0 or more" in capsys.readouterr().err


def test_everything_is_printed_with_control_characters_escaped():
    """Any sentence may hold a name from a stranger's file, so only `print_safely` and a counter of numbers print."""
    files = Path(cli.__file__).parent.glob("*.py")
    printed = [call for path in files for call in re.findall(r"\bprint\((.*)", path.read_text(encoding="utf-8"))]
    assert [call for call in printed if "{done} of {total} models" not in call] == ['"".join(escaped), file=file)']
