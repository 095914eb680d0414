"""Do these changes make sense? Each question of the Explore page with its picture and its table."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.people import AFTER, BEFORE, plot_again, plot_reliability
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import in_line, result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views.chart import Table, draw, fold
from commod.dashboard.views.checks import line
from commod.dashboard.views.explained import draw_biased, draw_certainty, draw_record
from commod.experiments.checks import Evidence
from commod.experiments.refits import Refits
from commod.explain.checks import merit_in_words, often_enough, step_in_words
from commod.metrics.counts import compared_groups
from commod.wording import with_capital

MODELS = {"f": BEFORE, "g": AFTER}
# A table of more rows is scrolled within the page.
MANY = 30
RELIABILITY = {
    "group": ("Group", ""),
    "model": ("Model", ""),
    "mean_score": ("Mean score", ".1%"),
    "rate": ("Recorded so", ".1%"),
    "rate_low": ("95 % from", ".1%"),
    "rate_high": ("to", ".1%"),
    "count": ("People", ","),
}
AGAIN = Table(
    "Changed people by share of refits, as a table",
    "again_table",
    {"name": ("Refits that change them (%)", ""), "people": ("Changed (people)", ",")},
)


def draw_sense(result: FitResult, refits: Refits | None) -> Callable[[Ticket], None] | None:
    """The questions in tabs; one that is closed costs nothing. Returns what tells the progress of the refits."""
    st.header("Do these changes make sense?")
    looks: list[Callable[[Ticket], None]] = []
    parts: dict[str, Callable[[FitResult], None]] = {
        "Right or wrong": _record,
        "How sure f was": _certainty,
        "More merit": _merit,
        "Again?": lambda _: looks.append(_refitting()) if refits is None else _again(result, refits),
        "Calibration": _calibration,
        "Proxies": _proxies,
    }
    for tab, paint in zip(st.tabs(list(parts), key="people_sense", on_change="rerun"), parts.values(), strict=True):
        with tab:
            if tab.open:
                paint(result)
    return looks[0] if looks else None


def _record(result: FitResult) -> None:
    line(result.answers()["right"])
    draw_record(result)
    draw_biased(result)


def _certainty(result: FitResult) -> None:
    line(result.answers()["sure"])
    draw_certainty(result)


def _merit(result: FitResult) -> None:
    found: pd.DataFrame = result_of(tasks.merit(result), st.empty(), "Counting")
    line(result.answers(found)["merit"])
    if found.empty:
        st.caption(tip("merit"))
        return
    spec = result.task.spec
    headings = {
        "Merit": tip("merit"),
        "g: turned": f"From “{spec.outcomes[spec.favourable]}” to “{spec.outcomes[1 - spec.favourable]}”.",
        "f: turned": "",
        "g: the score of the better outcome falls": tip("merit_score"),
        "f: the score of the better outcome falls": "",
        "People moved": "",
        "One step": tip("merit_step"),
    }
    rows = []
    for row in found.to_dict("records"):
        counts = (row[name] for name in ("turned_g", "turned_f", "lowered_g", "lowered_f", "people"))
        merit = merit_in_words(row)
        rows.append([with_capital(merit), *(f"{count:,}" for count in counts), step_in_words(row)])
    st.html(html_table(headings, rows, caption="For whom one more step of merit hurts"))
    given = " f is known by its scores only and does not answer to an edit." if result.task.spec.scores else ""
    st.caption(
        f"Everyone who stays within the data's range is moved by one step, all else as recorded: an "
        f"edit of an input, not of its causes.{given}"
    )


def _calibration(result: FitResult) -> None:
    found = _evidence(result)
    outcome = result.task.spec.outcomes[1]
    st.markdown(_calibration_in_words(result, found.calibration))
    headings = {
        "Group": "",
        "People": "",
        "f": tip("calibration_error"),
        "g": "",
        "Difference": "",
    }
    rows = []
    for code, row in found.calibration.iterrows():
        cells = [
            f"{row[name]:{form}} [{row[f'{name}_low']:{form}}, {row[f'{name}_high']:{form}}]".replace("-", "−")
            if row[f"{name}_low"] or row[f"{name}_high"]
            else "none beyond chance"
            for name, form in (("f", ".3f"), ("g", ".3f"), ("difference", "+.3f"))
        ]
        rows.append([result.task.groups[int(code)], f"{row['count']:,.0f}", *cells])
    st.html(html_table(headings, rows, caption="Calibration error by group"))
    st.caption("In brackets: 95 % intervals. On the dashed line scores mean what they say.")
    points = found.reliability.assign(model=found.reliability["model"].map(MODELS))
    table = Table("Calibration as a table", "calibration_points", RELIABILITY, lambda: points)
    groups = list(points.groupby("group", sort=False))
    if result.has_many_groups:
        pictures = dict(groups)
        grew_most = list(pictures).index(result.task.groups[_grew_most(found.calibration)])
        group = st.selectbox("Group", list(pictures), grew_most, key=f"calibration_{result.settings.task_name}")
        groups = [(group, pictures[group])]
    for cell, (group, part) in zip(st.columns(len(groups), gap="medium"), groups, strict=True):
        with cell:
            st.markdown(f"**{escape_markdown(group)}**")
            draw(
                plot_reliability,
                part,
                alt="Share labelled positive by mean score, before and now.",
                table=table.title,
                outcome=outcome,
            )
    fold(table, points)


def _grew_most(table: pd.DataFrame) -> int:
    """Number of the group whose error grew most; one of a few people only if there is no other."""
    return int(table.loc[compared_groups(table["count"]), "difference"].idxmax())


def _calibration_in_words(result: FitResult, table: pd.DataFrame) -> str:
    """What is measured, and in which group it grew most, or that it grew in none."""
    asked = (
        "Do the scores still mean what they say? The calibration error measures how far they miss what was recorded."
    )
    code = _grew_most(table)
    row = table.loc[code]
    low, high = row["difference_low"], row["difference_high"]
    if row["difference"] <= 0:
        found = "It grew in **no group**; the smallest fall was that of"
    else:
        found = "It **grew most** in the group"
    chance = ", so it may be chance" if low <= 0 <= high else ""
    interval = f"{row['difference']:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}".replace("-", "−")
    group = escape_markdown(result.task.groups[code])
    return f"{asked} {found} “{group}”: from {row['f']:.3f} to {row['g']:.3f} ({interval}{chance})."


def _refitting() -> Callable[[Ticket], None]:
    place = st.empty()
    place.progress(0.0, text="Refits …")

    def show_progress(ticket: Ticket) -> None:
        place.progress(ticket.progress, text=in_line("Refits", ticket))

    return show_progress


def _again(result: FitResult, found: Refits) -> None:
    line(result.answers(refits=found)["again"])
    share = found.share[result.changed_test]
    edges = np.arange(0, 101, 10)
    place = np.minimum((share * 10 + 1e-9).astype(int), 9)
    people = np.bincount(place, minlength=10)
    frame = pd.DataFrame(
        {
            "name": [f"{low}–{low + 10}" for low in edges[:-1]],
            "rank": range(10),
            "people": people,
            "often": often_enough(edges[:-1] / 100),
        }
    )
    draw(
        plot_again,
        frame,
        alt="Changed people by the share of refits that change them.",
        table=AGAIN,
        caption=f"{tip('refits')} {len(found)} times.",
    )


def _proxies(result: FitResult) -> None:
    found = _evidence(result).proxies
    names = result.task.groups
    many = len(names) > 2
    groups = " from ".join(f"“{escape_markdown(name)}”" for name in names[::-1])
    text = "one group from all others, that which it tells best" if many else groups
    st.markdown(f"How well each concept and each feature **alone** tells {text}.")
    headings = {"What": "", "AUC": "", "95 % interval": "", "Kind": ""} | ({"Group": ""} if many else {})
    rows = [
        [row.label, f"{row.auc:.2f}", f"[{row.low:.2f},\u00a0{row.high:.2f}]", row.kind, names[row.group]][
            : len(headings)
        ]
        for row in found.itertuples()
    ]
    st.html(html_table(headings, rows, caption="What tells the groups apart", text=(3, 4), tall=len(rows) > MANY))
    strongest = found[found["kind"] == "feature"].iloc[0]
    st.caption(tip("proxies", auc=tip("auc_of_group"), strongest=escape_markdown(strongest["label"])))


def _evidence(result: FitResult) -> Evidence:
    return result_of(tasks.evidence(result), st.empty(), "Counting")
