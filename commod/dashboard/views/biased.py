"""What if the record is biased? A slider, and what the figures would be."""

import streamlit as st

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.views.words import say, say_declared
from commod.experiments.biased import disadvantaged, figures_if_missed, scene_in_truth, shares_to_ask
from commod.metrics.figures import FIGURES

# The share that the session asks about, on every page.
_missed: PageState[float] = PageState("missed", float)


def ask_missed(result: FitResult) -> float:
    """The slider; 0 where the record leaves no room for a question."""
    task = result.task
    shares: list[float] = result.keep("shares to ask", lambda: shares_to_ask(result.scene))
    group, outcome = task.groups[disadvantaged(result.scene)], task.spec.outcomes[task.spec.favourable]
    about = {"group": escape_markdown(group), "outcome": escape_markdown(say_declared(outcome))}
    if len(shares) < 2:
        st.caption(say("biased.no_room", **about))
        return 0.0
    return float(
        st.select_slider(
            say("biased.slider", **about),
            shares,
            format_func=lambda share: f"{share:.0%}",
            help=say("biased.help", most=f"{shares[-1]:.0%}", **about),
            **mirrored("missed", min(_missed(), shares[-1]), _missed.set),
        )
    )


def draw_biased(result: FitResult) -> None:
    """The question with its slider, and the figures by the record, if so, and in truth where that is known."""
    missed, scene = ask_missed(result), result.scene
    worlds = {say("biased.record"): (scene, 0.0)}
    if missed:
        worlds[say("biased.missed", share=f"{missed:.0%}")] = (scene, missed)
    if (truth := scene_in_truth(scene)) is not None:
        worlds[say("biased.truth")] = (truth, 0.0)
    if len(worlds) == 1:
        return
    g = [figures_if_missed(here, result.decisions, share) for here, share in worlds.values()]
    f = [figures_if_missed(here, scene.decisions_test, share) for here, share in worlds.values()]
    accuracy = FIGURES["accuracy"].show
    rows = [
        [say("biased.right"), *("–" if each["right"] != each["right"] else accuracy(each["right"]) for each in g)],
        [say("biased.accuracy", model="f"), *(accuracy(each["accuracy"]) for each in f)],
        [say("biased.accuracy", model="g"), *(accuracy(each["accuracy"]) for each in g)],
        [say("biased.errors"), *(FIGURES["dm"].show(each["dm"]) for each in g)],
    ]
    st.html(html_table(["", *worlds], rows, caption=say("biased.title")))
