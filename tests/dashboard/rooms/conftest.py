"""A store on each database, with clocks that stand still until they are told."""

from itertools import count

import psycopg
import pytest

from commod.dashboard.rooms.room_store import RoomStore
from tests.dashboard.rooms import postgres

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
_numbers = count()


class Clock:
    """Seconds that pass when somebody says so."""

    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@pytest.fixture(scope="session")
def postgres_server():
    with postgres.running() as server:
        yield server


@pytest.fixture(params=DATABASES)
def database(request, tmp_path):
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rooms.sqlite"
    server = request.getfixturevalue("postgres_server")
    name = f"rooms_{next(_numbers)}"
    with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.address(name)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make_store(database, clock):
    """Makes stores on one database, as so many processes have them."""
    made = []

    def make(**options):
        made.append(RoomStore(database, clock=clock, steady=clock, wait=clock.wait, **options))
        return made[-1]

    yield make
    for store in made:
        store.dispose()


@pytest.fixture
def store(make_store):
    return make_store()
