"""Waiting in tests: for what is meant, as long as it takes, and not a moment longer."""

import time


def wait_until(condition, seconds=60.0, pause=0.01):
    """What `condition()` gives, as soon as that is true; an error after `seconds`.

    For what nobody rings a bell for: another process, a thread of somebody else. Errors of `condition` are its own.
    """
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"not within {seconds:g} seconds"
        time.sleep(pause)
    return found
