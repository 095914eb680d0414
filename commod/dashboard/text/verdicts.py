"""One fit in one sentence, and the words for changes that favour a person and for those that do not."""

from __future__ import annotations

from typing import Any

import pandas as pd

from commod.datasets import TaskSpec
from commod.metrics import compared_groups
from commod.metrics.figures import CRITERIA

# By direction, what else is asked of the changes than that they are few.
ONE_WAY = {"both": "", "improve": " and no better decision taken away", "worsen": " and no better decision given"}


# Said where nothing changes however strong λ_fair is.
AT_END = "λ_fair is at its end: try an update that may also shift, or another method on the page Compare."


def directions(spec: TaskSpec) -> tuple[tuple[str, str], tuple[str, str]]:
    """Words and column of the changes that favour a person, and of those that do not."""
    names = ("lowered", "raised")
    good, bad = spec.favourable, 1 - spec.favourable
    return (
        (f"better: now “{spec.outcomes[good]}”", names[good]),
        (f"worse: now “{spec.outcomes[bad]}”", names[bad]),
    )


def changes_by_direction(spec: TaskSpec, changes: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of `plot_changes`, one for each group and direction, the favourable one first; ``name`` is the group's.

    Two groups stand in their order, more by the share that changed, the largest first.
    """
    rows = []
    if len(changes) > 2:
        changes = changes.sort_values("change_rate", ascending=False, kind="stable")
    compared = compared_groups(changes["count"])
    for rank, (code, row) in enumerate(changes.to_dict("index").items()):
        name, few = spec.groups[int(code)], "" if compared[rank] else ", few"
        group = {"name": name, "group": f"{name}|{row['changed']:,.0f} of {row['count']:,.0f}{few}", "rank": rank}
        for place, (label, part) in enumerate(directions(spec)):
            share = row[f"{part}_rate"]
            rows.append({**group, "direction": label, "count": int(row[part]), "share": share, "place": place})
    return rows


def verdict(
    spec: TaskSpec,
    fairness: str,
    figures: pd.DataFrame,
    changes: pd.DataFrame,
    record: pd.DataFrame,
    *,
    smallest_ratio: float | None,
    at_end: bool = False,
) -> str:
    """The picture in one sentence, honest about noise.

    Parameters
    ----------
    spec : TaskSpec
    fairness : str
        The criterion.
    figures, changes, record : DataFrame
        Of `compare_decisions`, of `change_table` and of `explain_record`, on test.
    smallest_ratio : float or None
        The smallest r on test: told while no decision changes. None where a shift decides about that, too.
    at_end : bool
        Whether λ_fair cannot be moved any further.
    """
    criterion, people = CRITERIA[fairness], spec.people
    row, accuracy = figures.loc[criterion.figure_name], figures.loc["accuracy"]
    changed, total = int(changes["changed"].sum()), int(changes["count"].sum())
    if changed == 0:
        why = f"none of the scores of {total:,} {people} crosses the cut-off"
        if smallest_ratio is not None:
            why = (
                f"the smallest ratio r among {total:,} {people} is {smallest_ratio:.2f}, and a decision changes where "
                "r falls below 0"
            )
        return (
            f"No decision changes{'' if at_end else ' yet'}: {why}. {AT_END if at_end else 'Move λ_fair to the right.'}"
        )
    if row["difference_low"] <= 0 <= row["difference_high"]:
        moved = f"moves from {row['f']:.2f} to {row['g']:.2f}, a difference that may be chance on {total:,} {people},"
    else:
        better = criterion.gain(row["difference"]) > 0
        moved = f"{'improves' if better else 'worsens'} from {row['f']:.2f} to {row['g']:.2f}"
    cost = 100 * accuracy["difference"]
    price = f"{abs(cost):.1f} points of accuracy {'lost' if cost < 0 else 'gained'}"
    if accuracy["difference_low"] <= 0 <= accuracy["difference_high"]:
        price += ", which may be chance"
    (_, better_off), (_, worse_off) = directions(spec)
    helped, harmed = int(changes[better_off].sum()), int(changes[worse_off].sum())
    return (
        f"{criterion.figure.title} {moved} by changing {changed:,} of {total:,} decisions, with {price}: "
        f"{helped:,} {people} get the better decision{rightly(record, True)}, {harmed:,} the worse one"
        f"{rightly(record, False)}."
    )


def cost_of_limits(
    spec: TaskSpec, fairness: str, here: tuple[pd.DataFrame, pd.DataFrame], free: tuple[pd.DataFrame, pd.DataFrame]
) -> str:
    """What the same sliders give where the update is not limited; `here` and `free` are figures and changes."""
    parts = []
    for figure in CRITERIA[fairness].key_figures:
        if figure.name in here[0].index:
            values = [figure.show(figures.loc[figure.name, "g"]) for figures, _ in (free, here)]
            parts.append(f"{figure.short_in_sentence} {values[0]} (here {values[1]})")
    for word, (_, column) in zip(("better", "worse"), directions(spec), strict=True):
        counts = [int(changes[column].sum()) for _, changes in (free, here)]
        parts.append(f"{counts[0]:,} {spec.people} who get the {word} decision (here {counts[1]:,})")
    if not any(changes["changed"].sum() for _, changes in (free, here)):
        return "No decision changes at this setting, limited or not."
    return f"Not limited, the same sliders give {', '.join(parts)}."


def score_in_words(score: float) -> str:
    """A score in percent; never 0 or 100, which no model gives."""
    return "<0.1%" if score < 0.0005 else ">99.9%" if score > 0.9995 else f"{score:.1%}"


def rightly(record: pd.DataFrame, better: bool) -> str:
    """How many of the changes in one direction the record agrees with, where there is one."""
    rows = record[record["better"] == better]
    if not rows["count"].sum():
        return ""
    return f" (by the record {rows['right'].sum():,} of them rightly)"
