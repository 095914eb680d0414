"""Sessions whose browser is gone for now, a closed lid or a lost network, and who makes way when there are too many.

Streamlit would keep the last 128, so that somebody who opens and cuts many sockets pushes out all others; and it would
look for those whose time is over when the next one comes, so that their memory stays until then.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from commod.dashboard.server.gate import network_of
from commod.dashboard.streamlit_internals import address_of_session, values_held_by


@dataclass(frozen=True)
class _Kept:
    info: Any  # Streamlit's
    network: str
    since: float

    def has_own_data(self) -> bool:
        """Whether this session holds data that somebody has uploaded, in use or only read."""
        return any(getattr(value, "is_own_data", False) for value in values_held_by(self.info.session))


class KeptSessions:
    """What Streamlit calls a session storage: get, save, delete and list.

    Parameters
    ----------
    at_most : int
        Sessions that are kept. Beyond, one makes way that holds no uploaded data; of those, one from the address that
        has most of them here; of those, the one that has been here longest.
    seconds : float
        After which a session is ended.
    """

    def __init__(self, at_most: int, seconds: float) -> None:
        self.at_most, self.seconds = at_most, seconds
        self._kept: dict[str, _Kept] = {}

    def get(self, session_id: str) -> Any:
        """A session that may be taken up again, or None."""
        kept = self._kept.get(session_id)
        return None if kept is None or self._is_old(kept) else kept.info

    def save(self, session_info: Any) -> None:
        """Keep a session; called while it still counts as open."""
        name = session_info.session.id
        self._kept[name] = _Kept(session_info, network_of(address_of_session(name)), time.monotonic())
        while len(self._kept) > self.at_most:
            self._end(self._least_worth_keeping())

    def delete(self, session_id: str) -> None:
        """Let go of a session that is taken up again, or that Streamlit itself ends."""
        self._kept.pop(session_id, None)

    def list(self) -> list[Any]:
        """All that are kept."""
        return [kept.info for kept in self._kept.values()]

    def end_old(self) -> None:
        """End those whose time is over; to be called now and then."""
        for name in [name for name, kept in self._kept.items() if self._is_old(kept)]:
            self._end(name)

    def _is_old(self, kept: _Kept) -> bool:
        return time.monotonic() - kept.since >= self.seconds

    def _least_worth_keeping(self) -> str:
        here = Counter(kept.network for kept in self._kept.values())

        def worth(name: str) -> tuple[bool, int, float]:
            kept = self._kept[name]
            return kept.has_own_data(), -here[kept.network], kept.since

        return min(self._kept, key=worth)

    def _end(self, session_id: str) -> None:
        session = self._kept.pop(session_id).info.session
        # Not at once: Streamlit may be in the middle of moving another session here.
        asyncio.get_running_loop().call_soon(session.shutdown)
