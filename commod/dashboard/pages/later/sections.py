"""Then and now: whether it still holds, what is required, and what moved."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views.chart import Table, fold
from commod.dashboard.views.tiles import tile_of
from commod.decisions import VERDICTS, Requirements
from commod.metrics.figures import CRITERIA, key_figures
from commod.monitoring import Judged, Watched, judge
from commod.monitoring.outcome import MOVED, due_in_words, signature_in_words

ADVICE = {
    "holds": "nothing now. Look again when more people have come.",
    "broken": "do not rely on the old figures. See what moved, then train and test a model with later people.",
    "unknown": "bring a batch of more people, with their groups and record.",
}


def draw_outcome(found: Watched, judged: Judged, *, demo: bool) -> None:
    """The verdict, why, what to do, and who is left out."""
    outcome = judged.outcome
    boxes = {
        "holds": (st.success, ":material/check:"),
        "broken": (st.warning, ":material/close:"),
        "unknown": (st.info, ":material/question_mark:"),
    }
    kind = "broken" if outcome.title == MOVED else outcome.kind
    box, icon = boxes[kind]
    is_other = judged.signature is not None and not judged.signature["agrees"].all()
    advice = "Bring the model that was signed." if is_other else ADVICE[kind]
    box(f"**{'Demo: ' * demo}{outcome.title}.** {escape_markdown(outcome.why)}\n\n**What to do:** {advice}", icon=icon)
    if judged.left_out:
        st.caption(escape_markdown(judged.left_out))
    for notice in found.notices:
        st.info(escape_markdown(notice), icon=":material/info:")


def draw_tiles(found: Watched, furthest: Sequence[tuple[str, str]]) -> None:
    """What moved `furthest` and the key figures of g as tiles: then and now, and whether chance may explain it."""
    criterion = CRITERIA.get(found.fairness)
    rows = found.figures.set_index(["figure", "model"])
    tiles = []
    for figure in criterion.key_figures if criterion else key_figures():
        key = (figure.name, "change" if figure.of_change else "g")
        if key in rows.index:
            row = rows.loc[key].to_dict()
            now = {"g": row["new"], "g_low": row["new_low"], "g_high": row["new_high"], "difference": row["difference"]}
            tile = tile_of(figure, {**now, "difference_low": row["low"], "difference_high": row["high"]})
            # A minus sign, not a hyphen: Streamlit then has to be told the way and the colour.
            way, better = ("down", "inverse") if row["difference"] < 0 else ("up", "normal")
            color = {"off": "off", better: "green"}.get(tile["delta_color"], "red")
            delta = {"delta": tile["delta"].replace("-", "−"), "delta_description": BY_CHANCE[bool(row["moved"])]}
            delta |= {"delta_color": color, "delta_arrow": way if row["moved"] else "off"}
            tiles.append(tile | delta | {"value": f"{figure.show(row['old'])} → {tile['value']}"})
    named = {tile["label"] for tile in tiles}
    how = {"delta": BY_CHANCE[True], "delta_color": "orange", "delta_arrow": "off", "border": True}
    others = [how | {"label": escape_markdown(name), "value": moved} for name, moved in furthest if name not in named]
    for line in filter(None, (others, tiles)):
        for cell, tile in zip(st.columns(len(line), gap="small"), line, strict=True):
            cell.metric(**tile)
    st.caption(tip("later_tiles", old_people=found.old_people, people=found.people))


def draw_checked(judged: Judged, record: Mapping[str, Any] | None, signed: bool) -> None:
    """Each requirement then and now, and the signature line by line."""
    st.header("What is required")
    if len(checked := judged.checked):
        reasons = [
            "see above" if row in judged.outcome.mentioned else checked.at[row, "sentence"] for row in checked.index
        ]
        rows = [
            [row.wanted, _verdict(row.then), _verdict(row.verdict), why]
            for row, why in zip(checked.itertuples(), reasons, strict=True)
        ]
        then = "On the people tested on" if record is None else "When it was signed"
        headings = ["Required", then, "On these people", "Why"]
        st.html(html_table(headings, rows, caption="What is required, then and now", text=(1, 2, 3)))
    if record is not None and (lines := judged.signature) is not None:
        today = datetime.now(UTC).date()
        agree = bool(lines["agrees"].all())
        box, icon = (st.success, ":material/verified:") if agree else (st.warning, ":material/report:")
        box(escape_markdown(f"{signature_in_words(lines)} {due_in_words(record, today)}"), icon=icon)
        columns = {"line": ("Line", ""), "recorded": ("In the decision", ""), "found": ("Here", ""), "text": ("", "")}
        agrees = lines["agrees"].map({True: "agrees", False: "differs"})
        fold(Table("The decision line by line", "later_signature", columns), lines.assign(text=agrees))
    elif signed:
        st.caption(tip("later_no_decision"))


def _verdict(name: str) -> str:
    return f"{VERDICTS[name]} {name}" if name in VERDICTS else name or "–"


FIGURES = Table(
    "All figures then and now, as a table",
    "later_figures",
    {
        "title": ("Figure", ""),
        "model": ("Of", ""),
        "old": ("Then", ".3f"),
        "new": ("Now", ".3f"),
        "difference": ("Now less then", "+.3f"),
        "low": ("95 % from", "+.3f"),
        "high": ("to", "+.3f"),
        "text": ("By chance?", ""),
    },
)
COLUMNS = Table(
    "Columns then and now, as a table",
    "later_drift",
    {
        "shown": ("Column", ""),
        "index": ("Stability index", ".3f"),
        "by_chance": ("Reached by chance", ".3f"),
        "text": ("Distributed", ""),
        "unseen": ("People with a value that nobody had before", ","),
    },
)
BY_CHANCE = {True: "more than chance explains", False: "chance may explain it"}
DRIFTS = {"stable": "as it was", "look": "asks for a look", "shifted": "a shift"}
MODELS = {"f": "f", "g": "g", "change": "g against f"}
# Sentences on columns; the table has all of them.
MAX_SENTENCES = 8


def draw_moved(found: Watched, summary: str) -> None:
    """Every figure, and every column and score; `summary` counts them."""
    st.header("What moved")
    st.markdown(escape_markdown(summary))
    drifted = found.drift[(found.drift["drift"] != "stable") | (found.drift["unseen"] > 0)]
    for sentence in drifted["sentence"].head(MAX_SENTENCES):
        st.markdown(f"- {escape_markdown(sentence)}")
    figures = found.figures
    fold(FIGURES, figures.assign(text=figures["moved"].map(BY_CHANCE), model=figures["model"].map(MODELS)))
    fold(COLUMNS, found.drift.assign(text=found.drift["drift"].map(DRIFTS)))
    st.caption(tip("stability_index"))


def draw_batch(
    found: Watched, required: Requirements, record: Mapping[str, Any] | None, *, signed: bool, demo: bool
) -> None:
    """All of it.

    `record` is the decision that the model is compared with. `signed` says whether there is one at all: none is
    compared with a model that is shown as if it had been tested on half of its people.
    """
    judged = judge(found, required, record)
    draw_outcome(found, judged, demo=demo)
    draw_tiles(found, judged.outcome.furthest)
    if required or signed:
        draw_checked(judged, record, signed)
    draw_moved(found, judged.moved)
