"""Waiting in tests: for what is meant, as long as it takes, and not a moment longer."""

import time

# Seconds until something that ought to happen counts as missing. A busy machine is slow, and that is no error.
PATIENCE = 180.0


def wait_until(condition, seconds=PATIENCE, pause=0.01):
    """What `condition()` gives, as soon as that is true; an error after `seconds`.

    For what nobody rings a bell for: another process, a thread of somebody else. Errors of `condition` are its own.
    """
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"not within {seconds:g} seconds"
        time.sleep(pause)
    return found
