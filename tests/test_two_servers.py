"""Two server processes on one PostgreSQL, two leaders, and one of the servers killed."""

import asyncio

import psycopg
import pytest

from commod.dashboard.rooms.room_store import RoomStore
from tests.benchmarks.crowd import Crowd, Ours
from tests.benchmarks.crowd_room import WORDS, Board, Member
from tests.benchmarks.faults import server_of
from tests.browsing import serve
from tests.dashboard.rooms import postgres


@pytest.mark.slow
def test_a_class_on_two_servers_loses_no_vote_when_one_is_killed():
    with postgres.running() as server:
        with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE rooms")
        database = server.address("rooms")
        shared = {"COMMOD_DATABASE_URL": database}
        with serve(environment=shared) as first, serve(environment=shared) as second:
            store = RoomStore(database)
            asyncio.run(teach(store, first, second))
            store.dispose()


async def teach(store, first, second):
    room = store.open_room("bar_exam")
    boards = [Board(first), Board(second)]
    for board in boards:
        board.tab.query = f"lead={room.secret}"
        await board.tab.open()
        await board.ready(WORDS["room.ask_sign"])
    crowd = Crowd(Ours)
    people = [Member(crowd, address, number, room.code) for number, address in enumerate((first, second, first))]
    for person in people:
        await person.come()
    await boards[0].press("ask_sign", "show_votes")
    await boards[1].ready(WORDS["room.show_votes"])
    for person in people:
        await person.prepare("vote")
    await asyncio.gather(*(person.vote(f"of {number}") for number, person in enumerate(people)))
    server_of(first).kill()  # SIGKILL, as soon as all have read that their votes are in
    assert sorted(vote.reason for vote in store.read(room.code).question.votes) == ["of 0", "of 1", "of 2"]
    await boards[1].knows("voted", 3, 0.0)
    await people[0].come_again(second)
    await people[0].vote("at the other server")
    # Both leaders at once: the one whose server is gone comes back to the other.
    again = Board(second)
    again.tab.query, again.tab.cookie = boards[0].tab.query, boards[0].tab.cookie
    await again.tab.open()
    await again.ready(WORDS["room.show_votes"])
    await asyncio.gather(*(board.tab.click(WORDS["room.show_votes"]) for board in (boards[1], again)))
    await again.ready(WORDS["room.ask_again"])
    question = store.read(room.code).question
    assert (question.open, question.shown, question.rounds) == (False, 1, 1)
    assert sorted(vote.reason for vote in question.votes) == ["at the other server", "of 1", "of 2"]
    assert [person.tab.problems for person in people[:2]] == [[], []]
    for tab in (boards[1].tab, again.tab, people[0].tab, people[1].tab):
        await tab.close()
