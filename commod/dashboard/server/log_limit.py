"""The server's log stays small, whatever is done to the server: a message that comes again and again is counted."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from threading import Lock

WINDOW_SECONDS = 60.0
# Of one message, whatever names or numbers it is filled with, in a window; and of all together.
LINES_OF_A_MESSAGE = 5
LINES = 200
MESSAGES = 500  # that are told apart
ALL = ("", "")

_log = logging.getLogger(__name__)


@dataclass
class _Window:
    until: float = field(default_factory=lambda: time.monotonic() + WINDOW_SECONDS)
    seen: int = 0


class LogLimit(logging.Filter):
    """Lets a message through a few times a minute; `tell` says how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._windows: dict[tuple[str, str], _Window] = {}
        self._left_out: dict[tuple[str, str], int] = {}
        self._example: dict[tuple[str, str], str] = {}  # with its names and numbers

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        seen = vars(record)  # by all handlers of a record, which shall do the same
        if "let_through" not in seen:
            seen["let_through"] = record.name == __name__ or self._let_through(record)
        return bool(seen["let_through"])

    def _let_through(self, record: logging.LogRecord) -> bool:
        with self._lock:
            known = len(self._windows) < MESSAGES
            message = (record.name, str(record.msg)[:200]) if known else ("", "other messages")
            if self._is_within(message, LINES_OF_A_MESSAGE) and self._is_within(ALL, LINES):
                return True
            self._left_out[message] = self._left_out.get(message, 0) + 1
            self._example[message] = record.getMessage()[:200]
            return False

    def _is_within(self, message: tuple[str, str], most: int) -> bool:
        window = self._windows.setdefault(message, _Window())
        if time.monotonic() >= window.until:
            window = self._windows[message] = _Window()
        window.seen += 1
        return window.seen <= most

    def tell(self) -> None:
        """Write how often each message was left out in a window that is over; to be called now and then."""
        now = time.monotonic()
        with self._lock:
            self._windows = {what: window for what, window in self._windows.items() if now < window.until}
            told = {what: count for what, count in self._left_out.items() if what not in self._windows}
            self._left_out = {what: count for what, count in self._left_out.items() if what in self._windows}
            examples = {what: self._example.pop(what) for what in told}
        for what, count in sorted(told.items(), key=lambda item: -item[1])[:LINES_OF_A_MESSAGE]:
            _log.warning("Left out %d more such messages in a minute: %s: %s", count, what[0], examples[what])


def limit_logs() -> LogLimit:
    """Put a limit on every handler that there is."""
    limit = LogLimit()
    _log.addHandler(logging.StreamHandler())
    _log.propagate = False
    loggers = [logging.getLogger(), *map(logging.getLogger, logging.root.manager.loggerDict)]
    handlers = [handler for logger in loggers for handler in logger.handlers]
    for handler in [*handlers, *([logging.lastResort] if logging.lastResort else [])]:
        handler.addFilter(limit)
    return limit
