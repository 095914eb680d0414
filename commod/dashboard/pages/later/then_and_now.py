"""What the parts of the page share: the columns of an interval, and the words for a difference."""

import pandas as pd
import streamlit as st

from commod.charts.later import CHANCE, MOVED, NOW, THEN

TIMES = {"old": THEN, "new": NOW}
INTERVALS = {
    "old": ("Then", ".3f"),
    "new": ("Now", ".3f"),
    "difference": ("Now less then", "+.3f"),
    "low": ("95 % from", "+.3f"),
    "high": ("to", "+.3f"),
    "told": ("By chance?", ""),
}


def with_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with ``told``: whether chance explains the difference."""
    return frame.assign(told=frame["moved"].map({True: MOVED, False: CHANCE}))


def say_no_labels() -> None:
    """In place of what rests on labels."""
    st.info("The batch has no label, so nobody can tell what was right.", icon=":material/info:")
