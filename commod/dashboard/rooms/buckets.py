"""How often something may be done."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

# How many buckets are kept; the least recently used go first.
MOST_BUCKETS = 10_000


class Buckets:
    """A bucket of tokens for each key: `burst` at first, refilled at `per_second` by a clock that never jumps."""

    def __init__(self, burst: int, per_second: float, clock: Callable[[], float]) -> None:
        self._burst, self._per_second, self._clock = float(burst), per_second, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key to tokens, and when there were so many
        self._lock = Lock()

    def take(self, key: str) -> bool:
        """Take a token; False if there is none."""
        with self._lock:
            now = self._clock()
            left, then = self._left.pop(key, (self._burst, now))
            left = min(self._burst, left + (now - then) * self._per_second)
            has_one = left >= 1
            self._left[key] = left - has_one, now
            if len(self._left) > MOST_BUCKETS:
                self._left.popitem(last=False)
            return has_one
