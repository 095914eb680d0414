"""The Limits page: what K changes could do at best, what COMMOD and the others do with them."""

import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.pages.limits.asked import Drawn, ask, link
from commod.dashboard.pages.limits.impossible import not_all_at_once
from commod.dashboard.pages.limits.region import price, region
from commod.dashboard.state import session
from commod.dashboard.text.glossary import tip
from commod.dashboard.views import controls, frame
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.explained import ask_missed
from commod.dashboard.views.model import train
from commod.experiments import Sweep
from commod.experiments.biased import sweep_if_missed
from commod.experiments.limits import Limits
from commod.metrics.figures import CRITERIA, Criterion

# Drawn if nothing else is chosen: COMMOD, and what takes a few seconds.
QUICK = ("commod", "commod_decisions", "lpp", "oracle_lpp", "oracle")
# By criterion, the number of the paper's proposition and what it says.
PROPOSITIONS = {
    "demographic_parity": ("4.4", "all changes raise the disfavoured group, or all lower the other"),
    "equalized_odds": ("4.5", "all changes go to the one gap, and the one group, in which a change moves a rate most"),
}


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/limits.py")
    st.title("How few changes could do it?")
    st.markdown(tip("limits_intro"))
    settings = session.current()
    training = submit(tasks.fit(settings))
    controls.sidebar()
    controls.notices()
    with training:
        result = train(settings, training)
    if result is None or training.failed:  # the last good model is of other sliders, or of another f
        st.stop()
    asked = st.container()
    missed = ask_missed(result)
    bound = result_of(tasks.limits(settings, missed), st.empty(), "Counting the limit")
    if missed and not CRITERIA[settings.fairness].by_label:
        st.caption("The limit counts decisions, whatever the record says. Accuracies and the price change.")
    with asked:
        budget, level = ask(CRITERIA[settings.fairness], bound)
    one_way = settings.direction != "both"
    if one_way:
        names: list[str] = []
        st.caption("In one direction only, as g on Explore: the methods change decisions both ways and are left out.")
    else:
        names = sweeps.choose_methods(settings, usual=[*QUICK, *({sweeps.method_of(settings)} - {*QUICK})])
    session.keep_link(**sweeps.link(), **link())
    found = sweeps.known(settings, names)
    waits = len(found) < len(names)
    progress = st.empty()
    picture = sweeps.place(waits=waits)
    below = sweeps.place(waits=waits)

    blind = pd.DataFrame()

    def paint(found: dict[str, Sweep], *, final: bool = False) -> Drawn:
        """Draw what there is."""
        if missed:
            found = {name: sweep_if_missed(result.scene, sweep, missed) for name, sweep in found.items()}
        here = Drawn(settings, found, bound, blind, budget, level, result, missed)
        region(here, picture, final=final)
        return here

    if waits and not found:
        paint({})  # the bound is there before any method is
    with submit(tasks.blind_limits(settings)):  # learnt while the methods are swept
        found = sweeps.collect(settings, names, found, progress, paint)
        blind = result_of(tasks.blind_limits(settings), progress, "Learning what can be known of the group")
    here = paint(found, final=True)
    with below.container():
        price(here)
        not_all_at_once(result)
        propositions(here.criterion, bound, one_way=one_way, two_groups=not result.has_many_groups)


def propositions(criterion: Criterion, limits: Limits, *, one_way: bool, two_groups: bool) -> None:
    """What the paper's propositions say here, and from where on they do not hold as printed."""
    title = "The paper's propositions, held against the exact count"
    with st.expander(title, key="limits_propositions", on_change="rerun"):
        fails, switch = limits.printed_fails_from, limits.switching_point
        if switch is not None:
            st.markdown(
                f"**Switching point** K_s = {switch:,} ({switch / limits.people:.1%} of the people): the fewest "
                "changes after which the disfavoured group no longer has the smaller rate."
            )
        where = (
            "It is the best there is as far as this curve goes."
            if fails is None
            else f"Here it is the best there is up to K = {fails - 1:,}; from K = {fails:,} "
            f"({fails / limits.people:.1%}) on it is not: a gap is closed, a group has nobody left to change, or the "
            "last change overshoots."
        )
        if one_way:
            where = "It is about changes in both directions; the curve above is not."
        if not two_groups:
            where = "It is about two groups; the curve above, of more, is counted."
        name, says = PROPOSITIONS[criterion.name]
        st.markdown(f"**Proposition {name}** as printed: {says}. {where}")
