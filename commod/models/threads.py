"""One thread while a model is trained, so that its last digit does not depend on the machine's cores or load."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0
_limit = None


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")  # scanning the loaded libraries takes milliseconds: once


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS, and torch where it is loaded, to one thread until the block has ended.

    The limit of BLAS is per process, so concurrent blocks are counted: the last to end lifts it.
    """
    global _inside, _limit
    torch = sys.modules.get("torch")
    if not hasattr(torch, "set_num_threads"):  # not loaded, or another thread is still importing it
        torch = None
    torch_threads = torch.get_num_threads() if torch else 1
    if torch and torch_threads > 1:
        torch.set_num_threads(1)
    with _lock:
        _inside += 1
        # If there is only one anyway, nothing is set: others may be in the middle of a matrix product.
        if _inside == 1 and any(library.num_threads > 1 for library in _blas().lib_controllers):
            _limit = _blas().limit(limits=1)
    try:
        yield
    finally:
        if torch and torch_threads > 1:
            torch.set_num_threads(torch_threads)
        with _lock:
            _inside -= 1
            if _inside == 0 and _limit is not None:
                _limit.restore_original_limits()
                _limit = None
