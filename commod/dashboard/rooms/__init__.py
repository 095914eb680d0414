"""Rooms for classes: a store that the processes of a server share. No Streamlit in here.

The database is imported with the first room: until then, no page needs it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from commod.dashboard.rooms.contents import HOURS, MOST_ROOMS, RoomError

if TYPE_CHECKING:
    from commod.dashboard.rooms.room_store import RoomStore

Number = TypeVar("Number", int, float)

_making = Lock()


def store() -> RoomStore:
    """The rooms of this server, from the database; RoomError if it cannot be used, and the next call tries again."""
    with _making:
        return _made()


def remove_old_rooms() -> None:
    """Remove rooms whose time is over, including those of an earlier server."""
    if os.environ.get("COMMOD_DATABASE_URL") or rooms_file().exists():
        with suppress(RoomError):  # it is in the log
            store().sweep()


def rooms_file() -> Path:
    """Where rooms are kept without a database server: ``COMMOD_ROOMS_FILE``, or the user's state folder."""
    asked = os.environ.get("COMMOD_ROOMS_FILE", "")
    state = os.environ.get("XDG_STATE_HOME", "") or "~/.local/state"
    return Path(asked or f"{state}/commod-explorer/rooms.sqlite").expanduser()


@lru_cache(maxsize=1)
def _made() -> RoomStore:
    from sqlalchemy.engine import URL

    from commod.dashboard.rooms.room_store import RoomStore

    hours, most_rooms = bounds()
    # A file may have any name, which an address as text could not hold.
    address = os.environ.get("COMMOD_DATABASE_URL") or URL.create("sqlite", database=str(rooms_file()))
    return RoomStore(address, hours=hours, most_rooms=most_rooms)


def bounds() -> tuple[float, int]:
    """For how many hours rooms are kept, and how many; raises SystemExit if a variable is not such a number."""
    return number_asked("COMMOD_ROOM_HOURS", HOURS, float), number_asked("COMMOD_MAX_ROOMS", MOST_ROOMS, int)


def number_asked(variable: str, usual: Number, kind: Callable[[str], Number]) -> Number:
    """A number above 0 from the environment; SystemExit with a sentence otherwise."""
    text = os.environ.get(variable, "")
    if not text:
        return usual
    with suppress(ValueError):
        if 0 < (asked := kind(text)) < math.inf:
            return asked
    whole = "whole " if kind is int else ""
    raise SystemExit(f"COMMOD Explorer: {variable} must be a {whole}number above 0, not {text!r}.")
