"""Paper: every table and figure of the paper recomputed, the printed numbers beside ours."""

import streamlit as st

from commod.dashboard import layout, paper

layout.page("pages/paper.py")
st.title("The paper, recomputed")
st.markdown(
    "Every number here was measured by `python -m commod paper` and is read from the files in `data/results`; only "
    "what is called *paper* is typed from the print. Where it does not come out as printed, it says so."
)
st.header("Table 1: changes at equal fairness and accuracy")
data, criterion = paper.choose()
paper.tables(data, criterion)
st.header("Figure 2: two concepts on COMPAS")
paper.example()
st.header("Figure 3: concepts of COMMOD and of FRAPPE (Law School)")
paper.concepts()
st.header("Figure 4: can a tree tell who changed?")
paper.trees(data)
st.header("Figure 8: a linear ratio or a network (Law School)")
paper.architectures()
st.header("Figure 9: what becomes of the scores (Law School)")
paper.calibration()
st.header("Figure 10: post-hoc trees or built-in concepts (Law School)")
paper.posthoc()
st.header("Does the seed matter? The regressions of Section 6.4")
paper.sensitivity()
st.caption(paper.versions())
