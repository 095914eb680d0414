"""COMMOD Explorer: the server and its Explore page. Start with ``streamlit run app.py``.

Streamlit imports this file once, for the server, and then runs it whenever somebody opens the page.
"""

import streamlit as st

from commod.dashboard import compute, controls, explore, layout, serving, session, target
from commod.dashboard.work import Ticket


def explore_page():
    """Sliders, the trade-off, who changes, and why."""
    with layout.first():
        layout.page("app.py", links_later=True)
        st.title("What does it cost to make this model fairer?")
        st.markdown(
            "**f** is the model in use, **g** a corrected copy of it. Move the sliders to trade accuracy for fairness."
        )
        head = st.container()
        left, right = st.columns([4, 3], gap="medium")
        # The new point first, and the rest of the page behind it: a page of this size takes the browser a while.
        target.arrive()
        settings = session.current()
    trained = compute.begin(settings)
    trains = isinstance(trained, Ticket)
    if trains:
        layout.links()
        controls.sidebar()
    with head:
        controls.notices()
        result = explore.train(settings, trained)
    if result is None:
        st.stop()
    with layout.first(), left:
        draw_sweep = explore.pareto(result)
    explained = compute.begin_to_explain(result)
    layout.breathe()
    compute.explain(result, explained)
    if not trains:
        with layout.one_by_one():
            layout.links()
        with layout.one_by_one():
            controls.sidebar()
    with layout.one_by_one(), head:
        st.markdown(explore.verdict(result))
        explore.figures(result)
    with layout.one_by_one(), right:
        explore.changes(result)
    with layout.one_by_one(), right:
        controls.share(result.settings)
    with layout.one_by_one(), right:
        searching = target.form(settings, result)
    with layout.one_by_one():
        explore.concepts(result)
    explore.tree(result, settings.depth)
    session.keep_link()
    # What may take a while comes last: the page above is complete without it.
    explore.shap(result)
    draw_sweep()
    target.wait(searching)


if __name__ == "__main__":
    explore_page()
else:
    compute.name_damaged_files()
    server = st.App(__file__, lifespan=serving.at_once, middleware=serving.middleware(layout.stir))
