"""One BLAS thread while a model is trained, so that its last digit does not depend on the machine's load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock

from threadpoolctl import ThreadpoolController

__all__ = ["single_threaded"]

_lock = Lock()
_inside = 0
_limit = None


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # scanning the loaded libraries takes milliseconds: once


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS to one thread until the last of the (possibly concurrent) blocks has ended.

    The limit is per process: counting the blocks keeps one thread that leaves from lifting it under another.
    """
    global _inside, _limit
    with _lock:
        _inside += 1
        if _inside == 1:
            _limit = _controller().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limit is not None:
                _limit.restore_original_limits()
                _limit = None
