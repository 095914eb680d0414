"""Glossary: find a word, or read all of them by chapter; and what figures do not tell."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text import glossary
from commod.dashboard.views import frame
from commod.dashboard.views.words import say

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
    if asked:
        with st.container(border=True):
            word = words[asked]
            st.markdown(f"**{word.title}**\n\n{glossary.picture(asked)}{word.tip} {word.more}")
    seen, colon = {""}, say("standalone.colon")
    for chapter, listed in glossary.chapters(language).items():
        st.header(chapter, anchor=False)
        entries = []
        for name, word in listed.items():
            # Each picture once, at the first word of its idea.
            picture = glossary.picture(name)
            entries.append(f"- **{word.title}**{colon} {word.tip}" + f"\n\n  {picture}" * (picture not in seen))
            seen.add(picture)
        st.markdown("\n".join(entries))
    st.header(say("glossary.not_told"))
    st.markdown(say("glossary.not_told_says"))
    session.keep_link(**({"word": asked} if asked else {}))
