"""How many people fit: bounded by what was asked for and by the descriptors that the system gives."""

from __future__ import annotations

import os
from contextlib import suppress

# Sessions beyond this number find the server full, unless COMMOD_MAX_SESSIONS says otherwise. What 200 get on two cores
# is in docs/benchmarks.md.
SESSIONS = 250
# Of these, from one address (COMMOD_MAX_SESSIONS_PER_ADDRESS): a whole class behind one router, and everybody's reload.
SESSIONS_OF_AN_ADDRESS = 150
# A session is one websocket; while a page loads, its browser has other connections.
DESCRIPTORS_OF_A_SESSION = 2
# For all that is not a connection: some 60 in a server at rest with its helper processes, and files being read.
RESERVED_DESCRIPTORS = 100
# Of a flood, so that the reserve is not touched before those beyond the bound are closed: that takes a few rounds.
ACCEPTED_AT_ONCE = 8
# Enough for all; some programs close every number up to the limit when they start.
MOST_DESCRIPTORS = 65_536
# Where the system tells of no limit, as Windows.
USUAL_DESCRIPTORS = 1_024


def raise_descriptor_limit() -> int:
    """Take as many descriptors as this process may have; how many those are."""
    with suppress(ImportError, OSError, ValueError):  # Windows has none of it; a system may forbid it
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return most
        return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return USUAL_DESCRIPTORS


def most_connections(descriptors: int) -> int:
    """Connections of any kind that may be open at once."""
    return max(descriptors - RESERVED_DESCRIPTORS, 2)


def most_sessions(descriptors: int) -> int:
    """Sessions that may be open at once."""
    fit = most_connections(descriptors) // DESCRIPTORS_OF_A_SESSION
    return min(_asked("COMMOD_MAX_SESSIONS", SESSIONS), fit)


def most_sessions_of_an_address() -> int:
    """Of these, from one address."""
    return _asked("COMMOD_MAX_SESSIONS_PER_ADDRESS", SESSIONS_OF_AN_ADDRESS)


def _asked(variable: str, usual: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise SystemExit(f"COMMOD Explorer: {variable} must be a whole number above 0, not {text!r}.")
    return int(text)
