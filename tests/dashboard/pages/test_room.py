"""The room: who leads and who takes part, what is hidden until it is shown, and whose setting stays whose."""

from dataclasses import replace

import pytest

from commod.dashboard import rooms
from commod.dashboard.jobs import service
from commod.dashboard.model.training import fit_result
from commod.dashboard.pages.explore import page as explore
from commod.dashboard.pages.room import board, leading, pictures
from commod.dashboard.pages.room.tables import zipped_tables
from commod.dashboard.rooms.contents import RoomError, SharedModel
from commod.dashboard.rooms.room_store import RoomStore
from commod.dashboard.state.link import link_of_model
from commod.dashboard.state.settings import defaults
from commod.dashboard.text.language import phrase
from commod.dashboard.views.lesson.scenarios import scenario
from commod.dashboard.views.lesson.script import StepAnswer, StepQuestion
from commod.dashboard.views.room import room_figures
from commod.datasets import load_task
from tests.dashboard.driving import fine, run, slider, tables, words
from tests.dashboard.rooms.test_room_store import taken_home

ROOM, LESSON = "pages/room.py", "pages/lesson.py"
USUAL = defaults("law_school")
# What the model says at the first step.
ANSWER = "f predicted it for **46**"


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("COMMOD_ROOMS_FILE", str(tmp_path / "rooms.sqlite"))
    monkeypatch.delenv("COMMOD_DATABASE_URL", raising=False)
    rooms._made.cache_clear()
    yield rooms.store()
    rooms.store().dispose()
    rooms._made.cache_clear()


class Class:
    """A leader and two who take part, as the store knows them."""

    def __init__(self, store):
        self.store = store
        self.opened = store.open_room("bar_exam")
        self.leader = store.take_lead(self.opened.secret, browser="", caller="")
        store.lead(self.leader, step=STEPS[0])
        self.ann, self.bo = (store.join(self.opened.code, name, browser="", caller="") for name in ("Ann", "Bo <b>"))

    @property
    def room(self):
        return self.store.read(self.opened.code)

    def page(self, seat, page=ROOM, **query):
        return run(page, room=seat.code, seat=seat.token, **query)


STEPS = [step.name for step in scenario("bar_exam", "en").steps]


@pytest.fixture
def klass(store):
    return Class(store)


FIGURES = {"fairness": 0.4, "p_rule": 0.4, "accuracy": 0.75, "change_rate": 0.1, "better": 9, "worse": 4}
FIGURES |= {"f_fairness": 0.25, "f_accuracy": 0.79}


def model(lambda_fair, **figures):
    return link_of_model(replace(USUAL, lambda_fair=lambda_fair)), FIGURES | figures


def everything(app):
    """All that the browser is sent."""
    return " ".join(str(element.proto) for element in app._tree if hasattr(element, "proto"))


def click(app, label):
    return next(button for button in app.button if button.label == label).click().run()


# ---- coming in ----


def test_who_opens_a_room_leads_it_and_the_address_has_no_secret():
    app = click(run(ROOM), "Open a room")
    fine(app)
    room = rooms.store().read(app.query_params["room"])
    assert [person.leads for person in room.people] == [True]
    assert room.step == STEPS[0]
    assert "lead" not in app.query_params
    assert room.code in everything(app)
    assert "?lead=" not in everything(app), "a wall would show it"
    assert "(for you alone)" in everything(app)
    assert any("Save this link now" in caption.value for caption in app.sidebar.caption)
    secret = everything(with_link(app)).partition("?lead=")[2][:32]
    assert rooms.store().take_lead(secret, browser="", caller="").code == room.code
    app.session_state["room_link"] = False
    assert "?lead=" not in everything(fine(app.run()))


def with_link(app):
    """The leader's page with their link open."""
    app.session_state["room_link"] = True
    return fine(app.run())


def test_the_leaders_link_leads_and_is_gone_from_the_address(klass):
    app = fine(run(ROOM, lead=klass.opened.secret))
    assert "lead" not in app.query_params
    assert "Reveal the guesses" in [button.label for button in app.sidebar.button]
    assert klass.opened.secret not in everything(app)


def test_a_link_that_is_nobodys_gets_a_sentence():
    app = run(ROOM, lead="nonsense")
    assert "No room has this code or link" in app.warning[0].value
    assert "lead" not in app.query_params


def test_somebody_joins_by_link_and_stays_in_on_every_page(klass):
    app = run(ROOM, room=klass.opened.code)
    app.text_input(key="room_name").input("Cleo")
    app = fine(click(app, "Join a room"))
    assert "Cleo" in [person.name for person in klass.room.people]
    app = fine(app.switch_page("pages/glossary.py").run())
    assert f"Room {klass.opened.code}" in words(app)
    app = fine(app.switch_page(ROOM).run())
    assert app.query_params["room"] == klass.opened.code
    assert app.query_params["seat"]


def test_a_wrong_code_gets_a_sentence():
    app = run(ROOM)
    app.text_input(key="room_code").input("ABC")
    app = click(app, "Join a room")
    assert "No room has this code" in app.warning[0].value


def test_a_seat_that_is_none_leads_to_the_door(klass):
    app = fine(run(ROOM, room=klass.opened.code, seat="somebody-elses"))
    assert app.text_input(key="room_code").value == klass.opened.code
    assert "seat" not in app.query_params


def test_a_store_that_cannot_be_asked_costs_nobody_the_seat(klass, monkeypatch):
    app = fine(klass.page(klass.ann))

    def unreachable():
        raise RoomError("unreachable")

    with monkeypatch.context() as patch:
        patch.setattr(rooms, "store", unreachable)
        for page in (ROOM, "pages/glossary.py"):
            app = fine(app.switch_page(page).run())
            assert "cannot reach the rooms" in app.warning[0].value
    app = fine(app.switch_page(ROOM).run())
    assert app.query_params["seat"] == klass.ann.token
    assert "You are Ann" in words(app)


# ---- what is hidden ----


def test_no_page_of_a_participant_has_the_secret_nor_what_only_the_leader_can_do(klass):
    klass.store.ask_to_sign(klass.leader)
    for page in (ROOM, "pages/glossary.py"):
        app = fine(klass.page(klass.ann, page))
        assert klass.opened.secret not in everything(app)
        assert klass.leader.token not in everything(app)
        assert "Reveal the guesses" not in everything(app)
        assert not app.sidebar.get("popover")


def test_guesses_are_counted_until_they_are_revealed_with_the_answer(klass):
    step = STEPS[0]
    for seat, guess in ((klass.ann, "33"), (klass.bo, "44")):
        klass.store.guess(seat, "bar_exam", step, guess)
    app = fine(klass.page(klass.leader))
    assert "Guesses: 2 of 2" in words(app)
    assert not app.get("vega_lite_chart")
    assert ANSWER not in words(app)
    assert phrase("en", "lesson.talk") not in words(app)
    app = fine(click(app, "Reveal the guesses"))
    assert ANSWER in words(app)
    assert "or in the world?" in words(app)
    assert phrase("en", "lesson.f_wrong") in "".join(element.proto.body for element in app.main.get("html"))
    assert app.get("vega_lite_chart")
    app.session_state["room_guesses"] = True
    rows = tables(app.run())["The guesses as a table"]
    assert [[row[0], row[3]] for row in rows] == [["Guesses", "1"], ["Guesses", "1"], ["What the model says", "–"]]
    assert rows[-1][1] == "46"
    assert ANSWER in words(fine(klass.page(klass.ann)))


def test_a_guess_of_the_lesson_is_told_to_the_room(klass):
    app = klass.page(klass.ann, LESSON)
    app.number_input[0].set_value(40)
    app = fine(click(app, "This is my guess"))
    assert klass.room.guesses == {("bar_exam", STEPS[0]): ("40",)}


# ---- leading ----


def test_the_leaders_next_move_stands_below_the_board(klass):
    def now(app):
        return [button.label for button in app.main.button]

    app = fine(klass.page(klass.leader))
    assert now(app) == ["Reveal the guesses"]
    app = fine(app.main.button(key="room_now_reveal").click().run())
    assert now(app) == ["Next"]
    fine(app.main.button(key="room_now_next").click().run())
    assert klass.room.step == STEPS[1]
    klass.store.ask_to_sign(klass.leader)
    assert now(fine(klass.page(klass.leader))) == ["Show the votes"]


def test_a_leader_elsewhere_is_led_back_to_the_board_and_not_to_the_class(klass):
    klass.store.ask_to_sign(klass.leader)
    app = fine(klass.page(klass.leader, "pages/glossary.py"))
    assert f"You lead room {klass.opened.code}" in words(app)
    labels = [link.proto.label for link in app.get("page_link")]
    assert "Back to the board" in labels
    assert not {"Answer the question", "Go to step 1, where the class is"} & set(labels)


def test_next_takes_a_question_off_the_board_once_its_votes_were_shown(klass):
    klass.store.ask_to_sign(klass.leader)
    app = fine(click(klass.page(klass.leader), "Next"))
    assert klass.room.question is not None  # people still vote
    klass.store.show_result(klass.leader)
    fine(click(fine(app.run()), "Next"))
    assert klass.room.question is None
    assert klass.room.step == STEPS[2]


def test_the_door_stands_large_until_something_is_revealed_or_as_the_leader_has_it(klass):
    app = fine(klass.page(klass.leader))
    assert door(app).value
    klass.store.reveal(klass.leader, "bar_exam", STEPS[0])
    klass.store.lead(klass.leader, step=STEPS[1])
    app = fine(app.run())
    assert not door(app).value
    assert door(fine(door(app).set_value(True).run())).value


def door(app):
    (found,) = (toggle for toggle in app.toggle if toggle.label == phrase("en", "room.show_join"))
    return found


def test_together_the_answer_waits_for_the_reveal(klass):
    klass.store.lead(klass.leader, together=True)
    waiting = fine(klass.page(klass.ann, LESSON, answers="40"))
    assert [box.value for box in waiting.info] == [phrase("en", "room.until_reveal")]
    klass.store.reveal(klass.leader, "bar_exam", STEPS[0])
    assert ANSWER in fine(klass.page(klass.ann, LESSON, answers="40")).info[0].value
    klass.store.lead(klass.leader, step=STEPS[1], together=False)
    assert ANSWER in fine(klass.page(klass.bo, LESSON, answers="40")).info[0].value


def test_together_the_lesson_goes_where_the_leader_is_once(klass):
    app = fine(klass.page(klass.ann, LESSON))
    assert app.title[0].value.startswith("1.")
    klass.store.lead(klass.leader, together=True, step=STEPS[1])
    app = fine(app.run())
    assert app.title[0].value.startswith("2.")
    assert app.sidebar.button(key="step_0").disabled
    assert app.button(key="next").disabled
    klass.store.lead(klass.leader, together=False)
    app = fine(app.run())
    app = fine(app.sidebar.button(key="step_0").click().run())
    assert app.title[0].value.startswith("1.")


def test_who_moved_on_alone_is_led_back_when_all_go_together_again(klass):
    klass.store.lead(klass.leader, together=True, step=STEPS[1])
    app = fine(klass.page(klass.ann, LESSON))
    klass.store.lead(klass.leader, together=False)
    app = fine(app.run())
    app = fine(app.sidebar.button(key="step_0").click().run())
    klass.store.lead(klass.leader, together=True)
    assert fine(app.run()).title[0].value.startswith("2.")


def test_together_who_is_elsewhere_is_told_where_the_class_is(klass):
    klass.store.lead(klass.leader, together=True, step=STEPS[2])
    labels = [link.proto.label for link in fine(klass.page(klass.ann, "pages/glossary.py")).get("page_link")]
    assert "Go to step 3, where the class is" in labels
    klass.store.lead(klass.leader, together=False)
    labels = [link.proto.label for link in fine(klass.page(klass.ann, "pages/glossary.py")).get("page_link")]
    assert not [label for label in labels if "where the class is" in label]


def test_answers_wait_for_the_reveal_unless_the_leader_says_otherwise(klass):
    app = fine(klass.page(klass.leader))
    assert phrase("en", "room.answer_together") in [text.value for text in app.sidebar.caption]
    klass.store.lead(klass.leader, together=False)
    captions = [text.value for text in fine(klass.page(klass.leader)).sidebar.caption]
    assert phrase("en", "room.answer_freely") in captions


def test_a_screen_that_leads_no_longer_says_why(klass):
    second = klass.store.take_lead(klass.opened.secret, browser="", caller="")
    app = fine(klass.page(second))
    told = everything(with_link(fine(klass.page(klass.leader))))
    assert "Other screens that lead now will only take part: 1." in told
    klass.store.new_secret(klass.leader)
    app = fine(app.run())
    assert "This screen no longer leads the room" in app.warning[0].value
    assert "Reveal the guesses" not in everything(app)


def test_nobody_is_chosen_to_be_sent_out_until_somebody_is(klass):
    app = people_of(klass)
    out = next(button for button in app.button if button.label == "Send out")
    assert (app.multiselect(key="room_chosen").value, out.disabled) == ([], True)
    app = fine(app.multiselect(key="room_chosen").select(klass.ann.number).run())
    app = click(app, "Send out")
    assert [person.name for person in klass.room.people if not person.leads] == ["Bo <b>"]
    assert app.multiselect(key="room_chosen").value == []


def people_of(klass):
    """The leader's page with its list of people open."""
    app = klass.page(klass.leader)
    app.session_state["room_people"] = True
    return fine(app.run())


def test_the_leader_locks_the_door_and_sets_the_class_size(klass):
    app = people_of(klass)
    app = fine(app.number_input(key="room_size").set_value(2).run())
    join = run(ROOM, room=klass.opened.code)
    assert "This room is full (2 people)." in click(join, "Join a room").warning[0].value
    fine(app.selectbox(key="room_door").select("locked").run())
    assert (klass.room.door, klass.room.most) == ("locked", 2)
    assert "The door is locked." in click(join, "Join a room").warning[0].value


def test_who_waits_at_the_door_sees_nothing_until_she_is_let_in(klass):
    klass.store.lead(klass.leader, door="ask")
    klass.store.ask_to_sign(klass.leader)
    joining = run(ROOM, room=klass.opened.code)
    joining.text_input(key="room_name").input("Cleo")
    joining = fine(click(joining, "Join a room"))
    assert "You are waiting at the door." in joining.warning[0].value
    assert "Which model would you sign?" not in everything(joining)
    app = people_of(klass)
    assert "Cleo (waiting)" in app.multiselect(key="room_chosen").options
    app = fine(click(app, "Choose everyone waiting (1)"))
    fine(click(app, "Let in"))
    assert "Which model would you sign?" in everything(fine(joining.run()))


def test_who_was_removed_never_sees_the_page_of_the_leader_who_came_after(klass):
    """Numbers were given again, and a stale tab had the page of whoever had the number next."""
    cleo = klass.store.join(klass.opened.code, "Cleo", browser="", caller="")
    app = fine(klass.page(cleo))
    klass.store.ask_to_sign(klass.leader)
    klass.store.send_vote(klass.ann, *model(2.0), "not public yet")
    klass.store.remove(klass.leader, [cleo.number])
    second = klass.store.take_lead(klass.opened.secret, browser="", caller="")
    assert second.number != cleo.number
    app = fine(app.run())
    assert "Your seat in this room is gone" in app.warning[0].value
    assert "seat" not in app.query_params
    for secret in ("Show the votes", "not public yet", "Download"):
        assert secret not in everything(app)


def test_a_file_is_made_only_for_who_leads_when_it_is_asked_for(klass, monkeypatch):
    made = []
    monkeypatch.setattr(leading, "offer", lambda label, make, name, **how: made.append(make))
    second = klass.store.take_lead(klass.opened.secret, browser="", caller="")
    fine(klass.page(second))
    assert made[-1]()
    klass.store.new_secret(klass.leader)
    with pytest.raises(RoomError, match="Only the leader"):
        made[-1]()


def test_frozen_controls_stay_where_their_owner_left_them(klass):
    app = fine(klass.page(klass.ann, lambda_fair="2", page="app.py"))
    klass.store.lead(klass.leader, frozen=True)
    app = fine(app.run())
    assert slider(app, "lambda_fair").disabled
    assert slider(app, "lambda_fair").value == 2
    assert "leader has frozen" in words(app)
    assert "controls" not in app.query_params
    klass.store.close(klass.leader)
    app = fine(app.run())
    assert not slider(app, "lambda_fair").disabled
    assert slider(app, "lambda_fair").value == 2
    assert "The room is closed" in words(app)


def test_while_a_page_computes_the_line_is_kept(klass, monkeypatch):
    """No fragment runs then: `look_in` does its work, and draws the whole page anew only where it must."""
    waited, seen = [], []

    def waits(*parts):
        klass.store.ask_to_sign(klass.leader)
        seen.clear()
        service._here.next_callback = 0.0  # of this thread
        service._call_back()
        waited.append(len(seen))

    monkeypatch.setattr(explore, "draw_pending", waits)
    monkeypatch.setattr(RoomStore, "seen", lambda store, seat: seen.append(seat.name))
    app = fine(klass.page(klass.ann, "app.py"))
    assert waited == [1], "the page was drawn once, and Ann is seen while it waits"
    assert "Which model would you sign?" in words(app)


def test_the_setting_on_explore_is_told_to_the_room(klass):
    fine(klass.page(klass.ann, "app.py", lambda_fair="2"))
    person = next(person for person in klass.room.people if person.name == "Ann")
    assert "lambda_fair=2" in person.link
    figures = fit_result(replace(USUAL, lambda_fair=2.0).model()).figures
    assert person.figures["accuracy"] == pytest.approx(figures.loc["accuracy", "g"])


def test_the_leader_moves_on_sets_a_timer_and_closes(klass):
    app = fine(click(klass.page(klass.leader), "Next"))
    assert klass.room.step == STEPS[1]
    app = fine(click(app, "Start"))
    assert klass.room.timer_ends > klass.room.opened + 100
    assert "Close the room" not in [button.label for button in app.button], "one click closes nothing"
    assert phrase("en", "room.close_says") in [text.value for text in app.sidebar.markdown]
    app = fine(click(app, "Close it now"))
    assert klass.room.closed is not None
    assert "Close it now" not in [button.label for button in app.button]
    app = fine(click(app, "Delete it now"))
    assert [button.label for button in app.button][:2] == ["Join a room", "Open a room"]


# ---- votes ----


def test_both_rounds_who_moved_and_why(klass):
    klass.store.ask_to_sign(klass.leader)
    klass.store.send_vote(klass.ann, *model(1.0), "It is **mine**")
    klass.store.send_vote(klass.bo, *model(1.0), "")
    app = fine(klass.page(klass.leader))
    assert "Votes: 2 of 2" in app.header[0].value
    assert "mine" not in everything(app)
    app = fine(click(app, "Show the votes"))
    assert r"It is \*\*mine\*\*" in words(app)
    app = fine(click(app, "Vote again"))
    klass.store.send_vote(klass.ann, *model(1.0), "I stay")
    klass.store.send_vote(klass.bo, *model(3.0, fairness=0.6, accuracy=0.7), "Ann is right")
    assert "Ann is right" not in everything(fine(app.run()))
    app = fine(click(app, "Show the votes"))
    assert "1 of 2 who voted twice changed their vote" in words(app)
    assert r"Bo \<b\>\: P-Rule 0.40 → 0.60, accuracy 75.0% → 70.0%" in words(app)
    assert len(app.get("vega_lite_chart")) == 1


def test_who_has_not_voted_again_is_named(klass):
    klass.store.ask_to_sign(klass.leader)
    klass.store.send_vote(klass.ann, *model(1.0), "")
    klass.store.send_vote(klass.bo, *model(1.0), "")
    klass.store.ask_again(klass.leader)
    klass.store.send_vote(klass.ann, *model(1.0), "")
    klass.store.show_result(klass.leader)
    told = words(fine(klass.page(klass.leader)))
    assert "0 of 1 who voted twice changed their vote" in told
    assert r"1 voted in the first round only: Bo \<b\>" in told


def test_a_reason_that_is_too_long_is_refused_and_stays(klass):
    klass.store.ask_to_sign(klass.leader)
    app = fine(klass.page(klass.ann, lambda_fair="2"))
    app.text_area[0].input("a" * 250)
    app = fine(click(app, "Send this model as my vote"))
    assert "has 250 characters" in " ".join(warning.value for warning in app.warning)
    assert not klass.room.question.votes
    assert app.text_area[0].value == "a" * 250


def test_a_guess_is_made_on_the_page_of_the_room(klass):
    app = fine(klass.page(klass.ann))
    app.number_input[0].set_value(31)
    app = fine(click(app, "This is my guess"))
    assert klass.room.guesses["bar_exam", STEPS[0]] == ("31",)
    assert "Your guess: 31 of 100." in words(app)
    assert ANSWER not in words(app)
    app = fine(click(app, "Guess again"))
    app.number_input[0].set_value(32)
    app = fine(click(app, "This is my guess"))
    assert klass.room.guesses["bar_exam", STEPS[0]] == ("32",)
    klass.store.reveal(klass.leader, "bar_exam", STEPS[0])
    app = fine(app.run())
    assert ANSWER in words(app)
    assert "You said 32 of 100." in words(app)
    assert "You said 32" not in words(fine(klass.page(klass.bo)))


def test_everyone_sees_what_a_step_and_a_vote_are_about(klass):
    learned_from = len(load_task("law_school").y) - len(fit_result(USUAL.model()).changed_test)
    for seat in (klass.leader, klass.ann):
        assert f"{learned_from:,} students" in everything(fine(klass.page(seat)))
    klass.store.ask_to_sign(klass.leader)
    for seat in (klass.leader, klass.ann):
        assert phrase("en", "room.sign_says") in words(fine(klass.page(seat)))
    assert load_task("law_school").spec.story in words(fine(klass.page(klass.ann)))


def test_the_board_has_a_dot_for_everyone_filled_once_they_answered(klass):
    def dots(app):
        return next(e.proto.body for e in app.main.get("html") if 'class="cx-crowd"' in e.proto.body)

    klass.store.guess(klass.ann, "bar_exam", STEPS[0], "30")
    found = dots(fine(klass.page(klass.leader)))
    assert (found.count("●"), found.count("○")) == (1, 1)
    klass.store.ask_to_sign(klass.leader)
    klass.store.send_vote(klass.ann, *model(1.0), "")
    klass.store.send_vote(klass.bo, *model(1.0), "")
    found = dots(fine(klass.page(klass.leader)))
    assert (found.count("●"), found.count("○")) == (2, 0)


def test_a_reason_outlives_other_pages_and_the_end_of_a_vote(klass):
    klass.store.ask_to_sign(klass.leader)
    app = fine(klass.page(klass.ann, lambda_fair="2"))
    app = fine(app.text_area[0].input("Half a sent").run())
    app = fine(app.switch_page("pages/glossary.py").run().switch_page(ROOM).run())
    assert app.text_area[0].value == "Half a sent"
    klass.store.show_result(klass.leader)
    app = fine(app.run())
    assert app.text_area[0].value == "Half a sent"
    assert ".st-key-room_reason { display: none; }" in everything(app)  # nothing can be sent now
    klass.store.ask_again(klass.leader)
    app = fine(app.run())
    assert ".st-key-room_reason { display: none; }" not in everything(app)
    assert app.text_area[0].value == "Half a sent"
    fine(click(app, "Send this model as my vote"))
    assert [vote.reason for vote in klass.room.question.votes] == ["Half a sent"]


@pytest.mark.parametrize(("address", "warns"), [("http://localhost:8501/room", True), ("http://10.0.0.7/room", False)])
def test_an_address_that_no_phone_can_open_is_told_before_the_class_comes(monkeypatch, klass, address, warns):
    monkeypatch.setattr(board, "room_address", lambda: address)
    for app in (fine(run(ROOM)), fine(klass.page(klass.leader))):
        told = [warning.value for warning in app.warning]
        assert any("Only this computer can open localhost" in text for text in told) == warns


def test_who_is_sent_out_is_gone_with_what_she_sent_and_told_so(klass):
    klass.store.guess(klass.ann, "bar_exam", STEPS[0], "83")
    number = next(person.number for person in klass.room.people if person.name == "Ann")
    klass.store.remove(klass.leader, [number])
    assert [person.name for person in klass.room.people if not person.leads] == ["Bo <b>"]
    assert not klass.room.guesses
    app = fine(klass.page(klass.ann))
    assert "Your seat in this room is gone" in " ".join(warning.value for warning in app.warning)
    with pytest.raises(RoomError, match="Only the leader"):
        klass.store.remove(klass.bo, [klass.bo.number])
    klass.store.remove(klass.leader, [klass.leader.number])
    assert any(person.leads for person in klass.room.people), "who leads stays"


def test_somebody_votes_for_the_model_on_her_screen(klass):
    klass.store.ask_to_sign(klass.leader)
    app = fine(klass.page(klass.ann, lambda_fair="2"))
    assert any("of 100 Non-White students" in row[0] for row in tables(app)[phrase("en", "room.pair_table")])
    app.text_area[0].input("Fairer")
    app = fine(click(app, "Send this model as my vote"))
    (vote,) = klass.room.question.votes
    assert (vote.name, vote.reason, "lambda_fair=2" in vote.link) == ("Ann", "Fairer", True)
    assert "Your vote is in" in app.success[0].value


def test_a_vote_is_for_the_case_that_the_class_is_on(klass):
    klass.store.lead(klass.leader, step="cheap")
    klass.store.ask_to_sign(klass.leader)
    app = fine(klass.page(klass.ann, lambda_fair="2"))
    assert "Send this model as my vote" not in [button.label for button in app.button]
    app = fine(click(app, phrase("en", "room.open_case")))
    fine(click(app, "Send this model as my vote"))
    (vote,) = klass.room.question.votes
    assert "data=compas" in vote.link
    klass.store.lead(klass.leader, together=False)
    app = fine(klass.page(klass.bo, lambda_fair="2"))
    assert "Send this model as my vote" in [button.label for button in app.button]


def test_a_pair_is_counted(klass):
    klass.store.ask_pair(klass.leader, *(SharedModel(*model(value)) for value in (1.0, 2.0)))
    fine(click(klass.page(klass.ann), "I choose Model B"))
    fine(click(klass.page(klass.bo), "Neither"))
    app = fine(click(klass.page(klass.leader), "Show the votes"))
    app.session_state["room_choices"] = True
    rows = tables(app.run())["The answers as a table"]
    assert rows == [["Model A", "First vote", "0"], ["Model B", "First vote", "1"], ["Neither", "First vote", "1"]]


# ---- without a page ----


def test_bars_hold_every_guess():
    numbers = [0, 3, 17, 17, 99.5, 1_000]
    frame = pictures.histogram(numbers, 250.0, guesses="g", model="m")
    bars = frame[frame["kind"] == "g"]
    assert bars["people"].sum() == len(numbers)
    assert ((bars["high"] - bars["low"]) == 100).all()
    assert frame[frame["kind"] == "m"]["low"].tolist() == [250.0]
    one = pictures.histogram([80], 80.0, guesses="g", model="m")
    assert one["people"].sum() == 1
    assert one["high"].max() - one["low"].min() >= pictures.LEAST_SPAN
    assert pictures.histogram([1], 0.0, guesses="g", model="m")["low"].min() == 0


def test_of_100_the_axis_goes_from_0_to_100():
    frame = pictures.histogram([44, 46, 100], 46.0, guesses="g", model="m", most=100)
    bars = frame[frame["kind"] == "g"]
    assert bars["people"].sum() == 3
    assert (bars["low"].min(), bars["high"].max()) == (0, 100)
    guesses = pictures.guesses([44.0], StepQuestion("?", "of 100", 100), StepAnswer(46.0, ""), "en")
    chart = guesses.plot(guesses.rows, **guesses.options)
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 100]


def test_what_is_no_answer_is_left_out():
    options = StepQuestion("?", options=("yes", "no"))
    assert pictures.guessed(["a", "b", "h", "3"], options) == ["yes", "no"]
    assert pictures.guessed(["3", "a", "nan"], StepQuestion("?", "of 100", 100)) == [3.0]


def test_only_models_of_one_problem_are_in_one_picture(klass):
    klass.store.stand(klass.ann, *model(1.0))
    other = link_of_model(defaults("compas"))
    klass.store.stand(klass.bo, other, FIGURES)
    cleo = klass.store.join(klass.opened.code, "Cleo", browser="", caller="")
    klass.store.stand(cleo, *model(1.0))
    models, left_out = pictures.comparable(pictures.stands(klass.room))
    assert ([each.name for each in models], left_out) == (["Ann", "Cleo"], 1)
    rows = pictures.models(models, {1: "here"}, "en").rows
    assert rows[["kind", "people"]].to_numpy().tolist() == [["here", 2], [phrase("en", "room.f"), 0]]


def test_what_is_taken_home_is_in_words(klass):
    klass.store.guess(klass.ann, "bar_exam", STEPS[0], "40")
    klass.store.ask_to_sign(klass.leader)
    klass.store.send_vote(klass.ann, *model(1.0), "=1+1 <script>")
    tables = taken_home(klass.room)
    votes, guesses = tables["votes.csv"], tables["guesses.csv"]
    assert votes["reason"].tolist() == ["'=1+1 <script>"]
    assert votes["setting"].str.contains("λ_fair 1").all()
    assert guesses["question"].str.contains("Of 100 White students who passed").all()
    assert guesses[["guess_in_words", "answer"]].to_numpy().tolist() == [["40 of 100", ""]]
    assert zipped_tables(klass.room, "en") == zipped_tables(klass.room, "en")
    klass.store.reveal(klass.leader, "bar_exam", STEPS[0])
    assert taken_home(klass.room)["guesses.csv"]["answer"].tolist() == ["46 of 100"]


def test_options_are_counted_beside_what_the_model_says():
    question, answer = StepQuestion("?", options=("yes", "no", "both")), StepAnswer("no", "", also=("both",))
    rows = pictures.guesses(["yes", "yes", "no"], question, answer, "en").rows
    right, other = phrase("en", "room.model_says"), phrase("en", "room.other_answer")
    found = rows[["name", "kind", "people"]].to_numpy().tolist()
    assert found == [["yes", other, 2], ["no", right, 1], ["both", right, 0]]


def test_the_room_speaks_french(klass):
    for seat in (klass.leader, klass.ann):
        assert f"Salle {klass.opened.code}" in everything(fine(klass.page(seat, lang="fr")))


def test_figures_of_a_model_are_those_on_explore():
    result = fit_result(USUAL.model())
    found = room_figures(result)
    assert found["fairness"] == result.figures.loc["p_rule", "g"]
    assert found["better"] + found["worse"] == result.changed_test.sum()


def test_the_button_leads_to_the_rooms_step_though_all_go_freely(klass):
    klass.store.lead(klass.leader, together=False, step=STEPS[2])
    app = fine(klass.page(klass.ann))
    app = fine(click(app, "To the step in the lesson"))
    assert app.title[0].value.startswith("3.")


def test_a_guess_after_the_reveal_is_said_not_to_count(klass):
    klass.store.reveal(klass.leader, "bar_exam", STEPS[0])
    app = fine(klass.page(klass.ann, LESSON))
    app.number_input[0].set_value(12)
    app = fine(click(app, "This is my guess"))
    assert "later guesses do not count" in " ".join(caption.value for caption in app.caption)
    assert not klass.room.guesses


def test_who_sat_in_a_room_that_is_deleted_reads_so(klass):
    app = fine(klass.page(klass.ann))
    klass.store.delete(klass.leader)
    app = fine(app.run())
    assert "room is gone" in " ".join(warning.value for warning in app.warning)
