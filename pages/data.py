"""Data and words: the datasheets, group sizes first, and what the metrics mean and do not tell."""

import re

import streamlit as st

from commod.dashboard import glossary, layout, session
from commod.dashboard.markup import plain
from commod.datasets import load_task

layout.page("pages/data.py")
st.title("Data and words")

names = session.data_sets()
here = names.index(session.current().data)
name = st.selectbox("Data set", names, index=here, format_func=lambda key: load_task(key).spec.title)
task = load_task(name)
cells = st.container(horizontal=True, gap="small")
for code, group in enumerate(task.groups):
    rows = task.sensitive == code
    rate = f"{task.y[rows].mean():.1%} of them: {plain(task.spec.outcomes[1])}"
    cells.metric(plain(group), f"{rows.sum():,}", rate, delta_color="off", delta_arrow="off", border=True)
# The headings of a datasheet come below that of the page.
st.markdown(plain(task.datasheet) if task.recipe else re.sub(r"^#", "##", task.datasheet, flags=re.MULTILINE))

session.keep_link()

st.header("Words")
for chapter, words in glossary.chapters().items():
    st.subheader(chapter)
    st.markdown("\n".join(f"- **{word.title}**: {word.tip} {word.more}" for word in words))
st.header("What they do not tell")
st.markdown(
    """
Group metrics compare averages. They do not say whether a label records what one wants to know, whether a decision is
just to the person it concerns, or what happens afterwards. Demographic parity and equalized odds cannot in general be
had together, and both can be met by harming one group instead of helping the other: look at *who* changes, not only at
how many.
"""
)
