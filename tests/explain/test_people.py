"""Counts of people against plain loops."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from commod.datasets.task import Feature, Split
from commod.explain import explain_tree
from commod.explain.people import (
    FEW,
    MAX_LEVELS,
    QUARTERS,
    STANDARDISED,
    explain_outcomes,
    explain_people,
    explain_segments,
    leaf_words,
    open_gaps,
    rank_segments,
)
from tests.fitting import case, fit


@pytest.fixture(scope="module", params=["law_school", "compas", "law_school affine", "compas decisions"])
def fitted(request):
    data, _, update = request.param.partition(" ")
    c = case(data)
    g = fit(c, lambda_fair=4.0, n_concepts=3, lambda_concepts=0.05, update=update or "ratio")
    return c, g, c.f.predict(c.test.X), g.predict(c.test.X)


# ---- The people. ----


def table_of(fitted, **more):
    c, g, _, _ = fitted
    return explain_people(g, c.task, c.test, **more)


def test_people_are_those_who_changed_with_their_scores(fitted):
    c, g, before, after = fitted
    frame = table_of(fitted)
    assert set(frame.index) == set(c.test.X.index[before != after])
    rows = c.test.X.loc[frame.index]
    np.testing.assert_allclose(frame["f"], c.f.predict_proba(rows)[:, 1], atol=1e-9)
    np.testing.assert_allclose(frame["g"], g.predict_proba(rows)[:, 1], atol=1e-9)
    if g.decides:
        balance = pd.Series(g.balance(c.test.X), c.test.X.index)
        np.testing.assert_allclose(frame["balance"], balance[frame.index], atol=1e-9)
        assert frame["balance"].abs().is_monotonic_decreasing  # the clearest case first
        assert ((frame["balance"] > 0) == (frame["decision"] == c.task.spec.outcomes[1])).all()
        assert not {"r", "s"} & set(frame)
        return
    assert frame["r"].is_monotonic_increasing
    concepts, shifts = frame.filter(regex=r"concept:Concept \d$"), frame.filter(regex="concept:.*, shift$")
    np.testing.assert_allclose(concepts.sum(axis=1) + g.intercept_, frame["r"], atol=1e-9)
    assert ("s" in frame) == g.has_shift == (not shifts.empty)
    if g.has_shift:
        np.testing.assert_allclose(shifts.sum(axis=1) + g.shift_intercept_, frame["s"], atol=1e-9)
    after_of = dict(zip(c.test.X.index, after, strict=True))
    for row, person in frame.iterrows():
        assert person["group"] == c.task.groups[c.test.sensitive[row]]
        assert person["label"] == c.task.spec.outcomes[c.test.y[row]]
        assert person["decision"] == c.task.spec.outcomes[after_of[row]]
        assert person["better"] == (after_of[row] == c.task.spec.favourable)
        for name in c.task.X.columns:
            assert person[f"feature:{name}"] == c.test.X.loc[row, name]


def test_only_declared_features_are_shown(fitted):
    c, g, before, after = fitted
    spec = replace(c.task.spec, features=c.task.spec.features[:2])
    frame = table_of((replace(c, task=replace(c.task, spec=spec)), g, before, after))
    assert len(frame.filter(like="feature:").columns) == 2


def test_leaves_are_those_of_the_tree(fitted):
    c, g, before, after = fitted
    changed_fit, changed = c.f.predict(c.train.X) != g.predict(c.train.X), before != after
    for depth in (1, 3):
        tree = explain_tree(c.task, g.encoder_, c.train.X, changed_fit, c.test.X, changed, depth)
        for row in tree.nodes[tree.nodes["leaf"]].itertuples():
            assert (tree.ends == row.node).sum() == row.count
            assert changed[tree.ends == row.node].sum() == row.changed
        words = leaf_words(tree)
        assert set(words) == set(tree.nodes.loc[tree.nodes["leaf"], "node"])
        assert len(set(words.values())) == len(words)
        assert table_of(fitted, leaf=tree.ends)["leaf"].isin(words).all()


# ---- Groups. ----


def test_outcomes_against_a_loop(fitted):
    c, _, before, after = fitted
    frame = explain_outcomes(c.task, c.test.y, c.test.sensitive, before, after)
    assert frame["count"].sum() == len(c.test)
    people = list(zip(c.test.sensitive, c.test.y, before, after, strict=True))
    for row in frame.itertuples():
        here = [(f, g) for s, y, f, g in people if c.task.groups[s] == row.group and y == row.label]
        assert row.count == len(here)
        assert row.before == sum(f for f, _ in here)
        assert row.after == sum(g for _, g in here)
        assert row.gained == sum(g > f for f, g in here)
        assert row.lost == sum(g < f for f, g in here)
        assert row.after - row.before == row.gained - row.lost
        assert row.rate_before == pytest.approx(row.before / row.count)
        assert row.low < row.rate_after < row.high
    assert frame["enough"].all()


def test_a_group_without_a_label_has_no_rate():
    task = case("law_school").task
    frame = explain_outcomes(task, [1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 1, 0])
    empty = frame[(frame["group"] == task.groups[0]) & (frame["label"] == 0)].iloc[0]
    assert empty["count"] == 0
    assert empty[["rate_before", "rate_after", "low", "high"]].isna().all()
    assert not frame["enough"].any()


# ---- Segments. ----


def made_up(columns, kinds, groups=None, **spec):
    """A task of these columns; groups take turns unless they are given."""
    X = pd.DataFrame(columns)
    n = len(X)
    sensitive = pd.Series(np.arange(n) % 2 if groups is None else groups)
    features = tuple(
        Feature(name, name.title(), kind, "kg" if kind == "number" else "") for name, kind in kinds.items()
    )
    base = case("law_school").task
    task = replace(base, spec=replace(base.spec, features=features, groups=("A", "B"), **spec), X=X)
    return task, Split(X, sensitive, sensitive)


def random_task(seed=0, n=400, favourable=1):
    rng = np.random.default_rng(seed)
    columns = {
        "weight": rng.integers(0, 9, n).astype(float),
        "length": rng.normal(size=n),
        "mostly": np.where(rng.random(n) < 0.8, 0.0, rng.integers(1, 4, n)),
        "colour": pd.Categorical(
            rng.choice(["red", "green", "blue"], n, p=[0.5, 0.4, 0.1]), categories=["none", "red", "green", "blue"]
        ),
    }
    kinds = {"weight": "number", "length": "number", "mostly": "number", "colour": "category"}
    task, rows = made_up(columns, kinds, groups=rng.integers(0, 2, n), favourable=favourable)
    return task, rows, rng.integers(0, 2, n), rng.integers(0, 2, n)


def member(label, task, rows, i):
    """Whether person i is in the segment with this label, read from its words."""
    if label in task.groups:
        return task.groups[rows.sensitive.iloc[i]] == label
    if ": " in label:
        name, level = label.split(": ")
        return str(rows.X[name.lower()].iloc[i]) == level
    name, *ends = label.removesuffix(" kg").replace(" to ", " ").replace("−", "-").split(" ")
    value = rows.X[name.lower()].iloc[i]
    slack = 0.005 if name == "Length" else 0.0
    return float(ends[0]) - slack <= value <= float(ends[-1]) + slack


@pytest.mark.parametrize("favourable", [0, 1])
def test_segments_against_a_loop(favourable):
    task, rows, before, after = random_task(favourable=favourable)
    # Two decimals, so that the words say exactly who is in.
    rows.X["length"] = rows.X["length"].round(1)
    found = explain_segments(task, rows.X, rows.sensitive, before, after)
    singles = found.table.loc[found.table["second"] == "", "first"].tolist()
    assert {"A", "B", "Colour: red", "Mostly 0 kg"} <= set(singles)
    inside = {label: {i for i in range(len(rows)) if member(label, task, rows, i)} for label in singles}
    attribute = {label: label.split(" ")[0] if label not in ("A", "B") else "group" for label in singles}
    expected = {}
    for label in singles:
        expected[label, ""] = inside[label]
    for a, b in combinations(singles, 2):
        both = inside[a] & inside[b]
        if attribute[a] == attribute[b]:
            assert not both  # nobody is in two parts of one attribute
        elif len(both) >= FEW and both not in (inside[a], inside[b]):
            expected[a, b] = both
    assert {(row.first, row.second) for row in found.table.itertuples()} == set(expected)
    for row in found.table.itertuples():
        people = expected[row.first, row.second]
        assert row.count == len(people)
        assert row.better == sum(before[i] != after[i] and after[i] == favourable for i in people)
        assert row.worse == sum(before[i] != after[i] and after[i] != favourable for i in people)
        assert row.changed == row.better + row.worse
    assert found.ranked == (found.table["count"] >= FEW).sum()
    assert found.total["changed"] == (before != after).sum()


def test_ranking_and_its_intervals():
    task, rows, before, after = random_task(1)
    table = explain_segments(task, rows.X, rows.sensitive, before, after).table
    for of in ("changed", "better", "worse"):
        ranked = rank_segments(table, of)
        enough = ranked[ranked["enough"]]
        assert enough["share"].is_monotonic_decreasing
        assert len(ranked) == len(table)
        row = enough.iloc[0]
        interval = binomtest(int(row[of]), int(row["count"])).proportion_ci(method="wilson")
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
        assert ranked[~ranked["enough"]][["share", "low", "high"]].isna().all(axis=None)
    with pytest.raises(ValueError, match="of must be one of"):
        rank_segments(table, "count")


def test_open_gaps_against_a_loop():
    task, rows, before, after = random_task(favourable=0)
    rows.X["length"] = rows.X["length"].round(1)
    rates = [np.mean(before[(rows.sensitive == code).to_numpy()] == 0) for code in (0, 1)]
    behind, ahead = ("A", "B") if rates[0] < rates[1] else ("B", "A")
    found = open_gaps(task, rows.X, rows.sensitive, before, after)
    assert found["after"].is_monotonic_decreasing
    assert {"Colour: red", "Mostly 0 kg"} <= set(found["segment"])
    assert not {"A", "B"} & set(found["segment"])
    for row in found.itertuples():
        there = [i for i in range(len(rows)) if member(row.segment, task, rows, i)]
        parts = [[i for i in there if task.groups[rows.sensitive.iloc[i]] == name] for name in (behind, ahead)]
        assert (row.behind, row.ahead, row.count) == (behind, ahead, len(parts[0]))
        assert min(map(len, parts)) >= FEW
        gaps = [np.mean(model[parts[1]] == 0) - np.mean(model[parts[0]] == 0) for model in (before, after)]
        assert (row.before, row.after) == pytest.approx(gaps)
        assert row.changed == (before != after)[parts[0]].sum()
        assert row.low < row.after < row.high


def test_the_interval_of_a_gap_is_newcombes():
    """56 of 70 and 48 of 80: Newcombe (1998), method 10, has 0.0524 to 0.3339."""
    task, rows = made_up({"kind": pd.Categorical(["u"] * 150 + ["v"])}, {"kind": "category"}, [0] * 80 + [1] * 71)
    decided = np.r_[np.arange(80) < 48, np.arange(70) < 56, [True]].astype(int)
    row = open_gaps(task, rows.X, rows.sensitive, decided, decided).iloc[0]
    assert (row["after"], row["low"], row["high"]) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_no_gap_is_told_of_one_group():
    task, rows = made_up({"kind": pd.Categorical(["u", "v"] * 40)}, {"kind": "category"}, [0] * 80)
    assert open_gaps(task, rows.X, rows.sensitive, np.ones(80, dtype=int), np.ones(80, dtype=int)).empty


def labels_of(values, unit="kg"):
    task, rows = made_up({"x": np.asarray(values, dtype=float)}, {"x": "number"})
    task = replace(task, spec=replace(task.spec, features=(replace(task.spec.features[0], unit=unit),)))
    zeros = np.zeros(len(values), dtype=int)
    table = explain_segments(task, rows.X, rows.sensitive, zeros, zeros).table
    ours = table[(table["second"] == "") & table["first"].str.startswith("X")]
    return dict(zip(ours["first"], ours["count"], strict=True))


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([5] * 100, {}),  # everybody alike: no segment
        ([0] * 90 + [3] * 10, {"X 0 kg": 90, "X 3 kg": 10}),
        ([0] * 50 + [1] * 30 + [2] * 20, {"X 0 kg": 50, "X 1 kg": 30, "X 2 kg": 20}),
        (range(100), {"X 0 to 24 kg": 25, "X 25 to 49 kg": 25, "X 50 to 74 kg": 25, "X 75 to 99 kg": 25}),
        ([0] * 10 + [2] * 5 + [7] * 90, {"X 0 to 2 kg": 15, "X 7 kg": 90}),
        ([0] * 30 + [7] * 70, {"X 0 kg": 30, "X 7 kg": 70}),
        ([1000.001, 1000.002] * 50, {"X 1000.001 kg": 50, "X 1000.002 kg": 50}),
        ([-12345.6, 7e20] * 40, {"X −12,346 kg": 40, "X 7e+20 kg": 40}),
    ],
)
def test_quarters_with_ties(values, parts):
    assert labels_of(values) == parts


def test_standardised_points_are_told_by_their_quarters():
    assert labels_of(range(100), STANDARDISED) == {f"X: {quarter}": 25 for quarter in QUARTERS}
    assert labels_of([0] * 30 + [7] * 70, STANDARDISED) == {f"X {n} {STANDARDISED}": m for n, m in ((0, 30), (7, 70))}


def test_many_levels_are_cut_to_the_most_frequent():
    levels = [f"l{i:02d}" for i in range(20) for _ in range(40 - i)]
    task, rows = made_up({"kind": pd.Categorical(levels)}, {"kind": "category"})
    zeros = np.zeros(len(levels), dtype=int)
    found = explain_segments(task, rows.X, rows.sensitive, zeros, zeros)
    shown = found.table.loc[found.table["first"].str.startswith("Kind"), "first"].tolist()
    assert shown == [f"Kind: l{i:02d}" for i in range(MAX_LEVELS)]
    assert found.cut == {"Kind": 8}


def test_the_same_people_are_not_a_segment_twice():
    same = np.repeat(["u", "v"], 50)
    task, rows = made_up({"a": pd.Categorical(same), "b": pd.Categorical(same)}, {"a": "category", "b": "category"})
    zeros = np.zeros(100, dtype=int)
    table = explain_segments(task, rows.X, rows.sensitive, zeros, zeros).table
    assert not (table["first"].str.startswith("A: ") & table["second"].str.startswith("B: ")).any()


def test_small_segments_are_counted_and_not_ranked():
    levels = ["few"] * (FEW - 1) + ["many"] * 100
    task, rows = made_up({"kind": pd.Categorical(levels)}, {"kind": "category"})
    after = np.ones(len(levels), dtype=int)
    found = explain_segments(task, rows.X, rows.sensitive, 1 - after, after)
    few = rank_segments(found.table).iloc[-1]
    assert (few["first"], few["count"], few["enough"]) == ("Kind: few", FEW - 1, False)
    assert np.isnan(few["share"])


def test_the_order_of_the_rows_does_not_matter(fitted):
    c, _, before, after = fitted
    order = np.random.default_rng(0).permutation(len(c.test))
    first = explain_segments(c.task, c.test.X, c.test.sensitive, before, after)
    again = explain_segments(c.task, c.test.X.iloc[order], c.test.sensitive.iloc[order], before[order], after[order])
    columns = ["first", "second"]
    pd.testing.assert_frame_equal(
        first.table.sort_values(columns, ignore_index=True), again.table.sort_values(columns, ignore_index=True)
    )
    assert (first.ranked, first.total) == (again.ranked, again.total)
