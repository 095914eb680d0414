"""Limits: what so many changes can do at best, and how near to it COMMOD and the others come."""

import streamlit as st

from commod.dashboard import compute, controls, explore, layout, limits, session, sweeps

layout.page("pages/limits.py")
st.title("How few changes could do it?")
st.markdown(
    "Before a method is asked, it can be counted what **any** rule could do by changing so many of **f**'s decisions. "
    "Then see how near to that limit COMMOD and the others come."
)
settings = session.current()
begun = compute.begin(settings)
controls.sidebar()
controls.notices()
head = st.container()
bound = compute.limits(settings)
budget, level = limits.ask(settings, bound)
names = sweeps.choose_methods(settings, usual=limits.QUICK)
session.keep_link(**sweeps.link(), **limits.link())
progress = st.empty()
picture = st.empty()
below = st.empty()
with head:
    result = explore.train(settings, begun)
if result is None:
    st.stop()


def paint(found, *, final=False):
    """Draw what there is."""
    limits.region(settings, bound, found, result, picture, budget, level, final=final)


if not any(compute.known_sweep(name, settings.scene()) for name in names):
    paint({})  # the bound is there before any method is
found = sweeps.collect(settings, names, progress, paint, stale=(below,))
paint(found, final=True)
with below.container():
    limits.price(settings, found, result, bound, budget, level)
    limits.propositions(settings, bound)
