"""Every metric against fairlearn on random input, and what it says at the edges."""

import fairlearn.metrics as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from commod import metrics
from commod.metrics.counts import tally
from commod.metrics.report import bootstrap_counts
from tests.benchmarks.coverage import POPULATIONS, coverage, ours

Z2 = 1.959964**2


def random_decisions(seed, groups=2):
    """200 people of each group, about: none is so small that it is left out."""
    rng, n = np.random.default_rng(seed), 200 * groups
    y, f = rng.integers(0, 2, n), rng.integers(0, 2, n)
    s = rng.integers(0, groups, n)
    g = np.where(rng.random(n) < 0.2, 1 - f, f)
    return y, f, g, s


PAIRS = {
    "p_rule": oracle.demographic_parity_ratio,
    "demographic_parity_difference": oracle.demographic_parity_difference,
    "delta_tpr": oracle.true_positive_rate_difference,
    "delta_fpr": oracle.false_positive_rate_difference,
}


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("name", PAIRS)
def test_agrees_with_fairlearn(name, groups):
    for seed in range(5):
        y, _, g, s = random_decisions(seed, groups=groups)
        expected = PAIRS[name](y, g, sensitive_features=s)
        found = metrics.compare_decisions(y, g, g, sensitive_features=s, n_bootstrap=1)
        assert found.loc[name, "g"] == pytest.approx(expected), seed


@pytest.mark.parametrize("seed", range(5))
def test_dm_and_accuracy(seed):
    y, _, g, s = random_decisions(seed)
    dm = PAIRS["delta_tpr"](y, g, sensitive_features=s) + PAIRS["delta_fpr"](y, g, sensitive_features=s)
    assert metrics.disparate_mistreatment(y, g, sensitive_features=s) == pytest.approx(dm)
    assert metrics.accuracy(y, g, sensitive_features=s) == pytest.approx(accuracy_score(y, g))


def test_four_rows_by_hand():
    y, g, s = [1, 0, 1, 0], [1, 0, 1, 1], ["a", "a", "b", "b"]
    assert metrics.p_rule(y, g, sensitive_features=s) == 0.5
    assert metrics.disparate_mistreatment(y, g, sensitive_features=s) == 1


def test_zero_rates_are_stated_not_divided():
    s = [0, 0, 1, 1]
    assert metrics.p_rule([0, 1, 0, 1], [0, 0, 0, 0], sensitive_features=s) == 1.0
    assert metrics.p_rule([0, 1, 0, 1], [0, 0, 1, 0], sensitive_features=s) == 0.0


def test_a_rate_that_does_not_exist_names_group_and_label():
    y, g, s = [0, 0, 1, 0], [0, 1, 1, 0], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"\['a'\] have no row with y = 1"):
        metrics.disparate_mistreatment(y, g, sensitive_features=s)


@pytest.mark.parametrize(
    ("y", "g", "s", "message"),
    [
        ([0, 1], [0, 1], [1, 1], "one group only"),
        ([0, 1], [0, 1], [1, None], "one group only"),
        ([0, 1], [0, 1], [None, None], "no group that is known"),
        ([0, 2], [0, 1], [0, 1], "y_true must hold 0 and 1 only"),
        ([0, 1], [0, 0.5], [0, 1], "y_pred must hold 0 and 1 only"),
        ([0, 1, 1], [0, 1], [0, 1], "differ in length"),
        ([[0], [1]], [0, 1], [0, 1], "one value per row"),
    ],
)
def test_bad_input_is_one_clear_sentence(y, g, s, message):
    with pytest.raises(ValueError, match=message):
        metrics.p_rule(y, g, sensitive_features=s)


def test_changes_by_group_and_direction():
    f, g, s = [0, 0, 1, 1, 1], [1, 0, 0, 0, 1], [0, 0, 0, 1, 1]
    table = metrics.change_table(f, g, sensitive_features=s)
    assert table["raised"].tolist() == [1, 0]
    assert table["lowered"].tolist() == [1, 1]
    assert table["change_rate"].tolist() == [2 / 3, 1 / 2]
    assert metrics.change_rate(f, g) == pytest.approx(3 / 5)
    with pytest.raises(ValueError, match="no rows"):
        metrics.change_rate([], [])


def test_calibration_of_f_against_itself_is_the_diagonal():
    scores = np.linspace(0, 1, 101)
    table = metrics.calibration_table(scores, scores)
    np.testing.assert_allclose(table["mean_f"], table["mean_g"])
    assert table["count"].sum() == 101
    assert (table["count"] > 0).all()
    with pytest.raises(ValueError, match="probabilities"):
        metrics.calibration_table(scores, 2 * scores)


def test_report_agrees_with_the_single_metrics():
    y, f, g, s = random_decisions(3)
    report = metrics.compare_decisions(y, f, g, sensitive_features=s)
    for column, decided in (("f", f), ("g", g)):
        assert report.loc["p_rule", column] == pytest.approx(metrics.p_rule(y, decided, sensitive_features=s))
        assert report.loc["dm", column] == pytest.approx(
            metrics.disparate_mistreatment(y, decided, sensitive_features=s)
        )
    assert report.loc["change_rate", "g"] == pytest.approx(metrics.change_rate(f, g))
    assert report.loc["raised_rate", "g"] + report.loc["lowered_rate", "g"] == pytest.approx(metrics.change_rate(f, g))
    assert (report["difference"] == report["g"] - report["f"]).all()
    assert (report["g_low"] <= report["g_high"]).all()
    assert report.notna().all().all()


def test_bootstrap_keeps_strata_and_is_seeded():
    y, f, g, s = random_decisions(4)
    counts = tally(y, {"f": f, "g": g}, s).counts
    drawn = bootstrap_counts(counts, n_bootstrap=50, seed=1)
    np.testing.assert_allclose(drawn.sum(axis=(-2, -1)), np.broadcast_to(counts.sum(axis=(-2, -1)), (50, 2, 2)))
    np.testing.assert_array_equal(drawn, bootstrap_counts(counts, n_bootstrap=50, seed=1))
    assert (drawn != bootstrap_counts(counts, n_bootstrap=50, seed=2)).any()


def test_draws_are_those_of_the_dirichlet_distribution():
    counts = np.zeros((2, 2, 2, 2))
    counts[0, 0] = [[6, 0], [1, 3]]
    shares = bootstrap_counts(counts, n_bootstrap=20_000)[:, 0, 0] / 10
    weights = counts[0, 0] + 0.25
    mean = weights / 11
    np.testing.assert_allclose(shares.mean(axis=0), mean, atol=0.004)
    np.testing.assert_allclose(shares.var(axis=0), mean * (1 - mean) / 12, atol=0.001)
    assert (bootstrap_counts(counts, n_bootstrap=5)[:, 1] == 0).all()  # nobody of that group is drawn


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(100):
        s, y = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
        g = (rng.random(300) < np.where(s == 1, 0.6, 0.3)).astype(int)
        row = metrics.compare_decisions(y, g, g, sensitive_features=s, n_bootstrap=200, seed=seed).loc["p_rule"]
        covered += row["g_low"] <= 0.5 <= row["g_high"]
    assert 0.90 <= covered / 100 <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("title", POPULATIONS)
def test_intervals_of_small_groups_cover_the_truth(title):
    covered, without_width = coverage(POPULATIONS[title], 100, 200, ours)
    if "exactly" in title:  # no sample has mistreatment below 0: the one case that stays too narrow
        assert covered.pop("Mistreatment") >= 0.7
    assert min(covered.values()) >= 0.88, covered
    assert without_width == 0


def test_a_model_that_changes_nobody_may_change_somebody():
    y, f, _, s = random_decisions(5)
    report = metrics.compare_decisions(y, f, f, sensitive_features=s)
    row = report.loc["change_rate"]
    assert (row["g"], row["g_low"]) == (0, 0)
    assert row["g_high"] == pytest.approx(Z2 / (len(y) + Z2))  # Wilson's of 0 of n
    assert (row["difference_low"], row["difference_high"]) == (row["g_low"], row["g_high"])
    assert (row["f_low"], row["f_high"]) == (0, 0)  # f changes nothing of itself, and that is known
    assert report.loc["backward_trust", "g_high"] == 1 > report.loc["backward_trust", "g_low"] > 0.97
    for name in ("accuracy", "p_rule", "dm"):
        assert report.loc[name, "difference_low"] < 0 < report.loc[name, "difference_high"]


def test_what_stays_right_and_what_was_wrong_before():
    y, f, g, s = random_decisions(6)
    report = metrics.compare_decisions(y, f, g, sensitive_features=s)
    right, wrong = f == y, g != y
    assert report.loc["backward_trust", "g"] == pytest.approx((g == y)[right].mean())
    assert report.loc["backward_error", "g"] == pytest.approx((f != y)[wrong].mean())


def test_mistreatment_goes_up_to_2():
    y, s = np.tile([0, 1], 200), np.repeat([0, 1], 200)
    report = metrics.compare_decisions(y, y, np.where(s == 1, 1 - y, y), sensitive_features=s)
    assert report.loc["dm", "g"] == report.loc["dm", "g_high"] == 2


def test_a_group_without_events():
    s = np.repeat([0, 1], 20)
    y = np.tile([0, 1], 20)
    g = s * y  # nobody of group 0; of group 1 exactly the right ones
    report = metrics.compare_decisions(y, g, g, sensitive_features=s)
    row = report.loc["positive_rate_0"]
    assert (row["g"], row["g_low"]) == (0, 0)
    assert row["g_high"] == pytest.approx(Z2 / (20 + Z2))
    assert (report.loc["p_rule", "g"], report.loc["p_rule", "g_low"]) == (0, 0)
    assert 0.05 < report.loc["p_rule", "g_high"] < 0.5
    assert report.loc["delta_fpr", "g"] == report.loc["delta_fpr", "g_low"] == 0 < report.loc["delta_fpr", "g_high"]
    assert report.loc["delta_tpr", "g_low"] < report.loc["delta_tpr", "g"] == report.loc["delta_tpr", "g_high"] == 1
    nobody = metrics.compare_decisions(y, 0 * y, 0 * y, sensitive_features=s).loc["p_rule"]
    assert nobody["g_low"] < 0.2 < nobody["g"] == nobody["g_high"] == 1


def test_intervals_of_shares_are_wilsons():
    y, f, g, s = random_decisions(6)
    n, right = len(y), int((g == y).sum())
    row = metrics.compare_decisions(y, f, g, sensitive_features=s).loc["accuracy"]
    share, z = right / n, np.sqrt(Z2)
    half = z * np.sqrt(share * (1 - share) / n + Z2 / (4 * n**2))
    assert row["g_low"] == pytest.approx((share + Z2 / (2 * n) - half) / (1 + Z2 / n))
    assert row["g_high"] == pytest.approx((share + Z2 / (2 * n) + half) / (1 + Z2 / n))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=30))
def test_never_a_nan_and_never_beside_the_figure_whatever_the_rows(rows):
    y, f, g, s = (list(column) for column in zip(*rows, strict=True))
    if len(set(s)) < 2:
        return
    report = metrics.compare_decisions(y, f, g, sensitive_features=s, n_bootstrap=5)
    assert report.notna().all().all()
    assert 0 <= metrics.p_rule(y, g, sensitive_features=s) <= 1
    for column in ("f", "g", "difference"):
        assert (report[f"{column}_low"] <= report[column] + 1e-12).all()
        assert (report[column] <= report[f"{column}_high"] + 1e-12).all()
