"""What the change did to each group, in people: true and false positives before and now."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.people import AFTER, BEFORE, plot_group_rates, plot_outcomes
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views.chart import draw
from commod.explain.concepts import in_percent
from commod.explain.people import FEW, explain_outcomes

OUTCOMES = "True and false positives of each group before and now"


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else in_percent(share)


def draw_outcomes(result: FitResult) -> None:
    """True and false positives of each group, in people."""
    spec = result.task.spec
    test = result.scene.test
    frame = explain_outcomes(result.task, test.y, test.sensitive, result.scene.decisions_test, result.decisions)
    st.header("What it did to each group, in people")
    if result.has_many_groups:
        frame = frame.sort_values(["label", "rate_after"], ascending=False, kind="stable")
        for place, label in zip(st.columns(2, gap="large"), (1, 0), strict=True):
            with place:
                st.markdown(f"**Labelled “{escape_markdown(spec.outcomes[label])}”**")
                _draw_many(frame[frame["label"] == label], spec.outcomes[1])
    else:
        wide, narrow = st.columns([3, 2], gap="large")
        with wide:
            for name, part in frame.groupby("group", sort=False):
                lines = [_sentence(row, spec.outcomes) for row in part.itertuples()]
                st.markdown(
                    f"**{escape_markdown(name)}** ({part['count'].sum():,} {escape_markdown(spec.people)})\n"
                    + "".join(lines)
                )
        with narrow:
            _draw(frame, spec.outcomes)
    _table(frame, spec.outcomes)
    better, said = ("better", "to a person's favour") if spec.favourable else ("worse", "against a person")
    st.caption(
        f"On test. Decided “{escape_markdown(spec.outcomes[1])}” and labelled so: a true positive; not labelled so: "
        f"a false positive. This is the {better} decision here, so a false positive is an error {said}. Interval: "
        f"Wilson's, of the rate now.{' Dashed: everyone now.' if result.has_many_groups else ''}"
    )


def _table(frame: pd.DataFrame, words: tuple[str, str]) -> None:
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
    st.html(html_table(headings, rows, caption=OUTCOMES, text=(1,), tall=len(rows) > 4))


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


def _draw(frame: pd.DataFrame, words: tuple[str, str]) -> None:
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


def _draw_many(frame: pd.DataFrame, decision: str) -> None:
    """One label of many groups, with the intervals of the rates now and everyone's rate."""
    rows = []
    for rank, row in enumerate(frame[frame["count"] > 0].to_dict("records")):
        few = "" if row["enough"] else ", too few"
        group = {"name": f"{row['group']} ({row['count']:,}{few})", "rank": rank}
        group |= {name: row[name] for name in ("low", "high", "count")}
        for model, part in ((BEFORE, "before"), (AFTER, "after")):
            rows.append(group | {"model": model, "rate": row[f"rate_{part}"], "people": row[part]})
    draw(
        plot_group_rates,
        pd.DataFrame(rows).assign(overall=frame["after"].sum() / frame["count"].sum()),
        alt="Rates of positive decisions by group, before and now.",
        table=OUTCOMES,
        decision=decision,
    )
