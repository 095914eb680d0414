"""A bounded cache of results."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

# Bytes of a result that does not say how many it has: a few small frames.
LIGHT = 32 * 2**10


class ResultCache:
    """Keeps at most so many results and so many bytes; the least recently used one goes first.

    `cachetools.LRUCache` has one limit, not two, and cannot insert at the cold end, as `put` does for prefetching.
    """

    def __init__(self, max_results: int = 1024, max_bytes: int = 192 * 2**20) -> None:
        self.max_results, self.max_bytes = max_results, max_bytes
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # with its bytes
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, *, used: bool = True) -> Any:
        """The result of `key`, or None. A look that is not a use leaves the order as it is."""
        with self._lock:
            if used and key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key, (None, 0))[0]

    def put(self, key: Hashable, result: Any, nbytes: int = LIGHT, *, first_to_go: bool = False) -> None:
        """Keep a result; one that is `first_to_go` displaces no other."""
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = result, nbytes
            self._kept.move_to_end(key, last=not first_to_go)
            self._bytes += nbytes
            while len(self._kept) > self.max_results or (self._bytes > self.max_bytes and len(self._kept) > 1):
                self._drop(next(iter(self._kept)))

    def forget(self, concerns: Callable[[Hashable], bool]) -> None:
        """Drop the results whose key `concerns` what must go."""
        with self._lock:
            for key in [key for key in self._kept if concerns(key)]:
                self._drop(key)

    def _drop(self, key: Hashable) -> None:
        self._bytes -= self._kept.pop(key)[1]
