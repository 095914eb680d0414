"""COMMOD Explorer: the Explore page. Start with ``streamlit run app.py``."""

import streamlit as st

from commod.dashboard import explore, layout, session

layout.page("app.py")
settings = explore.controls()
session.keep_link()

st.title("What does it cost to make this model fairer?")
result = explore.train(settings)
if result is None:
    st.stop()

st.markdown(explore.verdict(result))
explore.figures(result)
left, right = st.columns([3, 2], gap="large")
with left:
    draw_sweep = explore.pareto(result)
with right:
    explore.changes(result)
    explore.share(result.settings)
explore.concepts(result)
explore.tree(result, settings.depth)
# What may take a while comes last: the page above is complete without it.
draw_sweep()
explore.shap(result)
