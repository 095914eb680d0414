"""Which groups the worst-case figures compare: those with enough people, by one rule that is stated."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Beside nine groups of 500 people, all with the same true rate of 0.3, a group of 99 has the smallest or the largest
# rate in every second sample; one of 49, in two of three.
MIN_GROUP = 100
# Enough where fewer than two groups have as many as that; where fewer than two have these, any number is.
SCARCE = 30


def least_people(rows: Any) -> int:
    """How many rows a group must have to count in the extremes, from those that each group has."""
    sizes = np.asarray(rows)
    return next((least for least in (MIN_GROUP, SCARCE, 1) if (sizes >= least).sum() >= 2), 0)


def compared_groups(rows: Any) -> NDArray[np.bool_]:
    """Which groups count in the extremes (P-Rule, largest differences, DM), from the rows that each has.

    Those with `MIN_GROUP` rows or more, if there are two such; else those with `SCARCE` or more, if there are two; else
    all that have rows. So of two groups none is ever left out. Rows are people who were seen, whatever weight each has:
    a weight makes nobody's rate surer.
    """
    return np.asarray(np.asarray(rows) >= least_people(rows))


def left_out_in_words(names: Sequence[Any], sizes: Any) -> str:
    """Which groups the extremes leave out and why, in a sentence or two; empty if none.

    Parameters
    ----------
    names, sizes : of all groups, in the same order
        Sizes in rows, of the people that the figures are measured on.
    """
    kept = compared_groups(sizes)
    out = [(name, int(size)) for name, size, has in zip(names, sizes, kept, strict=True) if not has]
    if not out:
        return ""
    shown = ", ".join(f"{name} ({size:,} {'person' if size == 1 else 'people'})" for name, size in out)
    of_them = "Its rate is" if len(out) == 1 else "Their rates are"
    return (
        f"P-Rule and differences of groups compare {int(kept.sum())} of {len(kept)} groups and leave out {shown}: of "
        f"fewer than {least_people(sizes)} people, chance alone can make a rate the smallest or the largest. {of_them} "
        "shown with an interval."
    )
