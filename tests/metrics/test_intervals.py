"""Intervals of shares against scipy's and against print."""

import numpy as np
import pytest
from scipy.stats import binomtest

from commod.metrics.counts import new_people_interval, wilson_interval

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("n", [1, 7, 30, 1000])
def test_wilson_is_scipys(n):
    k = np.unique(np.linspace(0, n, 9).astype(int))
    low, high = wilson_interval(k, np.full(len(k), n))
    for i, part in enumerate(k):
        interval = binomtest(int(part), n).proportion_ci(0.95, method="wilson")
        assert (low[i], high[i]) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_wilson_as_printed():
    # Newcombe (1998), Table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    low, high = wilson_interval([81, 15, 0, 1], [263, 148, 20, 29])
    assert low.round(4).tolist() == [0.2553, 0.0624, 0.0, 0.0061]
    assert high.round(4).tolist() == [0.3662, 0.1605, 0.1611, 0.1718]
    assert np.isnan(wilson_interval(0, 0)).all()


@pytest.mark.parametrize(
    ("share", "seen", "people"),
    [
        (0.05, 400, 1000),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((0.3, 1000, 200), (0.01, 2000, 1000))),
    ],
)
@pytest.mark.longer
def test_the_interval_of_new_people_holds_as_often_as_it_says(share, seen, people):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(400):
        low, high = new_people_interval(int(rng.binomial(seen, share)), seen, people)
        inside.append(low <= rng.binomial(people, share) <= high)
    assert 0.92 <= np.mean(inside) <= 0.99
