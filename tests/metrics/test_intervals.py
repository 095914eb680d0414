"""Intervals of shares against scipy's and against print."""

import numpy as np
import pytest
from scipy.stats import binomtest

from commod.metrics.intervals import wilson_interval

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
