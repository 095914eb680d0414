"""One queue for all sessions: as many trainings at a time as there are cores, equal work once, stale work dropped."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Condition, Thread
from types import TracebackType
from typing import Any

__all__ = ["Abandoned", "Ticket", "WorkQueue"]

# Called by a job with the share done, as often as it can; raises `Abandoned` once nobody waits for the job.
Report = Callable[[float], None]
Work = Callable[[Report], Any]


class Abandoned(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    """Raised inside a job that nobody waits for, to end it."""


class _Job:
    def __init__(self, key: Hashable, work: Work, *, background: bool) -> None:
        self.key = key
        self.work = work
        self.background = background
        self.waiting = 0
        self.running = False
        self.done = False
        self.progress = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self.forgotten = False  # whether its result may not be kept


class Ticket:
    """A session's place in the queue; given up when it is left (as a context manager) or forgotten."""

    def __init__(self, queue: WorkQueue, job: _Job) -> None:
        self._queue = queue
        self._job = job
        self._held = True

    def leave(self) -> None:
        """Give the place up; work that nobody waits for any more ends."""
        if self._held:
            self._held = False
            self._queue._leave(self._job)

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def __del__(self) -> None:
        # A script that Streamlit stops between asking and waiting drops its ticket without a word.
        self.leave()

    def wait(self, seconds: float) -> bool:
        """Wait until the job is done, at most `seconds`; true if it is."""
        return self._queue._wait(self._job, seconds)

    @property
    def before(self) -> int:
        """How many jobs are taken before this one; 0 once it runs."""
        return self._queue._before(self._job)

    @property
    def progress(self) -> float:
        """Share done, 0 to 1."""
        return self._job.progress

    def result(self) -> Any:
        """What the job returned; its exception is raised here."""
        if self._job.error is not None:
            raise self._job.error
        return self._job.result


class WorkQueue:
    """Threads that take jobs in order, a bounded cache of results, and a count of who waits for what.

    Jobs in the background (sweeps, SHAP) are taken only when no other waits, and never on the last free thread, so
    that a slider never waits for one.

    Parameters
    ----------
    workers : int, optional
        Jobs at a time; default, the cores of the machine.
    keep : int
        Results kept; the one not used for longest goes first.
    """

    def __init__(self, workers: int | None = None, keep: int = 256) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self.keep = keep
        self.finished = 0  # jobs run to their end, for tests and reports
        self.abandoned = 0
        self._lock = Condition()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._jobs: dict[Hashable, _Job] = {}
        self._waiting: list[_Job] = []
        self._running: list[_Job] = []
        for number in range(self.workers):
            Thread(target=self._serve, name=f"work-{number}", daemon=True).start()

    def peek(self, key: Hashable) -> Any:
        """The result of `key` if it is kept, else None."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
            return None

    def forget(self, concerns: Callable[[Hashable], bool]) -> None:
        """Drop kept results whose key `concerns` what must go; jobs at work on it drop theirs when they end."""
        with self._lock:
            for key in [key for key in self._results if concerns(key)]:
                del self._results[key]
            for job in [job for key, job in self._jobs.items() if concerns(key)]:
                job.forgotten = True

    def submit(self, key: Hashable, work: Work, *, background: bool = False) -> Ticket:
        """Take a place for the result of `key`; work that is wanted already is shared."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = _Job(key, work, background=background)
                if key in self._results:
                    self._results.move_to_end(key)
                    job.done, job.result, job.progress = True, self._results[key], 1.0
                else:
                    self._jobs[key] = job
                    self._waiting.append(job)
                    self._lock.notify_all()
            job.waiting += 1
            return Ticket(self, job)

    def _next(self) -> _Job | None:
        for job in self._waiting:
            if not job.background:
                return job
        busy = sum(job.background for job in self._running)
        if self._waiting and busy < max(1, self.workers - 1):
            return self._waiting[0]
        return None

    def _serve(self) -> None:
        while True:
            with self._lock:
                job = self._next()
                while job is None:
                    self._lock.wait()
                    job = self._next()
                self._waiting.remove(job)
                self._running.append(job)
                job.running = True
            error: BaseException | None = None
            result = None
            try:
                result = job.work(self._reporter(job))
            except BaseException as caught:  # handed to whoever waits
                error = caught
            with self._lock:
                self._running.remove(job)
                self._jobs.pop(job.key, None)
                job.done, job.result, job.error, job.progress = True, result, error, 1.0
                if error is None:
                    self.finished += 1
                    if not job.forgotten:
                        self._results[job.key] = result
                    while len(self._results) > self.keep:
                        self._results.popitem(last=False)
                elif isinstance(error, Abandoned):
                    self.abandoned += 1
                self._lock.notify_all()

    def _reporter(self, job: _Job) -> Report:
        def report(share: float) -> None:
            job.progress = min(1.0, max(0.0, share))
            if job.waiting == 0:
                with self._lock:
                    # Nobody may join a job that is about to end without a result.
                    if job.waiting == 0:
                        self._jobs.pop(job.key, None)
                        raise Abandoned

        return report

    def _wait(self, job: _Job, seconds: float) -> bool:
        with self._lock:
            return self._lock.wait_for(lambda: job.done, timeout=seconds)

    def _before(self, job: _Job) -> int:
        with self._lock:
            if job not in self._waiting:
                return 0
            ahead = self._waiting[: self._waiting.index(job)]
            return sum(1 for other in ahead if job.background or not other.background)

    def _leave(self, job: _Job) -> None:
        with self._lock:
            job.waiting -= 1
            if job.waiting == 0 and job in self._waiting:
                self._waiting.remove(job)
                self._jobs.pop(job.key, None)
                self.abandoned += 1
