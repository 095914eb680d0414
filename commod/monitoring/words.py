"""What became of a model on a later batch, in sentences."""

from typing import Any

from commod.metrics.figures import CRITERIA, FIGURES, Figure
from commod.monitoring.watch import Watched
from commod.uploads.limits import count_of, short


def main_figure(found: Watched) -> tuple[Figure, Any]:
    """The figure that the model was trained for, and its row; where the batch does not tell it, the share changed."""
    criterion = CRITERIA.get(found.about["fairness"], next(iter(CRITERIA.values())))
    rows = found.figures.set_index(["figure", "model"])
    if (criterion.figure_name, "g") in rows.index:
        return criterion.figure, rows.loc[(criterion.figure_name, "g")]
    figure = next(figure for figure in FIGURES.values() if figure.of_change and figure.key)
    return figure, rows.loc[(figure.name, "change")]


def figure_in_words(figure: Figure) -> str:
    """Its name as the subject of a sentence."""
    if figure.of_change:
        return "the share of changed decisions"
    is_name = figure.in_sentence[1:2].isupper() or "-" in figure.in_sentence
    return f"the {figure.in_sentence}" if is_name else figure.in_sentence  # disparate mistreatment


def headline(found: Watched) -> str:
    """What became of the figure that the model was trained for.

    Where the batch does not tell that one, of the share of decisions changed.
    """
    figure, row = main_figure(found)
    now, then = figure.show(row["new"]), figure.show(row["old"])
    interval = f"{figure.show(row['new_low'])} to {figure.show(row['new_high'])}".replace("%", "", 1)
    people, told = count_of(found.people, "new person", "new people"), figure_in_words(figure)
    return f"On {people} {told} is {now} ({interval}); it was {then}: {difference_in_words(figure, row)}"


def difference_in_words(figure: Figure, row: Any) -> str:
    """By how much a value moved, and whether chance explains it."""
    by = figure.show_difference(abs(row["difference"])).lstrip("+")
    if not row["moved"]:
        low, high = (figure.show_difference(row[end]) for end in ("low", "high"))
        return f"chance may explain the difference ({low.removesuffix(' points')} to {high})."
    return f"{'higher' if row['difference'] > 0 else 'lower'} by {by}, more than chance explains."


def moved_in_words(found: Watched) -> str:
    """How many figures moved, beside how many would by chance, and which columns are not as they were."""
    moved, total = int(found.figures["moved"].sum()), len(found.figures)
    return (
        f"{moved} of {count_of(total, 'figure')} moved more than chance explains; 1 in 20 (about {0.05 * total:.0f}) "
        f"would by chance alone. {drift_in_words(found)}"
    )


def drift_in_words(found: Watched) -> str:
    """How many columns are distributed otherwise than they were, and what values nobody had."""
    drifted, total = int((found.drift["drift"] != "stable").sum()), len(found.drift)
    verb = "is" if drifted == 1 else "are"
    told = f"{drifted or 'None'} of the {total} columns and scores {verb} distributed differently than before."
    unseen = found.drift[found.drift["unseen"] > 0]
    if unseen.empty:
        return told
    names = ", ".join(f"“{short(name)}”" for name in unseen["column"].head(3)) + (" …" if len(unseen) > 3 else "")
    most = int(unseen["unseen"].max())
    people = count_of(most, "person has a value", "people have values")
    some = people if len(unseen) == 1 else f"up to {people}"
    return f"{told} In {names} {some} that nobody had when the model was tested."


def left_out_in_words(found: Watched) -> str:
    """Who of the batch is not counted, and why; empty if all are."""
    if not found.left_out:
        return ""
    reasons = ", ".join(f"{count:,} ({why})" for why, count in found.left_out.items())
    return f"Left out of {found.people + sum(found.left_out.values()):,} rows: {reasons}."
