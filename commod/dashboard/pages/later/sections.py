"""Then and now, part by part: whether it holds, what is required, and what moved."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts import later as charts
from commod.charts import palette
from commod.charts.plausibility import plot_reliability
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table, piece, style
from commod.dashboard.views.chart import Table, fold
from commod.dashboard.views.chart import draw as draw_chart
from commod.dashboard.views.points import RELIABILITY_COLUMNS
from commod.dashboard.views.tiles import tile_of
from commod.decisions import VERDICTS, Requirements
from commod.metrics.figures import CRITERIA, key_figures
from commod.monitoring import Watched, check_signature, check_then_and_now, drift, headline, outcome_of
from commod.monitoring.outcome import (
    drift_in_words,
    due_in_words,
    left_out_in_words,
    moved_in_words,
    signature_in_words,
)
from commod.wording import with_capital

TIMES = {"old": charts.THEN, "new": charts.NOW}
INTERVALS = {
    "old": ("Then", ".3f"),
    "new": ("Now", ".3f"),
    "difference": ("Now less then", "+.3f"),
    "low": ("95 % from", "+.3f"),
    "high": ("to", "+.3f"),
    "told": ("By chance?", ""),
}


def with_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with ``told``: whether chance explains the difference."""
    return frame.assign(told=frame["moved"].map({True: charts.MOVED, False: charts.CHANCE}))


def say_no_labels() -> None:
    """In place of what rests on labels."""
    st.info("The batch has no label, so nobody can tell what was right.", icon=":material/info:")


def draw_outcome(found: Watched, checked: pd.DataFrame, record: Mapping[str, Any] | None) -> None:
    """The bottom line, and what is behind it in a few sentences."""
    lines = None if record is None else check_signature(record, found)
    other_model = "" if lines is None or lines["agrees"].all() else signature_in_words(lines)
    outcome = outcome_of(found, checked, other_model=other_model)
    boxes = {
        "holds": (st.success, ":material/check:"),
        "broken": (st.error, ":material/close:"),
        "unknown": (st.warning, ":material/question_mark:"),
    }
    box, icon = boxes[outcome.kind]
    box(f"**{outcome.title}.** {escape_markdown(outcome.why)}", icon=icon)
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(headline(found))}**")
        moved = moved_in_words(found) if len(checked) else drift_in_words(found)  # else the line above has said it
        for sentence in (moved, left_out_in_words(found)):
            if sentence:
                st.caption(escape_markdown(sentence))
    for notice in found.notices:
        st.info(escape_markdown(notice), icon=":material/info:")


def draw_tiles(found: Watched) -> None:
    """The key figures of g as tiles, each with how far it moved."""
    criterion = CRITERIA.get(found.about["fairness"])
    rows = found.figures.set_index(["figure", "model"])
    tiles = []
    for figure in criterion.key_figures if criterion else key_figures():
        key = (figure.name, "change" if figure.of_change else "g")
        if key in rows.index:
            row = rows.loc[key].to_dict()
            now = {"g": row["new"], "g_low": row["new_low"], "g_high": row["new_high"], "difference": row["difference"]}
            tile = tile_of(figure, {**now, "difference_low": row["low"], "difference_high": row["high"]})
            tiles.append(tile | {"delta_arrow": "off" if row["low"] <= 0 <= row["high"] else "auto"})
    for cell, tile in zip(st.columns(len(tiles), gap="small"), tiles, strict=True):
        cell.metric(**tile)
    st.caption(tip("later_tiles", people=found.people, old_people=found.old_people))


def draw_requirements(found: Watched, checked: pd.DataFrame, record: Mapping[str, Any] | None, signed: bool) -> None:
    """Each requirement then and now, and the signature line by line."""
    st.header("What is required")
    if len(checked):
        rows = [[row.wanted, _verdict(row.then), _verdict(row.verdict), row.sentence] for row in checked.itertuples()]
        then = "On the people tested on" if record is None else "When it was sealed"
        headings = ["Required", then, "On these people", "Why"]
        st.html(html_table(headings, rows, caption="What is required, then and now", text=(1, 2, 3)))
    if record is not None:
        today = datetime.now(UTC).date()
        lines = check_signature(record, found)
        agree = bool(lines["agrees"].all())
        box, icon = (st.success, ":material/verified:") if agree else (st.warning, ":material/report:")
        box(escape_markdown(f"{signature_in_words(lines)} {due_in_words(record, today)}"), icon=icon)
        columns = {"line": ("Line", ""), "recorded": ("In the decision", ""), "found": ("Here", ""), "told": ("", "")}
        told = lines["agrees"].map({True: "agrees", False: "differs"})
        fold(Table("The decision line by line", "later_signature", columns), lines.assign(told=told))
    elif signed:
        st.caption(tip("later_no_decision"))


def _verdict(name: str) -> str:
    return f"{VERDICTS[name]} {name}" if name in VERDICTS else name or "–"


# Beside the key figures, what the picture of all differences shows; the table behind it has everything.
SHOWN = ("decided", "sure", "right", "calibration_gap")
FIGURES = Table(
    "All figures then and now, as a table", "later_figures", {"title": ("Figure", ""), "model": ("Of", ""), **INTERVALS}
)


def draw_figures(found: Watched) -> None:
    """How far each figure moved."""
    keys = [figure.name for figure in key_figures()]
    frame = with_words(found.figures)
    own = frame["model"] != "f"
    shown = frame[own & frame["figure"].isin([*keys, *SHOWN])].reset_index(drop=True)
    data = pd.DataFrame(
        {
            "name": shown["title"].str.replace("… ", "Changes ", regex=False),
            "rank": range(len(shown)),
            "difference": shown["difference"],
            "low": shown["low"],
            "high": shown["high"],
            "told": shown["told"],
            "then": shown["old"].map(_shown),
            "now": shown["new"].map(_shown),
        }
    )
    models = {"f": "f", "g": "g", "change": "g against f"}
    table = Table(FIGURES.title, FIGURES.key, FIGURES.columns, lambda: frame.assign(model=frame["model"].map(models)))
    draw_chart(
        charts.plot_differences,
        data,
        alt="How far each figure of g moved, with its interval.",
        table=table,
        caption="Of g, and of its changes against f; lines are 95 % intervals of the difference between two samples.",
    )


def _shown(value: float) -> str:
    return f"{value:z.3f}".replace("-", "−")


_COUNTS = {
    "old_count": ("Then (people)", ","),
    "old_people": ("of", ","),
    "new_count": ("Now (people)", ","),
    "new_people": ("of", ","),
}
_BY_GROUP = {"group": ("Group", ""), "direction": ("Changed", ""), **_COUNTS, **INTERVALS}
WHO = Table("Who changes then and now, as a table", "later_who", _BY_GROUP)
RIGHT = Table("Right by the record then and now, as a table", "later_right", _BY_GROUP)
TREE = Table(
    "The tree then and now, as a table",
    "later_tree",
    {
        "rule": ("Who", ""),
        "depth": ("Depth", ""),
        "old_changed": ("Then changed (people)", ","),
        "old_count": ("of", ","),
        "new_changed": ("Now changed (people)", ","),
        "new_count": ("of", ","),
        **INTERVALS,
    },
)


def draw_who(found: Watched) -> None:
    """Whose decisions change, by group and direction."""
    data, named = _by_group(found, found.who)
    moved = int(found.who["moved"].sum())
    told = "No share of a group moved" if not moved else f"{moved} of {len(found.who)} shares moved"
    st.markdown(f"Whose decisions g changes, and which way. **{told} more than chance explains.**")
    draw_chart(
        charts.plot_then_and_now,
        data,
        alt="Share of each group whose decision changes, by direction, then and now.",
        table=Table(WHO.title, WHO.key, WHO.columns, lambda: named),
        title="Changed (% of the group)",
    )


def draw_right(found: Watched) -> None:
    """For whom the change is right by the record."""
    if not found.labelled:
        say_no_labels()
        return
    data, named = _by_group(found, found.right)
    rows = found.figures[found.figures["figure"] == "right"]
    if data.empty or rows.empty:
        st.info("No decision changed, then or now: there is nothing to be right or wrong.", icon=":material/info:")
        return
    row = rows.iloc[0]
    chance = "more than chance explains" if row["moved"] else "which chance may explain"
    st.markdown(
        f"Of the changed decisions **{row['new']:.1%}** are right by the record; it was {row['old']:.1%}, {chance}. "
        "The others f had right."
    )
    draw_chart(
        charts.plot_then_and_now,
        data,
        alt="Share of the changes that is right by the record, by group and direction, then and now.",
        table=Table(RIGHT.title, RIGHT.key, RIGHT.columns, lambda: named),
        caption="Where few decisions changed, the interval says little.",
        title="Right by the record (% of the changes)",
    )


def _by_group(found: Watched, frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the chart then and now, and those of its table."""
    outcomes, good = found.about["outcomes"], found.about["favourable"]
    ways = {True: f"better: now “{outcomes[good]}”", False: f"worse: now “{outcomes[1 - good]}”"}
    named = with_words(frame).assign(direction=frame["better"].map(ways))
    shown = named[(named["old_people"] > 0) | (named["new_people"] > 0)].reset_index(drop=True)
    rows = [
        {
            "name": f"{row['group']}, {row['direction']}",
            "rank": rank,
            "time": TIMES[time],
            "share": row[time],
            "low": row[f"{time}_low"],
            "high": row[f"{time}_high"],
            "part": row[f"{time}_count"],
            "whole": row[f"{time}_people"],
        }
        for rank, row in enumerate(shown.to_dict("records"))
        for time in TIMES
        if row[f"{time}_people"]
    ]
    return pd.DataFrame(rows), named


def draw_tree(found: Watched) -> None:
    """The tree of the changes, laid over the later people."""
    if found.tree.empty:
        st.info("The model's file has no tree of its changes.", icon=":material/info:")
        return
    st.markdown(
        "The tree that was learnt from the changes when the model was made, laid over the later people. It told who "
        f"changes with an F1 of {found.f1[0]:.2f}; **now it does with {found.f1[1]:.2f}**."
    )
    below: dict[int, list[tuple[Any, ...]]] = {-1: []}
    for row in found.tree.to_dict("records"):
        size = f"now {_part(row, 'new')}; then {_part(row, 'old')}"
        size += f" · moved {charts.MOVED}" if row["moved"] else ""
        rule, share = with_capital(row["rule"]), row["new"] if row["new_count"] else 0.0
        below[row["parent"]].append((rule, f"{share:.1%}", size, below.setdefault(row["node"], [])))
    st.html(style() + piece("tree", below[-1]))
    fold(TREE, with_words(found.tree))


def _part(row: Mapping[str, Any], time: str) -> str:
    count = row[f"{time}_count"]
    return f"{row[f'{time}_changed']:,} of {count:,} changed" + (f" ({row[time]:.0%})" if count else "")


_BINS = {"of": ("Model", ""), "model": ("When", ""), **RELIABILITY_COLUMNS}


def draw_calibration(found: Watched) -> None:
    """Whether scores mean what they say."""
    if not found.labelled:
        say_no_labels()
        return
    rows = found.figures[found.figures["figure"].str.startswith("calibration_gap") & (found.figures["model"] == "g")]
    st.markdown("Do the scores of g still mean what they say? The share with the label less the mean score, in points:")
    cells = []
    for row in with_words(rows).to_dict("records"):
        then, now = (
            f"{100 * row[time]:+.1f} [{100 * row[f'{time}_low']:+.1f}, {100 * row[f'{time}_high']:+.1f}]"
            for time in TIMES
        )
        moved = f"{100 * row['difference']:+.1f} [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
        whom = row["title"].rpartition(": ")[2]
        cells.append([whom, *(text.replace("-", "−") for text in (then, now, moved)), row["told"]])
    headings = ["Whose", "Then", "Now", "Now less then", "By chance?"]
    st.html(html_table(headings, cells, caption="Share with the label less the mean score", text=(4,)))
    points = found.bins.assign(of=found.bins["model"], model=found.bins["time"].map(TIMES))
    table = Table("Calibration then and now, as a table", "later_bins", _BINS, lambda: points)
    for cell, model in zip(st.columns(2, gap="medium"), ("f", "g"), strict=True):
        with cell:
            st.markdown(f"**Scores of {model}**")
            draw_chart(
                plot_reliability,
                points[points["of"] == model],
                alt="Share with the label by mean score, then and now.",
                table=table.title,
                outcome=found.about["outcomes"][1],
                models=(charts.THEN, charts.NOW),
                colours=(palette.FRONTIER, palette.TRAIL),
            )
    fold(table, points)


DRIFTS = {"stable": charts.STABLE, "look": charts.LOOK, "shifted": charts.SHIFTED}
# Columns in the picture of the drift, and sentences below it.
MAX_COLUMNS, MAX_SENTENCES = 15, 8

DRIFT = Table(
    "Columns then and now, as a table",
    "later_drift",
    {
        "column": ("Column", ""),
        "index": ("Stability index", ".3f"),
        "by_chance": ("Reached by chance", ".3f"),
        "told": ("Distributed", ""),
        "unseen": ("People with a value that nobody had before", ","),
    },
)
SPREAD = Table(
    "Its values then and now, as a table",
    "later_spread",
    {"class": ("Value", ""), "old": ("Then", ".1%"), "new": ("Now", ".1%")},
)


def draw_columns(found: Watched) -> None:
    """Drift of every column and score."""
    drifted = found.drift[(found.drift["drift"] != "stable") | (found.drift["unseen"] > 0)]
    if drifted.empty:
        st.markdown("No column, nor a score, is distributed differently than before.")
    for sentence in drifted["sentence"].head(MAX_SENTENCES):
        st.markdown(f"- {escape_markdown(sentence)}")
    frame = found.drift.assign(told=found.drift["drift"].map(DRIFTS))
    shown = frame.sort_values("index", ascending=False, kind="stable").head(MAX_COLUMNS).reset_index(drop=True)
    left, right = st.columns(2, gap="large")
    with left:
        draw_chart(
            charts.plot_drift,
            shown.assign(name=shown["column"], rank=range(len(shown)))[["name", "rank", "index", "by_chance", "told"]],
            alt="Population stability index of the columns that moved most.",
            table=Table(DRIFT.title, DRIFT.key, DRIFT.columns, lambda: frame),
            caption=f"{tip('stability_index')} Short lines: grey, what chance reaches here; coloured, the two bounds.",
            look=drift.LOOK,
            shifted=drift.DRIFTED,
        )
    with right:
        column = st.selectbox("Its values then and now", list(shown["column"]), key="later_column")
        own = found.spread[found.spread["column"] == column]
        rows = [
            {"name": row["class"], "rank": row["place"], "time": TIMES[time], "share": row[time]}
            for row in own.to_dict("records")
            for time in TIMES
        ]
        draw_chart(
            charts.plot_spread,
            pd.DataFrame(rows),
            alt="Shares of the classes of a column, then and now.",
            table=Table(SPREAD.title, SPREAD.key, SPREAD.columns, lambda: own),
        )


PARTS: dict[str, Callable[[Watched], None]] = {
    "All figures": draw_figures,
    "Who changes": draw_who,
    "Right or wrong": draw_right,
    "Calibration": draw_calibration,
    "The tree": draw_tree,
    "Columns": draw_columns,
}


def draw(found: Watched, required: Requirements, record: Mapping[str, Any] | None, *, signed: bool) -> None:
    """All of it.

    `record` is the decision that the model is held against; `signed` says whether there is one at all, as for a model
    that is told as if it had been tested on half of its people nothing can be held against it.
    """
    checked = check_then_and_now(required, found.old_facts, found.facts, record) if required else pd.DataFrame()
    draw_outcome(found, checked, record)
    draw_tiles(found)
    if required or signed:
        draw_requirements(found, checked, record, signed)
    st.header("What moved")
    for tab, paint in zip(st.tabs(list(PARTS), key="later_parts", on_change="rerun"), PARTS.values(), strict=True):
        with tab:
            if tab.open:
                paint(found)
