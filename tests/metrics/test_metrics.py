"""Every metric against fairlearn on random input, and what it says at the edges."""

import fairlearn.metrics as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from commod import metrics
from commod.metrics.counts import change_counts
from commod.metrics.report import bootstrap_counts


def random_decisions(seed, n=400, groups=2):
    rng = np.random.default_rng(seed)
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
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", PAIRS)
def test_agrees_with_fairlearn(name, seed, groups):
    y, _, g, s = random_decisions(seed, groups=groups)
    assert getattr(metrics, name)(y, g, sensitive_features=s) == pytest.approx(PAIRS[name](y, g, sensitive_features=s))


@pytest.mark.parametrize("seed", range(5))
def test_dm_and_accuracy(seed):
    y, _, g, s = random_decisions(seed)
    dm = PAIRS["delta_tpr"](y, g, sensitive_features=s) + PAIRS["delta_fpr"](y, g, sensitive_features=s)
    assert metrics.disparate_mistreatment(y, g, sensitive_features=s) == pytest.approx(dm)
    assert metrics.accuracy(y, g, sensitive_features=s) == pytest.approx(accuracy_score(y, g))


def test_group_table_against_fairlearn_metric_frame():
    y, _, g, s = random_decisions(1, groups=3)
    rates = {
        "positive_rate": oracle.selection_rate,
        "tpr": oracle.true_positive_rate,
        "fpr": oracle.false_positive_rate,
    }
    frame = oracle.MetricFrame(metrics=rates, y_true=y, y_pred=g, sensitive_features=s).by_group
    table = metrics.group_table(y, g, sensitive_features=s)
    for name in rates:
        np.testing.assert_allclose(table[name].to_numpy(dtype=float), frame[name].to_numpy(dtype=float))
    assert table["count"].sum() == len(y)


def test_four_rows_by_hand():
    y, g, s = [1, 0, 1, 0], [1, 0, 1, 1], ["a", "a", "b", "b"]
    assert metrics.p_rule(y, g, sensitive_features=s) == 0.5
    assert metrics.demographic_parity_difference(y, g, sensitive_features=s) == 0.5
    assert metrics.delta_tpr(y, g, sensitive_features=s) == 0
    assert metrics.delta_fpr(y, g, sensitive_features=s) == 1


def test_zero_rates_are_stated_not_divided():
    s = [0, 0, 1, 1]
    assert metrics.p_rule([0, 1, 0, 1], [0, 0, 0, 0], sensitive_features=s) == 1.0
    assert metrics.p_rule([0, 1, 0, 1], [0, 0, 1, 0], sensitive_features=s) == 0.0


def test_a_rate_that_does_not_exist_names_group_and_label():
    y, g, s = [0, 0, 1, 0], [0, 1, 1, 0], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"\['a'\] have no row with y = 1"):
        metrics.delta_tpr(y, g, sensitive_features=s)
    table = metrics.group_table(y, g, sensitive_features=s)
    assert table["tpr"].isna().tolist() == [True, False]
    assert table["count"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("y", "g", "s", "message"),
    [
        ([0, 1], [0, 1], [1, 1], "one group only"),
        ([0, 1], [0, 1], [1, None], "missing values"),
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
    counts, _ = change_counts(y, f, g, s)
    drawn = bootstrap_counts(counts, n_bootstrap=50, seed=1)
    np.testing.assert_array_equal(drawn.sum(axis=(-2, -1)), np.broadcast_to(counts.sum(axis=(-2, -1)), (50, 2, 2)))
    np.testing.assert_array_equal(drawn, bootstrap_counts(counts, n_bootstrap=50, seed=1))
    assert (drawn != bootstrap_counts(counts, n_bootstrap=50, seed=2)).any()


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(200):
        s, y = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
        g = (rng.random(300) < np.where(s == 1, 0.6, 0.3)).astype(int)
        row = metrics.compare_decisions(y, g, g, sensitive_features=s, n_bootstrap=200, seed=seed).loc["p_rule"]
        covered += row["g_low"] <= 0.5 <= row["g_high"]
    assert 0.90 <= covered / 200 <= 0.99


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=30))
def test_never_a_nan_whatever_the_rows(rows):
    y, f, g, s = (list(column) for column in zip(*rows, strict=True))
    if len(set(s)) < 2:
        return
    report = metrics.compare_decisions(y, f, g, sensitive_features=s, n_bootstrap=5)
    assert report.notna().all().all()
    assert 0 <= metrics.p_rule(y, g, sensitive_features=s) <= 1
