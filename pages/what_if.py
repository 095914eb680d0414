"""What if: one person, every feature editable, and the sum that leads from f to g."""

import streamlit as st

from commod.dashboard import explore, layout, session, what_if

layout.page("pages/what_if.py")
st.title("What if this person were different?")
st.markdown(
    "Choose someone of the test part and edit any feature: **f**, the concepts, **r** and **g** follow at once. "
    "The model stays the one of the Explore page."
)
result = explore.current_model()
what_if.choose(result)
session.keep_link(**what_if.link())
head = st.container()
left, right = st.columns(2, gap="large")
with left:
    person = what_if.edit(result)
with head:
    what_if.readout(result, person)
with right:
    what_if.waterfall(result, person)
with left:
    what_if.edits(result, person)
# What may take a while comes last: the page above is complete without it.
with right:
    what_if.shap(result, person)
