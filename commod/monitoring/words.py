"""What became of a model on a later batch, in sentences."""

from __future__ import annotations

from typing import Any

import pandas as pd

from commod.metrics.figures import CRITERIA, FIGURES, Figure
from commod.monitoring.watch import Watched
from commod.uploads.limits import count_of

__all__ = ["headline", "left_out_in_words", "moved_in_words"]


def headline(found: Watched) -> str:
    """Whether it still holds, by the figure that the model was trained for.

    Where the batch does not tell that one, by the share of decisions changed.
    """
    criterion = CRITERIA.get(found.about["fairness"], next(iter(CRITERIA.values())))
    rows = found.figures.set_index(["figure", "model"])
    key = (criterion.figure_name, "g")
    figure, row = (criterion.figure, rows.loc[key]) if key in rows.index else _changes(rows)
    told = "the share of changed decisions" if figure.of_change else f"the {figure.in_sentence}"
    if not figure.of_change and not figure.in_sentence[1:2].isupper() and "-" not in figure.in_sentence:
        told = figure.in_sentence  # disparate mistreatment
    now, then = figure.show(row["new"]), figure.show(row["old"])
    interval = f"{figure.show(row['new_low'])}–{figure.show(row['new_high'])}".replace("%", "", 1)
    people = count_of(found.people, "new person", "new people")
    return f"On {people} {told} is {now} ({interval}); it was {then}: {difference_in_words(figure, row)}"


def _changes(rows: pd.DataFrame) -> tuple[Figure, Any]:
    figure = next(figure for figure in FIGURES.values() if figure.of_change and figure.key)
    return figure, rows.loc[(figure.name, "change")]


def difference_in_words(figure: Figure, row: Any) -> str:
    """By how much a value moved, and whether chance explains it."""
    by = figure.show_difference(abs(row["difference"])).lstrip("+")
    if not row["moved"]:
        low, high = (figure.show_difference(row[end]) for end in ("low", "high"))
        return f"chance may explain the difference ({low.removesuffix(' points')} to {high})."
    return f"{'higher' if row['difference'] > 0 else 'lower'} by {by}, more than chance explains."


def moved_in_words(found: Watched) -> str:
    """How many figures moved, beside how many would by chance, and how many columns drifted."""
    moved, total = int(found.figures["moved"].sum()), len(found.figures)
    drifted = int((found.drift["drift"] != "stable").sum())
    return (
        f"{moved} of {total} figures moved more than chance explains; of so many that stay, about {0.05 * total:.0f} "
        f"would. {drifted or 'None'} of {len(found.drift)} columns and scores {'is' if drifted == 1 else 'are'} spread "
        "otherwise than they were."
    )


def left_out_in_words(found: Watched) -> str:
    """Who of the batch is not counted, and why; empty if all are."""
    if not found.left_out:
        return ""
    reasons = ", ".join(f"{count:,} ({why})" for why, count in found.left_out.items())
    return f"Left out of {found.people + sum(found.left_out.values()):,} rows: {reasons}."
