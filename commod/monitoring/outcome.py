"""The bottom line of a later look: still true, not any more, or cannot tell, and why in a sentence."""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.decisions.facts import CONFIDENCE
from commod.decisions.verdicts import SETTLES
from commod.metrics.small_groups import SCARCE
from commod.monitoring.watch import Watched
from commod.monitoring.words import figure_in_words, main_figure
from commod.uploads.limits import count_of
from commod.wording import with_capital

# Where nothing is required: a difference of the main figure that must not go unseen for "still true", 10 points.
SEEN = 0.1
# Figures that are named, of those that moved.
NAMED = 3
# The reach of an interval, times this, is a difference that is seen in four cases of five.
REVEALED = float(1 + ndtri(SETTLES) / ndtri(0.5 + CONFIDENCE / 2))


class Outcome(NamedTuple):
    """Whether what was found of a model is still true.

    Attributes
    ----------
    kind : {"holds", "broken", "unknown"}
    title : str
        "Still true", "Not any more" or "Cannot tell"; where something failed already before: "Not true, as before".
    why : str
        In a sentence.
    """

    kind: Literal["holds", "broken", "unknown"]
    title: str
    why: str


def outcome_of(found: Watched, checked: pd.DataFrame, *, other_model: str = "") -> Outcome:
    """The bottom line.

    Parameters
    ----------
    found : Watched
    checked : DataFrame
        From `check_then_and_now`; where nothing is required, an empty one: then it is told by what moved.
    other_model : str
        Why the model is not the one that was decided for, if it is not: nothing can then be said of that one.
    """
    if other_model:
        return Outcome("unknown", "Cannot tell", other_model)
    return _by_requirements(checked) if len(checked) else _by_what_moved(found)


def _by_requirements(checked: pd.DataFrame) -> Outcome:
    failing = checked[checked["verdict"] == "fail"]
    if len(broke := failing[failing["broke"]]):
        rest = len(failing) - len(broke)
        before = f" {count_of(rest, 'other')} failed already before." if rest else ""
        return Outcome("broken", "Not any more", f"{_named(broke)}.{before}")
    if len(failing):
        return Outcome("broken", "Not true, as before", f"{_named(failing)}.")
    count, unknown = count_of(len(checked), "requirement"), checked[checked["verdict"] == "cannot tell"]
    if len(unknown):
        told = f"None of {count} fails, but {len(unknown)} cannot be told. " if len(checked) > 1 else ""
        return Outcome("unknown", "Cannot tell", told + " ".join(unknown["sentence"]))
    held = int((checked["verdict"] == "pass").sum())
    if not held:
        return Outcome("unknown", "Cannot tell", "Nothing that is required applies to these people.")
    beside = "" if held == len(checked) else "; the rest does not apply"
    of = "the requirement holds" if len(checked) == 1 else f"{held} of {count} hold"
    near = (checked["verdict"] == "pass") & (checked["low"] < checked["limit"]) & (checked["limit"] < checked["high"])
    return Outcome("holds", "Still true", " ".join([f"On these people {of}{beside}.", *checked.loc[near, "sentence"]]))


def _named(rows: pd.DataFrame) -> str:
    return "; ".join(f"{row.wanted}: {row.became}" for row in rows.itertuples())


def _by_what_moved(found: Watched) -> Outcome:
    figure, row = main_figure(found)
    name, figures = figure_in_words(figure), found.figures
    moved, far = int(figures["moved"].sum()), figures[far_beyond_chance(figures)]
    counted = (
        f"Of {count_of(len(figures), 'figure')} compared, {moved} moved more than chance explains; 1 in 20 (about "
        f"{0.05 * len(figures):.0f}) would by chance alone"
    )
    worse = row["difference"] - row["low"] if figure.direction > 0 else row["high"] - row["difference"]
    way, seen = "lower" if figure.direction > 0 else "higher", figure.show_difference(worse * REVEALED).lstrip("+−")
    people = count_of(found.people, "new person", "new people")
    revealed = f"{people} would have revealed that it is {way} by {seen} in 4 cases of 5, but not by less"
    stayed = f"{with_capital(name)} did not move more than chance explains"
    if len(small := _too_small(found)):
        few = ", ".join(f"{group} ({count_of(people, 'person', 'people')})" for group, people in small.items())
        told = (
            f"There are too few new people of {few}: a group is compared from {SCARCE} people on. {with_capital(name)}"
        )
        return Outcome("unknown", "Cannot tell", f"{told}: {revealed}. {counted}.")
    if row["moved"]:
        return Outcome("broken", "Not any more", f"{with_capital(name)} moved more than chance explains.")
    if len(far):
        told = f"{len(far)} of {count_of(len(figures), 'figure')} moved too far for chance, even with so many compared"
        return Outcome("broken", "Not any more", f"{stayed}, but {told}: {_largest(far)}.")
    if worse - figure.direction * row["difference"] > SEEN:
        return Outcome("unknown", "Cannot tell", f"{stayed}. {revealed}. {counted}.")
    return Outcome("holds", "Still true", f"{stayed}. {counted}.")


def _largest(figures: pd.DataFrame) -> str:
    """The figures that moved furthest, as their intervals measure it, and where to."""
    reach = (figures["high"] - figures["low"]).clip(lower=1e-12)
    first = figures.loc[(figures["difference"].abs() / reach).sort_values(ascending=False, kind="stable").index[:NAMED]]
    told = [
        f"{row.title.removeprefix('… ')}{' of f' * (row.model == 'f')} ({row.old:.3f} to {row.new:.3f})"
        for row in first.itertuples()
    ]
    return ", ".join(told) + (" and others" if len(figures) > NAMED else "")


def _too_small(found: Watched) -> dict[str, int]:
    """New people of each group that has too few of them to be compared."""
    if found.who.empty:
        return {}
    sizes = found.who.groupby("group", sort=False)["new_people"].max()
    return {str(group): int(people) for group, people in sizes.items() if people < SCARCE}


def far_beyond_chance(figures: pd.DataFrame) -> pd.Series:
    """Which figures moved so far that chance does not explain it among so many (Bonferroni).

    The reach of an interval towards 0 is stretched from 1.96 standard errors to as many as their number asks for.
    """
    z = float(ndtri(0.5 + CONFIDENCE / 2))
    most = float(-ndtri((1 - CONFIDENCE) / 2 / max(len(figures), 1)))
    difference = figures["difference"]
    reach = np.where(difference > 0, difference - figures["low"], figures["high"] - difference)
    return figures["moved"] & (difference.abs() > reach * most / z)
