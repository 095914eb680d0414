"""The sections of the page Who changed: group sizes first, then rates, segments and the people. All on test."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.people import AFTER, BEFORE, plot_outcomes, plot_segment_shares
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table, fold
from commod.explain.concepts import in_percent
from commod.explain.people import (
    FEW,
    MAX_LEVELS,
    Segments,
    explain_outcomes,
    rank_segments,
)

OUTCOMES = "True and false positives of each group before and now"
TOP = 15
RANKED_BY = {"changed": "Changed", "better": "Better off", "worse": "Worse off"}
AXES = {"changed": "Changed", "better": "Now better off", "worse": "Now worse off"}
SEGMENTS = Table(
    "All segments as a table",
    "segments_table",
    {
        "segment": ("Segment", ""),
        "count": ("People", ","),
        "changed": ("Changed", ","),
        "better": ("Better", ","),
        "worse": ("Worse", ","),
        "share": ("Share ranked by", ".1%"),
        "low": ("95 % from", ".1%"),
        "high": ("to", ".1%"),
    },
)
PARTS = {"all": "All", "one": "One attribute", "two": "Two attributes"}


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else in_percent(share)


# ---- Who, in one sentence, and how large the groups are. ----


def verdict(result: FitResult) -> str:
    """Who changed, in one sentence."""
    changed, total = int(result.changes["changed"].sum()), int(result.changes["count"].sum())
    if changed == 0:
        return result.verdict
    spec = result.task.spec
    columns = ("lowered", "raised")
    better, worse = (int(result.changes[columns[i]].sum()) for i in (spec.favourable, 1 - spec.favourable))
    good, bad = escape_markdown(spec.outcomes[spec.favourable]), escape_markdown(spec.outcomes[1 - spec.favourable])
    shares = ", ".join(
        f"{in_percent(row['change_rate'])} of {escape_markdown(result.task.groups[int(code)])}"
        for code, row in result.changes.iterrows()
    )
    return (
        f"**{changed:,} of {total:,} {escape_markdown(spec.people)}** get another decision ({shares}): "
        f"**{better:,}** the better one, “{good}”, and **{worse:,}** the worse one, “{bad}”."
    )


def groups(result: FitResult) -> None:
    """How many people there are in each group, and how many of them changed."""
    spec = result.task.spec
    rows = [(result.task.groups[int(code)], row) for code, row in result.changes.iterrows()]
    total = result.changes[["count", "changed"]].sum()
    cells = st.columns(len(rows) + 1, gap="small")
    for cell, (name, row) in zip(cells, [*rows, ("Everyone on test", total)], strict=True):
        cell.metric(
            escape_markdown(name),
            f"{row['count']:,.0f}",
            f"{row['changed']:,.0f} changed",
            delta_color="off",
            delta_arrow="off",
            delta_description=f"({in_percent(row['changed'] / row['count'])})",
            help=tip("group_size", people=escape_markdown(spec.people)),
            border=True,
        )
    for name, row in rows:
        if row["count"] < FEW:
            st.warning(
                f"“{escape_markdown(name)}” has {row['count']:,.0f} {escape_markdown(spec.people)} on test. With fewer "
                f"than {FEW}, nothing can be said about this group: what is counted below may be chance.",
                icon=":material/group_off:",
            )


# ---- What it did to each group. ----


def outcomes(result: FitResult) -> None:
    """True and false positives of each group, in people."""
    spec = result.task.spec
    test = result.scene.test
    frame = explain_outcomes(result.task, test.y, test.sensitive, result.scene.decisions_test, result.decisions)
    st.header("What it did to each group, in people")
    wide, narrow = st.columns([3, 2], gap="large")
    with wide:
        for name, part in frame.groupby("group", sort=False):
            lines = [_sentence(row, spec.outcomes) for row in part.itertuples()]
            st.markdown(
                f"**{escape_markdown(name)}** ({part['count'].sum():,} {escape_markdown(spec.people)})\n"
                + "".join(lines)
            )
    with narrow:
        _draw_outcomes(frame, spec.outcomes)
    _outcome_table(frame, spec.outcomes)
    better, said = ("better", "to a person's favour") if spec.favourable else ("worse", "against a person")
    st.caption(
        f"On test. Decided “{escape_markdown(spec.outcomes[1])}” and labelled so: a true positive; not labelled so: "
        f"a false positive. This is the {better} decision here, so a false positive is an error {said}. Interval: "
        "Wilson's, of the rate now."
    )


def _outcome_table(frame: pd.DataFrame, words: tuple[str, str]) -> None:
    headings = {
        "Group": "",
        "Label": tip("label"),
        "People": "",
        f"“{words[1]}” before": tip("positive_by", model="f"),
        "now": tip("positive_by", model="g"),
        "newly": tip("newly"),
        "no longer": tip("no_longer"),
        "Rate before": tip("true_positive_rate"),
        "Rate now": tip("true_positive_rate"),
        "95 % from": tip("wilson"),
        "to": "",
    }
    rows = [
        [
            row.group,
            f"{words[row.label]} ({'true' if row.label else 'false'} positives)",
            f"{row.count:,}" if row.enough else f"{row.count:,} (too few)",
            f"{row.before:,}",
            f"{row.after:,}",
            f"{row.gained:,}",
            f"{row.lost:,}",
            *(_percent(rate) for rate in (row.rate_before, row.rate_after, row.low, row.high)),
        ]
        for row in frame.itertuples()
    ]
    st.html(html_table(headings, rows, caption=OUTCOMES, text=(1,)))


def _sentence(row: Any, words: tuple[str, str]) -> str:
    yes, truth = escape_markdown(words[1]), escape_markdown(words[row.label])
    count, before, after = row.count, row.before, row.after
    if count == 0:
        return f"\n- Nobody is labelled “{truth}”."
    change = f"{after - before:+,}".replace("-", "−")
    if after == before:
        change = "no net change" if row.gained else "no change"
    swapped = f"; {row.gained:,} more and {row.lost:,} no longer" if row.gained and row.lost else ""
    few = f" These are fewer than {FEW}: it says nothing." if not row.enough else ""
    kind = "rightly" if row.label else "wrongly"
    return (
        f"\n- Of {count:,} labelled “{truth}”, {before:,} were {kind} decided “{yes}” before, {after:,} are now "
        f"(**{change}**{swapped}; {_percent(row.rate_before)} → {_percent(row.rate_after)}).{few}"
    )


def _draw_outcomes(frame: pd.DataFrame, words: tuple[str, str]) -> None:
    rows = []
    for rank, row in enumerate(frame[frame["count"] > 0].to_dict("records")):
        ends = sorted((row["rate_before"], row["rate_after"]))
        few = "" if row["enough"] else ", too few"
        for model, part in ((BEFORE, "before"), (AFTER, "after")):
            rows.append(
                {
                    "name": f"{row['group']}, “{words[row['label']]}” ({row['count']:,}{few})",
                    "rank": rank,
                    "model": model,
                    "rate": row[f"rate_{part}"],
                    "low": ends[0],
                    "high": ends[1],
                    "people": row[part],
                    "count": row["count"],
                }
            )
    draw(
        plot_outcomes,
        pd.DataFrame(rows),
        alt="Rates of positive decisions by group and label, before and now.",
        table=OUTCOMES,
        decision=words[1],
    )


# ---- Segments. ----


def segments(result: FitResult) -> None:
    """Segments ranked by how much they changed."""
    st.header("Where the change is largest")
    found: Segments = result_of(tasks.segments(result))
    left, right = st.columns(2, gap="medium")
    of = left.segmented_control(
        "Rank by",
        list(RANKED_BY),
        format_func=RANKED_BY.__getitem__,
        default="changed",
        key="people_rank",
        persist_state="session",
    )
    parts = right.segmented_control(
        "Segments of",
        list(PARTS),
        format_func=PARTS.__getitem__,
        default="all",
        key="people_parts",
        persist_state="session",
    )
    of, parts = of or "changed", parts or "all"
    table = found.table
    if parts != "all":
        table = table[(table["second"] == "") == (parts == "one")]
    ranked = rank_segments(table, of)
    pair = ranked["first"] + " · " + ranked["second"]
    ranked["segment"] = pair.where(ranked["second"] != "", ranked["first"])
    enough = ranked[ranked["enough"]]
    overall = found.total[of] / found.total["count"]
    st.markdown(
        f"{found.ranked:,} segments were looked at: groups, levels of categories, numbers cut at their quartiles, and "
        "all intersections of two. **The first of so many are extreme partly by chance**: read the interval, and "
        "expect less of them on other people." + _small(found)
    )
    if enough.empty:
        st.info(f"No segment has {FEW} people or more.", icon=":material/info:")
    else:
        _draw_segments(enough.head(TOP), of, overall)
    first = f"The first {min(TOP, len(enough))} of {len(enough):,}. " if len(enough) else ""
    cut = "".join(
        f" {escape_markdown(name)}: the {MAX_LEVELS} most frequent levels, {left} left out."
        for name, left in found.cut.items()
    )
    st.caption(
        f"{first}On test. Bar: share of the segment; line: its 95 % interval (Wilson); grey mark: everyone, "
        f"{in_percent(overall)}.{cut}"
    )
    fold(SEGMENTS, ranked)


def _small(found: Segments) -> str:
    if not found.small:
        return ""
    return (
        f" {found.small:,} more have fewer than {FEW} people; nothing can be said about them, and they are not ranked."
    )


def _draw_segments(top: pd.DataFrame, of: str, overall: float) -> None:
    frame = top[["segment", "count", "share", "low", "high"]].assign(
        part=top[of],
        rank=range(len(top)),
        overall=overall,
        name=[
            f"{first}|{second}: {part:,} of {count:,}" if second else f"{first}: {part:,} of {count:,}"
            for first, second, part, count in top[["first", "second", of, "count"]].itertuples(index=False, name=None)
        ],
    )
    draw(
        plot_segment_shares,
        frame,
        alt="Segments with the largest share of changed decisions, with intervals.",
        table=SEGMENTS.title,
        of=of,
        title=AXES[of],
        step=38 if (top["second"] == "").all() else 50,
    )
