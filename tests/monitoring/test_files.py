"""The files of a later look: the command line and its exit codes, signed decisions, and files of strangers."""

import copy
import json
import random
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.cli import main
from commod.decisions import Requirements, Signature, facts_of, make_record, record_json
from commod.experiments.sweep import Cell
from commod.monitoring import check_signature, read_requirements, watch_files
from commod.monitoring.outcome import due_in_words, signature_in_words
from tests.fuzzing import readable
from tests.monitoring.conftest import text_of
from tests.monitoring.fuzz import push


@pytest.fixture(scope="module")
def signed(law):
    """A decision about the model as it was on all test people, and the file of that model."""
    scene, g = law.scene, law.g
    others = (("lambda_ratio", g.lambda_ratio), ("lambda_concepts", 0.05), ("n_concepts", g.n_concepts))
    cell = Cell("commod", 3.0, others)
    decisions = g.predict(scene.test.X)
    facts = facts_of(scene, decisions, cell)
    who = Signature("Ada", "Dean", "Fair enough", date(2026, 1, 1), date(2026, 7, 1), {})
    record = make_record(
        who, scene, decisions, cell, "demographic_parity", Requirements(p_rule=0.3, changed=0.5), facts
    )
    return record, text_of(scene, g, scene.test)


@pytest.fixture
def files(law, tmp_path):
    """Paths of a model, a batch and what is asked for."""
    paths = [tmp_path / name for name in ("model.json", "batch.csv", "asked.json")]
    paths[0].write_text(law.text, encoding="utf-8")
    law.batch.to_csv(paths[1], index=False)
    return paths


def run(files, asked=None, *more):
    model, table, path = files
    words = ["watch", str(model), str(table), *more]
    if asked is not None:
        path.write_text(asked, encoding="utf-8")
        words += ["--requirements", str(path)]
    return main(words)


def test_exit_codes(files, law, capsys):
    assert run(files) == 3
    said = capsys.readouterr().out
    assert said.startswith("Cannot tell: With 688 new people against ")
    assert "On 688 new people the P-Rule is 0.568 (" in said
    assert "is distributed as before" in said
    assert run(files, '{"changed": 0.9}') == 0
    said = capsys.readouterr().out
    assert said.startswith("Still true: On these people the requirement holds.")
    assert "of the decisions changed (held on the people tested on, holds now)" in said
    assert run(files, '{"p_rule": 1, "changed": 0.001}') == 1
    said = capsys.readouterr().out
    assert said.startswith("Not true, as before: ")
    assert "a P-Rule of 1 or more: failed already on the people tested on, fails now" in said
    assert run(files, '{"p_rule": 0.6}') == 3
    assert capsys.readouterr().out.startswith("Cannot tell: P-Rule 0.568, at least 0.6 required; with 688 people")
    assert main(["watch", str(files[0]), str(files[1]), "--state", str(files[0].with_name("state.json"))]) == 2
    assert "--state goes with --requirements" in capsys.readouterr().err
    law.batch.assign(lsat=law.batch["lsat"] - 8).to_csv(files[1], index=False)
    assert run(files) == 1  # nothing is required, and the figure moved
    assert capsys.readouterr().out.startswith("Not as it was: ")
    assert run(files, '{"changed": 0.9}') == 0  # by what is required
    said = capsys.readouterr().out
    assert said.startswith("Not as it was: ")
    assert "What is required: still true. On these people the requirement holds." in said


def test_a_column_may_be_called_as_the_app_shows_it(files, law, capsys):
    assert run(files) == 3
    said = capsys.readouterr().out
    assert "“LSAT score” is distributed as before" in said
    law.batch.rename(columns={"lsat": "LSAT score", "ugpa": "Undergraduate grades"}).to_csv(files[1], index=False)
    assert run(files) == 3
    assert capsys.readouterr().out == said


def test_a_signed_decision_on_the_command_line(files, signed, capsys):
    record, text = signed
    files[0].write_text(text, encoding="utf-8")
    assert run(files, record_json(record)) == 0
    said = capsys.readouterr().out
    assert "This is the model of the decision" in said
    assert "Signed on 2026-01-01, in the name of Ada, Dean" in said
    changed = json.loads(record_json(record))
    changed["requirements"]["p_rule"] = 0.1
    assert run(files, json.dumps(changed)) == 2
    assert "changed since it was signed" in capsys.readouterr().err


def test_another_model_than_the_signed_one_is_told(files, signed, capsys):
    assert run(files, record_json(signed[0])) == 3  # that of half of the people
    assert capsys.readouterr().out.startswith("Cannot tell: This is not the model of the decision")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('{"moon": 1}', "no requirement 'moon'"),
        ('{"p_rule": 0.8, "p_rule": 0.1}', "'p_rule' twice"),
        ('{"p_rule": 1e308}', "from 0 to 1"),
        ('{"p_rule": NaN}', "no JSON"),
        ('{"format": "commod-decision/9"}', "no decision that can be read"),
        ("[0.8]", "one JSON object"),
        ("", "empty"),
        ("[" * 500 + "]" * 500, "."),
    ],
)
def test_requirements_that_cannot_be_used_end_with_2(files, asked, said, capsys):
    assert run(files, asked) == 2
    assert said in capsys.readouterr().err


def test_batches_that_cannot_be_used_end_with_2(files, law, capsys):
    for content, message in (
        ("group,age,sex\na,1,f\nb,2,m\n", "has no columns"),
        (law.batch.head(5).to_csv(index=False), "at least 20 are needed"),
        ("", "empty"),
    ):
        files[1].write_text(content)
        assert run(files) == 2
        assert message in capsys.readouterr().err
    assert run((files[0], files[1].with_name("nowhere.csv"), files[2])) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_an_f_that_is_not_in_the_file_is_a_column_of_the_batch(files, law, capsys):
    content = json.loads(law.text)
    content["f"] = {"kind": "given", "why": "it is elsewhere"}
    files[0].write_text(json.dumps(content))
    assert run(files) == 2
    assert "--scores" in capsys.readouterr().err
    scores = law.scene.f.predict_proba(law.new.X)[:, 1]
    law.batch.assign(p=scores).to_csv(files[1], index=False)
    assert run(files, None, "--scores", "p") == 3
    assert "On 688 new people the P-Rule is 0.568 (" in capsys.readouterr().out
    assert run(files, None, "--scores", "q") == 2
    law.batch.assign(p=7 * scores).to_csv(files[1], index=False)
    assert run(files, None, "--scores", "p") == 2
    assert "probabilities" in capsys.readouterr().err


def test_a_signature_is_compared_line_by_line(signed, csv):
    record, text = signed
    lines = check_signature(record, watch_files(text.encode(), csv))
    assert lines["agrees"].all(), lines[~lines["agrees"]]
    assert {"lambda_fair", "fairness", "p_rule", "f_accuracy", "people"} <= set(lines["line"])
    content = json.loads(text)
    content["settings"]["lambda_fair"] = 2.0
    other = check_signature(record, watch_files(json.dumps(content).encode(), csv))
    assert other.loc[~other["agrees"], "line"].tolist() == ["lambda_fair"]
    assert "1 of" in signature_in_words(other)
    assert due_in_words(record, date(2026, 6, 30)).endswith(": in 1 day.")
    assert due_in_words(record, date(2026, 7, 11)).endswith(": 10 days ago.")
    assert read_requirements(record_json(record).encode())[0] == Requirements(p_rule=0.3, changed=0.5)


# ---- strangers ----


def said_of(model, batch):
    """The sentence that a model's file gets, or nothing if it can be used."""
    try:
        watch_files(json.dumps(model).encode() if isinstance(model, dict) else model, batch)
    except ValueError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def csv(law):
    return law.batch.head(80).to_csv(index=False).encode()


def spoilt(law, **parts):
    """The model with some of its parts replaced; a name with two underscores is one of a part."""
    content = json.loads(law.text)
    for name, value in parts.items():
        *way, last = name.split("__")
        part = content
        for step in way:
            part = part[step]
        part[last] = value
    return content


def test_hostile_models_get_a_sentence(law, csv):
    content = json.loads(law.text)
    width = len(content["r"]["coef"])
    deep = b'{"format":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    doubled = law.text.replace('"classes"', '"format":"commod-portable/4","classes"', 1).encode()
    column = content["encoder"]["columns"][0]
    thousands = [{**column, "name": f"c{i}"} for i in range(5000)]
    cases = {
        "deep": deep,
        "named twice": doubled,
        "not a number": law.text.replace('"intercept":', '"intercept":NaN,"x":', 1).encode(),
        "endless": law.text.replace('"intercept":', '"intercept":1e999,"x":', 1).encode(),
        "digits": law.text.replace('"intercept":', '"intercept":' + "9" * 5000 + ',"x":', 1).encode(),
        "cut off": law.content[:-200],
        "another version": spoilt(law, format="commod-portable/99"),
        "no object": b"[1, 2]",
        "empty": b" ",
        "a picture": b"\x89PNG\r\n\x1a\n",
        "half a character": law.text.replace('"settings":', '"\\ud800":1,"settings":', 1).encode(),
        "weights that overflow": spoilt(law, r__coef=[1e308] * width),
        "f that overflows": spoilt(law, f__coef=[1.7e308] * len(content["f"]["coef"]), f__intercept=-1.7e308),
        "tiny scale": spoilt(law, encoder__scale=[5e-324] * width),
        "thousands of features": spoilt(
            law,
            encoder={"columns": thousands, "mean": [0.0] * 5000, "scale": [1.0] * 5000},
            r__coef=[0.0] * 5000,
            r__concepts=[],
        ),
        "a hundred thousand levels": spoilt(
            law, reference__columns={"lsat": {"levels": ["x"] * 10**5, "counts": [1] * 10**5}}
        ),
        "a name of a million letters": spoilt(law, reference__groups=["a" * 10**6, "b"]),
        "an outcome of a million letters": spoilt(law, reference__outcomes=["a" * 10**6, "b"]),
        "counts of 10^308": spoilt(law, reference__counts=[[[[1e308] * 2] * 2] * 2] * 2),
        "counts of nobody": spoilt(law, reference__counts=[[[[0] * 2] * 2] * 2] * 2),
        "counts of minus one": spoilt(law, reference__counts=[[[[-1] * 2] * 2] * 2] * 2),
        "no group": spoilt(law, reference__groups=[]),
        "groups of another kind": spoilt(law, reference__groups=[1, 2]),
        "a group too many": spoilt(law, reference__groups=["a", "b", "c"]),
        "an attribute as a list": spoilt(law, reference__attributes=[[]]),
        "no attribute": spoilt(law, reference__attributes=[], reference__combinations=[[], []]),
        "a label of another kind": spoilt(law, reference__label={"column": 1, "cut": None, "positive": "1"}),
        "edges that fall": spoilt(law, reference__scores={"f": {"edges": [2, 1], "counts": [1, 1, 1, 1]}, "g": {}}),
        "a weight of another kind": spoilt(law, reference__weight=3),
        "a rule of another mark": spoilt(law, raw=[{**rule, "decimal": "x"} for rule in content["raw"]]),
        "a rule that divides by nothing": spoilt(law, raw=[{**rule, "divide": 5e-324} for rule in content["raw"]]),
        "no reference": {name: part for name, part in content.items() if name != "reference"},
    }
    for case, model in cases.items():
        said = said_of(model, csv)
        assert said, case
        readable(said)
    assert not said_of(content, csv)


def test_settings_of_a_stranger_need_not_be_any(law, csv):
    for odd in ("x", {"fairness": ["moon"]}):
        assert not said_of(spoilt(law, settings=odd, about=odd), csv)


@pytest.mark.parametrize("cases", [range(15), pytest.param(range(15, 300), marks=pytest.mark.slow)])
def test_a_model_may_hold_anything(law, csv, cases):
    became = {push(random.Random(case), law, csv) for case in cases}
    assert "looked at" in became
    assert "refused when read" in became


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_decision_may_hold_anything(signed, data):
    content = copy.deepcopy(signed[0])
    part = data.draw(st.sampled_from([content, *(value for value in content.values() if isinstance(value, dict))]))
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text("a0 é\u202e\x00🙂", max_size=3)
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(leaves | st.lists(leaves, max_size=3) | st.just({}))
    text = json.dumps(content).encode()
    try:
        read_requirements(text)
    except ValueError as error:
        readable(str(error).replace("version of commod.", "version."))
