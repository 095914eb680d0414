"""What gives the answer away is told, alone or together; what is merely rare or good is not."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.datasets import Choice, find_leaks, load_task, make_task, task_names
from commod.datasets.leaks import Leak, find_repeats, sample_rows
from commod.datasets.own import OwnTask
from commod.datasets.task import Feature

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
    outcome, group = found
    assert outcome.startswith("The features tell the outcome almost perfectly (AUC 1.000). Without “code”: 0.8")
    assert outcome.columns == ("code",)
    assert group.startswith("The features tell the sensitive attribute almost perfectly")
    assert group.columns == ("side",)


def test_a_leak_that_is_not_exact_is_told(people):
    """As is_recid beside two_year_recid, with an AUC of 0.976."""
    wrong = np.random.default_rng(3).random(N) < 0.02
    (found,) = leaks(people.assign(later=((people["y"] == "yes") ^ wrong) * 1))
    assert found.columns == ("later",)


def test_all_columns_that_tell_the_outcome_are_named(people):
    rng, y = np.random.default_rng(4), people["y"] == "yes"
    later = {name: (y ^ (rng.random(N) < 0.01)) * 1 for name in ("charge", "days", "degree")}
    (found,) = leaks(people.assign(**later))
    assert set(found.columns) == set(later)


def test_features_that_together_tell_the_outcome(people):
    first, second = (people["x1"] > 0) * 1, (people["x2"] > 0) * 1
    decided = people.assign(first=first, second=second, y=np.where(first + second == 2, "yes", "no"))
    (found,) = leaks(decided.drop(columns=["x1", "x2"]))
    assert set(found.columns) <= {"first", "second"}
    assert "tell the outcome almost perfectly" in found


def test_a_sum_that_tells_the_outcome(people):
    total = people.assign(y=np.where(people["x1"] + people["x2"] + people["x3"] > 0.3, "yes", "no"))
    (found,) = leaks(total)
    assert set(found.columns) <= {"x1", "x2", "x3"}


def test_copies_of_the_group_among_the_features(people):
    """As race1 to race6 stand beside race7 in a file of law students: each alone is not the same as race7."""
    noisy = people["race"].where(np.random.default_rng(1).random(N) > 0.02, "C")
    (found,) = leaks(people.assign(race_is_a=(noisy == "A") * 1, race_is_b=(noisy == "B") * 1))
    assert "“race_is_a”" in found
    assert "the sensitive attribute" in found


@pytest.mark.slow
def test_one_group_of_many_that_is_given_away(people):
    frame = people.assign(is_c=(people["race"] == "C") * 1)
    kinds = {**dict.fromkeys([f"x{i}" for i in range(6)], "number"), "is_c": "number"}
    (found,) = find_leaks(make_task(frame, Choice("y", "yes", "race", ("A", "B", "C", "D"), kinds)))
    assert found.columns == ("is_c",)


def test_scores_that_know_the_outcome_are_told(people):
    known = people.assign(p=np.where(people["y"] == "yes", 0.9, 0.1))
    kinds = {"x0": "number", "x1": "number"}
    (found,) = find_leaks(make_task(known, Choice("y", "yes", "race", ("A", "B"), kinds, scores="p")))
    assert found.startswith("The scores in “p” tell the outcome almost perfectly (AUC 1.000).")
    assert found.columns == ()


def test_what_is_told_of_a_leak_comes_back_from_a_worker():
    again = pickle.loads(pickle.dumps(Leak("told", ("a", "b"))))
    assert again == "told"
    assert again.columns == ("a", "b")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.003, pytest.param(0.03, marks=pytest.mark.slow)])
def test_no_false_alarm_where_one_outcome_is_rare(share):
    rng = np.random.default_rng(2)
    n = 40_000
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(5)} | {"race": rng.choice(["A", "B"], n)})
    frame["kind"] = rng.choice(list("abcdefghijklmnopqrst"), n)
    frame["y"] = np.where(rng.random(n) < 2 * share / (1 + np.exp(-frame["x0"])), "yes", "no")
    assert leaks(frame) == []
    (found,) = leaks(frame.assign(copy=(frame["y"] == "yes") * 1))  # and the alarm where there is reason for it
    assert "“copy”" in found


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
    (found,) = find_repeats({"patient_nbr": 1_234}, choice, lambda column: f" AUC by {column}.")
    assert "trained on and tested on. AUC by patient_nbr. Split them by that column." in found


# ---- the bounds ----


def planted(task, wrong):
    """A task with a column that was written down after the outcome, wrong in a share of the rows."""
    rng = np.random.default_rng(0)
    later = task.y.to_numpy() ^ (rng.random(len(task.y)) < wrong)
    return replace(task, X=task.X.assign(later=later.astype(float)), spec=_with_later(task.spec))


def _with_later(spec):
    return replace(spec, features=(*spec.features, Feature("later", "later", "number")))


@pytest.mark.parametrize("name", ["german", "law_school"])
def test_the_bound_parts_data_with_a_planted_leak_from_data_without(name):
    task = load_task(name)
    assert find_leaks(OwnTask(task, ())) == []
    (found,) = find_leaks(OwnTask(planted(task, 0.01), ()))
    assert found.columns == ("later",)


def main():
    print("Leaks found, and columns named, in the data that ship: as they are, and with a planted column")
    for name in task_names():
        task = load_task(name)
        told = {"none": find_leaks(OwnTask(task, ()))}
        told |= {
            f"{wrong:.0%} wrong": find_leaks(OwnTask(planted(task, wrong), ())) for wrong in (0.0, 0.01, 0.03, 0.05)
        }
        print(f"  {name}:", {what: [leak.columns for leak in leaks] for what, leaks in told.items()})


if __name__ == "__main__":
    main()
