"""Glossary: find a word, or read all of them by chapter; and what figures do not tell."""

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text import glossary
from commod.dashboard.views import frame
from commod.dashboard.views.words import say

# What is looked for: the name of a word, which a link can have, or what was typed.
_asked: PageState[str] = PageState("word", lambda: st.query_params.get("word", "")[:60])


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/glossary.py")
    language, asked = session.language(), _asked()
    st.title(say("frame.glossary"))
    words = glossary.words(language)
    st.text_input(
        say("glossary.find"),
        placeholder=say("glossary.type"),
        icon=":material/search:",
        **mirrored("glossary_word", words[asked].title if asked in words else asked, _asked.set),
    )
    if asked:
        found = [asked] if asked in words else glossary.search(asked, language)
        _list({name: words[name] for name in found}, more=True)
        if not found:
            st.markdown(say("glossary.not_found"))
    else:
        for chapter, listed in glossary.chapters(language).items():
            st.header(chapter, anchor=False)
            _list(listed)
        st.header(say("glossary.not_told"))
        st.markdown(say("glossary.not_told_says"))
    session.keep_link(**({"word": asked} if asked else {}))


def _list(words: dict[str, glossary.Word], *, more: bool = False) -> None:
    """Words and what they mean, each picture once, at the first word of its idea."""
    entries, seen, colon = [], {""}, say("standalone.colon")
    for name, word in words.items():
        picture = glossary.picture(name)
        told = f"{word.tip} {word.more}" if more else word.tip
        entries.append(f"- **{word.title}**{colon} {told}" + f"\n\n  {picture}" * (picture not in seen))
        seen.add(picture)
    st.markdown("\n".join(entries))
