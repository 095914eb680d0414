"""Results that are kept for whoever asks next, up to a number and a weight."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import Any

# Bytes of a result that does not say: a few small frames.
LIGHT = 32 * 2**10


class ResultCache:
    """A bounded cache; the result not used for longest goes first.

    Parameters
    ----------
    max_results : int
    max_bytes : int
        What they may weigh together. A result says its weight as ``nbytes``; one that does not counts as `LIGHT`.
    """

    def __init__(self, max_results: int = 1024, max_bytes: int = 192 * 2**20) -> None:
        self.max_results, self.max_bytes = max_results, max_bytes
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, *, used: bool = True) -> Any:
        """The result of `key`, or None; unless it is `used`, it goes no later for that."""
        with self._lock:
            if used and key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, result: Any, *, first_to_go: bool = False) -> None:
        """Keep a result, in place of an older one of the same key; one that is `first_to_go` drives out no other."""
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = result
            self._kept.move_to_end(key, last=not first_to_go)
            self._bytes += weight_of(result)
            while len(self._kept) > self.max_results or (self._bytes > self.max_bytes and len(self._kept) > 1):
                self._drop(next(iter(self._kept)))

    def forget(self, concerns: Callable[[Hashable], bool]) -> None:
        """Drop the results whose key `concerns` what must go."""
        with self._lock:
            for key in [key for key in self._kept if concerns(key)]:
                self._drop(key)

    def __iter__(self) -> Iterator[Hashable]:
        """Keys of all that is kept, the one not used for longest first."""
        with self._lock:
            return iter(list(self._kept))

    def _drop(self, key: Hashable) -> None:
        self._bytes -= weight_of(self._kept.pop(key))


def weight_of(result: Any) -> int:
    """Bytes of a result, as it says itself."""
    return int(getattr(result, "nbytes", LIGHT))
