"""What is said of a table of change rates is what is in it."""

import pandas as pd

from commod.dashboard.views.points import lead_in_words
from commod.experiments.segments import mark_fewest


def cells(*rows, **more):
    """Cells of (method, fairness quarter, accuracy quarter, change rate, models)."""
    names = ["method", "fairness_q", "accuracy_q", "change_rate", "models"]
    return mark_fewest(pd.DataFrame(rows, columns=names).assign(**more))


def test_where_commod_does_not_change_fewest_is_named():
    told = lead_in_words(
        cells(
            ("commod", 2, 3, 0.08, 9),
            ("lpp", 2, 3, 0.12, 5),
            ("commod", 4, 2, 0.15, 4),
            ("bayes", 4, 2, 0.124, 2),
            ("oracle_lpp", 4, 2, 0.01, 2),  # is told the group: out of this contest
            ("lpp", 4, 3, 0.2, 1),
            splits=[5, 4, 3, 2, 5, 1],
        )
    )
    assert told == (
        "Among the methods that need no group, COMMOD changes fewest in **1 of 2** cells that it shares with another; "
        "in 1 cell only others have a model. It does not in Q4 fairness, Q2 accuracy (Bayes rule 12.4% against 15.0%, "
        "on 2 and 3 splits)."
    )


def test_on_one_split_no_splits_are_told():
    told = lead_in_words(cells(("commod", 4, 3, 0.08, 9), ("lpp", 4, 3, 0.07, 5)))
    assert told.endswith("It does not in Q4 fairness, Q3 accuracy (LPP 7.0% against 8.0%).")


def test_the_fairest_quarter_without_commod_is_named_with_those_who_reach_it():
    told = lead_in_words(
        cells(
            ("commod", 2, 3, 0.08, 9),
            ("lpp", 2, 3, 0.12, 5),
            ("frappe", 4, 1, 0.2, 20),
            ("frappe", 4, 2, 0.3, 7),
            ("lpp", 4, 2, 0.3, 25),
            ("oracle_lpp", 4, 2, 0.3, 25),
        )
    )
    assert "fewest in **1 of 1** cells" in told
    assert told.endswith(
        "**No COMMOD model reaches the fairest quarter (Q4).** Others do: FRAPPE (27 models), LPP (25 models)."
    )
    told = lead_in_words(cells(("commod", 2, 3, 0.08, 9), ("lpp", 2, 3, 0.12, 5)))
    assert told.endswith("**No COMMOD model reaches the fairest quarter (Q4).** Nor does another.")
