"""Paper: every table and figure of the paper recomputed from committed results, the printed numbers beside ours."""

import streamlit as st

from commod.dashboard.pages.paper import figures, table
from commod.dashboard.state import session
from commod.dashboard.text.glossary import tip, with_tooltips
from commod.dashboard.views import frame
from commod.datasets import TASKS
from commod.experiments.paper import DATASETS
from commod.experiments.paper_numbers import TABLE1_CELLS
from commod.experiments.segments import PAPER_SEGMENTS
from commod.experiments.winners import claims_of, wins_in_words
from commod.metrics.figures import CRITERIA


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/paper.py")
    st.title("The paper, recomputed")
    st.html(with_tooltips([tip("paper_intro")]))
    st.markdown(f"{_finding()}{tip('paper_how')}")
    st.header("Table 1: changes at equal fairness and accuracy")
    data, criterion = _choose()
    models = table.result("table1", data)
    if models is not None:
        table.draw_table1(models, data, criterion)
    for figure in figures.paper_figures(data):
        st.header(figure.title)
        found = table.result(figure.result, figure.data)
        if found is not None:
            figure.draw(found)
    st.caption(table.versions_in_words())


def _finding() -> str:
    """What comes out where the paper prints its Table 1; empty without the result."""
    data, criterion = next(iter(DATASETS)), next(iter(CRITERIA))
    try:
        cells = table._cells(data, criterion, PAPER_SEGMENTS[data, criterion][0])
    except ValueError:
        return ""
    claims = [claim for claim in claims_of(cells) if claim.place in TABLE1_CELLS]
    return f"**On {TASKS[data].title}, {wins_in_words(claims)} of about equal fairness and accuracy.** "


def _choose() -> tuple[str, str]:
    """Data set and criterion of the tables: from the link, or those of the session if the paper has them."""
    here = session.current()
    asked = st.query_params.get("paper", "").split(",")
    starts = {"paper_data": (here.data, DATASETS, asked[0]), "paper_criterion": (here.fairness, CRITERIA, asked[-1])}
    for key, (usual, known, wanted) in starts.items():
        if key not in st.session_state:
            st.session_state[key] = wanted if wanted in known else usual if usual in known else next(iter(known))
    left, right = st.columns(2, gap="medium")
    data = left.selectbox("Data set", DATASETS, format_func=lambda name: TASKS[name].title, key="paper_data")
    criterion = right.selectbox(
        "Criterion", list(CRITERIA), format_func=lambda name: CRITERIA[name].label, key="paper_criterion"
    )
    session.keep_link(paper=f"{data},{criterion}")
    return data, criterion
