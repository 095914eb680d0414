"""Figures on held-out rows of a task with groups that are many, small, absent or not known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from commod import metrics
from commod.models import evaluate

pytestmark = pytest.mark.quick

GROUPS = ("a", "nobody", "b", "few")


def held_out(weight=None):
    """400 rows of a and b, 20 of the small group and 30 of a group that is not known."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 2, 3, -1], [200, 200, 20, 30])
    X = pd.DataFrame({"x": rng.normal(size=450) + 0.5 * (codes == 2)})
    y = pd.Series((rng.random(450) < 1 / (1 + np.exp(-X["x"]))).astype(int))
    rows = SimpleNamespace(X=X, y=y, sensitive=pd.Series(codes), weight=weight)
    return SimpleNamespace(name="made up", groups=GROUPS), rows, LogisticRegression().fit(X, y)


def test_it_says_on_whom_the_figures_rest():
    task, rows, f = held_out()
    frame = evaluate(task, f, f, rows)
    assert (frame.attrs["measured"], frame.attrs["rows"]) == (420, 450)
    assert "few (20 people)" in frame.attrs["left_out"]
    known = rows.sensitive.isin([0, 2])
    assert frame.loc["p_rule", "g"] == metrics.p_rule(
        rows.y[known], f.predict(rows.X[known]), sensitive_features=rows.sensitive[known]
    )
    groups = rows.sensitive.where(rows.sensitive >= 0)
    rates = metrics.compare_groups(rows.y, f.predict(rows.X), sensitive_features=groups)["rate"]
    for code in (0, 2, 3):  # by code, though nobody has code 1
        assert frame.loc[f"positive_rate_{code}", "g"] == rates[code]
    assert np.isnan(frame.loc["positive_rate_1", "g"])


def test_weights_count():
    task, rows, f = held_out()
    weight = pd.Series(np.random.default_rng(1).integers(1, 4, len(rows.y)))
    again = weight.index.repeat(weight)
    repeated = SimpleNamespace(X=rows.X.loc[again], y=rows.y[again], sensitive=rows.sensitive[again], weight=None)
    weighted, found = evaluate(task, f, f, held_out(weight)[1])["g"], evaluate(task, f, f, repeated)["g"]
    chance = "calibration_within_groups"  # less what chance adds, and that is less among more people
    assert weighted[chance] < found[chance]
    pd.testing.assert_series_equal(weighted.drop(chance), found.drop(chance), rtol=0, atol=1e-9)


def test_one_group_only_is_told():
    task, rows, f = held_out()
    rows.sensitive = rows.sensitive.where(rows.sensitive == 0, -1)
    with pytest.raises(ValueError, match="one group only"):
        evaluate(task, f, f, rows)
