"""Segments of the people, ranked by how much of each has changed."""

from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.people import plot_segment_shares
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.text.stories import called
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table, fold
from commod.explain.concepts import in_percent
from commod.explain.people import FEW, MAX_LEVELS, Segments, open_gaps, rank_segments

# As many are drawn; the table has all. And as many rows of those where the gap stays open.
TOP, NEGLECTED = 15, 8
RANKED_BY = {"changed": "Changed", "better": "Better off", "worse": "Worse off"}
AXES = {"changed": "Changed", "better": "Now better off", "worse": "Now worse off"}
PARTS = {"all": "All", "one": "One attribute", "two": "Two attributes"}
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


def draw_segments(result: FitResult) -> None:
    """The first segments in a chart, all of them in a table."""
    st.header("Where the change is largest")
    found: Segments = result_of(tasks.segments(result))
    left, right = st.columns(2, gap="medium")
    of = _choose(left, "Rank by", RANKED_BY, "people_rank")
    parts = _choose(right, "Segments of", PARTS, "people_parts")
    table = found.table
    if parts != "all":
        table = table[(table["second"] == "") == (parts == "one")]
    ranked = rank_segments(table, of)
    pair = ranked["first"] + " · " + ranked["second"]
    ranked["segment"] = pair.where(ranked["second"] != "", ranked["first"])
    enough = ranked[ranked["enough"]]
    overall = found.total[of] / found.total["count"]
    small = ""
    if found.small:
        small = f" {found.small:,} more have fewer than {FEW} people and are not ranked."
    st.markdown(
        f"**The first of {found.ranked:,} segments are extreme partly by chance**: expect less of them on other "
        f"people.{small}"
    )
    if enough.empty:
        st.info(f"No segment has {FEW} people or more.", icon=":material/info:")
    else:
        _draw(enough.head(TOP), of, overall)
    cut = "".join(
        f" {escape_markdown(name)}: the {MAX_LEVELS} most frequent levels, {left} left out."
        for name, left in found.cut.items()
    )
    st.caption(
        f"On test. Bar: share of the segment; line: its 95 % interval; grey mark: everyone, {in_percent(overall)}.{cut}"
    )
    fold(SEGMENTS, ranked)


def draw_open(result: FitResult) -> None:
    """Who is neglected: the segments in which the gap stays open beyond chance, the widest first."""
    test, before = result.scene.test, result.scene.decisions_test
    found: pd.DataFrame = result.keep(
        "open gaps", lambda: open_gaps(result.task, test.X, test.sensitive, before, result.decisions)
    )
    if found.empty:
        return
    st.header("Where the gap stays open")
    stays, spec = found[found["low"] > 0], result.task.spec
    behind, ahead = (
        escape_markdown(called("en", spec, spec.groups.index(found[name].iloc[0]))) for name in ("behind", "ahead")
    )
    good = escape_markdown(spec.outcomes[spec.favourable])
    st.markdown(
        f"In **{len(stays):,} of {len(found):,}** segments, {behind} get “{good}” less often than {ahead} there under "
        f"**g**, too, beyond chance.{' The repair neglects them.' if len(stays) else ''}"
    )
    rows = [
        [
            row.segment,
            f"{row.count:,}",
            in_percent(row.changed / row.count),
            f"{100 * row.before:.1f}",
            f"{100 * row.after:.1f} [{100 * row.low:.1f}, {100 * row.high:.1f}]",
        ]
        for row in stays.head(NEGLECTED).itertuples()
    ]
    headings = ["Segment", f"{found['behind'].iloc[0]} there", "Changed", "Gap under f, points", "Gap under g, points"]
    if rows:
        st.html(html_table(headings, rows, caption="Segments in which the gap stays open"))
    st.caption(
        f"On test; in brackets the 95 % interval. The widest {NEGLECTED}, of segments with {FEW} people or more of "
        "both groups. Some are beyond chance by chance: of twenty such intervals one misses."
    )


def _choose(place: Any, label: str, options: dict[str, str], key: str) -> str:
    """One of the options; the first, if what was chosen is clicked away."""
    usual = next(iter(options))
    chosen: str | None = place.segmented_control(
        label, list(options), format_func=options.__getitem__, default=usual, key=key, persist_state="session"
    )
    return chosen or usual


def _draw(top: pd.DataFrame, of: str, overall: float) -> None:
    names = [
        f"{first}|{second}: {part:,} of {count:,}" if second else f"{first}: {part:,} of {count:,}"
        for first, second, part, count in top[["first", "second", of, "count"]].itertuples(index=False, name=None)
    ]
    draw(
        plot_segment_shares,
        top[["segment", "count", "share", "low", "high"]].assign(
            part=top[of], rank=range(len(top)), overall=overall, name=names
        ),
        alt="Segments with the largest share of changed decisions, with intervals.",
        table=SEGMENTS.title,
        of=of,
        title=AXES[of],
        step=38 if (top["second"] == "").all() else 50,
    )
