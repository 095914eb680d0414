"""The tables of the rooms, and how a database comes to have them."""

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from commod.dashboard.rooms.contents import RoomError
from commod.installation import needs_extra

VERSION = 3
# By version, the statements that lead from it to the next one. An empty database gets the tables below at once.
UPGRADES: dict[int, tuple[str, ...]] = {
    1: ("ALTER TABLE people ADD COLUMN at TEXT NOT NULL DEFAULT ''",),
    2: (
        "ALTER TABLE rooms ADD COLUMN seats INTEGER NOT NULL DEFAULT 0",
        "UPDATE rooms SET seats = (SELECT coalesce(max(number), 0) FROM people WHERE people.code = rooms.code)",
        "ALTER TABLE rooms ADD COLUMN door VARCHAR(6) NOT NULL DEFAULT 'open'",
        "ALTER TABLE rooms ADD COLUMN most INTEGER NOT NULL DEFAULT 200",
        "ALTER TABLE people ADD COLUMN waiting BOOLEAN NOT NULL DEFAULT FALSE",
        "ALTER TABLE people ADD COLUMN network VARCHAR(16) NOT NULL DEFAULT ''",
        *(
            f"ALTER TABLE {table} ALTER COLUMN code TYPE VARCHAR(9)"
            for table in ("rooms", "people", "guesses", "revealed", "questions", "votes")
        ),
    ),
}

BUSY_SECONDS = 5
_MIGRATION_LOCK = 0x636F6D6D6F64  # "commod": whoever else asks PostgreSQL for this number waits

metadata = sa.MetaData()

schema = sa.Table("schema_version", metadata, sa.Column("version", sa.Integer, nullable=False))


def _required(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _of_a_room() -> sa.Column[str]:
    return sa.Column("code", sa.ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True)


def _of_a_person() -> tuple[sa.Column[int], sa.ForeignKeyConstraint]:
    whose = sa.ForeignKeyConstraint(["code", "person"], ["people.code", "people.number"], ondelete="CASCADE")
    return sa.Column("person", sa.Integer, primary_key=True), whose


def _of_a_step() -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in ("lesson", "step")]


rooms = sa.Table(
    "rooms",
    metadata,
    sa.Column("code", sa.String(9), primary_key=True),
    sa.Column("secret", sa.String(64), nullable=False, unique=True),  # its hash
    *_required(sa.Integer, "version"),
    *_required(sa.Double, "opened"),
    sa.Column("expires", sa.Double, nullable=False, index=True),
    sa.Column("closed", sa.Double),
    *_required(sa.Text, "lesson", "step"),
    *_required(sa.Boolean, "together", "frozen"),
    sa.Column("timer_ends", sa.Double),
    *_required(sa.Integer, "seats"),  # given so far: the number of one that was taken away is never given again
    *_required(sa.String(6), "door"),
    *_required(sa.Integer, "most"),  # the size of the class
)

people = sa.Table(
    "people",
    metadata,
    _of_a_room(),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("seat", sa.String(64), nullable=False, unique=True),  # hash of token and browser
    *_required(sa.Text, "name"),
    *_required(sa.Boolean, "leads", "waiting"),  # waiting: until the leader lets them in
    *_required(sa.String(16), "network"),  # tells only who in this room shares one
    *_required(sa.Double, "seen"),
    *_required(sa.Text, "at", "link", "figures"),  # the step that is open there; figures are JSON, as everywhere
)

guesses = sa.Table("guesses", metadata, _of_a_room(), *_of_a_person(), *_of_a_step(), *_required(sa.Text, "kept"))

revealed = sa.Table("revealed", metadata, _of_a_room(), *_of_a_step())

questions = sa.Table(
    "questions",
    metadata,
    _of_a_room(),
    sa.Column("number", sa.Integer, primary_key=True),
    *_required(sa.String(4), "kind"),
    *_required(sa.Integer, "rounds"),
    *_required(sa.Boolean, "open"),
    *_required(sa.Integer, "shown"),
    *_required(sa.Boolean, "ended"),
    *_required(sa.Text, "pair"),  # JSON: two links with their figures, or empty
)

votes = sa.Table(
    "votes",
    metadata,
    _of_a_room(),
    sa.Column("question", sa.Integer, primary_key=True),
    sa.Column("round", sa.Integer, primary_key=True),
    *_of_a_person(),
    *_required(sa.Text, "link", "figures", "reason"),
    *_required(sa.String(7), "choice"),
    sa.ForeignKeyConstraint(["code", "question"], ["questions.code", "questions.number"], ondelete="CASCADE"),
)


def open_database(address: str | URL) -> sa.Engine:
    """An engine for a database (``sqlite:///…`` or ``postgresql://…``) whose tables are of this program's version.

    Raises RoomError if they are of a newer one, MissingExtraError if PostgreSQL's driver is not installed, and
    SQLAlchemyError if the database cannot be reached.
    """
    url = make_url(address)
    kind = url.get_backend_name()
    if kind == "sqlite":
        engine = _sqlite(url)
    elif kind in ("postgresql", "postgres"):
        with needs_extra("A database of PostgreSQL", "postgresql"):
            # A database that was restarted is found again: a connection is tried before it is used.
            engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True, **_OF_ALL)
    else:
        raise ArgumentError(f"rooms are kept in SQLite or PostgreSQL, not in {kind}")
    try:
        with writing(engine).begin() as connection:
            _migrate(connection)
    except BaseException:
        engine.dispose()
        raise
    return engine


def writing(engine: sa.Engine) -> sa.Engine:
    """The same engine for transactions that write: SQLite's take their turn when they begin, not in the middle."""
    return engine.execution_options(writes=True)


# Of what goes wrong the log has the statement, not what people wrote.
_OF_ALL: dict[str, Any] = {"hide_parameters": True, "pool_size": 5, "max_overflow": 10, "pool_timeout": 10}


def _sqlite(url: URL) -> sa.Engine:
    if url.database and url.database != ":memory:":
        path = Path(url.database)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite gives its other files the same mode
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS}, **_OF_ALL)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _migrate(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
    if not sa.inspect(connection).has_table(schema.name):
        metadata.create_all(connection)
        connection.execute(sa.insert(schema).values(version=VERSION))
        return
    found: int = connection.execute(sa.select(schema.c.version)).scalar_one()
    if found > VERSION:
        raise RoomError("newer_database", found=found, known=VERSION)
    for version in range(found, VERSION):
        for statement in UPGRADES[version]:
            if "ALTER COLUMN" not in statement or connection.dialect.name == "postgresql":  # SQLite knows no lengths
                connection.execute(sa.text(statement))
    if found < VERSION:
        connection.execute(sa.update(schema).values(version=VERSION))
