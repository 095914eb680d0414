"""What the change did to each group, and to which segments of the people."""

from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.people import AFTER, BEFORE, plot_group_rates, plot_outcomes, plot_segment_shares
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.text.stories import called
from commod.dashboard.views.chart import Table, draw, fold
from commod.explain.people import FEW, MAX_LEVELS, ChangeSegments, explain_outcomes, open_gaps, rank_segments
from commod.metrics.counts import wilson_interval

OUTCOMES = "True and false positives of each group before and now"


def draw_outcomes(result: FitResult) -> None:
    """True and false positives of each group, in people."""
    spec = result.task.spec
    test = result.scene.test
    frame = explain_outcomes(result.task, test.y, test.sensitive, result.scene.decisions_test, result.decisions)
    no, yes = map(escape_markdown, spec.outcomes)
    st.header("What it did to each group")
    if result.has_many_groups:
        frame = frame.sort_values(["label", "rate_after"], ascending=False, kind="stable")
        for place, label in zip(st.columns(2, gap="large"), (1, 0), strict=True):
            with place:
                st.markdown(f"**Recorded “{escape_markdown(spec.outcomes[label])}”**")
                _draw_many(frame[frame["label"] == label], spec.outcomes[1])
    else:
        _draw_two(frame, spec.outcomes)
    said = "in a person's favour" if spec.favourable else "against a person"
    st.caption(
        f"Recorded “{no}” but decided “{yes}”: a false positive, here an error {said}."
        + (" Dashed: everyone now." if result.has_many_groups else "")
    )
    words = {label: f"{spec.outcomes[label]} ({'true' if label else 'false'} positives)" for label in (0, 1)}
    fold(
        Table(
            OUTCOMES,
            "outcomes_table",
            {
                "group": ("Group", ""),
                "recorded": ("Recorded", ""),
                "count": ("People", ","),
                "before": (f"“{spec.outcomes[1]}” before", ","),
                "after": ("now", ","),
                "gained": ("newly", ","),
                "lost": ("no longer", ","),
                "rate_before": ("Rate before", ".1%"),
                "rate_after": ("Rate now", ".1%"),
                "low": ("95 % from", ".1%"),
                "high": ("to", ".1%"),
            },
        ),
        lambda: frame.assign(recorded=frame["label"].map(words)),
    )


def _before_and_now(frame: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for rank, row in enumerate(frame[frame["count"] > 0].to_dict("records")):
        few = "" if row["enough"] else ", too few"
        group = {"name": f"{row['group']} ({row['count']:,}{few})", "rank": rank}
        group |= {name: row[name] for name in ("low", "high", "count")}
        for model, part in ((BEFORE, "before"), (AFTER, "after")):
            rows.append(group | {"model": model, "rate": row[f"rate_{part}"], "people": row[part]})
    return pd.DataFrame(rows)


def _draw_two(frame: pd.DataFrame, words: tuple[str, str]) -> None:
    names = [f"{group}, recorded “{words[label]}”" for group, label in zip(frame["group"], frame["label"], strict=True)]
    rates = frame[["rate_before", "rate_after"]]
    draw(
        plot_outcomes,
        _before_and_now(frame.assign(group=names, low=rates.min(axis=1), high=rates.max(axis=1))),
        alt="Rates of positive decisions by group and label, before and now.",
        table=OUTCOMES,
        decision=words[1],
    )


def _draw_many(frame: pd.DataFrame, decision: str) -> None:
    """One label of many groups, with the intervals of the rates and everyone's rate now."""
    rates = _before_and_now(frame).assign(overall=frame["after"].sum() / frame["count"].sum())
    rates["low"], rates["high"] = wilson_interval(rates["people"], rates["count"])
    draw(
        plot_group_rates,
        rates,
        alt="Rates of positive decisions by group, before and now.",
        table=OUTCOMES,
        decision=decision,
    )


# As many are drawn; the table has all. And as many rows of those where the gap stays open.
TOP, NEGLECTED = 6, 6
RANKED_BY = {"changed": "Changed", "better": "Better off", "worse": "Worse off"}
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


def draw_people_segments(result: FitResult) -> None:
    """The first segments in a chart, all of them in a table."""
    st.header("Where the change is largest")
    found: ChangeSegments = result_of(tasks.segments(result))
    how: dict[str, Any] = {"default": "changed", "required": True, "persist_state": "session"}
    of = st.segmented_control("Rank by", list(RANKED_BY), format_func=RANKED_BY.__getitem__, key="people_rank", **how)
    ranked = rank_segments(found.table, of)
    pair = ranked["first"] + " · " + ranked["second"]
    ranked["segment"] = pair.where(ranked["second"] != "", ranked["first"])
    enough = ranked[ranked["enough"] & (ranked["second"] == "")]
    overall = found.total[of] / found.total["count"]
    if enough.empty or not found.total[of]:
        nothing = f"No segment has {FEW} people or more." if enough.empty else f"Nobody is {RANKED_BY[of].lower()}."
        st.info(nothing, icon=":material/info:")
    else:
        _draw_top(enough.head(TOP), of, overall)
    cut = "".join(
        f" {escape_markdown(name)}: the {MAX_LEVELS} most frequent levels, {left} left out."
        for name, left in found.cut.items()
    )
    st.caption(
        f"Line: 95 % interval; grey mark: everyone. The table adds segments of two attributes: of all {found.ranked:,} "
        f"with {FEW} people or more, the top is partly chance.{cut}"
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
    count = f"{len(stays):,} of {len(found):,}" if len(stays) else f"none of {len(found):,}"
    unseen = "" if len(stays) else " Small gaps go unseen among so few people."
    st.markdown(f"In **{count}** segments, {behind} still get “{good}” less often than {ahead}, beyond chance.{unseen}")
    if stays.empty:
        return
    rows = [
        [
            row.segment,
            f"{row.changed:,} of {row.count:,}",
            f"{100 * row.before:.0f}",
            f"{100 * row.after:.0f} [{100 * row.low:.0f}, {100 * row.high:.0f}]".replace(" ", "\N{NO-BREAK SPACE}"),
        ]
        for row in stays.head(NEGLECTED).itertuples()
    ]
    headings = ["Segment", f"{found['behind'].iloc[0]}: changed", "Gap before", "Gap now"]
    st.html(html_table(headings, rows, caption="Segments in which the gap stays open", dense=True))
    st.caption(
        f"The widest, in percentage points [95 % interval; one in twenty misses]. Both sides: {FEW} people or more."
    )


def _draw_top(top: pd.DataFrame, of: str, overall: float) -> None:
    names = [f"{segment}: {part:,} of {count:,}" for segment, part, count in top[["segment", of, "count"]].to_numpy()]
    draw(
        plot_segment_shares,
        top[["segment", "count", "share", "low", "high"]].assign(
            part=top[of], rank=range(len(top)), overall=overall, name=names
        ),
        alt="Segments with the largest share of changed decisions, with intervals.",
        table=SEGMENTS.title,
        of=of,
        title=RANKED_BY[of],
    )
