"""Paper: every table and figure of the paper recomputed from committed results, the printed numbers beside ours."""

from itertools import product

import streamlit as st

from commod.dashboard.pages.paper import figures, table
from commod.dashboard.state import session
from commod.dashboard.text.glossary import tip, with_tooltips
from commod.dashboard.views import frame
from commod.datasets import TASKS
from commod.experiments.paper import DATASETS
from commod.experiments.segments import PAPER_SEGMENTS
from commod.experiments.winners import wins_in_words
from commod.metrics.figures import CRITERIA


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/paper.py")
    st.title("The paper, recomputed")
    st.html(with_tooltips([tip("paper_intro")]))
    st.markdown(f"{_findings()}{tip('paper_how')}")
    st.expander("COMMOD is ours: what it and the other methods do").markdown(tip("methods_told"))
    st.header("Table 1: changes at equal fairness and accuracy")
    data, criterion = _choose()
    models = table.result("table1", data)
    if models is not None:
        table.draw_table1(models, data, criterion)
    st.header("The other figures")
    for figure in figures.paper_figures(data):
        with st.expander(figure.title):
            found = table.result(figure.result, figure.data)
            if found is not None:
                figure.draw(found)
    st.caption(table.versions_in_words())


def _findings() -> str:
    """Who changes fewest in the cells of the paper, and where COMMOD does not; empty without the result."""
    whole, sentences = [], []
    for data, criterion in product(DATASETS, CRITERIA):
        cuts = PAPER_SEGMENTS[data, criterion][0]
        try:
            claims = table.claims_at(table._cells(data, criterion, cuts))
        except ValueError:
            return ""
        lost = [claim for claim in claims if "commod" not in claim.fewest]
        where = ", ".join(cuts.fairness_range(q, criterion) for q in sorted({claim.place[0] for claim in lost}))
        behind = f"; others win some at {CRITERIA[criterion].figure.short_in_sentence} {where}" if lost else ""
        won = f"{CRITERIA[criterion].label}: {len(claims) - len(lost)} of {len(claims)}"
        sentences.append(f"- {TASKS[data].title}, {won}{behind}")
        whole += claims
    return "\n".join([f"**{wins_in_words(whole)}.** {tip('cell')}\n", *sentences, "\n"])


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
