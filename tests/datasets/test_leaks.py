"""What gives the answer away is told, alone or together; what is merely rare or good is not."""

import numpy as np
import pandas as pd
import pytest

from commod.datasets import Choice, find_leaks, make_task
from commod.datasets.leaks import find_repeats, sample_rows

N = 3_000


@pytest.fixture(scope="module")
def people():
    """Features, a group and an outcome that has something to do with them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=N) for i in range(6)})
    frame["city"] = rng.choice(["North", "South", "East"], N)
    frame["race"] = rng.choice(["A", "B", "C", "D"], N, p=[0.4, 0.4, 0.1, 0.1])
    frame["y"] = np.where(frame["x0"] + rng.normal(size=N) > 0, "yes", "no")
    return frame


def leaks(frame):
    kinds = {c: "number" if pd.api.types.is_numeric_dtype(frame[c].dtype) else "category" for c in frame.columns}
    return find_leaks(make_task(frame, Choice("y", "yes", "race", ("A", "B"), kinds)))


def test_sound_data_are_left_alone(people):
    assert leaks(people) == []


def test_a_feature_that_is_the_outcome_or_the_group(people):
    found = leaks(people.assign(code=(people["y"] == "yes") * 1.0, side=people["race"].map({"A": "l", "B": "r"})))
    assert len(found) == 2
    assert found[0].startswith("“code” is the same as the outcome")
    assert found[1].startswith("“side” is the same as the sensitive attribute")


def test_features_that_together_tell_the_outcome(people):
    first, second = (people["x1"] > 0) * 1, (people["x2"] > 0) * 1
    decided = people.assign(first=first, second=second, y=np.where(first + second == 2, "yes", "no"))
    (found,) = leaks(decided.drop(columns=["x1", "x2"]))
    assert "“first”" in found
    assert "“second”" in found
    assert "together these features give away the outcome" in found


def test_a_sum_that_tells_the_outcome(people):
    total = people.assign(y=np.where(people["x1"] + people["x2"] + people["x3"] > 0.3, "yes", "no"))
    (found,) = leaks(total)
    assert all(f"“x{i}”" in found for i in (1, 2, 3))


def test_copies_of_the_group_among_the_features(people):
    """As race1 to race6 stand beside race7 in a file of law students: each alone is not the same as race7."""
    noisy = people["race"].where(np.random.default_rng(1).random(N) > 0.02, "C")
    copies = people.assign(race_is_a=(noisy == "A") * 1, race_is_b=(noisy == "B") * 1)
    found = leaks(copies)
    assert any("“race_is_a”" in sentence and "the sensitive attribute" in sentence for sentence in found)


@pytest.mark.parametrize("share", [0.003, 0.03])
def test_no_false_alarm_where_one_outcome_is_rare(share):
    rng = np.random.default_rng(2)
    n = 40_000
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(5)} | {"race": rng.choice(["A", "B"], n)})
    frame["kind"] = rng.choice(list("abcdefghijklmnopqrst"), n)
    frame["y"] = np.where(rng.random(n) < 2 * share / (1 + np.exp(-frame["x0"])), "yes", "no")
    assert leaks(frame) == []
    (found,) = leaks(frame.assign(copy=(frame["y"] == "yes") * 1))  # and the alarm where there is reason for it
    assert "“copy” is the same as the outcome" in found


def test_a_sample_has_rows_of_each_group_and_outcome(people):
    rare = people.assign(y=np.where(np.arange(N) % 50 == 0, "yes", "no"))
    choice = Choice("y", "yes", "race", ("A", "B"), {"x0": "number"})
    sample = sample_rows(rare, choice, most=400)
    assert len(sample) == 400
    assert set(sample["race"]) == {"A", "B"}
    kept = rare[rare["race"].isin(["A", "B"])]
    assert (sample["y"] == "yes").sum() == (kept["y"] == "yes").sum()
    assert sample.index.is_monotonic_increasing


def test_people_who_come_back_are_told_unless_the_split_knows_of_them():
    choice = Choice("y", "yes", "race", ("A", "B"), {})
    (found,) = find_repeats({"patient_nbr": 1_234}, choice)
    assert found.startswith("1,234 rows share their “patient_nbr”")
    assert find_repeats({}, choice) == []
    assert find_repeats({"patient_nbr": 9}, Choice("y", "yes", "race", ("A", "B"), {}, person="patient_nbr")) == []
