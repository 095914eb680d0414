"""Other people's protocols: who is in which part, how a setting is chosen, and what stands beside what."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from commod import load_task
from tests.benchmarks import protocols
from tests.benchmarks.ffb_network import FFBNetwork
from tests.benchmarks.protocols import NAMES, PROTOCOLS, choice, figures, people, published, table

BOTH = ("African-American", "Caucasian")

# People of each protocol, and of its test part.
SIZES = {
    "linearpost_compas": (5_273, 1_582),
    "linearpost_adult": (48_842, 14_653),
    "ffb_compas": (6_167, 1_850),
    "ffb_adult": (45_222, 13_567),  # as many as FFB has
    "frame_compas": (5_273, 2_637),
    "frame_adult": (1_000, 500),  # of the file below; FRAME has 16,281 people
    "linearpost_adult_related": (48_842, 14_653),
    "frame_adult_related": (1_000, 500),
    "frame_credit": (400, 200),  # FRAME has 30,000 and 15,000
}


@pytest.fixture(autouse=True)
def frame(tmp_path, monkeypatch):
    """A file as FRAME has it, of some people of the first UCI file, in any order."""
    task, rng = load_task("adult"), np.random.default_rng(0)
    rows = rng.choice(32_561, 1_000, replace=False)
    found = {"sex": task.sensitive[rows], "biased_pred": rng.random(1_000), "target": task.y[rows]}
    named = np.where(task.sensitive == 1, "Husband", "Wife")
    file = tmp_path / "results" / "adult" / "test_results.csv"
    file.parent.mkdir(parents=True)
    pd.DataFrame(found, index=rows).to_csv(file)
    monkeypatch.setenv("COMMOD_FRAME", str(tmp_path))
    monkeypatch.setenv("COMMOD_WHEELS", str(tmp_path))
    credit = invented_credit(tmp_path / "results" / "credit" / "test_results.csv", rng)
    monkeypatch.setattr(protocols, "read_source", lambda source, _: credit if source == protocols.CREDIT else b"")
    monkeypatch.setattr(protocols, "adult_table", lambda train, test: pd.DataFrame({"relationship": named}))
    return file


def invented_credit(file, rng):
    """UCI's table of card holders with 400 rows, and what FRAME decides about half of them."""
    frame = pd.DataFrame({"ID": range(1, 401), "SEX": rng.integers(0, 2, 400), "AGE": rng.integers(20, 60, 400)})
    frame["default-payment-next-month"] = rng.integers(0, 2, 400)
    for name, levels in (("EDUCATION", 7), ("MARRIAGE", 4)):
        of_each = np.eye(levels, dtype=int)[rng.integers(0, levels, 400)]
        frame = frame.join(pd.DataFrame(of_each, columns=[f"{name}_{level}" for level in range(levels)]))
    tested = frame.sample(200, random_state=0)
    theirs = {"sex": 1 - tested["SEX"], "biased_pred": 0, "target": tested["default-payment-next-month"]}
    file.parent.mkdir(parents=True)
    pd.DataFrame(theirs).assign(lfr_pred=lambda rows: rows["sex"]).to_csv(file)
    return frame.to_csv(index=False).encode()


@pytest.mark.parametrize("key", PROTOCOLS)
def test_the_parts_hold_who_they_should_and_the_test_part_is_apart(key):
    protocol = PROTOCOLS[key]
    task = protocol.people()
    for_f, for_update, chosen_by, test = protocol.parts(task, 0)
    assert (len(task.y), len(test)) == SIZES[key]
    assert set(task.sensitive) == {0, 1}
    assert not set(test) & {*for_f, *for_update, *chosen_by}
    again = protocol.parts(task, 1)
    if key.startswith("linearpost"):
        np.testing.assert_array_equal(again[0], for_f)  # f stays the same
        assert set(for_f).isdisjoint(for_update)
    assert (set(again[3]) != set(test)) == (key != "frame_credit")  # FRAME's own people, drawn once


def test_frames_people_are_found_by_their_rows_and_each_half_is_tested_once(frame):
    protocol = PROTOCOLS["frame_adult"]
    task, theirs = protocol.people(), pd.read_csv(frame, index_col=0).sort_index()
    np.testing.assert_array_equal(task.X["f"], theirs["biased_pred"])
    np.testing.assert_array_equal(task.X["age"], load_task("adult").X["age"][theirs.index])
    first, second = (protocol.parts(task, seed) for seed in (0, 1))
    np.testing.assert_array_equal(first[3], second[1])
    np.testing.assert_array_equal(first[1], second[3])
    theirs.assign(target=1 - theirs["target"]).to_csv(frame)
    with pytest.raises(ValueError, match="other people"):
        protocol.people()


def test_the_variant_has_the_column_that_names_the_sex():
    for key in ("linearpost_adult", "frame_adult"):
        without, task = (PROTOCOLS[name].people() for name in (key, f"{key}_related"))
        assert set(task.X) - set(without.X) == {"relationship"}
        assert (task.X["relationship"] == "Husband").equals(task.sensitive == 1)
        assert "relationship" in [each.name for each in task.spec.features]
        assert published(f"{key}_related") == published(key)


def test_frames_figures_are_counted_from_its_decisions():
    theirs, found = protocols.frame_results("credit"), protocols.recounted("credit")
    assert found.loc["biased_pred"].tolist() == [(theirs["target"] == 0).mean(), 1.0, 0.0]
    assert found.loc["lfr_pred", ["p_rule", "changed"]].tolist() == [0.0, theirs["sex"].mean()]
    task = PROTOCOLS["frame_credit"].people()
    assert set(task.X) == {"AGE", "EDUCATION", "MARRIAGE"}
    assert task.X["EDUCATION"].nunique() == 7


def test_figures_by_hand():
    s, y = [0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 0, 0, 1, 1, 0]
    found = figures(y, s, [0, 0, 1, 0, 1, 1, 1, 1], [0, 1, 1, 0, 1, 1, 1, 1])
    assert found == pytest.approx({"accuracy": 0.75, "gap": 0.5, "p_rule": 0.5, "odds": 1.0, "changed": 0.125})


@pytest.mark.parametrize(
    ("key", "aim", "place"),
    [("linearpost_adult", 0.1, 1), ("linearpost_adult", 0.01, 2), ("frame_adult", 0.5, 2), ("frame_adult", 0.99, 2)],
)
def test_a_setting_is_chosen_by_the_aim_or_is_the_nearest(key, aim, place):
    judged = pd.DataFrame(
        {"accuracy": [0.9, 0.85, 0.8], "gap": [0.2, 0.1, 0.05], "p_rule": [0.4, 0.6, 0.9], "changed": [0, 0.3, 0.2]}
    )
    assert choice(judged, PROTOCOLS[key], aim) == place


@pytest.mark.parametrize("key", PROTOCOLS)
def test_what_is_published_stands_beside_ours(key):
    protocol, theirs = PROTOCOLS[key], published(key)["rows"]
    aims = ["f", *(f"{aim:g}" for aim in protocol.aims)]
    assert {aim for row in theirs.values() for aim in row} <= set(aims)
    assert {len(cell) <= len(protocol.shown) for row in theirs.values() for cell in row.values()} == {True}
    ours = [{"name": name, "aim": aim} for name in NAMES for aim in aims[1:]]
    points = pd.DataFrame([{"name": "f", "aim": "f"}, *ours]).assign(
        data=key, seed=0, **dict.fromkeys(protocol.shown, 0.5)
    )
    headings, *rows = table(key, points)
    assert len(headings) == len(aims) + 1
    assert [row[0] for row in rows] == [
        *theirs,
        "FRAME's f" if key.startswith("frame_adult") else "our f",
        *NAMES.values(),
    ]
    assert all(row[1] == "" and "" not in row[2:] for row in rows[-len(NAMES) :])


def test_a_split_is_run_from_f_to_the_figures_on_test(monkeypatch):
    monkeypatch.setattr(protocols, "NAMES", {"oracle_roc": "ROC"})
    whole = PROTOCOLS["linearpost_compas"]
    few = partial(people, "compas.race", ["age", "priors_count"], lambda task: task.X.index < 900, BOTH)
    of_f, *found = protocols.on_split(replace(whole, people=few), 0)
    assert of_f["changed"] == 0
    assert [row["aim"] for row in found] == [f"{aim:g}" for aim in whole.aims]
    assert found[0]["changed"] <= found[-1]["changed"]
    assert all(0.4 < row["accuracy"] < 1 for row in found)
    assert protocols.on_split(replace(whole, people=few), 0)[1:] == found


@pytest.mark.slow
def test_the_network_learns_and_is_the_same_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    found = FFBNetwork(1).fit(X, y).predict_proba(X)
    assert np.mean((found[:, 1] > 0.5) == y) > 0.85
    np.testing.assert_array_equal(found, FFBNetwork(1).fit(X, y).predict_proba(X))
