"""Each of many groups against everyone: what the figures, which compare the extremes, leave unsaid."""

import pandas as pd
import streamlit as st

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.chart import Table, fold
from commod.dashboard.views.words import say_declared
from commod.explain.groups import Groups, extremes_in_words, margins_in_words
from commod.metrics.counts import least_people
from commod.metrics.figures import CRITERIA

COLUMNS = {
    "group": ("Group", ""),
    "count": ("People", ","),
    "before": ("By f", ".1%"),
    "rate": ("By g", ".1%"),
    "low": ("95 % from", ".1%"),
    "high": ("to", ".1%"),
    "points": ("Against everyone (points)", "+.1f"),
    "ratio": ("Of the highest", ".2f"),
    "extreme": ("Compared", ""),
}


def draw_groups(result: FitResult) -> None:
    """The section; nothing for two groups, of which tiles and changes say all."""
    found = result.groups
    if found is None:
        return
    st.header(say_declared("Each group against everyone"))
    st.markdown(_sentences(result, found))
    frame = found.table

    def rows() -> pd.DataFrame:
        few = f"no, fewer than {least_people(frame['count'])}"
        said = frame["compared"].map({True: say_declared("yes"), False: say_declared(few)})
        named = frame["group"].map(say_declared)
        return frame.assign(points=100 * frame["difference"], extreme=said, group=named)

    fold(Table("Each group as a table", "groups_table", COLUMNS), rows)


def _sentences(result: FitResult, found: Groups) -> str:
    """Who the extremes are, before and now, and what the margins of a crossing say."""
    fairness = result.settings.fairness
    figure = CRITERIA[fairness].figure
    parts = []
    if figure.name in result.figures.index:
        g, f = (
            f"{figure.show(result.figures.loc[figure.name, model])} ({extremes_in_words(found, fairness, model)})"
            for model in ("g", "f")
        )
        parts.append(f"{figure.title} compares the extremes. With g it is {g}; with f it was {f}.")
    parts.append(margins_in_words(found, fairness, result.figures))
    return "\n\n".join(escape_markdown(say_declared(part)) for part in parts if part)
