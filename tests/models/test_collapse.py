"""A model that is hardly one any more is told as such."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest

from commod import Commod
from commod.models.evaluation import CollapseWarning, collapse_in_words, judged_elsewhere
from tests.fitting import case, fit

pytestmark = pytest.mark.quick


def readable_group(n=2000):
    """S is read from x0, y from x0 and x1: a ratio can hide S only by hiding nearly everything."""
    rng = np.random.default_rng(0)
    x0, x1 = rng.normal(size=(2, n))
    s, y = x0 + 0.3 * rng.normal(size=n) > 0, x0 + x1 + 0.5 * rng.normal(size=n) > 0
    return pd.DataFrame({"x0": x0, "x1": x1}), y.astype(int), s.astype(int)


def test_the_estimator_warns_of_a_ranking_that_is_lost():
    X, y, s = readable_group()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Commod(lambda_fair=3.0).fit(X, y, sensitive_features=s)
    with pytest.warns(CollapseWarning, match=r"AUC of its scores falls from 0\.9\d to 0\.5\d.*update='affine'"):
        Commod(lambda_fair=8.0).fit(X, y, sensitive_features=s)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Commod(lambda_fair=8.0, update="affine").fit(X, y, sensitive_features=s)


def test_those_who_look_at_the_result_themselves_are_not_warned():
    X, y, s = readable_group()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with judged_elsewhere():
            Commod(lambda_fair=8.0).fit(X, y, sensitive_features=s)
    assert not heard


def test_one_thread_does_not_silence_the_others():
    before, inside, left = warnings.filters.copy(), threading.Barrier(2), threading.Event()

    def first():
        with judged_elsewhere():
            inside.wait()
        left.set()

    def second():
        with judged_elsewhere():
            inside.wait()
            left.wait()

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


def test_more_changes_than_deciding_everybody_alike_would_need():
    y = np.repeat([0, 1], 50)
    f = np.where(np.arange(100) < 90, -1.0, 1.0)  # ten of a hundred are decided positively
    g = np.where(np.arange(100) < 75, -1.0, 1.0)
    assert collapse_in_words(y, f, g) == [
        "g changes 15.0% of all decisions. Deciding everybody alike would be fair and change 10.0%."
    ]
    assert collapse_in_words(y, f, f) == []


@pytest.mark.parametrize("data", ["law_school", pytest.param("compas", marks=pytest.mark.slow)])
def test_no_false_alarm_where_a_model_is_sound(data):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fit(case(data), lambda_fair=3.0)
    assert not heard
