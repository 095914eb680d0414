import pandas as pd
import pytest

from commod.experiments.segments import (
    OWN_ADV_DEBIAS,
    OWN_ALL,
    PAPER_SEGMENTS,
    Segments,
    cell_table,
    in_segments,
    mark_fewest,
    mark_frontiers,
    quartiles_of,
    segments_of,
)

pytestmark = pytest.mark.quick

DP, EO = "demographic_parity", "equalized_odds"


def points(**columns):
    return pd.DataFrame({"method": "commod", "change_rate": 0.1, "p_rule": 0.0, "dm": 0.0, "accuracy": 0.7} | columns)


def test_a_value_on_a_cut_belongs_to_the_fairer_segment():
    cuts = PAPER_SEGMENTS["law_school", DP][0]
    found = in_segments(points(p_rule=[0.0, 0.5586, 0.5587, 0.7212, 0.8718, 0.8719, 1.0]), cuts, DP)
    assert found["fairness_q"].tolist() == [1, 1, 2, 3, 3, 4, 4]
    cuts = PAPER_SEGMENTS["compas", EO][0]
    found = in_segments(points(dm=[0.3, 0.2199, 0.2198, 0.2079, 0.19, 0.1869, 0.0]), cuts, EO)
    assert found["fairness_q"].tolist() == [1, 1, 2, 3, 3, 4, 4]
    found = in_segments(points(accuracy=[0.62, 0.6242, 0.6391, 0.66]), cuts, EO)
    assert found["accuracy_q"].tolist() == [1, 2, 3, 4]


def test_ranges_in_words():
    cuts = PAPER_SEGMENTS["law_school", DP][0]
    assert [cuts.fairness_range(q, DP) for q in (1, 2, 3, 4)] == [
        "below 0.56",
        "0.56–0.72",
        "0.72–0.87",
        "0.87 and above",
    ]
    cuts = PAPER_SEGMENTS["law_school", EO][0]
    assert [cuts.fairness_range(q, EO) for q in (1, 2, 4)] == ["above 0.34", "0.34–0.24", "0.15 and below"]


@pytest.mark.parametrize("criterion", [DP, EO])
def test_quartiles_part_their_own_points_into_quarters(criterion):
    column = "p_rule" if criterion == DP else "dm"
    frame = points(**{column: [i / 40 for i in range(40)], "accuracy": [0.9 - i / 100 for i in range(40)]})
    cuts = quartiles_of(frame, criterion, "here")
    found = in_segments(frame, cuts, criterion)
    assert found["fairness_q"].value_counts().tolist() == [10, 10, 10, 10]
    assert found["accuracy_q"].value_counts().tolist() == [10, 10, 10, 10]
    fairest = frame[column].max() if criterion == DP else frame[column].min()
    assert found.loc[frame[column] == fairest, "fairness_q"].item() == 4


def test_cells_are_means():
    frame = pd.DataFrame(
        [("commod", 1, 2, 0.1), ("commod", 1, 2, 0.3), ("lpp", 1, 2, 0.5)],
        columns=["method", "fairness_q", "accuracy_q", "change_rate"],
    )
    cells = cell_table(frame).set_index("method")
    assert cells.loc["commod", "change_rate"] == pytest.approx(0.2)
    assert cells["models"].to_dict() == {"commod": 2, "lpp": 1}


def test_the_paper_prints_rising_cuts():
    for (_, criterion), definitions in PAPER_SEGMENTS.items():
        for cuts in definitions:
            sign = 1 if criterion == DP else -1
            assert sorted(cuts.fairness, key=lambda cut: sign * cut) == list(cuts.fairness)
            assert sorted(cuts.accuracy) == list(cuts.accuracy)


def test_segments_in_words():
    cuts = PAPER_SEGMENTS["law_school", EO][0]
    assert cuts.titles(EO)[1] == "Q2: Mistreatment 0.34–0.24"
    assert cuts.in_words((2, 4), EO) == "Mistreatment 0.34–0.24, accuracy 75.8% and above"
    near = Segments((0.5024, 0.5011, 0.41), (0.6, 0.7, 0.8), "")
    assert near.fairness_range(2, EO) == "0.5024–0.5011"


def test_segments_are_cut_as_printed_or_by_the_models_at_hand():
    frame = points(method=["commod"] * 4 + ["adv_debias"] * 4, p_rule=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    assert segments_of("compas", DP, frame) is PAPER_SEGMENTS["compas", DP][0]
    assert segments_of("german", DP, frame) == quartiles_of(frame.iloc[4:], DP, OWN_ADV_DEBIAS)
    assert segments_of("german", DP, frame.iloc[:4]) == quartiles_of(frame.iloc[:4], DP, OWN_ALL)


def test_a_frontier_is_of_a_method():
    frame = points(
        method=["commod", "commod", "commod", "lpp"], change_rate=[0.1, 0.2, 0.2, 0.3], accuracy=[0.7, 0.7, 0.8, 0.6]
    )
    assert mark_frontiers(frame, frame["accuracy"])["best"].tolist() == [True, False, True, True]


def test_fewest_changes_are_those_of_methods_that_need_no_group():
    cells = pd.DataFrame(
        {
            "method": ["commod", "lpp", "oracle_lpp", "commod", "oracle_lpp"],
            "fairness_q": [1, 1, 1, 2, 2],
            "accuracy_q": 1,
            "change_rate": [0.2, 0.3, 0.1, 0.2, 0.1],
        }
    )
    found = mark_fewest(cells)
    assert found["blind"].tolist() == [True, True, False, True, False]
    assert found["contested"].tolist() == [True, True, True, False, False]
    assert found["fewest"].tolist() == [True, False, False, False, False]
