"""Limits: why a model cannot be fair in every sense at once, with the numbers of f and g."""

import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.theory import error_rates
from commod.theory.interventions import DEMANDS
from commod.wording import listed, with_capital

# By column of `error_rates`: its heading, and what it means.
COLUMNS = {
    "base_rate": ("Base rate", "Share of the group that has the positive label by the record. No model can change it."),
    "ppv": ("PPV", "Positive predictive value: of the positive decisions, the share that the record proves right."),
    "fnr": ("FNR", "False negative rate: of those with the positive label, the share decided negatively."),
    "fpr": ("FPR", "False positive rate: of those with the negative label, the share decided positively."),
    "forced_fpr": (
        "Forced FPR",
        "The false positive rate that counting forces on the group if its PPV and FNR are those of everybody.",
    ),
}


def not_all_at_once(result: FitResult) -> None:
    """What each sense of fairness takes, why some contradict each other, and the numbers of f and g behind it."""
    st.header("Why not fair in every sense at once")
    _draw_interventions(result_of(tasks.interventions(result.settings)), len(result.scene.test))
    scene, test = result.scene, result.scene.test
    given = {"sensitive_features": test.sensitive_features, "sample_weight": test.weight}
    frames = {
        name: error_rates(test.y, decided, **given)
        for name, decided in (("f", scene.decisions_test), ("g", result.decisions))
    }
    names = [result.task.groups[int(code)] for code in frames["g"].index]
    st.markdown(_words(frames["g"], names))
    rows = [
        [f"{names[place]}: {model}", *(_percent(frame.iloc[place][column]) for column in COLUMNS)]
        for place in range(len(names))
        for model, frame in frames.items()
    ]
    headings = {"Group": ""} | dict(COLUMNS.values())
    st.html(html_table(headings, rows, caption="Base rates and errors of f and g by group", dense=True))
    st.caption(tip("impossible"))


def _draw_interventions(table: pd.DataFrame, people: int) -> None:
    """The fewest changes for each sense of fairness, and for several together."""
    never = [in_words(row.demands) for row in table.itertuples() if pd.isna(row.change_rate)]
    words = tip("interventions")
    if never:
        words += f" No such rule meets {'; nor '.join(never)}: on these people they contradict each other."
    st.markdown(words)
    rows = []
    for row in table.to_dict("records"):
        name = in_words(row["demands"])
        if pd.isna(row["change_rate"]):
            rows.append([with_capital(name), "cannot be met", "–", "–"])
            continue
        changed = row["change_rate"]
        rows.append([with_capital(name), f"{changed:.1%}", f"{changed * people:,.0f}", f"{row['positive_rate']:.1%}"])
    headings = {
        "Fair in the sense of": "",
        "Fewest changes": "Share of the test decisions.",
        "People": "",
        "Decided positively then": "Share of everybody who then gets the positive decision.",
    }
    st.html(html_table(headings, rows, caption="The fewest changes for each sense of fairness, the group known"))
    st.caption(tip("interventions_how"))


def in_words(demands: tuple[str, ...]) -> str:
    """Senses of fairness: "demographic parity and equalized odds"."""
    return listed(DEMANDS[demand] for demand in demands)


def _percent(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.1%}"


def _words(rates: pd.DataFrame, names: list[str]) -> str:
    """The table read out: the two groups whose base rates are furthest apart."""
    low, high = int(rates["base_rate"].argmin()), int(rates["base_rate"].argmax())
    lowest, highest = escape_markdown(names[low]), escape_markdown(names[high])
    base, forced = rates["base_rate"].iloc[[low, high]], rates["forced_fpr"].iloc[[low, high]]
    words = (
        f"By the record {base.iloc[0]:.1%} of {lowest} and {base.iloc[1]:.1%} of {highest} have the positive label. "
        "Where base rates differ, a positive decision cannot mean the same in every group (predictive parity) while "
        "both kinds of error are equally frequent (equalized odds), unless there are no errors at all."
    )
    if forced.isna().any():
        return words
    words += (
        f" If g had one PPV and one FNR for everybody, {lowest} would have a false positive rate of "
        f"**{forced.iloc[0]:.1%}** and {highest} one of **{forced.iloc[1]:.1%}**"
    )
    return f"{words}{', which is more than everybody' if forced.max() > 1 else ''}."
