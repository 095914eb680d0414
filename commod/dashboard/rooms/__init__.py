"""Rooms, in which a class sees itself: a store that the processes of a server share. No Streamlit in here."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from threading import Lock

from sqlalchemy.engine import URL

from commod.dashboard.rooms.contents import Model, Opened, Person, Question, Room, RoomError, Seat, Vote
from commod.dashboard.rooms.room_store import HOURS, MOST_ROOMS, RoomStore

__all__ = [
    "Model",
    "Opened",
    "Person",
    "Question",
    "Room",
    "RoomError",
    "RoomStore",
    "Seat",
    "Vote",
    "store",
    "sweep",
]

_making = Lock()


def store() -> RoomStore:
    """The rooms of this server, in the database that ``COMMOD_DATABASE_URL`` names or in a file.

    Raises
    ------
    RoomError
        If the database cannot be reached or used. The next call tries again.
    """
    with _making:
        return _made()


def sweep() -> None:
    """Remove rooms whose time is over, also those that a server left which ran before this one."""
    if os.environ.get("COMMOD_DATABASE_URL") or rooms_file().exists():
        store().sweep()


def rooms_file() -> Path:
    """Where rooms are kept without a database server: ``COMMOD_ROOMS_FILE``, else in the user's folder for such."""
    asked = os.environ.get("COMMOD_ROOMS_FILE", "")
    state = os.environ.get("XDG_STATE_HOME", "") or "~/.local/state"
    return Path(asked or f"{state}/commod-explorer/rooms.sqlite").expanduser()


@lru_cache(maxsize=1)
def _made() -> RoomStore:
    address = os.environ.get("COMMOD_DATABASE_URL", "")
    if not address:
        address = URL.create("sqlite", database=str(rooms_file())).render_as_string(hide_password=False)
    hours, most = _asked("COMMOD_ROOM_HOURS", HOURS), _asked("COMMOD_MAX_ROOMS", MOST_ROOMS)
    return RoomStore(address, hours=hours, most_rooms=int(most))


def _asked(variable: str, default: float) -> float:
    """A positive number from the environment."""
    try:
        asked = float(os.environ.get(variable, ""))
    except ValueError:
        return default
    return asked if 0 < asked < 1e6 else default
