"""Models as a room is asked about them: in people's words."""

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.rooms import Question
from commod.dashboard.state import session
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import Settings, data_in_words, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.views.peoples_words import Effect, bullets, effect_of, in_peoples_words
from commod.dashboard.views.words import say, say_declared


def trained(settings: Settings) -> FitResult:
    """The model of a setting, waited for."""
    result: FitResult = result_of(tasks.fit(settings), st.empty(), "Training")
    return result


def draw_model(result: FitResult) -> None:
    """A model in people's words, and its setting."""
    told = result.keep(
        f"peoples_words_{session.language()}", lambda: bullets(in_peoples_words(result.scene, result.decisions))
    )
    st.markdown(told)
    st.caption(_setting(result))


def draw_pair(question: Question) -> None:
    """The two models of a question as a table: what each does to people, and what f did."""
    names: list[str] = []
    captions: list[str] = []
    cells: dict[str, list[str]] = {}
    for place, (name, model) in enumerate((("a", question.a), ("b", question.b))):
        if model is None:
            continue
        result = trained(model_of_link(model.link))
        names.append(say(f"room.model_{name}"))
        captions.append(f"{names[-1]}: {_setting(result)}")
        for heading, cell in _told_of(result):
            cells.setdefault(heading, ["–", "–"])[place] = cell
    rows = [[heading, *found] for heading, found in cells.items()]
    st.html(html_table(["", *names], rows, caption=say("room.pair_table")))
    st.caption("  \n".join(captions))


def _told_of(result: FitResult) -> list[tuple[str, str]]:
    """What is told of a model, in people's words, and the figure."""
    found: Effect = result.keep(f"effect_{session.language()}", lambda: effect_of(result.scene, result.decisions))
    now, before = found.right
    whom = {"of": found.n, "people": found.people}
    return [
        *(
            (say("room.pair_of_100", who=who, yes=found.yes), say("room.pair_was", now=now, before=then))
            for who, now, then in found.of_100
        ),
        (say("room.pair_better", **whom), f"{found.better:,}"),
        (say("room.pair_worse", **whom), f"{found.worse:,}"),
        (say("room.pair_right"), say("room.pair_was_right", now=now, before=before)),
    ]


def _setting(result: FitResult) -> str:
    return escape_markdown(say_declared(f"{data_in_words(result.settings)}: {in_words(result.settings)}"))
