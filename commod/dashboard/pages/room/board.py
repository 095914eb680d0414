"""The board of a room, for the wall: who is here, what was guessed, where people stand, and how they voted."""

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from socket import AF_INET, SOCK_DGRAM, socket
from urllib.parse import urlsplit

import segno
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import get, result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.room import pictures
from commod.dashboard.pages.room.effect import effects_of
from commod.dashboard.pages.room.pictures import Picture
from commod.dashboard.rooms.contents import Here, Room, RoomQuestion, Vote
from commod.dashboard.state import session
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import Settings, data_in_words, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import with_tooltips
from commod.dashboard.text.html import html_table, piece, style
from commod.dashboard.text.stories import story
from commod.dashboard.views.chart import Table, draw, fold
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.asking import live_stage
from commod.dashboard.views.lesson.scenarios import scenario
from commod.dashboard.views.lesson.script import StepAnswer, StepQuestion, in_markdown
from commod.dashboard.views.methods import own_sweep
from commod.dashboard.views.room import (
    ROOM,
    announcement,
    asked,
    known,
    look_around,
    place_of_step,
    room_step_in_words,
    say_aloud,
    tell_trouble,
    time_left,
)
from commod.dashboard.views.words import say, say_declared
from commod.wording import some_of


def trained(settings: Settings) -> FitResult:
    """The model of a setting, waited for."""
    return result_of(tasks.fit(settings), st.empty(), "Training")


def draw_models(models: Mapping[str, FitResult]) -> None:
    """What models do to people and what f did, as a table with a column for each; below it their settings."""
    cells: dict[str, list[str]] = {}
    for place, result in enumerate(models.values()):
        effects = partial(effects_of, result.scene, result.decisions)
        for heading, cell in result.keep(f"effects_{session.language()}", effects):
            cells.setdefault(heading, ["–"] * len(models))[place] = cell
    st.markdown("  \n".join(dict.fromkeys(map(_story, models.values()))))
    rows = [[heading, *found] for heading, found in cells.items()]
    st.html(html_table(["", *models], rows, caption=say("room.pair_table")))
    st.caption("  \n".join(f"{name}: {_setting(result)}" for name, result in models.items()))


def _story(result: FitResult) -> str:
    return escape_markdown(story(session.language(), result.task.spec))


def draw_pair(question: RoomQuestion) -> None:
    """The two models of a question."""
    models = {say("room.model_a"): question.a, say("room.model_b"): question.b}
    draw_models({name: trained(model_of_link(model.link)) for name, model in models.items() if model is not None})


def _setting(result: FitResult) -> str:
    return escape_markdown(say_declared(f"{data_in_words(result.settings)}: {in_words(result.settings)}"))


# Seconds between two looks at the room.
BOARD_EVERY = 0.5
# Size of the letters in charts on the board, in pixels.
BOARD_TYPE = 20
# Reasons that are drawn of a round, and people who moved; the table has all of them.
MAX_REASONS = 5
MAX_MOVES = 8


@dataclass(frozen=True)
class BoardStep:
    """The lesson's step that a room is at; the answer, and what there is to talk about, once they may be seen."""

    story: str
    about: list[str]
    question: StepQuestion
    answer: StepAnswer | None
    talk: tuple[str, ...]
    groups: str  # a table of them, where the step shows it


def step_of(room: Room) -> BoardStep | None:
    """The step of a room, its models waited for; None if they cannot be trained."""
    at = live_stage(scenario(room.lesson, session.language()).steps[place_of_step(room)], st.empty())
    try:
        revealed = (room.lesson, room.step) in room.revealed
        answer = script.answer(at) if revealed else None
        groups = script.groups_table(at) if revealed and "groups" in at.step.shows else ""
        return BoardStep(_story(at.before), script.text(at), script.question(at), answer, at.step.talk, groups)
    except Exception:
        logging.getLogger(__name__).exception("The step of a room could not be shown.")
        st.error(say("lesson.failed"), icon=":material/error:")
        return None


def case_of(room: Room) -> Settings:
    """The setting at which a room's step ends."""
    return scenario(room.lesson, session.language()).steps[place_of_step(room)].end


def show(here: Here) -> None:
    """The board. What the leader does draws the page anew; what the others do, the board alone."""
    tell_trouble()
    _board(asked(ROOM, here), step_of(here.room))


@st.fragment(run_every=BOARD_EVERY)
def _board(drawn: tuple[object, ...], step: BoardStep | None) -> None:
    here = look_around(ROOM, drawn)
    if here is None:  # the room is gone
        st.rerun()
    with st.container(key="room_board"):
        _draw_board(here.room, step)
    say_aloud(announcement(here.room))


def _draw_board(room: Room, step: BoardStep | None) -> None:
    _head(room)
    if room.question is not None:  # with nothing beside it that tells where others stand
        draw_question(room, room.question, large=True, about=step.story if step else "")
        return
    stand = pictures.comparable(pictures.stands(room))[0]
    revealed = step is not None and step.answer is not None
    if not stand and not revealed:  # nothing to stand beside them
        draw_guesses(room, step, large=True)
        st.caption(say("room.nobody_stands"))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        draw_guesses(room, step, large=True)
    with right:
        if step is not None and revealed:
            st.header(say("lesson.talk"))
            st.markdown("\n".join(f"- {in_markdown(question)}" for question in step.talk))
            if step.groups:
                st.html(step.groups)
        if stand:
            draw_stands(room)


def _head(room: Room) -> None:
    closed = room.closed is not None
    text = say("room.is_closed") if closed else say("room.here", n=len(room.taking_part))
    large = shows_door(room) and not closed
    picture = "" if closed or large else qr_code(join_link(room))
    text += "" if closed or large else f" · {place_of(room_address())}"
    head = piece("board_head", say("room.room", code=room.code), text, time_left(room), picture, say("room.qr"))
    st.html(style("room") + head)
    if large:
        draw_code(room)


# ---- how others come in ----


def shows_door(room: Room) -> bool:
    """Whether the code stands large on the board: until there is something to see, or as the leader has it."""
    chosen = known().shows_door
    return room.question is None and not room.revealed if chosen is None else chosen


def room_address() -> str:
    """Where others find this page, without what stands behind the question mark: not at localhost, if that is known."""
    address = (st.context.url or "").split("?")[0]
    if is_local(address) and (host := _network_host()):
        port = urlsplit(address).port
        return urlsplit(address)._replace(netloc=f"{host}:{port}" if port else host).geturl()
    return address


def is_local(address: str) -> bool:
    """Whether nobody else can open it."""
    host = urlsplit(address).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")


def _network_host() -> str:
    """The computer's address in its network; empty without one, or if the server does not listen there."""
    if st.get_option("server.address") not in (None, "", "0.0.0.0"):  # nosec B104: a comparison
        return ""
    with suppress(OSError), socket(AF_INET, SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # which sends nothing
        return str(asked.getsockname()[0])
    return ""


def place_of(address: str) -> str:
    """An address as one types it."""
    return address.partition("://")[2]


def warn_if_local() -> None:
    """Say so, before a class arrives, while the leader's address opens for nobody else."""
    if is_local(room_address()):
        st.warning(say("room.only_here", address=place_of(room_address())), icon=":material/wifi_off:")
    elif is_local(st.context.url or ""):
        st.info(say("room.others_at", address=place_of(room_address())), icon=":material/wifi:")


def join_link(room: Room) -> str:
    """What everybody who takes part may have."""
    return f"{room_address()}?room={room.code}"


@lru_cache(maxsize=64)
def qr_code(link: str) -> str:
    """A picture of a link, as an address: black on white in either theme, with the margin that a camera needs.

    Empty where nobody else can open it.
    """
    if is_local(link):
        return ""
    return str(segno.make(link, micro=False).svg_data_uri(scale=6, border=4, dark="black", light="white"))


def draw_code(room: Room) -> None:
    """The code, the link and a picture of it, large: for the wall, until all have come."""
    warn_if_local()
    picture, code = qr_code(join_link(room)), " ".join(re.findall("...", room.code))
    st.html(style("room") + piece("join", picture, say("room.qr"), place_of(room_address()), code))


# ---- guesses ----


def draw_guesses(room: Room, step: BoardStep | None, *, large: bool = False) -> None:
    """The guesses at the step: how many, until the leader reveals them, then all of them with the model's answer."""
    st.header(in_markdown(room_step_in_words(room)))
    if step is None:
        return
    if step.answer is None:
        st.html(with_tooltips(step.about, session.language()))
    st.markdown(f"### {in_markdown(step.question.text)}")
    kept = room.guesses.get((room.lesson, room.step), ())
    have_guessed = say("room.have_guessed", n=len(kept), of=max(len(room.taking_part), len(kept)))
    if step.answer is None:
        st.markdown(f"## {have_guessed}")
        _draw_dots(len(kept), max(len(room.taking_part), len(kept)))
        return
    st.markdown(f"### {in_markdown(step.answer.words)}")
    st.markdown(have_guessed)
    found = pictures.guessed(kept, step.question)
    if found:
        _draw_found(found, step.question, step.answer, large)
    else:
        st.markdown(say("room.nobody_guessed"))


def _draw_found(found: list[float | str], question: StepQuestion, answer: StepAnswer, large: bool) -> None:
    picture = pictures.guesses(found, question, answer, session.language())
    rows = picture.rows
    if question.options:
        columns = {"name": (say("room.guess"), ""), "kind": (say("room.what"), ""), "people": (say("room.people"), ",")}
    else:
        rows = rows[rows["people"] != 0]
        columns = {
            "kind": (say("room.what"), ""),
            "low": (say("room.from"), ",.0f"),
            "high": (say("room.below"), ",.0f"),
            "people": (say("room.people"), ",.0f"),
        }
    table = Table(say("room.guesses_table"), "room_guesses", columns, lambda: rows)
    _draw(picture, say("room.guesses_alt"), table, large)


def _draw(picture: Picture, alt: str, table: Table | str, large: bool, caption: str = "") -> None:
    """A picture, with letters for a wall or for somebody's own screen."""
    options = picture.options | ({"font": BOARD_TYPE} if large else {})
    draw(picture.plot, picture.rows, alt=alt, table=table, caption=caption, **options)


# ---- where people stand ----


def draw_stands(room: Room) -> None:
    """The settings that people stand at, among all models of their data."""
    st.header(say("room.stands"))
    models, others = pictures.comparable(pictures.stands(room))
    _draw_models(models, {1: say("room.stands_here")}, "stands", large=True)
    _tell_others(others)


def _tell_others(others: int) -> None:
    if others:
        st.caption(say("room.others_elsewhere", n=others))


def _draw_models(models: list[Vote], kinds: Mapping[int, str], name: str, large: bool) -> None:
    settings = pictures.settings_of(models[0])
    picture = pictures.models(models, kinds, session.language(), get(own_sweep(settings)))
    rows, titles = picture.rows, pictures.figure_titles(models, session.language())
    table = Table(
        say(f"room.{name}_table"),
        f"room_{name}",
        {
            "kind": (say("room.what"), ""),
            "who": (say("room.who"), ""),
            "people": (say("room.people"), ",.0f"),
            **{name: titles[name] for name in ("fairness", "accuracy")},
        },
        lambda: rows[rows["line"] == ""].iloc[::-1],
    )
    caption = f"{escape_markdown(say_declared(data_in_words(settings)))}. {say('room.aside') if len(kinds) > 1 else ''}"
    _draw(picture, say(f"room.{name}_alt"), table, large, caption)


# ---- votes ----


def draw_question(room: Room, question: RoomQuestion, *, large: bool = False, about: str = "") -> None:
    """The question on the board: how many have answered, and what, once that may be seen."""
    asked = say(f"room.{question.kind}_open")
    sent = len(question.of_round(question.rounds))
    people = max(len(room.taking_part), sent)
    if question.open:
        text = say("room.have_voted", n=sent, of=people)
        asked += f" {say('room.second_vote')} · {text}" if question.rounds > 1 else f" · {text}"
    st.header(asked)
    if question.open and question.kind == "sign":
        st.markdown(f"{about} {say('room.sign_says')}")
    if question.open:
        _draw_dots(sent, people)
    if question.kind == "sign":
        if question.shown:
            _draw_votes(question, large)
        return
    if not question.shown:
        draw_pair(question)
        return
    # On a phone, where columns stand one below the other, what was answered comes first.
    models, answers = st.columns([3, 2], gap="medium") if large else reversed(st.columns(2, gap="medium"))
    with models:
        draw_pair(question)
    with answers:
        _draw_choices(question, large)


def _draw_dots(done: int, people: int) -> None:
    """A dot for each person, filled once they have answered; the words above say the same."""
    st.html(style("room") + piece("crowd", done, people - done))


def _draw_choices(question: RoomQuestion, large: bool) -> None:
    shown = pictures.rounds_of(question.shown, session.language())
    columns = {
        "name": (say("room.answer_column"), ""),
        "kind": (say("room.round"), ""),
        "people": (say("room.people"), ","),
    }
    table = Table(say("room.choices_table"), "room_choices", columns)
    _draw(pictures.choices(question, shown, session.language()), say("room.choices_alt"), table, large)


def _draw_votes(question: RoomQuestion, large: bool) -> None:
    """Both rounds side by side: the models, the reasons, who moved, and all votes as a table."""
    shown = pictures.rounds_of(question.shown, session.language())
    models, others = pictures.comparable([vote for vote in pictures.votes(question) if vote.round in shown])
    if not models:
        st.markdown(say("room.nobody_voted"))
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _draw_models(models, shown, "votes", large)
        _tell_others(others)
    with right:
        _draw_reasons(models, shown)
    if question.shown > 1:
        _tell_moves(models)
    columns = {
        "name": (say("room.who"), ""),
        "round": (say("room.round"), ""),
        "settings": (say("room.setting"), ""),
        **pictures.figure_titles(models, session.language()),
        "reason": (say("room.reason"), ""),
    }
    table = Table(say("room.votes_in_full"), "room_votes_in_full", columns)
    fold(table, lambda: pictures.votes_table(models, shown, session.language()))


def _tell_moves(models: list[Vote]) -> None:
    """Who moved, from what to what, and who has not voted again."""
    moved, both = pictures.moves(models), pictures.in_both_rounds(models)
    st.markdown(f"### {say('room.moved', n=len(moved), of=len(both))}")
    sentences = [escape_markdown(text) for text in pictures.moves_in_words(moved[:MAX_MOVES], session.language())]
    if len(moved) > MAX_MOVES:
        sentences.append(say("room.more_reasons", n=len(moved) - MAX_MOVES))
    again = {after.person_number for _, after in both}
    if once := [vote.name for vote in models if vote.round == 1 and vote.person_number not in again]:
        names = escape_markdown(some_of(once, pictures.MAX_NAMES))
        sentences.append(say("room.voted_once", n=len(once), names=names))
    st.markdown("\n".join(f"- {text}" for text in sentences))


def _draw_reasons(models: list[Vote], shown: Mapping[int, str]) -> None:
    for number, name in sorted(shown.items(), reverse=True):
        reasons = [model for model in models if model.round == number and model.reason]
        if not reasons:
            continue
        st.subheader(f"{say('room.reasons')} · {name}" if len(shown) > 1 else say("room.reasons"))
        sentences = [
            f"“{escape_markdown(model.reason)}” ({escape_markdown(model.name)})" for model in reasons[:MAX_REASONS]
        ]
        st.markdown("\n".join(f"- {text}" for text in sentences))
        if len(reasons) > MAX_REASONS:
            st.caption(say("room.more_reasons", n=len(reasons) - MAX_REASONS))
