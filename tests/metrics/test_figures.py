"""Figures and criteria as they are declared: formats, directions, titles, and that no other module has its own."""

import math
import re

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame
from sklearn.metrics import precision_score

from commod.metrics import CRITERIA, FIGURES, Figure, compare_decisions
from commod.metrics.counts import counts_of_codes, tally
from commod.metrics.fairness import PPV
from commod.metrics.figures import figure_of, key_figures, key_figures_of, title_of
from commod.models.evaluation import figures_of
from tests.browsing import ROOT

pytestmark = pytest.mark.quick

SOURCES = [path for path in (ROOT / "commod").rglob("*.py") if path != ROOT / "commod/metrics/figures.py"]
# Names of figures and criteria that are compared with, in place of a question to the figure or the criterion.
COMPARED = re.compile(r'(==|!=) *"(demographic_parity|equalized_odds|p_rule|dm)"')


def rows(seed=0, n=300):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 2, n) for _ in range(4)]


def test_values_are_written_in_their_unit():
    accuracy, fair = FIGURES["accuracy"], FIGURES["dm"]
    assert (accuracy.show(0.7194), fair.show(0.5686)) == ("71.9%", "0.569")
    assert (accuracy.show_difference(-0.0123), fair.show_difference(0.1)) == ("−1.2 points", "+0.100")
    assert (accuracy.show_difference(-1e-5), fair.show_difference(-1e-5)) == ("+0.0 points", "+0.000")
    assert accuracy.show_interval(0.7, 0.75) == "[70.0, 75.0]"
    assert accuracy.show_interval(-0.01, 0.02, difference=True) == "[−1.0, +2.0]"
    assert fair.show_interval(0.1, 0.2) == "[0.100, 0.200]"


def test_titles_stand_in_sentences_and_in_little_room():
    assert [FIGURES[name].short_in_sentence for name in ("p_rule", "dm", "accuracy", "change_rate")] == [
        "P-Rule",
        "mistreatment",
        "accuracy",
        "changed",
    ]
    assert FIGURES["dm"].in_sentence == FIGURES["dm"].title.lower()
    assert FIGURES["p_rule"].axis_title == "P-Rule (1 is fair)"


def test_criteria_know_their_direction():
    parity, odds = CRITERIA["demographic_parity"], CRITERIA["equalized_odds"]
    values = np.array([0.1, 0.5, 0.9])
    assert parity.is_met(values, 0.5).tolist() == [False, True, True]
    assert odds.is_met(values, 0.5).tolist() == [True, True, False]
    assert odds.gain(values).tolist() == [-0.1, -0.5, -0.9]
    assert [criterion.share(0.25) for criterion in (parity, odds)] == [0.25, 0.75]
    assert odds.share(odds.share(0.25)) == 0.25
    assert (parity.wish(0.8), odds.wish(0.1)) == ("a P-Rule of 0.8 or more", "mistreatment of 0.1 or less")
    assert (parity.side, odds.side) == ("at least", "at most")
    for criterion in (parity, odds):
        assert criterion.is_met(float(criterion.figure.fair), criterion.nearly_fair)
        assert [figure.name for figure in criterion.key_figures] == ["accuracy", criterion.figure_name, "change_rate"]


def test_every_row_has_a_figure_and_a_title():
    y, f, g, s = rows()
    frame = compare_decisions(y, f, g, sensitive_features=s, n_bootstrap=10)
    titles = [title_of(row, ("old", "young"), ("no", "yes")) for row in frame.index]
    assert len(set(titles)) == len(frame)
    assert not [title for title in titles if "{" in title]
    assert titles[frame.index.get_loc("change_rate_1")] == "… changed: young"
    assert titles[frame.index.get_loc("lowered_rate")] == "… changed to “no”"
    with pytest.raises(KeyError, match="There is no figure 'p_rule_0'"):
        figure_of("p_rule_0")


def test_key_figures_are_those_of_the_report():
    y, f, g, s = rows(1)
    frame = compare_decisions(y, f, g, sensitive_features=s, n_bootstrap=10)
    found = key_figures_of(tally(y, {"f": f, "g": g}, s).counts)
    assert list(found) == [figure.name for figure in key_figures()]
    assert found == {name: frame.loc[name, "g"] for name in found}


def test_a_key_figure_that_needs_an_empty_cell_is_nan():
    found = key_figures_of(tally([0, 0, 1, 0], {"f": [1, 0, 1, 0], "g": [1, 1, 1, 0]}, [0, 0, 1, 1]).counts)
    assert math.isnan(found["dm"])
    assert (found["accuracy"], found["p_rule"], found["change_rate"]) == (0.5, 0.5, 0.25)


def test_a_figure_of_groups_cannot_be_a_key_figure():
    with pytest.raises(ValueError, match="one for each group"):
        Figure("rates", "Rates: {group}", "Rates.", lambda counts: counts, by_group="rates", key=True)


def test_figures_of_one_model_are_not_those_of_the_change():
    y, f, g, s = rows(2)
    found = figures_of(compare_decisions(y, f, g, sensitive_features=s, n_bootstrap=10), "g")
    assert not [name for name in found if figure_of(name)[0].of_change]


def test_no_other_module_has_a_table_of_titles_or_asks_for_a_name():
    """Titles, directions and formats are read from the declaration. The page of the paper quotes and selects."""
    texts = {path.relative_to(ROOT): path.read_text() for path in SOURCES if path.parts[-3:-1] != ("pages", "paper")}
    assert len(texts) > 100
    assert not [str(path) for path, text in texts.items() if FIGURES["dm"].title in text]
    asking = [str(path) for path, text in texts.items() if COMPARED.search(text)]
    assert not asking, "ask the figure or the criterion: direction, upward, by_label, …"


def test_predictive_parity_is_fairlearns_gap_of_precisions():
    y, f, g, s = rows(3)
    found = compare_decisions(y, f, g, sensitive_features=s).loc["predictive_parity_difference"]
    for name, decided in (("f", f), ("g", g)):
        precision = MetricFrame(metrics=precision_score, y_true=y, y_pred=decided, sensitive_features=s)
        assert found[name] == pytest.approx(precision.difference())
        assert found[f"{name}_low"] <= found[name] <= found[f"{name}_high"]


def test_predictive_values_are_precisions():
    y, _, g, s = rows(6)
    counts = counts_of_codes(s, 2, y, g)
    expected = [precision_score(y[s == group], g[s == group]) for group in (0, 1)]
    np.testing.assert_allclose(PPV.rates(counts), expected)


def test_predictive_parity_is_left_out_where_a_group_has_no_positive_decision():
    y, f, g, s = rows(3)
    assert "predictive_parity_difference" not in compare_decisions(y, f, g * s, sensitive_features=s).index
    assert "predictive_parity_difference" not in compare_decisions(y, f * s, g, sensitive_features=s).index
    assert math.isnan(FIGURES["predictive_parity_difference"].of_decisions(s, 2, y, g * s))
