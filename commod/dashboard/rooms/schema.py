"""The table of the rooms, its rows, and how it is created."""

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from msgspec.json import decode, encode
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from commod.dashboard.rooms.contents import Room, RoomError
from commod.installation import needs_extra

VERSION = 6
# Of earlier versions, whose rooms end when a newer program opens their database: a room lives for a day.
_OLD_TABLES = ("votes", "questions", "revealed", "guesses", "people", "rooms")
BUSY_SECONDS = 5
_MIGRATION_LOCK = 0x636F6D6D6F64  # "commod": others who ask PostgreSQL for this number wait

metadata = sa.MetaData()

schema = sa.Table("schema_version", metadata, sa.Column("version", sa.Integer, nullable=False))


rooms = sa.Table(
    "rooms",
    metadata,
    sa.Column("code", sa.String(9), primary_key=True),
    sa.Column("secret", sa.String(64), nullable=False, unique=True),  # its hash
    sa.Column("expires", sa.Double, nullable=False, index=True),
    sa.Column("document", sa.LargeBinary, nullable=False),  # the `Room` as JSON
)


def locked(connection: sa.Connection, which: Any, now: float) -> Room | None:
    """A room whose row nobody else changes until the transaction ends; None if there is none."""
    found = sa.select(rooms.c.document).where(which, rooms.c.expires > now).with_for_update()
    document = connection.execute(found).scalar()
    return None if document is None else decode(document, type=Room)


def write(connection: sa.Connection, room: Room) -> None:
    """Replace the database's version of a locked room."""
    values = {"secret": room.secret, "document": encode(room)}
    connection.execute(sa.update(rooms).where(rooms.c.code == room.code).values(**values))


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
            # A connection is tested before it is used, so that a restarted database is found again.
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


# In errors the log has the statement, not what people wrote.
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
        _write_ahead(connection)
        for pragma in ("synchronous=NORMAL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _write_ahead(connection: Any) -> None:
    """Turn on SQLite's write-ahead log. SQLite does not wait here if another process makes the same change."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # the rest of the code says why
            if not is_busy or time.monotonic() > until:
                raise
            time.sleep(0.01)


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
    if found < VERSION:
        for table in _OLD_TABLES:
            connection.execute(sa.text(f"DROP TABLE IF EXISTS {table}"))
        metadata.create_all(connection)
        connection.execute(sa.update(schema).values(version=VERSION))
