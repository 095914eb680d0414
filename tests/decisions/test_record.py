"""The record of a decision: training again agrees line by line, and whatever is no such file is refused."""

import copy
import json
import unicodedata
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.cli import main
from commod.datasets import add_task, load_task, task_of_file
from commod.datasets.example import example_table
from commod.decisions import (
    DecisionError,
    Requirements,
    Signature,
    data_hash,
    facts_of,
    facts_of_f,
    make_record,
    not_checked,
    read_record,
    record_json,
    requirements_in,
    verify,
    verify_record,
)
from commod.decisions.record import MODELS, _seal
from commod.experiments import prepare, refit
from commod.experiments.sweep import Cell, Shared, fit_cell
from commod.uploads.json_file import MAX_DEPTH, read_json

pytestmark = pytest.mark.quick

CELL = Cell("commod", 3.0, (("lambda_concepts", 0.05), ("n_concepts", 2), ("features", ("lsat", "ugpa"))))
ASKED = Requirements(p_rule=0.7, changed=0.08, again=0.8, kept_out=("race",))
SIGNED = Signature("Ada", "head", "It is fair enough.", date(2026, 11, 17), date(2027, 5, 1), {"f": "unfair"})
FAIRNESS = "demographic_parity"


@pytest.fixture(scope="module", autouse=True)
def trained_again_once():
    """The model of a record is trained again once for all tests that verify one like it."""
    train_again, known = verify._train_again, {}

    def trained(scene, model):
        key = scene.task.name, len(scene.train), json.dumps(model, sort_keys=True)
        if key not in known:
            known[key] = train_again(scene, model)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify, "_train_again", trained)
        yield


@pytest.fixture(scope="module")
def record():
    scene = prepare("law_school")
    decisions = fit_cell(scene, CELL, FAIRNESS, Shared()).decisions_test
    facts = facts_of(scene, decisions, CELL, refit(scene, CELL, FAIRNESS, count=2))
    return make_record(SIGNED, scene, decisions, CELL, FAIRNESS, ASKED, facts)


def sealed(record, **changed):
    """As somebody would write it who knows how it is sealed."""
    content = {**copy.deepcopy(record), **changed}
    return content | {"sha256": _seal(content)}


def test_training_again_agrees_on_every_line(record, tmp_path, capsys):
    path = tmp_path / "decision.json"
    path.write_text(record_json(record), encoding="utf-8")
    assert read_record(path.read_bytes()) == record
    assert requirements_in(record) == ASKED
    assert main(["verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert "Signed on 2026-11-17, in the name of Ada, head; look again 2027-05-01." in out
    assert "DIFFERS" not in out
    for line in (
        "data",
        "rows",
        "read as",
        "kept out",
        "p_rule",
        "verdict: p_rule",
        "verdict: again",
        "verdict: kept_out",
    ):
        assert f"agrees  {line}" in out
    for line in ("who", "why", "rejected: f", "required", "setting: threshold", "version: numpy"):
        assert f"not checked {line}" in out


def test_every_field_of_a_record_is_compared_or_called_not_checked(record):
    lines = set(verify_record(record, load_task("law_school"))["line"])
    said = {name for name, _ in not_checked(record)}
    assert {f"setting: {name}" for name in (*record["model"], *record["model"]["settings"])} - said == {
        "setting: settings"
    }
    assert {*record["signature"]} - said == {"rejected"}
    assert {*record["figures"], *(f"verdict: {each['requirement']}" for each in record["verdicts"])} <= lines
    compared = {"sha256": "data", "rows": "rows", "words": "read as", "name": "data name"}
    assert {compared[name] for name in record["data"]} <= lines | said
    assert [text for name, text in not_checked(record) if name == "required"] == ASKED.in_words


@pytest.mark.parametrize(
    ("part", "change", "line"),
    [
        ("data", {"rows": 10**9}, "rows"),
        ("data", {"words": ["--target", "race"]}, "read as"),
        ("requirements", {"kept_out": ["shoe_size"]}, "kept out"),
        ("figures", {"f_accuracy": 0.99}, "f_accuracy"),
        ("figures", {"people": 10**9}, "people"),
        ("model", {"threshold": 0.6}, "p_rule"),
        ("requirements", {"p_rule": 0.1}, "verdict: p_rule"),
        ("requirements", {"dm": 0.1}, "verdict: dm"),
    ],
)
def test_a_forged_record_is_found_out_though_it_is_sealed_again(record, part, change, line):
    forged = read_record(record_json(sealed(record, **{part: record[part] | change})))
    lines = verify_record(forged, load_task("law_school")).set_index("line")
    assert not lines.loc[line, "agrees"]


@pytest.mark.parametrize("column", ["value", "low", "high", "refits_low", "refits_high", "verdict"])
def test_a_forged_verdict_is_found_out(record, column):
    first, *others = record["verdicts"]
    value = {"pass": "fail"}.get(first["verdict"], "pass") if column == "verdict" else first[column] + 1e-6
    forged = read_record(record_json(sealed(record, verdicts=[first | {column: value}, *others])))
    lines = verify_record(forged, load_task("law_school")).set_index("line")
    assert not lines.loc["verdict: p_rule", "agrees"]


def test_two_verdicts_on_one_requirement_are_refused(record):
    first, *_ = record["verdicts"]
    with pytest.raises(DecisionError, match="two verdicts on one requirement"):
        read_record(record_json(sealed(record, verdicts=[first | {"verdict": "fail"}, *record["verdicts"]])))


@pytest.mark.parametrize(
    "text", ["A\x1b[2Jda", "A\x9b2Jda", "A\rda", "A\x07", "\u202eadA", "A\u2028da", "A\nagrees  all"]
)
def test_a_stranger_commands_no_terminal(record, tmp_path, capsys, text):
    """In whatever field it stands, and also where the file is refused."""
    path = tmp_path / "decision.json"
    said = record["signature"] | dict.fromkeys(("who", "role", "why"), text) | {"rejected": {text: text}}
    for change in (
        {"signature": said, "versions": record["versions"] | {"numpy": text}},
        {"data": record["data"] | {"sha256": text}},
        {"data": record["data"] | {"words": [text]}},
        {"model": record["model"] | {"method": text}},
        {text: 1},
    ):
        path.write_text(record_json(sealed(record, **change)), encoding="utf-8")
        assert main(["verify", str(path)]) in (0, 1, 2)
        shown = capsys.readouterr()
        for printed in (shown.out, shown.err):
            assert not [letter for letter in printed if letter != "\n" and unicodedata.category(letter)[0] == "C"]
            assert "\u2028" not in printed
            assert "\nagrees  all" not in printed


def test_what_does_not_apply_is_recorded_so_and_older_records_that_call_it_met_still_verify():
    scene = prepare("law_school")
    asked = Requirements(changed=0.1, right=0.5)
    made = make_record(SIGNED, scene, scene.decisions_test, None, FAIRNESS, asked, facts_of_f(scene))
    assert [each["verdict"] for each in made["verdicts"]] == ["pass", "does not apply"]
    assert [made["model"][name] for name in ("method", "value", "settings", "seed")] == ["f", 0.0, {}, 0]
    assert read_record(record_json(made)) == made
    older = sealed(made, verdicts=[each | {"verdict": "pass"} for each in made["verdicts"]])
    wrong = sealed(made, verdicts=[each | {"verdict": "fail"} for each in made["verdicts"]])
    task = load_task("law_school")
    for record, agree in ((made, True), (older, True), (wrong, False)):
        lines = verify_record(read_record(record_json(record)), task).set_index("line")
        assert lines.loc["verdict: right", "agrees"] == agree


def test_the_file_of_a_model_is_called_so():
    for name in MODELS:
        with pytest.raises(DecisionError, match=r"the file of a model \(from Take home\), not of a decision"):
            read_record(json.dumps({"format": name}))


def test_a_file_that_is_too_large_is_refused_with_the_number_of_the_uploader():
    with pytest.raises(ValueError, match=r"has 2\.0 MB, but a decision has at most 1: choose"):
        read_record(b" " * (2 * 2**20))


def test_what_differs_is_named(record, tmp_path, capsys):
    other = sealed(record, figures=record["figures"] | {"p_rule": 0.9})
    other["signature"]["who"] = "A\x1b[2Jda"
    other = sealed(other)
    path = tmp_path / "decision.json"
    path.write_text(record_json(other))
    assert main(["verify", str(path)]) == 1
    out = capsys.readouterr().out
    assert "DIFFERS p_rule" in out
    assert "agrees  accuracy" in out
    assert "\x1b" not in out


def test_other_data_are_not_trained_on(record):
    lines = verify_record(record, load_task("law_school_full"))
    assert lines["line"].tolist() == ["data", "rows", "read as"]
    assert not lines["agrees"].iloc[0]


def test_f_can_be_left_as_it_is():
    scene = prepare("law_school")
    kept = make_record(SIGNED, scene, scene.decisions_test, None, FAIRNESS, ASKED, facts_of_f(scene))
    assert verify_record(read_record(record_json(kept)), scene.task)["agrees"].all()


@pytest.mark.longer
def test_a_decision_about_a_table_that_somebody_brought(tmp_path, capsys):
    path, file = tmp_path / "decision.json", tmp_path / "applicants.csv"
    example_table().to_csv(file, index=False)
    task, _ = task_of_file(file, {"target": "hired", "favourable": "yes", "sensitive": "group"})
    add_task(task)
    scene, cell = prepare(task.name), Cell("commod", 1.0)
    decisions = fit_cell(scene, cell, FAIRNESS, Shared()).decisions_test
    asked = replace(ASKED, kept_out=(task.spec.features[0].name,))
    made = make_record(SIGNED, scene, decisions, cell, FAIRNESS, asked, facts_of(scene, decisions, cell))
    path.write_text(record_json(made), encoding="utf-8")
    assert main(["verify", str(path), "--data", str(file)]) == 0
    example_table().iloc[:-1].to_csv(file, index=False)
    assert main(["verify", str(path), "--data", str(file)]) == 1
    assert "DIFFERS data" in capsys.readouterr().out


def test_the_hash_of_data_sees_every_cell():
    task = load_task("german")
    usual = data_hash(task)
    assert usual == data_hash(load_task("german"))
    X = task.X.copy()
    X.iloc[3, 0] = X.iloc[4, 0] if X.iloc[3, 0] != X.iloc[4, 0] else X.iloc[5, 0]
    for changed in ({"X": X}, {"y": 1 - task.y}, {"sensitive": task.sensitive.iloc[::-1]}):
        assert data_hash(replace(task, **changed)) != usual


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "commod-decision/9"}, "no decision that can be read"),
        ({"extra": 1}, "There is no field `extra`"),
        ({"figures": {"p_rule": 1}}, "is missing"),
        ({"figures": []}, "damaged: figures: "),
        ({"verdicts": [1]}, "damaged: verdicts"),
        ({"requirements": {"p_rule": "much"}}, "takes a number from 0 to 1"),
        ({"requirements": {"moon": 1}}, "no requirement 'moon'"),
        ({"versions": {"numpy": 2}}, "damaged: versions"),
        ({"versions": {"moon": "2"}}, "“versions”"),
        (
            {"data": {"name": "law_school", "sha256": "", "rows": 1.5, "words": []}},
            "damaged: data.rows: Expected `int`",
        ),
    ],
)
def test_a_file_that_says_what_no_decision_says_is_refused(record, change, message):
    with pytest.raises(ValueError, match=message):
        read_record(json.dumps(sealed(record, **change)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("method", "magic"),
        ("base_model", "magic"),
        ("threshold", 2),
        ("refits", 10**9),
        ("split", -1),
        ("settings", {"a b": 1}),
        ("seed", True),
    ],
)
def test_so_is_one_of_a_model_that_cannot_be(record, field, value):
    with pytest.raises(DecisionError):
        read_record(json.dumps(sealed(record, model=record["model"] | {field: value})))


@pytest.mark.parametrize("setting", [{"features": ["<b>"]}, {"n_concepts": 10**9}, {"lambda_ratio": "x"}])
def test_a_setting_that_cannot_be_trained_ends_in_a_sentence(record, tmp_path, capsys, setting):
    model = record["model"] | {"settings": record["model"]["settings"] | setting}
    path = tmp_path / "decision.json"
    path.write_text(record_json(sealed(record, model=model)))
    assert main(["verify", str(path)]) == 2
    assert next(iter(setting)) in capsys.readouterr().err


def test_a_changed_file_is_refused_in_one_sentence(record, tmp_path, capsys):
    path = tmp_path / "decision.json"
    path.write_text(record_json(record).replace("It is fair enough.", "It is very fair."))
    assert main(["verify", str(path)]) == 2
    assert "was changed since it was signed" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "nowhere.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    unknown = sealed(record, model=record["model"] | {"settings": {"moon": 1}})
    path.write_text(record_json(unknown))
    assert main(["verify", str(path)]) == 2
    assert "does not have all the settings" in capsys.readouterr().err
    own = sealed(record, data=record["data"] | {"name": "mine.csv", "words": ["--moon"]})
    path.write_text(record_json(own))
    assert main(["verify", str(path)]) == 2
    assert "give its path with --data" in capsys.readouterr().err
    assert main(["verify", str(path), "--data", str(path)]) == 2
    assert "These options cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        ("{" + '"a":{' * MAX_DEPTH + "}" * MAX_DEPTH + "}").encode(),
        b'{"format": NaN}',
        b'{"format": 1e999}',
        b'{"format": ' + b"9" * 5000 + b"}",
        b'{"format": ' + b"9" * 400 + b"}",
        b'{"format": "\\ud800"}',
        b'"text"',
        b"[1]",
        b"{" + b" " * 300_000 + b"}",
    ],
    ids=range(13),
)
def test_hostile_json_is_refused_in_one_sentence(content):
    with pytest.raises(ValueError, match=r"\A[^\n]+\.\Z"):
        read_json(content, "a decision", 200_000)


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner))


@pytest.mark.longer
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_any_field_may_hold_anything(record, data):
    """Sealed as it should be, so that no hash keeps the reader from looking at it."""
    content = copy.deepcopy(record)
    part = data.draw(st.sampled_from([name for name in content if name != "sha256"]))
    value = data.draw(ANYTHING)
    if isinstance(content[part], dict) and content[part] and data.draw(st.booleans()):
        content[part][data.draw(st.sampled_from([*content[part], "new"]))] = value
    else:
        content[part] = value
    said = "."
    try:
        read_record(json.dumps(content | {"sha256": _seal(content)}))
    except ValueError as error:
        said = str(error)
    assert said.endswith(".")
    assert "\n" not in said
