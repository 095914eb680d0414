"""Calibration against counts by hand, and its interval by simulation."""

import numpy as np
import pytest

from commod.metrics import compare_decisions
from commod.metrics.calibration import calibration_by_group, compare_calibration, reliability_table

pytestmark = pytest.mark.quick


def error_of(y, scores):
    """The expected calibration error, with what chance adds."""
    table = reliability_table(y, scores)
    return np.average(abs(table["rate"] - table["mean_score"]), weights=table["count"])


def test_by_hand():
    y, p = [1, 0, 1, 1], [0.91, 0.95, 0.15, 0.85]
    # bins .9–1: mean score .93, rate .5; .1–.2: .15 and 1; .8–.9: .85 and 1
    expected = (2 * abs(0.5 - 0.93) + abs(1 - 0.15) + abs(1 - 0.85)) / 4
    assert error_of(y, p) == pytest.approx(expected)
    table = reliability_table(y, p)
    assert table["count"].tolist() == [1, 1, 2]
    assert table["rate"].tolist() == [1, 1, 0.5]
    assert table["mean_score"].tolist() == pytest.approx([0.15, 0.85, 0.93])


def test_scores_of_exactly_0_and_1_have_their_bins():
    table = reliability_table([0, 1, 1], [0.0, 1.0, 1.0])
    assert table["low"].tolist() == [0.0, 0.9]
    assert error_of([0, 1, 1], [0.0, 1.0, 1.0]) == 0


def test_scores_that_are_no_probabilities_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability_table([0, 1], [0.2, 1.2])


def test_each_group_has_its_own_error_and_the_same_seed_the_same_interval():
    rng = np.random.default_rng(0)
    s, f = rng.integers(0, 2, 400), rng.random(400)
    y = (rng.random(400) < f).astype(int)
    g = np.clip(f + 0.2 * s, 0, 1)
    frame = calibration_by_group(y, f, g, sensitive_features=s)
    for group in (0, 1):
        own = s == group
        for name, scores in (("f", f), ("g", g)):
            measured = error_of(y[own], scores[own])
            assert 0 <= frame.loc[group, name] < measured  # chance has been taken off
    assert frame.loc[1, "difference_low"] > 0
    assert frame.loc[0, "difference"] == 0 == frame.loc[0, "difference_high"]
    assert frame.equals(calibration_by_group(y, f, g, sensitive_features=s))
    assert not frame.equals(calibration_by_group(y, f, g, sensitive_features=s, seed=1))


@pytest.mark.parametrize("people", [80, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("error", [0.0, pytest.param(0.05, marks=pytest.mark.slow), 0.15])
@pytest.mark.longer
def test_the_intervals_hold_what_is_true(error, people):
    """Scores that are too high by so much everywhere; nineteen of twenty intervals should hold it, also if it is 0."""
    rng, held, values, measured = np.random.default_rng(3), [], [], []
    for _ in range(60):
        truth = rng.uniform(0.02, 0.82, 2 * people)
        y, s = (rng.random(2 * people) < truth).astype(int), np.repeat([0, 1], people)
        frame = calibration_by_group(y, truth, truth + error, sensitive_features=s, n_bootstrap=100)
        for name in ("g", "difference"):
            held += ((frame[f"{name}_low"] <= error + 1e-9) & (frame[f"{name}_high"] >= error - 1e-9)).tolist()
        values.append(frame["g"].mean())
        measured.append(error_of(y[:people], truth[:people] + error))
    assert np.mean(held) >= 0.9
    assert abs(np.mean(values) - error) <= abs(np.mean(measured) - error) + 0.005


def test_calibration_within_groups_weighs_the_groups_own_errors():
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    f, g = rng.random(400), rng.random(400)
    found = compare_calibration(y, f, g, sensitive_features=s)
    for name, scores in (("f", f), ("g", g)):
        own = [(s == group).mean() * error_of(y[s == group], scores[s == group]) for group in (0, 1)]
        assert 0.9 * sum(own) < found[name] < sum(own)  # far off, so chance adds little
        assert found[f"{name}_low"] < found[name] < found[f"{name}_high"]
    assert found["difference"] == pytest.approx(found["g"] - found["f"])
    frame = compare_decisions(y, f > 0.5, g > 0.5, sensitive_features=s, probabilities=(f, g))
    assert frame.loc["calibration_within_groups", "g"] == pytest.approx(found["g"])
