"""The Limits page: what K changes could do at best, what COMMOD and the others do with them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.limits.region import DrawnLimits, answer, ask, link, region
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views import controls, frame
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.model import train
from commod.experiments import Sweep
from commod.experiments.limits import Limits
from commod.metrics.figures import CRITERIA, Criterion
from commod.theory import error_rates
from commod.theory.interventions import DEMANDS
from commod.wording import listed, with_capital

# By column of `error_rates`: what it is called, and its name in the literature.
COLUMNS = {
    "base_rate": ("Of all, {yes} by the record", "Base rate: no model can change it."),
    "ppv": ("Of those decided {yes}, right", "PPV, the positive predictive value."),
    "fnr": ("Of those recorded {yes}, missed", "FNR, the false negative rate."),
    "fpr": ("Of those recorded {no}, wrongly {yes}", "FPR, the false positive rate."),
    "forced_fpr": (
        "The last, if the two before were equal",
        "The FPR that counting forces on the group if its PPV and FNR are those of everybody.",
    ),
}


def not_all_at_once(result: FitResult) -> None:
    """What each sense of fairness takes, why some contradict each other, and the numbers of f and g behind it."""
    st.header("Why not fair in every sense at once")
    table = result_of(tasks.interventions(result.settings), st.empty(), "Counting the fewest changes")
    scene, test = result.scene, result.scene.test
    before = float(np.average(scene.decisions_test, weights=test.weight))
    _draw_interventions(table, len(test), before, result.task.spec.outcomes[1])
    given = {"sensitive_features": test.sensitive_features, "sample_weight": test.weight}
    frames = {
        name: error_rates(test.y, decided, **given)
        for name, decided in (("f", scene.decisions_test), ("g", result.decisions))
    }
    names = [result.task.groups[int(code)] for code in frames["g"].index]
    no, yes = (f"“{outcome}”" for outcome in result.task.spec.outcomes)
    st.markdown(tip("contradiction", yes=escape_markdown(yes)))
    rows = [
        [f"{names[place]}: {model}", *(_percent(frame.iloc[place][column]) for column in COLUMNS)]
        for place in range(len(names))
        for model, frame in frames.items()
    ]
    headings = {"Group": ""} | {title.format(yes=yes, no=no): says for title, says in COLUMNS.values()}
    with st.expander("The numbers of f and g by group"):
        st.html(html_table(headings, rows, caption="Base rates and errors of f and g by group", dense=True))
        st.caption(tip("impossible"))


def _draw_interventions(table: pd.DataFrame, people: int, before: float, yes: str) -> None:
    """The fewest changes for each sense of fairness, and for several together; `before`: f's positive decisions."""
    st.markdown(tip("interventions"))
    rows = [["None (f as it is)", "0", f"{before:.1%}"]]
    for row in table.to_dict("records"):
        name, changed = with_capital(listed(DEMANDS[demand] for demand in row["demands"])), row["change_rate"]
        if pd.isna(changed):
            rows.append([name, "cannot be met", "–"])
        else:
            rows.append([name, f"{changed * people:,.0f} ({changed:.1%})", f"{row['positive_rate']:.1%}"])
    headings = ["Fair in the sense of", "Fewest changes", f"Decided “{yes}”, of all"]
    st.html(html_table(headings, rows, caption="The fewest changes for each sense of fairness, the group known"))
    st.caption(tip("interventions_how"))


def _percent(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.1%}"


# By criterion, the number of the paper's proposition and what it says.
PROPOSITIONS = {
    "demographic_parity": ("4.4", "all changes raise the disfavoured group, or all lower the other"),
    "equalized_odds": ("4.5", "all changes go to the one gap, and the one group, in which a change moves a rate most"),
}


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/limits.py")
    st.title("How few changes are enough?")
    lead = st.empty()
    settings = session.current()
    training = submit(tasks.fit(settings))
    controls.sidebar()
    controls.notices()
    with training:
        result = train(settings, training)
    if result is None or training.failed:  # the last good model is of other sliders, or of another f
        st.stop()
    asked, top = st.container(), st.container()
    bound = result_of(tasks.limits(settings), st.empty(), "Counting the limit")
    with asked:
        budget, level = ask(CRITERIA[settings.fairness], bound)
    one_way = settings.direction != "both"
    if one_way:
        names: list[str] = []
        st.caption("In one direction only, as g on Explore: the methods change decisions both ways and are left out.")
    else:
        names = sweeps.choose_methods(settings, usual=sweeps.QUICK)
    session.keep_link(**sweeps.link(), **link())
    found = sweeps.known(settings, names, tuned=True)
    waits = len(found) < len(names)
    with top:
        progress, picture = st.empty(), sweeps.place(waits=waits)
    st.expander("COMMOD is ours: what it and the other methods do").markdown(tip("methods_told"))
    below = sweeps.place(waits=waits)
    blind = pd.DataFrame()

    def paint(found: dict[str, Sweep], *, final: bool = False) -> None:
        """Draw what there is."""
        sound = {name: _without_collapsed(settings, sweep) for name, sweep in found.items()}
        here = DrawnLimits(settings, sound, bound, blind, budget, level, result)
        lead.markdown(answer(here, sweeps.form_to_add(names)))
        region(here, picture, final=final)

    if waits and not found:
        paint({})  # the limit is there before any method is
    with submit(tasks.blind_limits(settings)):  # learnt while the methods are swept
        found = sweeps.collect(settings, names, found, progress, paint, tuned=True)
        blind = result_of(tasks.blind_limits(settings), progress, "Learning what can be known of the group")
    paint(found, final=True)
    with below.container():
        not_all_at_once(result)
        propositions(CRITERIA[settings.fairness], bound, one_way=one_way, two_groups=not result.has_many_groups)


def _without_collapsed(settings: Settings, sweep: Sweep) -> Sweep:
    """A sweep without the models that Compare leaves out, too."""
    reasons = result_of(tasks.collapsed(settings, sweep))
    return replace(sweep, points=sweep.points[[not reason for reason in reasons]])


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
