"""Whether the record agrees with the changes, and how sure f was of what is changed: two pictures."""

import pandas as pd

from commod.charts.sense import CHANGED, EVERYONE, RIGHT_BEFORE, RIGHT_NOW, plot_certainty, plot_record
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.verdicts import directions
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table
from commod.dashboard.views.words import say_declared, tip
from commod.explain.sense import explain_certainty

RECORD = Table(
    "By the record, as a table",
    "record_table",
    {
        "group": ("Group", ""),
        "direction": ("Changed", ""),
        "count": ("People", ","),
        "right": ("g right by the record", ","),
        "wrong": ("f was right", ","),
        "share": ("Rightly changed", ".1%"),
        "low": ("95 % from", ".1%"),
        "high": ("to", ".1%"),
        "expected": ("Expected by f", ".1%"),
    },
)
CERTAINTY = Table(
    "How sure f was, as a table",
    "certainty_table",
    {
        "class": ("f was sure (%)", ""),
        "everyone": ("Everyone (people)", ","),
        "share_everyone": ("Share", ".1%"),
        "changed": ("Changed (people)", ","),
        "share_changed": ("Share of the changed", ".1%"),
    },
)


def draw_record(result: FitResult) -> None:
    """Changed people by group and direction, and whether the record agrees with g or with f."""
    words = {True: directions(result.task.spec)[0][0], False: directions(result.task.spec)[1][0]}
    named = result.record["group"].map(say_declared)
    frame = result.record.assign(group=named, direction=result.record["better"].map(words).map(say_declared))
    shown = frame[frame["count"] > 0].reset_index(drop=True)
    if result.has_many_groups:
        shown = shown.sort_values("count", ascending=False, kind="stable")
    bars = []
    for rank, row in enumerate(shown.to_dict("records")):
        for place, (who, part) in enumerate(
            ((say_declared(RIGHT_NOW), "right"), (say_declared(RIGHT_BEFORE), "wrong"))
        ):
            name = f"{row['group']}, {row['direction']} ({say_declared(format(row['count'], ','))})"
            share = row[part] / row["count"]
            bars.append({"name": name, "rank": rank, "who": who, "place": place, "people": row[part], "share": share})
    draw(
        plot_record,
        pd.DataFrame(bars),
        alt="Changed people by group and direction, and whether g or f agrees with the record.",
        table=Table(RECORD.title, RECORD.key, RECORD.columns, lambda: frame),
        caption=f"On test. A decision has two values, so of those changed either f or g agrees with the record. "
        f"{tip('record')}",
    )


def draw_certainty(result: FitResult) -> None:
    """How sure f was of those changed, beside everyone."""
    scene = result.scene
    frame = explain_certainty(scene.certainty_test, scene.decisions_test, result.decisions)
    frame["class"] = [
        f"{100 * low:.0f}–{100 * high:.0f}" for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    bars = [
        {"name": row["class"], "rank": rank, "whose": whose, "share": row[f"share_{part}"], "people": row[part]}
        for rank, row in enumerate(frame.to_dict("records"))
        for whose, part in ((say_declared(EVERYONE), "everyone"), (say_declared(CHANGED), "changed"))
    ]
    draw(
        plot_certainty,
        pd.DataFrame(bars),
        alt="How sure f was of those changed, beside everyone.",
        table=Table(CERTAINTY.title, CERTAINTY.key, CERTAINTY.columns, lambda: frame),
        caption=tip("certainty"),
    )
