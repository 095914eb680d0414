"""More than two groups, crossings, groups known in part and weights, against fairlearn and scikit-learn."""

import fairlearn.metrics as oracle
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from commod import metrics
from commod.metrics import FIGURES
from commod.metrics.counts import tally, wilson_interval
from commod.metrics.figures import figures_of_counts, key_figures, key_figures_of
from commod.metrics.report import _differences, _ratios, compare_counts, interval_of_extremes
from tests.benchmarks.coverage import all_compared, many_groups, sample, sizes

PAIRS = {
    "p_rule": oracle.demographic_parity_ratio,
    "demographic_parity_difference": oracle.demographic_parity_difference,
    "delta_tpr": oracle.true_positive_rate_difference,
    "delta_fpr": oracle.false_positive_rate_difference,
}
GAPS = ["p_rule", "p_rule_of_negative", "demographic_parity_difference", "dm", "delta_tpr", "delta_fpr"]


def people(seed=0, groups=4, each=100):
    """Labels, decisions of f and g, groups, and weights."""
    rng = np.random.default_rng(seed)
    s = np.repeat(np.arange(groups), each)
    y = rng.integers(0, 2, len(s))
    f = (rng.random(len(s)) < 0.2 + 0.4 * y + 0.3 * s / groups).astype(int)
    g = np.where(rng.random(len(s)) < 0.15, 1 - f, f)
    return y, f, g, s, rng.gamma(2.0, size=len(s))


@pytest.mark.parametrize("groups", [2, 3, 10])
@pytest.mark.parametrize("name", PAIRS)
def test_weighted_figures_are_fairlearns(name, groups):
    y, _, g, s, weight = people(groups, groups)
    ours = metrics.compare_decisions(y, g, g, sensitive_features=s, sample_weight=weight, n_bootstrap=1)
    theirs = PAIRS[name](y, g, sensitive_features=s, sample_weight=weight)
    assert ours.loc[name, "g"] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_crossings_are_fairlearns(name):
    y, _, g, s, weight = people(5)
    both = pd.DataFrame({"race": np.where(s < 2, "Black", "White"), "sex": np.where(s % 2, "Female", "Male")})
    ours = metrics.compare_decisions(y, g, g, sensitive_features=both, sample_weight=weight, n_bootstrap=1)
    theirs = PAIRS[name](y, g, sensitive_features=both, sample_weight=weight)
    assert ours.loc[name, "g"] == pytest.approx(theirs, abs=1e-12)
    assert metrics.compare_groups(y, g, sensitive_features=both).index[0] == "Black × Female"


@pytest.mark.parametrize("groups", [2, 5])
def test_integer_weights_are_repeated_rows(groups):
    y, f, g, s, _ = people(1, groups)
    rng = np.random.default_rng(2)
    weight, scores = rng.integers(0, 4, len(y)), (rng.random(len(y)), rng.random(len(y)))
    again = [np.repeat(column, weight) for column in (y, f, g, s, *scores)]
    with_scores = {"sensitive_features": s, "sample_weight": weight, "n_bootstrap": 5}
    ours = metrics.compare_decisions(y, f, g, scores=scores, **with_scores)
    theirs = metrics.compare_decisions(*again[:3], sensitive_features=again[3], scores=tuple(again[4:]), n_bootstrap=5)
    assert list(ours.index) == list(theirs.index)
    for column in ("f", "g", "difference"):
        np.testing.assert_allclose(ours[column], theirs[column], atol=1e-9)
    assert metrics.change_rate(f, g, sample_weight=weight) == pytest.approx(metrics.change_rate(*again[1:3]), abs=1e-9)
    ours, theirs = (
        metrics.calibration_table(*scores, sample_weight=weight),
        metrics.calibration_table(*again[4:]),
    )
    np.testing.assert_allclose(ours.drop(columns="count"), theirs.drop(columns="count"), atol=1e-9)
    rates = metrics.compare_groups(y, g, sensitive_features=s, sample_weight=weight)["rate"]
    repeated = metrics.compare_groups(again[0], again[2], sensitive_features=again[3])["rate"]
    np.testing.assert_allclose(rates, repeated, atol=1e-9)


def test_weighted_auc_is_scikit_learns():
    y, _, _, s, weight = people(3)
    rng = np.random.default_rng(3)
    score = np.round(rng.random(len(y)) + 0.3 * y, 1)  # with ties
    frame = metrics.compare_decisions(y, y, y, sensitive_features=s, sample_weight=weight, scores=(score, score))
    assert frame.loc["auc", "g"] == pytest.approx(roc_auc_score(y, score, sample_weight=weight), abs=1e-12)
    assert frame.loc["auc", "g_low"] < frame.loc["auc", "g"] < frame.loc["auc", "g_high"]


def test_equal_weights_are_none_in_the_intervals_too():
    y, f, g, s, _ = people(4)
    scores = (f + 0.1 * y, g + 0.1 * y)
    plain = metrics.compare_decisions(y, f, g, sensitive_features=s, scores=scores)
    weighted = metrics.compare_decisions(
        y, f, g, sensitive_features=s, scores=scores, sample_weight=np.full(len(y), 8.0)
    )
    pd.testing.assert_frame_equal(plain, weighted, rtol=0, atol=1e-12)


def test_unequal_weights_widen_the_interval_by_the_effective_size():
    y, f, g, s, weight = people(4)
    frame = metrics.compare_decisions(y, f, g, sensitive_features=s, sample_weight=weight)
    for row, own in {"accuracy": slice(None), "positive_rate_2": s == 2}.items():
        size = weight[own].sum() ** 2 / (weight[own] ** 2).sum()
        assert size < len(y[own])
        value = frame.loc[row, "g"]
        low, high = wilson_interval(value * size, size)
        assert frame.loc[row, ["g_low", "g_high"]].tolist() == pytest.approx([float(low), float(high)], abs=1e-12)
    # Squares four times as large as the weights: a quarter as many people tell as much, in every interval.
    counts, rows = tally(y, {"f": f, "g": g}, s).counts, np.full(4, 100)
    heavy = compare_counts(counts, squares=4 * counts, rows=rows)
    pd.testing.assert_frame_equal(heavy, compare_counts(counts / 4, rows=rows), rtol=0, atol=1e-12)
    plain = compare_counts(counts, rows=rows)
    for row in ("p_rule", "dm"):
        assert np.ptp(heavy.loc[row, ["g_low", "g_high"]]) > np.ptp(plain.loc[row, ["g_low", "g_high"]])


@pytest.mark.parametrize("groups", [2, 4])
def test_rows_of_unknown_group_are_not_counted(groups):
    y, f, g, s, weight = people(6, groups)
    unknown = np.random.default_rng(6).random(len(y)) < 0.3
    part = pd.Series(s).astype("Int64").mask(unknown)
    known = ~unknown
    ours = metrics.compare_decisions(y, f, g, sensitive_features=part, sample_weight=weight, scores=(f, g))
    theirs = metrics.compare_decisions(
        y[known],
        f[known],
        g[known],
        sensitive_features=s[known],
        sample_weight=weight[known],
        scores=(f[known], g[known]),
    )
    pd.testing.assert_frame_equal(ours, theirs, rtol=0, atol=0)
    codes = np.where(unknown, -1, s)
    pd.testing.assert_frame_equal(
        ours,
        metrics.compare_decisions(
            y, f, g, sensitive_features=codes, n_groups=groups, sample_weight=weight, scores=(f, g)
        ),
    )
    changes = metrics.change_table(f, g, sensitive_features=part)
    assert changes["count"].sum() == known.sum()


def test_a_group_without_rows_keeps_its_number():
    y, f, g, s, _ = people(7, 3)
    plain = metrics.compare_decisions(y, f, g, sensitive_features=s)
    codes = np.where(s == 2, 4, s)  # nobody has the codes 2 and 3
    frame = metrics.compare_decisions(y, f, g, sensitive_features=codes, n_groups=5)
    assert frame.loc["positive_rate_4", "g"] == plain.loc["positive_rate_2", "g"]
    assert np.isnan(frame.loc["positive_rate_2", "g"])
    for name in GAPS:
        assert frame.loc[name, "g"] == plain.loc[name, "g"]
    with pytest.raises(ValueError, match="has the code 4, but n_groups is 3"):
        metrics.compare_decisions(y, f, g, sensitive_features=codes, n_groups=3)


def test_a_small_group_is_in_the_tables_and_not_in_the_extremes():
    y, f, _, s, _ = people(8, 3)
    few = np.repeat(3, 20)
    y_all, f_all, s_all = np.r_[y, np.tile([0, 1], 10)], np.r_[f, np.zeros(20, int)], np.r_[s, few]
    for name in ("p_rule", "disparate_mistreatment"):
        metric = getattr(metrics, name)
        assert metric(y_all, f_all, sensitive_features=s_all) == metric(y, f, sensitive_features=s)
    frame = metrics.compare_decisions(y_all, f_all, f_all, sensitive_features=s_all)
    assert frame.loc["p_rule", "g"] == metrics.p_rule(y, f, sensitive_features=s) > 0
    assert frame.loc["positive_rate_3", "g"] == 0 < frame.loc["positive_rate_3", "g_high"]
    table = metrics.compare_groups(y_all, f_all, sensitive_features=s_all)
    assert table["compared"].tolist() == [True, True, True, False]
    assert table["ratio"].tolist()[3] == 0
    assert 3 not in metrics.extreme_groups(y_all, f_all, sensitive_features=s_all)[["lowest", "highest"]].to_numpy()
    # A weight makes nobody more: the rule counts rows.
    weighted = metrics.compare_groups(y_all, f_all, sensitive_features=s_all, sample_weight=np.full(len(s_all), 10.0))
    assert not weighted.loc[3, "compared"]
    # Of two groups none is left out.
    two = metrics.p_rule(y_all[s_all > 1], f_all[s_all > 1], sensitive_features=s_all[s_all > 1])
    assert two == 0


def test_the_pair_attains_the_figure():
    y, _, g, s, weight = people(9, 6)
    given = {"sensitive_features": s, "sample_weight": weight}
    found = metrics.extreme_groups(y, g, **given)
    for row, label in {"p_rule": None, "delta_tpr": 1, "delta_fpr": 0}.items():
        rates = metrics.compare_groups(y, g, **given, label=label)["rate"]
        assert found.loc[row, "lowest_rate"] == pytest.approx(rates[found.loc[row, "lowest"]])
        assert rates.max() - rates.min() == pytest.approx(
            rates[found.loc[row, "highest"]] - rates[found.loc[row, "lowest"]]
        )
    assert found.loc["p_rule", "lowest_rate"] / found.loc["p_rule", "highest_rate"] == pytest.approx(
        metrics.p_rule(y, g, **given)
    )
    assert "delta_tpr" not in metrics.extreme_groups(0 * y, g, sensitive_features=s).index  # nobody has label 1


def test_every_group_against_everyone():
    y, g, s = [1, 1, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0], list("aabbcc")
    table = metrics.compare_groups(y, g, sensitive_features=s)
    assert table["rate"].tolist() == [1.0, 0.5, 0.0]
    assert table["ratio"].tolist() == [1.0, 0.5, 0.0]
    assert table["difference"].tolist() == [0.5, 0.0, -0.5]
    assert table["high"].tolist()[0] == 1 > table["low"].tolist()[0] > 0
    of_label = metrics.compare_groups(y, g, sensitive_features=s, label=1)
    assert of_label["count"].tolist() == [2, 0, 1]
    assert of_label["rate"].isna().tolist() == [False, True, False]
    nobody = metrics.compare_groups(y, [0] * 6, sensitive_features=s)
    assert nobody["ratio"].tolist() == [1, 1, 1]


def test_fair_by_each_margin_and_unfair_to_a_crossing():
    rng = np.random.default_rng(10)
    race, sex = rng.choice(["Black", "White"], 2000), rng.choice(["Female", "Male"], 2000)
    g = (rng.random(2000) < np.where((race == "Black") == (sex == "Female"), 0.3, 0.5)).astype(int)
    y = rng.integers(0, 2, 2000)
    both = pd.DataFrame({"race": race, "sex": sex})
    both.loc[:99, "sex"] = None
    for margin in (race, both["sex"], both[["race"]]):
        assert metrics.p_rule(y, g, sensitive_features=margin) > 0.9
    crossing = metrics.compare_decisions(y, g, g, sensitive_features=both)
    assert sum(row.startswith("positive_rate_") for row in crossing.index) == 4
    assert crossing.loc["p_rule", "g_high"] < 0.8
    pair = metrics.extreme_groups(y, g, sensitive_features=both).loc["p_rule"]
    assert pair["lowest"] in ("Black × Female", "White × Male")


def test_key_figures_take_rows_where_counts_are_weights():
    counts = np.full((3, 2, 2, 2), 100.0)
    counts[2, :, :, 1] = 0.0  # g decides 0 for all of group 2
    assert key_figures_of(counts)["p_rule"] == 0
    assert key_figures_of(counts, rows=[400, 400, 49])["p_rule"] == 1
    assert figures_of_counts(counts.sum(axis=-2), [400, 400, 49])["positive_rate_2"] == 0
    assert list(key_figures_of(counts)) == [figure.name for figure in key_figures()]


# ---- Intervals of extremes: which pair is furthest apart is not known before. ----

SINGLE = ("p_rule", "demographic_parity_difference", "dm")


def held(shares, people, repeats, names):
    """Share of samples whose interval of g's figure holds the truth, by figure."""
    rng, of_g = np.random.default_rng(1), shares.sum(axis=-2)
    found = {name: [] for name in names}
    for _ in range(repeats):
        counts = sample(shares, people, rng).sum(axis=-2)
        for name in names:
            low, high = interval_of_extremes(FIGURES[name].formula, counts, counts, 0.95)
            found[name].append(low - 1e-12 <= FIGURES[name].formula(of_g) <= high + 1e-12)
    return {name: float(np.mean(each)) for name, each in found.items()}


@pytest.mark.parametrize(("groups", "one"), [(3, 60), (6, None), (10, None), (10, 60)])
@pytest.mark.parametrize("title", ["all rates are equal", "rates are spread", "one group is apart"])
def test_intervals_of_extremes_hold_the_truth(title, groups, one):
    covered = held(many_groups(groups)[title], sizes(groups, one), 150, ["p_rule", "dm"])
    assert min(covered.values()) >= 0.92, covered


def covered_difference(shares, people, repeats, n_bootstrap):
    """Of g's P-Rule and mistreatment less f's."""
    rng, found = np.random.default_rng(2), []
    for seed in range(repeats):
        counts = sample(shares, people, rng)
        frame = compare_counts(counts, rows=all_compared(counts), n_bootstrap=n_bootstrap, seed=seed)
        for name in ("p_rule", "dm"):
            of_f, of_g = (float(FIGURES[name].formula(shares.sum(axis=axis))) for axis in (-1, -2))
            found.append(frame.loc[name, "difference_low"] <= of_g - of_f <= frame.loc[name, "difference_high"])
    return float(np.mean(found))


def test_intervals_of_the_difference_hold_the_truth():
    """The draws of before held it in 8 of 10 samples: g's extremes lie too far out, and f's do not."""
    shares = many_groups(10)["f is spread, g nearly fair"]
    assert covered_difference(shares, sizes(10, None), 30, 200) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("one", [None, 60])
@pytest.mark.parametrize("groups", [2, 3, 6, 10])
def test_intervals_of_extremes_hold_the_truth_in_many_samples(groups, one):
    for title, shares in many_groups(groups).items():
        covered = held(shares, sizes(groups, one), 1000, SINGLE)
        assert min(covered.values()) >= 0.93, (title, covered)
        # Of two groups that are nearly alike a difference is held in some 90 % (docs/results.md); 100 samples are few.
        assert covered_difference(shares, sizes(groups, one), 100, 500) >= (0.93 if groups > 2 else 0.86), title


def test_intervals_under_weights_hold_the_truth():
    """Weights of 1, 2 and 6, the heavier decided otherwise: as people they would make intervals half as wide."""
    rng, weights, heavier = np.random.default_rng(4), np.array([1.0, 2.0, 6.0]), np.array([-0.1, 0.0, 0.15])
    rate = float((weights * [0.5, 0.3, 0.2] * heavier).sum() / (weights * [0.5, 0.3, 0.2]).sum())
    s = np.repeat([0, 1, 2], 200)
    base = np.array([0.3, 0.4, 0.5])
    held_by = {"positive_rate_0": 0, "p_rule": 0}
    for seed in range(60):
        kind = rng.choice(3, len(s), p=[0.5, 0.3, 0.2])
        y, g = rng.integers(0, 2, len(s)), (rng.random(len(s)) < base[s] + heavier[kind]).astype(int)
        given = {"sensitive_features": s, "sample_weight": weights[kind]}
        frame = metrics.compare_decisions(y, g, g, **given, n_bootstrap=50, seed=seed)
        for name, truth in {"positive_rate_0": 0.3 + rate, "p_rule": (0.3 + rate) / (0.5 + rate)}.items():
            held_by[name] += frame.loc[name, "g_low"] <= truth <= frame.loc[name, "g_high"]
    assert min(held_by.values()) >= 0.92 * 60, held_by


def test_intervals_of_extremes_are_not_hopelessly_wide():
    """Not much wider than for a pair that was known before."""
    rng = np.random.default_rng(3)
    for title, shares in many_groups(10).items():
        counts = sample(shares, 1000, rng).sum(axis=-2)
        rates = counts[..., 1].sum(axis=-1) / 1000
        pair = counts[[rates.argmin(), rates.argmax()]]
        alone, all_of_them = (
            np.ptp(interval_of_extremes(FIGURES["p_rule"].formula, each, each, 0.95)) for each in (pair, counts)
        )
        assert alone <= all_of_them * 1.1, title
        assert all_of_them <= 1.6 * alone, title


def test_the_ends_of_a_pair_are_the_printed_ones():
    # Newcombe (1998), Table II, method 10: 56/70 − 48/80, 9/10 − 3/10, 10/10 − 0/10.
    for parts, wholes, printed in (
        ((56, 48), (70, 80), (0.0524, 0.3339)),
        ((9, 3), (10, 10), (0.1705, 0.8090)),
        ((10, 0), (10, 10), (0.6075, 1.0)),
    ):
        k, n = np.array(parts, dtype=float), np.array(wholes, dtype=float)
        _, low, high = _differences(k / n, *wilson_interval(k, n))
        assert (round(low[0], 4), round(high[0], 4)) == printed
        assert (low[1], high[1]) == pytest.approx((-high[0], -low[0]))
    # The interval of a ratio is that of its inverse, turned over; and it exists where a rate is 0 or 1.
    k, n = np.array([12.0, 30.0, 0.0, 50.0]), np.full(4, 50.0)
    low, high = _ratios(k / n, *wilson_interval(k, n))
    assert (low[0], high[0]) == pytest.approx((1 / high[3], 1 / low[3]))  # 12 : 30 and 30 : 12
    assert not np.isnan([low, high]).any()
    assert (low <= high).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.integers(0, 3)), min_size=1))
def test_never_a_nan_and_never_beside_the_figure_of_many_groups(rows):
    y, f, g, s = (list(column) for column in zip(*rows, strict=True))
    if len(set(s)) < 2:
        return
    report = metrics.compare_decisions(y, f, g, sensitive_features=s, n_bootstrap=5)
    assert report.notna().all().all()
    for column in ("f", "g", "difference"):
        assert (report[f"{column}_low"] <= report[column] + 1e-12).all()
        assert (report[column] <= report[f"{column}_high"] + 1e-12).all()


def test_of_two_groups_that_are_compared_the_intervals_are_those_of_two():
    y, f, g, s, _ = people(11, 2)
    plain = metrics.compare_decisions(y, f, g, sensitive_features=s, seed=3)
    few = np.repeat(2, 12)
    frame = metrics.compare_decisions(
        *(np.r_[each, np.tile([0, 1], 6)] for each in (y, f, g)), sensitive_features=np.r_[s, few], seed=3
    )
    for name in ("p_rule", "dm"):
        assert frame.loc[name, "g"] == plain.loc[name, "g"]
        assert abs(frame.loc[name, "g_low"] - plain.loc[name, "g_low"]) < 0.02  # other draws
