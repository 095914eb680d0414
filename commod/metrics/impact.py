"""Impact ratios as audits in the United States count them: every person once, of the favourable decision."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

# A category with a smaller share of the people is printed, but not compared (6 RCNY § 5-301(d)).
LEAST_SHARE = 0.02


def impact_table(codes: Any, groups: Sequence[str], selected: Any) -> pd.DataFrame:
    """People, those selected, their rate, and its ratio to the highest rate, by group.

    Parameters
    ----------
    codes : array of int
        The place of each person's group; -1, who is in no row, where it is not known.
    groups : sequence of str
    selected : array of bool

    Returns
    -------
    DataFrame
        Columns ``applicants, selected, rate, ratio``; the ratio is NaN for categories of less than 2 % of the people,
        whose rates are not among those compared either.
    """
    codes, chosen = np.asarray(codes), np.asarray(selected, dtype=bool)
    people, taken = (np.bincount(codes[(codes >= 0) & here], minlength=len(groups)) for here in (True, chosen))
    rate = np.divide(taken, people, out=np.full(len(groups), np.nan), where=people > 0)
    compared = people >= max(1.0, LEAST_SHARE * people.sum())
    highest = rate[compared].max() if compared.any() else np.nan
    ratio = np.where(compared & (highest > 0), rate / (highest or np.nan), np.nan)
    return pd.DataFrame(
        {"applicants": people, "selected": taken, "rate": rate, "ratio": ratio}, index=pd.Index(groups, name="group")
    )


class AdverseImpact(NamedTuple):
    """The lowest rate of the favourable decision beside the highest."""

    ratio: float
    p_value: float  # of Fisher's exact test, times the number of pairs from which this one was picked
    lowest: str
    highest: str


def adverse_impact(table: pd.DataFrame) -> AdverseImpact | None:
    """The adverse impact ratio of an `impact_table`, with Fisher's exact test; None where nothing can be compared."""
    found = table[table["ratio"].notna()]
    if len(found) < 2:
        return None
    low, high = found.loc[found["rate"].idxmin()], found.loc[found["rate"].idxmax()]
    counts = [[row["selected"], row["applicants"] - row["selected"]] for row in (low, high)]
    pairs = math.comb(len(found), 2)
    p_value = min(1.0, pairs * float(fisher_exact(np.array(counts, dtype=int)).pvalue))
    return AdverseImpact(float(low["ratio"]), p_value, str(low.name), str(high.name))
