"""One queue for all sessions: as many trainings at a time as there are cores, equal work once, stale work dropped."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Any

from joblib import cpu_count

# Called by a job with the share done, as often as it can; raises `Abandoned` once nobody waits for the job.
Report = Callable[[float], None]
Work = Callable[[Report], Any]


# Seconds for which a job in the background makes way, each time it reports.
REST = 0.3


class Abandoned(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    """Raised inside a job that nobody waits for, to end it."""


# Bytes of a result that does not say: a few small frames.
LIGHT = 32 * 2**10


def _weight(result: Any) -> int:
    return int(getattr(result, "nbytes", LIGHT))


class _Job:
    def __init__(self, key: Hashable, work: Work, *, background: bool, later: bool, heavy: bool = False) -> None:
        self.key = key
        self.work = work
        self.background = background
        self.heavy = heavy
        self.rank = 2 if background else int(later)  # the smallest is taken first
        self.waiting = 0
        self.done = Event()
        self.bells: dict[Event, Hashable] = {}  # of those who wait, and who they are
        self.progress = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self.forgotten = False  # whether its result may not be kept

    def end(self) -> None:
        """It is done, whatever came of it."""
        self.done.set()
        for bell in tuple(self.bells):
            bell.set()


class Ticket:
    """A session's place in the queue; given up when it is left (as a context manager) or forgotten."""

    def __init__(self, queue: WorkQueue, job: _Job, owner: Hashable) -> None:
        self._queue = queue
        self._job = job
        self._held = True
        self._bell = Event()
        job.bells[self._bell] = owner

    def leave(self) -> None:
        """Give the place up; work that nobody waits for any more ends."""
        if self._held:
            self._held = False
            self._job.bells.pop(self._bell, None)
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
        """Wait until the job is done, at most `seconds` and only until `WorkQueue.wake`; true if it is done."""
        if not self._job.done.is_set():
            self._bell.wait(seconds)
            self._bell.clear()
        return self._job.done.is_set()

    @property
    def before(self) -> int:
        """How many jobs are taken before this one; 0 once it runs."""
        return self._queue._before(self._job)

    @property
    def progress(self) -> float:
        """Share done, 0 to 1."""
        return self._job.progress

    def result(self) -> Any:
        """What the job returned; its exception is raised here, but none that would end who waits for it."""
        error = self._job.error
        if error is not None and not isinstance(error, Exception):
            raise RuntimeError("The work was cut short.") from error
        if error is not None:
            raise error
        return self._job.result


class WorkQueue:
    """Threads that take jobs in order, a bounded cache of results, and a count of who waits for what.

    Jobs in the background (sweeps, SHAP) are taken only when no other can be, and never on the last free thread, so
    that a slider never waits for one; while others are at work they rest wherever they report, for `REST` at most: one
    that is computed in this process shares its interpreter. Jobs for later (what stands further down a page) come after
    those that are not.

    Parameters
    ----------
    workers : int, optional
        Jobs at a time; default, the cores that this process may use.
    abreast : int, optional
        Jobs at a time that are not in the background, but for heavy ones; default, all. Small ones spend their time in
        Python, where two take as long side by side as one after the other, and keep the pages from being drawn.
    keep : int
        Results kept; the one not used for longest goes first.
    keep_bytes : int
        What they may weigh together. A result says its weight as ``nbytes``; one that does not counts as `LIGHT`.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        abreast: int | None = None,
        keep: int = 1024,
        keep_bytes: int = 192 * 2**20,
    ) -> None:
        self.workers = workers or cpu_count()
        self.abreast = abreast or self.workers
        self.keep, self.keep_bytes = keep, keep_bytes
        self.finished = 0  # jobs run to their end, for tests and reports
        self.abandoned = 0
        self._lock = Condition()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._bytes = 0
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
                self._bytes -= _weight(self._results.pop(key))
            for job in [job for key, job in self._jobs.items() if concerns(key)]:
                job.forgotten = True

    def wake(self, owner: Hashable) -> None:
        """Wake the owner of a place who waits: it may be wanted elsewhere."""
        with self._lock:
            for job in self._jobs.values():
                for bell, who in tuple(job.bells.items()):
                    if who == owner:
                        bell.set()

    def submit(
        self,
        key: Hashable,
        work: Work,
        *,
        background: bool = False,
        later: bool = False,
        heavy: bool = False,
        owner: Hashable = None,
    ) -> Ticket:
        """Take a place for the result of `key`; work that is wanted already is shared."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = _Job(key, work, background=background, later=later, heavy=heavy)
                if key in self._results:
                    self._results.move_to_end(key)
                    job.result, job.progress = self._results[key], 1.0
                    job.done.set()
                else:
                    self._jobs[key] = job
                    self._waiting.append(job)
                    self._lock.notify_all()
            job.waiting += 1
            return Ticket(self, job, owner)

    def _next(self) -> _Job | None:
        light = sum(not (other.background or other.heavy) for other in self._running)
        free = [job for job in self._waiting if job.background or job.heavy or light < self.abreast]
        job = min(free, key=lambda job: job.rank, default=None)  # the first of the smallest rank
        if job is not None and job.background:
            busy = sum(other.background for other in self._running)
            return None if busy >= max(1, self.workers - 1) else job
        return job

    def _serve(self) -> None:
        while True:
            with self._lock:
                job = self._next()
                while job is None:
                    self._lock.wait()
                    job = self._next()
                self._waiting.remove(job)
                self._running.append(job)
            error: BaseException | None = None
            result = None
            try:
                result = job.work(self._reporter(job))
            except BaseException as caught:  # handed to whoever waits
                error = caught
            with self._lock:
                self._running.remove(job)
                self._jobs.pop(job.key, None)
                job.result, job.error, job.progress = result, error, 1.0
                if error is None:
                    self.finished += 1
                    if not job.forgotten:
                        self._keep(job.key, result)
                elif isinstance(error, Abandoned):
                    self.abandoned += 1
                self._lock.notify_all()
            job.end()

    def _keep(self, key: Hashable, result: Any) -> None:
        self._bytes += _weight(result) - (_weight(self._results.pop(key)) if key in self._results else 0)
        self._results[key] = result
        while len(self._results) > self.keep or (self._bytes > self.keep_bytes and len(self._results) > 1):
            self._bytes -= _weight(self._results.popitem(last=False)[1])

    def _reporter(self, job: _Job) -> Report:
        def report(share: float) -> None:
            job.progress = min(1.0, max(0.0, share))
            if job.background:
                self._make_way()
            if job.waiting == 0:
                with self._lock:
                    # Nobody may join a job that is about to end without a result.
                    if job.waiting == 0:
                        self._jobs.pop(job.key, None)
                        raise Abandoned

        return report

    def _make_way(self) -> None:
        """Rest while there is work that somebody waits for with a slider in hand."""

        def quiet() -> bool:
            return all(job.background for job in self._waiting) and all(job.background for job in self._running)

        with self._lock:
            self._lock.wait_for(quiet, timeout=REST)

    def _before(self, job: _Job) -> int:
        with self._lock:
            if job not in self._waiting:
                return 0
            place = self._waiting.index(job)
            return sum((other.rank, i) < (job.rank, place) for i, other in enumerate(self._waiting))

    def _leave(self, job: _Job) -> None:
        with self._lock:
            job.waiting -= 1
            if job.waiting == 0 and job in self._waiting:
                self._waiting.remove(job)
                self._jobs.pop(job.key, None)
                self.abandoned += 1
                job.error = Abandoned()  # whoever comes back to its ticket must not wait for ever
                job.end()
