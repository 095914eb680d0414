"""What the stakeholder requires: each requirement is switched on and given a number."""

from dataclasses import replace
from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.link import rules_of
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.state.settings import features_of
from commod.dashboard.views.checks import first_capital
from commod.decisions import DIRECTIONS, RULES, Requirements, RequirementsError, Rule

# One click that shows how it goes: the rule of thumb for hiring in the United States.
EXAMPLE = Requirements(p_rule=0.8)


def rules_in_words(task: str) -> str:
    """What is counted under each requirement, in Markdown."""
    return "\n\n".join(f"**{rule.title}**: {rule.meaning}" for rule in rules_of(task).values())


def draw_requirements() -> None:
    """The requirements, to be chosen."""
    required, task = session.requirements(), session.current().task_name
    rules = rules_of(task)
    st.pills(
        "Switch on what the model must do, then set the numbers.",
        list(rules),
        selection_mode="multi",
        format_func=lambda name: first_capital(rules[name].wanted(required.limits.get(name, rules[name].default))),
        **mirrored("required", list(required.limits), _switch),
    )
    st.caption(f"P-Rule: {RULES['p_rule'].meaning}")
    # As many places whatever is required: what moves would leave a dead copy behind until all below is computed.
    with st.container(horizontal=True, gap="small"):
        for name, limit in required.limits.items():
            _limit(rules[name], limit)
        for _ in range(len(rules) - len(required.limits)):
            st.empty()
    with st.container(horizontal=True, gap="small"):
        titles = features_of(task)
        st.multiselect(
            "Features it may not use",
            list(titles),
            format_func=titles.__getitem__,
            max_selections=len(titles) - 1,  # one must be left
            placeholder="None",
            width=420,
            **mirrored("required_kept_out", list(required.kept_out), lambda names: _take(kept_out=tuple(names))),
        )
        st.selectbox(
            "Who may lose or gain",
            ["", *DIRECTIONS],
            format_func=lambda name: DIRECTIONS.get(name, "anybody"),
            width=320,
            **mirrored("required_direction", required.direction, lambda name: _take(direction=name)),
        )
    place, label = st.empty(), "Begin with an example: P-Rule at least 0.8"
    if not required:
        place.button(label, icon=":material/add_task:", on_click=session.require, args=(EXAMPLE,))


def _limit(rule: Rule, limit: float) -> None:
    """The number of a requirement, in percent where it is a share."""
    whole = 100.0 if rule.percent else 1.0

    def take(number: float) -> None:
        _take(**{rule.name: round(number / whole, 8)})

    st.number_input(
        f"{rule.title} (%)" if rule.percent else rule.title,
        0.0,
        rule.most * whole,
        step=1.0 if rule.percent else 0.05,
        format="%.1f" if rule.percent else "%.3f",
        help=rule.meaning,
        width=210,
        **mirrored(f"required_{rule.name}", round(limit * whole, 6), take),
    )


def _switch(names: list[str]) -> None:
    """Callback: require these, each at first with the limit at which its control begins."""
    limits = session.requirements().limits
    _take(**{name: limits.get(name, rule.default) if name in names else None for name, rule in RULES.items()})


def _take(**changes: Any) -> None:
    try:
        session.require(replace(session.requirements(), **changes))
    except RequirementsError:  # a forged message: no widget here brings such a value
        return
