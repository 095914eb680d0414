"""Sealed people in the record of a decision: frozen first, opened then, and both verify."""

from datetime import date

import pytest

from commod.cli import main
from commod.datasets import load_task
from commod.datasets.example import example_table
from commod.datasets.from_file import task_of_file
from commod.datasets.load import lent
from commod.decisions import (
    DecisionError,
    Requirements,
    Signature,
    confirmation,
    facts_of,
    facts_of_f,
    is_of,
    make_record,
    not_checked,
    open_sealed,
    read_record,
    record_json,
    tried_in_words,
    verify_record,
    with_opened,
)
from commod.decisions.record import FORMAT, _seal
from commod.experiments import prepare, refit
from commod.experiments.sweep import Cell, fit_cell
from commod.models.base_models import GIVEN_SCORES

pytestmark = pytest.mark.quick

CELL = Cell("commod", 3.0, (("lambda_concepts", 0.05), ("n_concepts", 2)))
ASKED = Requirements(p_rule=0.3, changed=0.2, again=0.8)
SIGNED = Signature("Ada", "head", "So.", date(2026, 11, 18), date(2027, 5, 1), {})
TRIED = {"settings": 12, "limits": 2, "seeds": 1, "compared": 24}
FAIRNESS = "demographic_parity"


def frozen(scene, cell=CELL, asked=ASKED):
    if cell is None:
        return make_record(SIGNED, scene, scene.decisions_test, None, FAIRNESS, asked, facts_of_f(scene), tried=TRIED)
    decisions = fit_cell(scene, cell, FAIRNESS).decisions_test
    facts = facts_of(scene, decisions, cell, refit(scene, cell, FAIRNESS, count=2))
    return make_record(SIGNED, scene, decisions, cell, FAIRNESS, asked, facts, tried=TRIED)


def opened(scene, record, earlier=()):
    return with_opened(record, open_sealed(scene, record_json(record)), earlier)


@pytest.fixture(scope="module")
def scene():
    return prepare("law_school+sealed")


@pytest.fixture(scope="module")
def before(scene):
    return frozen(scene)


@pytest.fixture(scope="module")
def record(scene, before):
    return opened(scene, before)


def resealed(record, **changed):
    content = {**record, **changed}
    return content | {"sha256": _seal(content)}


@pytest.mark.longer
def test_what_is_frozen_stays_and_both_verdicts_are_recorded(scene, before, record):
    part = record["confirmed"]
    assert part["frozen"] == before["sha256"]
    assert {name: record[name] for name in before if name != "sha256"} == {
        name: before[name] for name in before if name != "sha256"
    }
    assert record["figures"]["people"] == len(scene.test)
    assert part["figures"]["people"] == len(scene.task.sealed)
    asked = [each["requirement"] for each in record["verdicts"]]
    assert asked == [each["requirement"] for each in part["verdicts"]] == ["p_rule", "changed", "again"]
    assert part["verdicts"][0]["value"] != record["verdicts"][0]["value"]
    assert tried_in_words(record) == "Tried before: settings 12, sets of limits 2, splits 1, models compared 24."


def test_the_verdict_is_that_of_the_same_model_on_the_sealed_people(record):
    """Counted without the scene: the usual model on those of its test people who are sealed."""
    usual, sealed = prepare("law_school"), load_task("law_school+sealed").sealed
    at = usual.test.X.index.get_indexer(sealed.X.index)
    decisions = fit_cell(usual, CELL, FAIRNESS).decisions_test[at]
    rates = [decisions[sealed.sensitive == group].mean() for group in (0, 1)]
    assert record["confirmed"]["figures"]["p_rule"] == pytest.approx(min(rates) / max(rates), abs=1e-12)
    assert record["confirmed"]["figures"]["accuracy"] == pytest.approx((decisions == sealed.y).mean(), abs=1e-12)


@pytest.mark.longer
def test_a_record_is_read_and_verified_line_by_line(record, tmp_path, capsys):
    path = tmp_path / "decision.json"
    path.write_text(record_json(record), encoding="utf-8")
    assert read_record(path.read_bytes()) == record
    assert main(["verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert confirmation(record) in out
    assert "DIFFERS" not in out
    for line in ("p_rule", "verdict: p_rule", "sealed p_rule", "sealed people", "sealed verdict: again"):
        assert f"agrees  {line} " in out
    assert {"tried: settings", "tried: seeds", "opened before"} <= {name for name, _ in not_checked(record)}


@pytest.mark.longer
def test_a_forged_confirmation_is_found_out(record):
    """A value, an end of an interval or a verdict: each line is judged by itself."""
    p_rule, changed, again = record["confirmed"]["verdicts"]
    assert again["verdict"] != "pass"
    forged = [p_rule | {"value": p_rule["value"] + 1e-6}, changed | {"low": changed["low"] + 1e-6}]
    part = record["confirmed"] | {"verdicts": [*forged, again | {"verdict": "pass"}]}
    lines = verify_record(read_record(record_json(resealed(record, confirmed=part))), load_task("law_school+sealed"))
    wrong = [f"sealed verdict: {name}" for name in ("p_rule", "changed", "again")]
    assert list(lines["line"][~lines["agrees"]]) == wrong


def test_what_was_frozen_cannot_be_changed_after_the_opening(record):
    easier = record["requirements"] | {"p_rule": 0.1}
    with pytest.raises(DecisionError, match="not what was frozen"):
        read_record(record_json(resealed(record, requirements=easier)))
    with pytest.raises(DecisionError, match="not what was frozen"):
        read_record(record_json(resealed(record, tried=record["tried"] | {"settings": 1})))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"format": FORMAT}, "has sealed people"),
        ({"tried": {"settings": 1}}, "is missing"),
        ({"tried": TRIED | {"shoes": 1}}, "unknown name"),
        ({"tried": TRIED | {"seeds": "one"}}, "tried"),
        ({"confirmed": {}}, "A field is missing"),
        ({"confirmed": 3}, "confirmed"),
    ],
)
def test_what_no_record_has_is_refused_in_a_sentence(record, changed, told):
    with pytest.raises(DecisionError, match=told):
        read_record(record_json(resealed(record, **changed)))


def test_a_record_without_sealed_people_has_the_old_format():
    scene = prepare("law_school")
    made = make_record(SIGNED, scene, scene.decisions_test, None, FAIRNESS, ASKED, facts_of_f(scene))
    assert made["format"] == FORMAT
    assert not {"tried", "confirmed"} & set(made)
    assert confirmation(made) == ""


def test_a_second_opening_says_so(scene, before, record):
    again = opened(scene, before, [record["sha256"]])
    assert read_record(record_json(again)) == again
    assert "people who had been opened 1 time before" in confirmation(again)
    assert dict(not_checked(again))["opened before"] == record["sha256"]


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (["pass"], "Confirmed: {}, the model meets 1 of 1 requirement."),
        (["pass", "fail"], "Not confirmed: {}, the model meets 1 of 2 requirements; 1 failed."),
        (
            ["fail", "cannot tell"],
            "Not confirmed: {}, the model meets 0 of 2 requirements; 1 failed; 1 cannot be determined.",
        ),
        (["pass", "cannot tell"], "Not settled: {}, the model meets 1 of 2 requirements; 1 cannot be determined."),
        (["pass", "does not apply"], "Confirmed: {}, the model meets 1 of 1 requirement that applies."),
        (["does not apply"], "Nothing to confirm: {}, nothing that is required applies."),
    ],
)
@pytest.mark.parametrize(
    ("data", "whom"), [("own", "nobody had looked at"), ("compas.race_sex+sealed", "who had been sealed")]
)
def test_the_verdict_in_one_sentence(verdicts, told, data, whom):
    """Of data that ship, nobody can say that nobody had looked."""
    part = {"verdicts": [{"verdict": each} for each in verdicts], "earlier": [], "figures": {"people": 680.0}}
    assert confirmation({"confirmed": part, "data": {"name": data}}) == told.format(f"on 680 people {whom}")


def test_f_as_it_is_is_confirmed_too(scene):
    record = opened(scene, frozen(scene, None, Requirements(changed=0.1)))
    assert is_of(record, None)
    assert not is_of(record, CELL)
    assert confirmation(record).startswith("Confirmed: ")
    assert verify_record(record, load_task("law_school+sealed"))["agrees"].all()


@pytest.mark.longer
def test_a_decision_about_a_file_is_verified_with_its_sealed_people(tmp_path, capsys):
    table, path = tmp_path / "sealed_people.csv", tmp_path / "decision.json"
    example_table(800).to_csv(table, index=False)
    task, _ = task_of_file(table, {"confirm": 0.2})
    with lent(task):
        scene = prepare(task.name, GIVEN_SCORES)
        record = opened(scene, frozen(scene, None, Requirements(changed=0.1)))
    path.write_text(record_json(record), encoding="utf-8")
    assert record["data"]["rows"] == len(task.y) + len(task.sealed)
    assert main(["verify", str(path), "--data", str(table)]) == 0
    assert "agrees  sealed people" in capsys.readouterr().out
    changed = example_table(800)
    changed.loc[task.sealed.X.index[0], "hired"] = {"yes": "no", "no": "yes"}[changed["hired"][task.sealed.X.index[0]]]
    changed.to_csv(table, index=False)
    assert main(["verify", str(path), "--data", str(table)]) == 1
    assert "DIFFERS data" in capsys.readouterr().out


@pytest.mark.longer
def test_a_file_says_how_many_to_seal_on_the_command_line(tmp_path, capsys):
    table = tmp_path / "applicants.csv"
    example_table(800).to_csv(table, index=False)
    assert main(["fit", str(table), "--confirm", "0.2", "--lambda-fair", "1"]) == 0
    assert "sealed: no page looks at them" in "".join(capsys.readouterr())
    assert main(["fit", str(table), "--confirm", "0.9"]) == 2
    assert "At most half of the people can be sealed" in capsys.readouterr().err
