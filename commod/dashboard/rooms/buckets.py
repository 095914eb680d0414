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
            left = self._now_left(key)
            if left >= 1:
                self._keep(key, left - 1)
            else:
                self._left.move_to_end(key)
            return left >= 1

    def give_back(self, key: str) -> None:
        """Put a token back that was taken for something which does not count."""
        with self._lock:
            self._keep(key, min(self._burst, self._now_left(key) + 1))

    def _now_left(self, key: str) -> float:
        left, then = self._left.get(key, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - then) * self._per_second)

    def _keep(self, key: str, left: float) -> None:
        self._left[key] = left, self._clock()
        self._left.move_to_end(key)
        if len(self._left) > MOST_BUCKETS:
            self._left.popitem(last=False)
