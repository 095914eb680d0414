"""A few people at once, over websockets, against the real app; thirty are in ``tests/benchmarks/crowd.py``."""

import asyncio
import itertools
import random
import time

import pytest

from commod.dashboard.rooms.names import ALPHABET
from commod.dashboard.rooms.room_store import SLOW_SECONDS
from commod.dashboard.text.language import phrase
from tests.benchmarks import crowd, faults
from tests.waiting import PATIENCE
from tests.wire import Tab


@pytest.mark.slow  # the benchmark as a whole
def test_everyone_is_answered_and_no_session_is_lost(served):
    seen = asyncio.run(crowd.load(crowd.Ours, served, sessions=4, seconds=2, visit=False, patience=PATIENCE))
    assert [person.tab.problems for person in seen.people] == [[]] * 4
    assert [person.at_the_end() for person in seen.people] == [True] * 4
    assert not any(person.lost for person in seen.people)
    assert len(seen.rush) == 4  # how many moves came before it, is a matter of how quick the machine is


KINDS = ["gone in mid-training", "random bytes as a message", "broken file uploaded", "140 sockets opened and cut"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_of_one_session_is_its_own(served, kind):
    assert asyncio.run(faults.KINDS[kind](served, random.Random(0))) == ""


def test_two_sliders_moved_in_one_message_both_move(served):
    async def move():
        tab = await faults.Stranger(served).open()
        moved = {"Fairness (λ_fair)": ["2"], "Stay near f (λ_ratio)": ["0.3"]}
        await tab.until(lambda: moved.keys() <= tab.widgets.keys() and "lambda_fair" in tab.link(), PATIENCE)
        before = tab.link()
        await tab.rerun(moved)
        await tab.until(lambda: tab.link() != before, PATIENCE)
        await tab.close()
        return tab.link()

    link = asyncio.run(move())
    assert (link["lambda_fair"], link["lambda_ratio"]) == ("2", "0.3")


@pytest.mark.parametrize("changes", [{"Data set": faults.HOSTILE}, {"Seed of the split": 2**40}], ids=str)
def test_a_forged_value_is_not_taken(served, changes):
    assert asyncio.run(faults.hostile_value(served, None, itertools.cycle([changes]))) == ""


@pytest.mark.slow
def test_who_guesses_codes_slows_nobody_else_in_the_same_network(served):
    opened, code = phrase("en", "room.open"), phrase("en", "room.code")
    join = phrase("en", "room.join")

    async def act():
        leader, guesser, student = (Tab(served, "room") for _ in range(3))
        for tab in (leader, guesser, student):
            await tab.open()
            assert await tab.until(lambda tab=tab: opened in tab.widgets, PATIENCE)
        await leader.click(opened)
        assert await leader.until(lambda: "seat" in leader.link(), PATIENCE)
        for number in range(20):
            await guesser.click(join, {code: f"AAAAAAAA{ALPHABET[number]}"})
            assert await guesser.until(lambda number=number: guesser.finished > number + 1, PATIENCE)
        begun = time.monotonic()
        await guesser.click(join, {code: "BBBBBBBBB"})
        await student.click(join, {code: leader.link()["room"]})
        assert await student.until(lambda: "seat" in student.link(), PATIENCE)
        came = time.monotonic() - begun
        assert await guesser.until(lambda: guesser.finished > 21, PATIENCE)
        slowed = time.monotonic() - begun
        assert came < SLOW_SECONDS <= slowed
        for tab in (leader, guesser, student):
            await tab.close()

    asyncio.run(act())
