"""What the change did to each group, in people: true and false positives before and now."""

import pandas as pd
import streamlit as st

from commod.charts.people import AFTER, BEFORE, plot_group_rates, plot_outcomes
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table, fold
from commod.explain.people import explain_outcomes

OUTCOMES = "True and false positives of each group before and now"


def draw_outcomes(result: FitResult) -> None:
    """True and false positives of each group, in people."""
    spec = result.task.spec
    test = result.scene.test
    frame = explain_outcomes(result.task, test.y, test.sensitive, result.scene.decisions_test, result.decisions)
    yes = escape_markdown(spec.outcomes[1])
    st.header("What it did to each group, by what is recorded")
    if result.has_many_groups:
        frame = frame.sort_values(["label", "rate_after"], ascending=False, kind="stable")
        for place, label in zip(st.columns(2, gap="large"), (1, 0), strict=True):
            with place:
                st.markdown(f"**Recorded “{escape_markdown(spec.outcomes[label])}”**")
                _draw_many(frame[frame["label"] == label], spec.outcomes[1])
    else:
        _draw(frame, spec.outcomes)
    said = "in a person's favour" if spec.favourable else "against a person"
    st.caption(
        f"On test. “{yes}” without a record of it is a false positive: here, an error {said}."
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
