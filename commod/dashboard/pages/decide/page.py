"""Decide: what is required of a model, whether it holds, and who decides for it."""

import streamlit as st

from commod.dashboard.jobs.service import go_on
from commod.dashboard.pages.decide import others, verdict
from commod.dashboard.pages.decide.models import on_screen, refits_of_screen, shown
from commod.dashboard.pages.decide.required import draw_requirements, rules_in_words
from commod.dashboard.pages.decide.sealed import draw_sealed
from commod.dashboard.pages.decide.sign import draw_sign
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip, words
from commod.dashboard.text.verdicts import verdict_in_words
from commod.dashboard.views import frame
from commod.dashboard.views import methods as sweeps
from commod.dashboard.views.model import current_model

# Words of the verdicts.
EXPLAINED = "\n\n".join(
    f"**{word.title}**: {word.tip}" for word in (words()[name] for name in ("f", "refits", "splits"))
)


def show() -> None:
    """The page, from top to bottom: the answer, what is required, other models, and the signature."""
    frame.page("pages/decide.py")
    st.title("Would you sign this model?", anchor="verdict", help=EXPLAINED)
    # Who may choose the split may choose the verdict; the others are requirements here.
    result, required = current_model(without=("seed", "direction", "without", "reason")), session.requirements()
    session.keep_link(**sweeps.link())
    top = st.container()
    st.header("What do you require?", anchor="required", help=rules_in_words(session.current().task_name))
    draw_requirements()
    draw_sealed(result)
    if not required:
        top.markdown(
            f"Choose below what the model must do. It is then checked here.\n\n{escape_markdown(result.verdict)}"
        )
        go_on()  # nothing
        return
    answers, here = result.answers(refits=refits_of_screen(result)), on_screen(result, required)
    with top:
        sentence = verdict_in_words(here.checked, here.facts.people, "It")
        st.markdown(f"**{sentence}**\n\n{escape_markdown(verdict.with_accuracy(result))}")
        verdict.draw_verdict(here, required, answers)
        beside = others.Beside(session.current(), result, required, st.empty(), st.empty())
    st.header("Does another model do better?", anchor="others", help=tip("lda"))
    beside.draw()
    st.header("Sign the decision", anchor="sign")
    tried = session.tried_on(result.settings.data)
    tried["limits"].add(hash(required))
    tried["compared"].update(hash(model.cell) for sweep in beside.found.values() for model in sweep.models)
    draw_sign(result, beside.candidates, required, growing=beside.waits)
    if part := shown():
        shown.set("")
        frame.scroll_to(part)
    for _ in range(6):  # what is no longer drawn goes now, not when all is computed
        st.empty()
    beside.finish()  # what may take a while comes last: the page above is complete without it
