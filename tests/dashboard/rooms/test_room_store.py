"""What a room does, on SQLite and on PostgreSQL alike."""

import io
import math
import zipfile

import pandas as pd
import pytest

from commod.dashboard.pages.room.tables import zipped_tables
from commod.dashboard.rooms.contents import RoomError, SharedModel
from commod.dashboard.rooms.room_store import (
    HERE_SECONDS,
    LOOK_SECONDS,
    MOST_LEADERS,
    MOST_PEOPLE,
    SEEN_EVERY,
    SWEEP_EVERY,
)
from commod.dashboard.text.language import LANGUAGES, phrase

LINK = "data=law_school&lambda_fair=2"
OTHER = "data=adult&lambda_fair=0.5"
FIGURES = {"p_rule": 0.71, "accuracy": 0.83, "changed": 0.05, "worse": 12.0}


def refused(reason):
    return pytest.raises(RoomError, check=lambda error: error.reason == reason)


def opened(store):
    """A room and who leads it."""
    room = store.open_room("bar_exam")
    return room, store.take_lead(room.secret, browser="leader's", caller="school")


def join(store, room, name=None, browser=None):
    return store.join(room.code, name, browser=browser or f"browser of {name}", caller="school")


def test_a_room_is_opened_led_and_joined(store):
    room, leader = opened(store)
    ana, somebody = join(store, room, "Ana"), join(store, room)
    assert [leader.leads, ana.leads, somebody.leads] == [True, False, False]
    seen = store.read(room.code)
    assert [(person.number, person.name, person.leads, person.here) for person in seen.people] == [
        (seat.number, seat.name, seat.leads, True) for seat in (leader, ana, somebody)
    ]
    assert ana.name == "Ana"
    assert len(somebody.name.split()) == 2
    assert (seen.lesson, seen.step, seen.closed, seen.question, seen.guesses) == ("bar_exam", "", None, None, {})


def test_a_code_is_read_as_people_type_it(store):
    room, leader = opened(store)
    for typed in (
        f" {room.code} ",
        room.code.lower(),
        f"{room.code[:3]} {room.code[3:]}",
        f"{room.code[:3]}-{room.code[3:]}",
    ):
        assert store.join(typed, None, browser="hers", caller="school").code == room.code
    for typed in ("", room.code[:5], f"{room.code}A", "ÀÀÀÀÀÀ", "' OR 1", "\0" * 6, "\ud800", "A" * 10_000):
        with refused("no_room"):
            store.join(typed, None, browser="hers", caller="school")
        with refused("no_room"):
            store.read(typed)
        with refused("no_room"):
            store.present(typed, leader.token, browser="leader's")
        with refused("no_seat"):
            store.present(room.code, typed, browser="leader's")
        with refused("no_room"):
            store.take_lead(typed, browser="a leader's", caller="school")
    assert store.present(room.code.lower(), leader.token, browser="leader's").seat == leader


def test_names_in_a_room_are_unique(store):
    room, _ = opened(store)
    long = "x" * 24
    names = [join(store, room, name).name for name in ("Ana", "ana", "Ana", long, long, None, None)]
    assert names[:5] == ["Ana", "ana 2", "Ana 3", long, "x" * 20 + " 2"]
    assert len({name.casefold() for name in names}) == len(names)


def test_a_seat_is_known_by_its_token_and_browser(store, make_store):
    room, _ = opened(store)
    ana = join(store, room, "Ana", "hers")
    other_process = make_store()
    here = other_process.present(room.code, ana.token, browser="hers")
    assert (here.seat, here.person.name, here.leads) == (ana, "Ana", False)
    for token, browser in ((ana.token, "another"), (ana.token, ""), (ana.token[:-1], "hers")):
        with refused("no_seat"):
            store.present(room.code, token, browser=browser)
    elsewhere, _ = opened(store)
    with refused("no_seat"):
        store.present(elsewhere.code, ana.token, browser="hers")
    with refused("no_room"):
        store.present("AAAAAA", ana.token, browser="hers")


def test_somebody_who_joined_by_another_process_is_known_at_once(store, make_store):
    room, _ = opened(store)
    other = make_store()
    other.read(room.code)
    ana = join(store, room, "Ana")
    assert other.present(room.code, ana.token, browser="browser of Ana").person.name == "Ana"


def test_the_last_guess_counts_until_it_is_revealed(store):
    room, leader = opened(store)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    store.guess(ana, "bar_exam", "one", "30")
    store.guess(bo, "bar_exam", "one", "12")
    store.guess(ana, "bar_exam", "one", "20")
    store.guess(ana, "bar_exam", "two", "a")
    assert store.read(room.code).guesses == {("bar_exam", "one"): ("12", "20"), ("bar_exam", "two"): ("a",)}
    store.reveal(leader, "bar_exam", "one")
    store.reveal(leader, "bar_exam", "one")
    with refused("already_revealed"):
        store.guess(bo, "bar_exam", "one", "20")
    store.guess(bo, "bar_exam", "two", "b")
    seen = store.read(room.code)
    assert seen.revealed == {("bar_exam", "one")}
    assert seen.guesses[("bar_exam", "one")] == ("12", "20")


def test_people_stand_somewhere(store):
    room, _ = opened(store)
    ana = join(store, room, "Ana")
    store.stand(ana, LINK, FIGURES)
    store.stand(ana, OTHER, {**FIGURES, "p_rule": math.nan, "worse": math.inf})
    person = store.read(room.code).people[1]
    assert (person.link, person.figures) == (OTHER, {"accuracy": 0.83, "changed": 0.05})


def test_vote_discuss_and_vote_again(store):
    room, leader = opened(store)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    with refused("no_open_question"):
        store.send_vote(ana, LINK, FIGURES, "too early")
    with refused("no_open_question"):
        store.show_result(leader)
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "fair enough")
    store.send_vote(bo, OTHER, FIGURES, "accurate")
    store.send_vote(ana, OTHER, FIGURES, "changed my mind")
    with refused("no_open_question"):
        store.choose(ana, "a")
    store.show_result(leader)
    with refused("no_open_question"):
        store.send_vote(bo, LINK, FIGURES, "too late")
    store.ask_again(leader)
    question = store.read(room.code).question
    assert (question.rounds, question.open, question.shown, question.ended) == (2, True, 1, False)
    store.send_vote(bo, LINK, FIGURES, "convinced")
    with refused("no_more_rounds"):
        store.ask_again(leader)
    store.show_result(leader)
    question = store.read(room.code).question
    assert (question.kind, question.open, question.shown) == ("sign", False, 2)
    assert [(vote.name, vote.link, vote.reason) for vote in question.of_round(1)] == [
        ("Ana", OTHER, "changed my mind"),
        ("Bo", OTHER, "accurate"),
    ]
    assert [(vote.person_number, vote.link, vote.figures) for vote in question.of_round(2)] == [
        (bo.number, LINK, FIGURES)
    ]
    store.end_question(leader)
    seen = store.read(room.code)
    assert seen.question is None
    assert len(seen.questions) == 1


def test_this_model_or_that(store):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.ask_to_sign(leader)
    store.ask_pair(leader, SharedModel(LINK, FIGURES), SharedModel(OTHER, {}))
    with refused("no_open_question"):
        store.send_vote(ana, LINK, FIGURES, "the question before")
    with refused("no_such_choice"):
        store.choose(ana, "both")
    store.choose(ana, "a")
    store.choose(ana, "neither")
    before, question = store.read(room.code).questions
    assert (before.open, before.ended) == (False, True)
    assert (question.kind, question.a, question.b) == ("pair", SharedModel(LINK, FIGURES), SharedModel(OTHER, {}))
    assert [vote.choice for vote in question.votes] == ["neither"]


def test_a_leader_sets_what_holds_for_all(store):
    room, leader = opened(store)
    store.lead(leader, lesson="credit", step="two", together=True, frozen=True, timer_ends=1_000_300.0)
    store.lead(leader, frozen=False)
    seen = store.read(room.code)
    assert (seen.lesson, seen.step, seen.together, seen.frozen, seen.timer_ends) == (
        "credit", "two", True, False, 1_000_300.0,
    )  # fmt: skip
    store.lead(leader, timer_ends=None)
    assert store.read(room.code).timer_ends is None


def leader_only(store):
    model = SharedModel(LINK, FIGURES)
    return {
        "new_secret": store.new_secret,
        "lead": lambda seat: store.lead(seat, frozen=True),
        "remove": lambda seat: store.remove(seat, [2]),
        "let_in": lambda seat: store.let_in(seat, [2]),
        "reveal": lambda seat: store.reveal(seat, "bar_exam", "one"),
        "ask_to_sign": store.ask_to_sign,
        "ask_again": store.ask_again,
        "ask_pair": lambda seat: store.ask_pair(seat, model, model),
        "show_result": store.show_result,
        "end_question": store.end_question,
        "close": store.close,
        "delete": store.delete,
    }


def test_nobody_else_leads(store):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.ask_to_sign(leader)
    before = store.read(room.code)
    for act in leader_only(store).values():
        with refused("not_leading"):
            act(ana)
    assert store.read(room.code) == before


def test_a_new_secret_ends_the_old_link_and_who_leads_by_it(store):
    room, leader = opened(store)
    helper = store.take_lead(room.secret, browser="helper's", caller="school")
    secret = store.new_secret(leader)
    with refused("no_room"):
        store.take_lead(room.secret, browser="third", caller="school")
    with refused("not_leading"):
        store.close(helper)
    assert store.take_lead(secret, browser="third", caller="school").leads
    store.close(leader)


def test_tabs_that_lead_give_way_to_the_next(store, clock):
    room, leader = opened(store)
    others = []
    for number in range(MOST_LEADERS):
        clock.wait(1)
        others.append(store.take_lead(room.secret, browser=f"leader {number}", caller="school"))
    with refused("no_seat"):
        store.lead(leader, frozen=True)
    for seat in others:
        store.lead(seat, frozen=True)


def test_a_closed_room_is_read_and_takes_nothing(store):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.guess(ana, "bar_exam", "one", "20")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "why")
    store.close(leader)
    for act in (
        lambda: join(store, room, "Bo"),
        lambda: store.stand(ana, LINK, FIGURES),
        lambda: store.guess(ana, "bar_exam", "two", "20"),
        lambda: store.send_vote(ana, LINK, FIGURES, "again"),
        lambda: store.lead(leader, frozen=True),
        lambda: store.close(leader),
    ):
        with refused("closed"):
            act()
    store.seen(ana)
    seen = store.read(room.code)
    assert seen.closed is not None
    assert seen.guesses
    assert not seen.question.open
    assert seen.question.votes
    assert store.present(room.code, ana.token, browser="browser of Ana").seat == ana
    # Who leads comes in from another browser, too, to take it home or delete it.
    store.delete(store.take_lead(room.secret, browser="new", caller="school"))
    with refused("no_room"):
        store.read(room.code)


def test_a_deleted_room_is_gone_at_once_for_every_process(store, make_store, clock):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    other = make_store()
    other.read(room.code)
    store.delete(leader)
    clock.wait(LOOK_SECONDS)
    with refused("no_room"):
        other.read(room.code)
    with refused("no_room"):
        store.guess(ana, "bar_exam", "one", "20")
    with refused("no_room"):
        store.present(room.code, ana.token, browser="browser of Ana")
    with refused("no_room"):
        join(store, room, "Bo")


def test_a_room_ends_by_itself(make_store, clock):
    store = make_store(hours=2)
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    clock.wait(2 * 3600 - 1)
    younger, _ = opened(store)
    assert store.sweep() == 0
    store.guess(ana, "bar_exam", "one", "20")
    clock.wait(1)
    acts = [lambda: store.present(room.code, ana.token, browser="browser of Ana"), lambda: store.read(room.code)]
    for act in (*acts, lambda: store.close(leader), lambda: join(store, room, "Bo")):
        with refused("no_room"):
            act()
    assert store.sweep() + store.sweep() <= 1
    assert store.read(younger.code).people


@pytest.mark.parametrize("act", ["open_room", "join", "read"])
def test_whoever_comes_sweeps_once_a_minute(make_store, clock, act, monkeypatch):
    store = make_store(hours=1)
    room, _ = opened(store)
    swept = []
    monkeypatch.setattr(store, "sweep", lambda: swept.append(1) or setattr(store, "_swept", clock()))
    acts = {
        "open_room": lambda: store.open_room("bar_exam"),
        "join": lambda: join(store, room),
        "read": lambda: store.read(room.code),
    }
    clock.wait(SWEEP_EVERY)
    acts[act]()
    acts[act]()
    assert len(swept) == 1


def test_a_look_is_kept_for_half_a_second_and_own_changes_are_there_at_once(store, make_store, clock):
    room, _ = opened(store)
    ana = join(store, room, "Ana")
    other = make_store()
    first = other.read(room.code)
    store.guess(ana, "bar_exam", "one", "20")
    assert store.read(room.code).guesses
    assert other.read(room.code) is first
    clock.wait(LOOK_SECONDS)
    second = other.read(room.code)
    assert second.guesses
    assert second.version > first.version
    clock.wait(LOOK_SECONDS)
    assert other.read(room.code) == second


def test_who_goes_is_no_longer_here(store, clock):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    version = store.read(room.code).version
    for _ in range(int(HERE_SECONDS / SEEN_EVERY)):
        clock.wait(SEEN_EVERY)
        store.seen(leader)
    clock.wait(SEEN_EVERY)
    assert [person.here for person in store.read(room.code).people] == [True, False]
    store.seen(ana)
    clock.wait(LOOK_SECONDS)
    seen = store.read(room.code)
    assert [person.here for person in seen.people] == [True, True]
    assert seen.version == version


def test_the_201st_is_refused_and_a_leader_still_comes_in(store, clock):
    room, _ = opened(store)
    for number in range(MOST_PEOPLE):
        join(store, room, f"person {number}")
    with refused("room_full"):
        join(store, room, "one too many")
    store.take_lead(room.secret, browser="phone", caller="home")
    assert sum(not person.leads for person in store.read(room.code).people) == MOST_PEOPLE


def test_a_full_class_is_refused(store):
    room, leader = opened(store)
    store.lead(leader, most=2)
    ana, _ = join(store, room, "Ana"), join(store, room, "Bo")
    with pytest.raises(RoomError, match="2 people"):
        join(store, room, "Cleo")
    store.remove(leader, [ana.number])
    assert join(store, room, "Cleo").number == 4
    for wrong in (0, 201):
        with refused("too_long"):
            store.lead(leader, most=wrong)


def test_nobody_comes_through_a_locked_door(store):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.lead(leader, door="locked")
    with refused("locked"):
        join(store, room, "Bo")
    store.guess(ana, "bar_exam", "one", "20")
    store.take_lead(room.secret, browser="phone", caller="home")
    store.lead(leader, door="open")
    assert join(store, room, "Bo").name == "Bo"
    with refused("too_long"):
        store.lead(leader, door="ajar")


def test_who_waits_sees_and_sends_nothing_until_she_is_let_in(store):
    room, leader = opened(store)
    store.lead(leader, door="ask", most=1)
    store.ask_to_sign(leader)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    for act in (
        lambda: store.present(room.code, ana.token, browser="browser of Ana"),
        lambda: store.send_vote(ana, LINK, FIGURES, "why"),
        lambda: store.stand(ana, LINK, FIGURES),
        lambda: store.guess(ana, "bar_exam", "one", "20"),
    ):
        with refused("waiting"):
            act()
    seen = store.read(room.code)
    assert [person.name for person in seen.waiting] == ["Ana", "Bo"]
    assert seen.taking_part == []
    with refused("room_full"):
        store.let_in(leader, [ana.number, bo.number])
    store.let_in(leader, [ana.number])
    store.send_vote(ana, LINK, FIGURES, "why")
    assert store.present(room.code, ana.token, browser="browser of Ana").room.question.votes
    store.remove(leader, [bo.number])
    assert store.read(room.code).waiting == []


def test_the_line_at_the_door_is_bounded(store, clock):
    room, leader = opened(store)
    store.lead(leader, door="ask")
    for number in range(MOST_PEOPLE):
        join(store, room, f"person {number}")
    with refused("room_full"):
        join(store, room, "one too many")
    numbers = [person.number for person in store.read(room.code).waiting]
    store.remove(leader, [*numbers, leader.number])
    assert [person.name for person in store.read(room.code).people] == [leader.name]


def test_one_room_too_many_is_refused_until_one_ends(make_store, clock):
    store = make_store(most_rooms=2)
    (_, leader), _ = opened(store), opened(store)
    with refused("too_many_rooms"):
        store.open_room("bar_exam")
    store.delete(leader)
    store.open_room("bar_exam")


def taken_home(room):
    """The tables of a room, by name."""
    with zipfile.ZipFile(io.BytesIO(zipped_tables(room, "en"))) as archive:
        return {name: pd.read_csv(archive.open(name), keep_default_na=False) for name in archive.namelist()}


def test_what_is_taken_home_has_all_and_no_key(store):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.guess(ana, "bar_exam", "one", "20")
    store.guess(ana, "bar_exam", "two", "a")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "Why \U0001f600")
    tables = taken_home(store.read(room.code))
    guesses = tables["guesses.csv"][["lesson", "step", "guess"]].to_numpy().tolist()
    assert guesses == [["bar_exam", "one", "20"], ["bar_exam", "two", "a"]]
    (vote,) = tables["votes.csv"].to_dict("records")
    assert [vote[name] for name in ("round", "name", "reason", "link")] == [1, "Ana", "Why \U0001f600", LINK]
    assert {name: vote[name] for name in FIGURES} == FIGURES
    for key in (ana.token, ana.key, leader.token, leader.key, room.secret, "browser of Ana"):
        assert not any(key in table.to_csv() for table in tables.values())


def test_who_chose_one_of_two_models_is_taken_home_with_it(store):
    room, leader = opened(store)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    store.ask_pair(leader, SharedModel(LINK, FIGURES), SharedModel(OTHER, {"p_rule": 0.5}))
    store.choose(ana, "b")
    store.choose(bo, "neither")
    votes = taken_home(store.read(room.code))["votes.csv"]
    assert votes["choice"].tolist() == ["b", "neither"]
    assert votes["link"].tolist() == [OTHER, ""]
    assert votes["setting"].tolist() == [votes["model_b"][0], ""]
    assert votes["p_rule"].tolist() == ["0.5", ""]


def test_a_leader_who_joins_in_the_same_browser_leads_again(store):
    opened_room = store.open_room("bar_exam")
    leader = store.take_lead(opened_room.secret, browser="Lea", caller="")
    ana = store.join(opened_room.code, "Ana", browser="Ana", caller="")
    store.close(leader)
    again = store.join(opened_room.code, "Lea", browser="Lea", caller="")
    assert again.token == leader.token
    assert store.present(again.code, again.token, browser="Lea").leads
    assert not ana.leads
    with refused("closed"):
        store.join(opened_room.code, "Bo", browser="Bo", caller="")


def test_an_empty_room_can_be_taken_home(store):
    assert zipped_tables(store.read(store.open_room("bar_exam").code), "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_error_has_its_phrase(store, language):
    with pytest.raises(RoomError) as caught:
        store.join("AAAAAA", None, browser="", caller="")
    assert phrase(language, caught.value.key, **caught.value.facts)
    assert str(caught.value) == phrase("en", caught.value.key)
