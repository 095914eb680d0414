"""Glossary: every word that the app explains, by chapter, and what figures do not tell."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text import glossary
from commod.dashboard.views import frame


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/glossary.py")
    st.title("Glossary")
    for chapter, words in glossary.chapters().items():
        st.header(chapter)
        st.markdown("\n".join(f"- **{word.title}**: {word.tip} {word.more}" for word in words))
    st.header("What figures do not tell")
    st.markdown(
        """
Group metrics compare averages. They do not say whether a label records what one wants to know, whether a decision is
just to the person it concerns, or what happens afterwards. Demographic parity and equalized odds cannot in general be
had together, and both can be met by harming one group instead of helping the other: look at *who* changes, not only at
how many.
"""
    )
    session.keep_link()
