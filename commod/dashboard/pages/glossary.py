"""Glossary: find a word, or look through all of them by chapter; and what figures do not tell."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text import glossary
from commod.dashboard.views import frame
from commod.dashboard.views.words import say

# The words to begin with.
FIRST = ("f", "g", "p_rule")
# The word that is looked up, by its name; a link can ask for one.
_asked: PageState[str | None] = PageState("word", lambda: st.query_params.get("word"))


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/glossary.py")
    language = session.language()
    st.title(say("frame.glossary"))
    words = glossary.words(language)
    asked = name if (name := _asked()) in words else None
    st.selectbox(
        say("glossary.find"),
        sorted(words, key=lambda name: words[name].title.casefold()),
        format_func=lambda name: words[name].title,
        index=None,
        placeholder=say("glossary.type"),
        **mirrored("glossary_word", asked, _asked.set),
    )
    with st.container(border=True):
        for name in [asked] if asked else FIRST:
            word = words[name]
            st.markdown(f"**{word.title}**\n\n{glossary.picture(name)}{word.tip} {word.more if asked else ''}")
    for chapter, listed in glossary.chapters(language).items():
        with st.expander(f"{chapter} ({len(listed)})"):
            colon = say("standalone.colon")
            st.markdown("\n".join(f"- **{word.title}**{colon} {word.tip}" for word in listed))
    st.header(say("glossary.not_told"))
    st.markdown(say("glossary.not_told_says"))
    session.keep_link(**({"word": asked} if asked else {}))
