"""SHAP beside COMMOD's own account."""

from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from commod.charts import plot_contributions
from commod.charts.bars import ACCOUNTS
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import Pending, deferred_paint, draw_pending, in_line, ready_in
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table
from commod.dashboard.views.words import say, say_declared, tip
from commod.explain import ShapComparison


def account_columns(shap: str, form: str) -> dict[str, tuple[str, str]]:
    """Columns of the table behind the chart of both accounts."""
    names = {
        "commod": f"{ACCOUNTS[0]} (logit)",
        "shap": f"{shap} (logit)",
        "shap_low": "SHAP, least of its redraws",
        "shap_high": "SHAP, most",
    }
    return {"label": ("Feature", ""), **{name: (heading, form) for name, heading in names.items()}}


def draw_accounts(features: pd.DataFrame, table: Table, **options: Any) -> None:
    """Both accounts of the features in one chart; `features` has a row each, ``label, commod, shap, shap_low, …``."""
    draw(plot_contributions, _accounts(features), table=table, **options)


def _accounts(features: pd.DataFrame) -> pa.Table:
    """Rows of the chart of both accounts."""
    columns = features.to_dict("list")
    n, none = len(features), [0.0] * len(features)
    return pa.table(
        {
            "label": columns["label"] * 2,
            "rank": [*range(n)] * 2,
            "account": [account for account in map(say_declared, ACCOUNTS) for _ in range(n)],
            "value": columns["commod"] + columns["shap"],
            "low": none + columns["shap_low"],
            "high": none + columns["shap_high"],
        }
    )


def draw_shap(result: FitResult) -> None:
    """SHAP beside COMMOD's own account, waited for."""
    draw_pending(begin_shap(result))


def begin_shap(result: FitResult) -> Pending | None:
    """The section of SHAP, which is drawn when its figures are there."""
    st.header(say_declared("Post hoc or built in: SHAP beside COMMOD"))
    if not result.keep("attributes", lambda: bool(result.loadings["loading"].any())):
        st.info(say("shap.nothing"), icon=":material/info:")
        return None
    place = st.empty()
    section = st.container()
    place.skeleton(height=320)

    told = ""

    def look(ticket: Ticket) -> None:
        nonlocal told
        waits = ticket.before or ticket.note or ready_in(ticket)
        if waits and (text := in_line("SHAP", ticket)) != told:
            place.progress(ticket.progress, text=text)
            told = text

    def paint(ticket: Ticket) -> None:
        with deferred_paint(), section:
            place.empty()
            _draw(ticket.result())

    return Pending(submit(tasks.shap(result)), paint, look)


def _draw(comparison: ShapComparison) -> None:
    features = comparison.features.assign(label=comparison.features["label"].map(say_declared))
    wide, narrow = st.columns([3, 2], gap="large")
    with wide:
        draw_accounts(
            features,
            Table("Contributions as a table", "contributions_table", account_columns("SHAP", ".3f"), lambda: features),
            alt="Mean contribution to the change in score by feature.",
        )
    with narrow:
        agreement, kept = (say_declared(text) for text in (f"{comparison.agreement:.2f}", f"{comparison.top_kept:.0%}"))
        st.metric(say("shap.agreement"), agreement, help=tip("agreement"))
        redrawn = tip("redrawn", background=comparison.background, redraws=comparison.redraws)
        st.metric(say("shap.top_kept"), kept, help=f"{tip('top_kept')} {redrawn}")
        st.markdown(say("shap.scores", n=comparison.evaluations, rows=comparison.rows))
        st.caption(say("shap.lines"))
