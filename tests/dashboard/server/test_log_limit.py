"""A log that stays small: the same message a few times a minute, and how often it was left out."""

import logging
from types import SimpleNamespace

import pytest

from commod.dashboard.server import log_limit
from commod.dashboard.server.log_limit import LINES, LINES_OF_A_MESSAGE, LogLimit


class Lines(logging.Handler):
    """Keeps what is written."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@pytest.fixture
def written(monkeypatch):
    """A log with a limit: its logger, its lines, its clock and the limit."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(log_limit, "time", clock)
    limit, handler, logger = LogLimit(), Lines(), logging.getLogger("tests.flood")
    handler.addFilter(limit)
    logger.addHandler(handler)
    log_limit._log.addHandler(handler)
    yield SimpleNamespace(logger=logger, lines=handler.lines, clock=clock, limit=limit, handler=handler)
    logger.removeHandler(handler)
    log_limit._log.removeHandler(handler)


def test_a_flood_of_one_message_is_counted(written):
    for n in range(1_000):
        written.logger.error("socket %d: out of system resource", n)
    assert len(written.lines) == LINES_OF_A_MESSAGE
    written.limit.tell()
    assert len(written.lines) == LINES_OF_A_MESSAGE  # the minute is not over
    written.clock.now += 61
    written.limit.tell()
    assert written.lines[-1] == (
        "Left out 995 more such messages in a minute: tests.flood: socket 999: out of system resource"
    )
    written.logger.error("socket %d: out of system resource", 0)
    assert written.lines[-1] == "socket 0: out of system resource"
    written.clock.now += 61
    written.limit.tell()
    assert written.lines[-1] == "socket 0: out of system resource"  # nothing was left out


def test_a_flood_of_different_messages_is_bounded_and_so_is_what_is_remembered(written):
    for n in range(5_000):
        written.logger.error(f"message {n}")
    assert len(written.lines) <= LINES
    assert len(written.limit._windows) <= log_limit.MESSAGES + 2
    assert len(written.limit._left_out) <= log_limit.MESSAGES + 2


def test_a_message_for_two_handlers_is_counted_once(written):
    other = Lines()
    other.addFilter(written.limit)
    written.logger.addHandler(other)
    for _ in range(LINES_OF_A_MESSAGE + 3):
        written.logger.error("twice")
    written.logger.removeHandler(other)
    assert len(other.lines) == len(written.lines) == LINES_OF_A_MESSAGE
    assert sum(written.limit._left_out.values()) == 3


def test_every_handler_gets_the_limit(monkeypatch):
    mine = Lines()
    logging.getLogger("tests.flood.late").addHandler(mine)
    limit = log_limit.limit_logs()
    try:
        assert limit in mine.filters
        assert limit in logging.lastResort.filters  # where asyncio's messages go
    finally:
        loggers = [logging.getLogger(), *map(logging.getLogger, logging.root.manager.loggerDict)]
        for handler in [logging.lastResort, *(handler for logger in loggers for handler in logger.handlers)]:
            handler.removeFilter(limit)
        log_limit._log.handlers.clear()
        log_limit._log.propagate = True
