"""A model in people's words, for who has never heard of a P-Rule."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.rooms import Question
from commod.dashboard.state import session
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import Settings, data_in_words, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared
from commod.dashboard.text.stories import called, of_100, rows_of
from commod.dashboard.text.verdicts import changes_by_direction
from commod.dashboard.views.words import say
from commod.metrics import compared_groups


def trained(settings: Settings) -> FitResult:
    """The model of a setting, waited for."""
    result: FitResult = result_of(tasks.fit(settings), st.empty(), "Training")
    return result


def in_peoples_words(result: FitResult) -> list[str]:
    """What a model does to a hundred people of each group, who is better and who worse off, and how often it errs."""
    language, spec = session.language(), result.task.spec
    rows = rows_of(result.hundred)
    large = compared_groups([row["count"] for row in rows.values()])
    codes = sorted(
        (code for code, seen in zip(rows, large, strict=True) if seen), key=lambda code: -rows[code]["before"]
    )
    yes = declared(language, spec.outcomes[1])
    told = [
        say(
            "room.of_100",
            who=called(language, spec, code),
            now=of_100(language, rows[code]["of_100_now"], rows[code]["now"]),
            before=of_100(language, rows[code]["of_100_before"], rows[code]["before"]),
            yes=yes,
        )
        for code in dict.fromkeys((codes[0], codes[-1]))
    ]
    changes = changes_by_direction(spec, result.changes)
    better, worse = (sum(row["count"] for row in changes if row["place"] == place) for place in (0, 1))
    people = declared(language, spec.people)
    told.append(say("room.better_worse", better=better, worse=worse, of=len(result.scene.test), people=people))
    figures = result.figures.loc["accuracy"]
    told.append(say("room.right_of_100", now=100 * figures["g"], before=100 * figures["f"]))
    return told


def draw_model(result: FitResult) -> None:
    """A model in people's words, and its setting."""
    st.markdown("\n".join(f"- {escape_markdown(text)}" for text in in_peoples_words(result)))
    st.caption(f"{escape_markdown(data_in_words(result.settings))}: {in_words(result.settings)}")


def draw_pair(question: Question) -> None:
    """The two models of a question, side by side."""
    for name, model, cell in zip("ab", (question.a, question.b), st.columns(2, gap="medium"), strict=True):
        if model is None:
            continue
        with cell, st.container(border=True):
            st.subheader(say(f"room.model_{name}"))
            draw_model(trained(model_of_link(model.link)))
