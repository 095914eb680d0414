"""The file of saved runs: what is written is read again, and whatever else is read gets a sentence."""

import json
from dataclasses import asdict, replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.dashboard.state.controls import clean_line
from commod.dashboard.state.runs_file import (
    MAX_BYTES,
    MAX_RUNS,
    Run,
    RunsFileError,
    default_name,
    figures_of_run,
    read_runs,
    unique_name,
    write_runs,
)
from commod.dashboard.state.settings import CONTROLS, GRIDS, Settings, defaults
from commod.datasets import TASKS
from commod.decisions import DIRECTIONS, Requirements
from commod.metrics.figures import CRITERIA, Figure
from commod.metrics.figures import FIGURES as FIGURES_OF_MODELS
from commod.models.base_models import BASE_MODELS

NAMES = {"f": ("accuracy", "p_rule", "dm"), "g": ("accuracy", "p_rule", "dm", "change_rate")}
FIGURES = {model: dict.fromkeys(names, 0.5) for model, names in NAMES.items()}
HOSTILE = "<script>alert(1)</script>"


def some_settings():
    numbers = {name: st.sampled_from(grid) for name, grid in GRIDS.items()}
    choices = {"data": TASKS, "fairness": CRITERIA, "f": BASE_MODELS, "view": CONTROLS["view"].options("")}
    return st.builds(Settings, **numbers, **{name: st.sampled_from(list(known)) for name, known in choices.items()})


def named(triples):
    runs = []
    for name, each, required in triples:
        runs.append(Run(unique_name(name, {run.name for run in runs}), each, requirements=required))
    return runs


shares = st.none() | st.integers(0, 100).map(lambda percent: percent / 100)
some_requirements = st.builds(Requirements, changed=shares, p_rule=shares, direction=st.sampled_from(["", *DIRECTIONS]))
some_runs = st.lists(st.tuples(st.text(), some_settings(), some_requirements), min_size=1, max_size=MAX_RUNS).map(named)


@settings(max_examples=40, deadline=None)
@given(some_runs)
def test_what_is_exported_is_imported_again(runs):
    assert read_runs(write_runs(runs, {}).encode()) == (runs, [])


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(
    anything,
    st.sampled_from(
        [(), ("runs",), ("runs", 0), *(("runs", 0, name) for name in ("settings", "figures", "requirements"))]
    ),
)
def test_any_json_gives_runs_or_a_sentence(value, path):
    whole = document()
    place = whole
    for step in path[:-1]:
        place = place[step]
    if path:
        place[path[-1]] = value
    else:
        whole = value
    try:
        runs, sentences = read_runs(json.dumps(whole).encode())
    except RunsFileError as error:  # and no other
        sentences = [str(error)]
    else:
        assert runs or sentences
    assert all(sentence.endswith((".", "?")) for sentence in sentences)


def document(**changes):
    """A good file of one run, its settings changed."""
    return {
        "format": "commod-runs",
        "version": 1,
        "library": "0.1.0",
        "runs": [{"name": "A", "settings": asdict(Settings()) | changes, "figures": FIGURES}],
    }


def entry(**changes):
    return document() | {"runs": [document()["runs"][0] | changes]}


def test_figures_come_along():
    run = Run("A", Settings())
    content = write_runs([run], {run.settings.model(): FIGURES})
    (read,), problems = read_runs(content.encode())
    assert not problems
    assert read == run
    assert json.loads(content)["runs"][0]["figures"] == FIGURES


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe\x00", "no JSON: choose one that holds a file of saved runs"),
        (b"", "The file is empty"),
        (b"{,}", "no JSON"),
        (b"[" * 200_000, "nested more than 30 deep"),
        (b"[]", "does not hold a file of saved runs"),
        (b'{"format": "other"}', "does not hold saved runs"),
        (b'{"format": "commod-runs"}', "does not say in which version"),
        (b'{"format": "commod-runs", "version": true}', "does not say in which version"),
        (b'{"format": "commod-runs", "version": 2}', "a later version of this app"),
        (b'{"format": "commod-runs", "version": 1}', "no runs in this file"),
        (b'{"format": "commod-runs", "version": 1, "runs": []}', "no runs in this file"),
        (b'{"format": "commod-runs", "version": NaN}', "no JSON"),
        (b" " * (MAX_BYTES + 1), "at most 1: choose another file"),
    ],
)
def test_a_file_that_is_no_use_says_why(content, sentence):
    with pytest.raises(RunsFileError) as caught:
        read_runs(content)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (document() | {"runs": ["A"]}, "“Run 1” is not taken: Expected `object`, got `str`"),
        (entry(name=3), "“Run 1” is not taken: name: Expected `str`, got `int`"),
        (entry(name=None), "“Run 1” is not taken: name: Expected `str`, got `null`"),
        (entry(settings=None), "“A” is not taken: settings: Expected `object`, got `null`."),
        (entry(settings={"data": "compas"}), "settings: A field is missing, `fairness`"),
        (document(colour="red"), "settings: There is no field `colour`"),
        (document(data="moon"), "there is no data set “moon” here; there are law_school"),
        (document(data="own-abc"), "about uploaded data"),
        (document(f="oracle"), "its base model “oracle” is not known"),
        (document(fairness=HOSTILE), "its fairness criterion “<script>alert(1)</sc” is not known"),
        (document(k="2"), "settings.k: Expected `float`, got `str`"),
        (document(k=True), "settings.k: Expected `float`, got `bool`"),
        (document(data=3), "settings.data: Expected `str`, got `int`"),
    ],
)
def test_a_run_that_is_no_use_is_named_and_the_others_are_taken(file, sentence):
    good = document(lambda_fair=1.5)["runs"][0] | {"name": "good"}
    runs, (problem,) = read_runs(json.dumps(file | {"runs": [*file["runs"], good]}).encode())
    assert sentence in problem
    assert [run.name for run in runs] == ["good"]


@pytest.mark.parametrize("digits", [400, 6000])
def test_a_number_of_many_digits_is_refused(digits):
    content = json.dumps(document()).replace('"seed": 0', f'"seed": {"9" * digits}').encode()
    with pytest.raises(RunsFileError):
        read_runs(content)


def test_a_number_beside_its_grid_is_moved():
    (run,), (problem,) = read_runs(json.dumps(document(lambda_fair=2.3)).encode())
    assert run == Run("A", replace(Settings(), lambda_fair=2.25))
    assert problem == "“A”: the file asks for λ_fair = “2.3”, which is not on its slider: 2.25 is used."


def test_many_runs_and_many_problems_are_counted():
    file = document() | {"runs": [{"name": "A"}] * 20 + document()["runs"] * 20}
    runs, problems = read_runs(json.dumps(file).encode())
    assert [run.name for run in runs] == ["A", "A (2)", "A (3)", "A (4)"]
    assert len(problems) == 7
    assert problems[5] == "And 15 more of this kind."
    assert problems[6] == "The file holds 40 runs. The first 24 were read; there is no more room."


def test_names():
    assert clean_line("  a\n\tb\u202e\ud800 ") == "a b"
    assert clean_line("\u200d\u200d \n") == ""
    assert len(clean_line("x" * 100_000, 60)) == 60
    assert unique_name("A", ["A", "A (2)"]) == "A (3)"
    assert unique_name("x" * 60, ["x" * 60]) == "x" * 56 + " (2)"
    assert unique_name("", []) == "Run"
    assert default_name(defaults("compas")) == "COMPAS: λ_fair 4"
    other = replace(defaults("compas"), seed=3, k=2, f="random_forest", fairness="equalized_odds")
    assert default_name(other) == "COMPAS: λ_fair 4, k 2, split 3, Random forest, EO"


def test_the_file_leaves_uploaded_data_out():
    assert '"mine"' not in write_runs([Run("mine", Settings(data="own-1")), Run("x", Settings())], {})


def test_what_is_required_comes_along_and_what_is_no_requirement_is_named():
    required = Requirements(p_rule=0.8, kept_out=("lsat",))
    (run,), problems = read_runs(json.dumps(entry(requirements=required.plain)).encode())
    assert (run.requirements, problems) == (required, [])
    (run,), (problem,) = read_runs(json.dumps(entry(requirements={"p_rule": 3})).encode())
    assert run == Run("A", Settings())
    assert problem.startswith("“A” is taken without what was required of it. “P-Rule at least” takes a number")


def test_a_figure_that_is_declared_later_is_counted(monkeypatch):
    named = {"accuracy": 0.5, "p_rule": 0.5, "dm": 0.5, "change_rate": 0.5}
    frame = pd.DataFrame({"f": named | {"change_rate": 0.0}, "g": named})
    figure = Figure("balance", "Balanced accuracy", "Mean of the rates.", lambda counts: counts, percent=True, key=True)
    monkeypatch.setitem(FIGURES_OF_MODELS, "balance", figure)
    here = figures_of_run(pd.concat([frame, pd.DataFrame({"f": 0.25, "g": 0.75}, index=["balance"])]))
    assert here == {model: values | {"balance": here[model]["balance"]} for model, values in FIGURES.items()}
    assert figures_of_run(frame)["g"]["balance"] is None  # not defined on these rows


@pytest.mark.parametrize("figures", [3, {}, {"f": {}, "g": {"p_rule": "x"}}])
def test_figures_in_a_file_are_not_read(figures):
    assert read_runs(json.dumps(entry(figures=figures)).encode()) == ([Run("A", Settings())], [])
