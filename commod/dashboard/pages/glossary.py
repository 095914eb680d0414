"""Glossary: find a word, or look through all of them by chapter; and what figures do not tell."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text import glossary
from commod.dashboard.views import frame

# The word that is looked up, by its name; a link can ask for one.
_asked: PageState[str | None] = PageState("word", lambda: st.query_params.get("word"))


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/glossary.py")
    st.title("Glossary")
    words = glossary.words()
    asked = name if (name := _asked()) in words else None
    st.selectbox(
        "Find a word",
        sorted(words, key=lambda name: words[name].title.casefold()),
        format_func=lambda name: words[name].title,
        index=None,
        placeholder="Type a few letters: P-Rule, ratio, refit …",
        **mirrored("glossary_word", asked, _asked.set),
    )
    if asked:
        word = words[asked]
        with st.container(border=True):
            st.markdown(f"**{word.title}**\n\n{word.tip} {word.more}")
    for chapter, listed in glossary.chapters().items():
        with st.expander(f"{chapter} ({len(listed)})"):
            st.markdown("\n".join(f"- **{word.title}**: {word.tip}" for word in listed))
    st.header("What figures do not tell")
    st.markdown(
        "Group metrics compare averages. They do not say whether a label records what you want to know, whether a "
        "decision is just to the person, or what happens afterwards. In general you cannot have demographic parity and "
        "equalized odds together, and you can meet both by harming one group instead of helping the other: look at "
        "*who* changes, not only at how many."
    )
    session.keep_link(**({"word": asked} if asked else {}))
