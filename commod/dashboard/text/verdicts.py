"""One fit in one sentence, and the words for changes that favour a person and for those that do not."""

from functools import partial
from typing import Any

import pandas as pd

from commod.dashboard.text.language import FIRST, declared, phrase
from commod.datasets import TaskSpec
from commod.metrics import compared_groups
from commod.metrics.figures import CRITERIA

# By direction, what else is asked of the changes than that they are few.
ONE_WAY = {"both": "", "improve": " and no better decision taken away", "worsen": " and no better decision given"}


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
    lambda_fair: float,
    at_end: bool = False,
    smallest_ratio: float | None = None,
    alike: bool = False,
    movable: bool = True,
    language: str = FIRST,
) -> str:
    """The picture in one sentence, honest about noise.

    `fairness`: the criterion. `figures`, `changes`, `record`: of `compare_decisions`, of `change_table` and of
    `explain_record`, on test. `at_end`: whether λ_fair cannot be moved any further. `movable`: whether the reader can
    move it at all. `smallest_ratio`: the smallest r on test: told while no decision changes. None where a shift decides
    about that, too. `alike`: whether f treats the groups alike, as far as can be told.
    """
    say = partial(phrase, language)
    criterion, people = CRITERIA[fairness], declared(language, spec.people)
    row, accuracy = figures.loc[criterion.figure_name], figures.loc["accuracy"]
    figure = declared(language, criterion.figure.title)
    changed, total = int(changes["changed"].sum()), int(changes["count"].sum())
    move_on = f" {say('verdict.move_on')}" if movable else ""
    about = {"figure": figure, "f": row["f"], "fair": criterion.figure.fair}
    if changed == 0 and alike:
        return say("verdict.fair_already", total=total, people=people, **about)
    if changed == 0 and lambda_fair == 0:
        return say("verdict.is_f", **about) + move_on
    if changed == 0:
        told = say("verdict.nobody_at_end", total=total, people=people)
        if not at_end:
            told = say("verdict.nobody_yet", total=total, people=people) + move_on
        return told if smallest_ratio is None else f"{told} {say('verdict.smallest_ratio', ratio=smallest_ratio)}"
    values = {"f": row["f"], "g": row["g"]}
    if row["difference_low"] <= 0 <= row["difference_high"]:
        moved = say("verdict.may_be_chance", total=total, people=people, **values)
    else:
        moved = say("verdict.improves" if criterion.gain(row["difference"]) > 0 else "verdict.worsens", **values)
    cost = 100 * accuracy["difference"]
    price = say("verdict.lost" if cost < 0 else "verdict.gained", points=abs(cost))
    if accuracy["difference_low"] <= 0 <= accuracy["difference_high"]:
        price = say("verdict.price_may_be_chance", price=price)
    (_, better_off), (_, worse_off) = directions(spec)
    return say(
        "verdict.changed",
        figure=figure,
        fair=criterion.figure.fair,
        moved=moved,
        changed=changed,
        total=total,
        price=price,
        people=people,
        helped=int(changes[better_off].sum()),
        helped_rightly=rightly(spec, record, True, language),
        harmed=int(changes[worse_off].sum()),
        harmed_rightly=rightly(spec, record, False, language),
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


def rightly(spec: TaskSpec, record: pd.DataFrame, better: bool, language: str = FIRST) -> str:
    """How many of the changes in one direction the record agrees with, where there is one."""
    rows = record[record["better"] == better]
    if not rows["count"].sum():
        return ""
    outcome = declared(language, spec.outcomes[spec.favourable if better else 1 - spec.favourable])
    return phrase(language, "verdict.rightly", right=int(rows["right"].sum()), outcome=outcome)
