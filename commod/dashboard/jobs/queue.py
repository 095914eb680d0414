"""One queue for all sessions: equal work runs once, stale work ends, and urgent work goes first."""

from __future__ import annotations

import logging
import time
from bisect import bisect_left, insort
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from operator import attrgetter
from queue import SimpleQueue
from threading import Condition, Event, Lock, Thread
from typing import Any

from commod.dashboard.jobs.scheduling import MOST_PREFETCHED, Priority

# Bytes of a result that does not state its size: a few small frames.
LIGHT = 32 * 2**10


class ResultCache:
    """A cache with limits on results and bytes; the least recently used result goes first.

    `cachetools.LRUCache` has one limit, not two, and cannot insert at the cold end, as `put` does for prefetching.
    """

    def __init__(self, max_results: int = 1024, max_bytes: int = 192 * 2**20) -> None:
        self.max_results, self.max_bytes = max_results, max_bytes
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # with its bytes
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, *, used: bool = True) -> Any:
        """The result of `key`, or None. Unless it is `used`, the order stays the same."""
        with self._lock:
            if used and key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key, (None, 0))[0]

    def put(self, key: Hashable, result: Any, nbytes: int = LIGHT, *, first_to_go: bool = False) -> None:
        """Keep a result; a `first_to_go` one displaces no other."""
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = result, nbytes
            self._kept.move_to_end(key, last=not first_to_go)
            self._bytes += nbytes
            while len(self._kept) > self.max_results or (self._bytes > self.max_bytes and len(self._kept) > 1):
                self._drop(next(iter(self._kept)))

    def forget(self, concerns: Callable[[Hashable], bool]) -> None:
        """Drop the results for whose key `concerns` is true."""
        with self._lock:
            for key in [key for key in self._kept if concerns(key)]:
                self._drop(key)

    def _drop(self, key: Hashable) -> None:
        self._bytes -= self._kept.pop(key)[1]


_log = logging.getLogger(__name__)
_rank = attrgetter("rank")


class Report:
    """A job calls its report with the share done, as often as it can. This one does nothing."""

    def __call__(self, share: float) -> None:
        """Note the share done; raises `Abandoned` once nobody waits for the job."""

    def tell(self, found: Any) -> None:
        """Show waiting scripts what the job has found so far."""

    def say(self, note: str) -> None:
        """Show waiting scripts what is being done, instead of the usual text."""


SILENT = Report()


class Abandoned(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    """Raised inside a job that nobody waits for, to end it."""


@dataclass(frozen=True)
class JobStage:
    """A part of a job with a result of its own; `work` gets the results of the stages before it, and a `Report`."""

    work: Callable[..., Any]
    priority: Priority = Priority.TRAIN
    heavy: bool = False  # takes seconds but frees the interpreter: small jobs do not wait for it
    apart: bool = False  # has a process of its own, in addition to all others
    kept: bool = True  # the cache keeps the result

    @property
    def slot(self) -> tuple[str, bool]:
        """The kind of slot it needs; the flag marks jobs that must leave one such slot free."""
        if self.apart:
            return "apart", self.heavy
        if self.heavy:
            return "heavy", False
        if self.priority.in_background:
            return "background", self.priority is Priority.SEARCH
        return "foreground", False


class _Job:
    def __init__(self, key: Hashable, stages: Sequence[JobStage], done: tuple[Any, ...]) -> None:
        self.key, self.stages, self.results = key, stages, done
        self.waiting = 0  # tickets and jobs that want it
        self.rank: tuple[int, int] | None = None  # in its line: priority and number; None if it is not in line
        self.running = False
        self.listeners: set[Callable[[], object]] = set()
        self.progress, self.note, self.found = 0.0, "", None
        self.begun: float | None = None  # when the current stage began
        self.error: BaseException | None = None
        self.forgotten = not all(stage.kept for stage in stages)  # whether the cache may not keep its results
        self.after: tuple[_Job, ...] = ()  # jobs that must end first

    @property
    def stage(self) -> JobStage:
        """The next to run, or running."""
        return self.stages[min(len(self.results), len(self.stages) - 1)]

    @property
    def is_prefetch(self) -> bool:
        return self.stages[0].priority.is_prefetch

    @property
    def is_over(self) -> bool:
        return self.error is not None or len(self.results) >= len(self.stages)

    @property
    def at_hand(self) -> _Job:
        """The job that is waited for right now: this one, or one that must end first."""
        return next((first.at_hand for first in self.after if not first.is_over), self)

    @property
    def pace(self) -> tuple[float, float | None]:
        """Share done, of this job or of all that must end first, and when that began."""
        after = self.after  # another thread may empty it in the meantime
        if all(first.is_over for first in after):
            return self.progress, self.begun
        shares = [1.0 if first.is_over else first.pace[0] for first in after]
        begun = [since for first in after if (since := first.begun) is not None]
        return sum(shares) / len(shares), min(begun, default=None)


class Ticket(AbstractContextManager["Ticket"]):
    """A session's place in the queue; given up when it is left (as a context manager) or garbage-collected."""

    def __init__(self, queue: WorkQueue, job: _Job) -> None:
        self._queue, self._job = queue, job
        self.is_held = True  # until the place is given up
        self._bell = Event()
        self._callbacks: list[Callable[[], object]] = [self._bell.set]
        job.listeners.add(self._bell.set)

    def listen(self, callback: Callable[[], object]) -> None:
        """Call `callback`, from any thread, whenever a stage is done or the job has failed.

        Earlier events are not repeated: check `has` after this call. The callback must not block.
        """
        self._callbacks.append(callback)
        self._job.listeners.add(callback)

    def leave(self) -> None:
        """Give up the place; work that nobody waits for ends."""
        if self.is_held:
            self.is_held = False
            self._job.listeners.difference_update(self._callbacks)
            with self._queue._locked():
                self._queue._give_up(self._job)

    def __exit__(self, *_: object) -> None:
        self.leave()

    def __del__(self) -> None:
        # Streamlit may stop a script between asking and waiting. Memory may be collected anywhere, also in a thread
        # that holds the queue's lock, so this only leaves a message.
        if self.is_held:
            self.is_held = False
            self._queue._dropped.put((self._job, self._callbacks))

    def has(self, stage: int = -1) -> bool:
        """Whether a stage is done, the last one by default, or the job has failed."""
        return self._job.error is not None or len(self._job.results) > stage % len(self._job.stages)

    @property
    def failed(self) -> bool:
        """Whether the job has ended without all of its results."""
        return self._job.error is not None

    def wait(self, seconds: float, stage: int = -1) -> bool:
        """Wait until a stage is done, at most `seconds`; true if it is done."""
        if not self.has(stage):
            self._bell.wait(seconds)
            self._bell.clear()
        return self.has(stage)

    @property
    def before(self) -> int:
        """How many jobs run before this one; 0 once it runs."""
        return self._queue._before(self._job.at_hand)

    @property
    def progress(self) -> float:
        """Share done of the current stage, 0 to 1."""
        return self._job.pace[0]

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the share done; None while it is too small to tell."""
        share, since = self._job.pace
        return None if since is None or share < 0.05 else (time.monotonic() - since) * (1.0 - share) / share

    @property
    def note(self) -> str:
        """What is being done, if not what was requested."""
        return self._job.at_hand.note

    @property
    def found(self) -> Any:
        """What the job has found so far, None if nothing; it stays when the job is stopped."""
        return self._job.found

    @property
    def parts(self) -> list[Any]:
        """Results of the jobs that had to end first, as far as they exist."""
        return [first.results[-1] for first in self._job.after if first.is_over and first.error is None]

    def result(self, stage: int = -1) -> Any:
        """What a stage returned. Its exception is raised here, unless it would end the caller's thread."""
        job, place = self._job, stage % len(self._job.stages)
        if len(job.results) > place:
            return job.results[place]
        if job.error is None:
            raise RuntimeError("The work is not done yet: wait for it.")
        if not isinstance(job.error, Exception):
            raise RuntimeError("The work was cut short.") from job.error
        raise job.error


class WorkQueue:
    """Threads that run jobs in order of priority, a cache of results, and counts of who waits for which job.

    A job has one stage or more, so that a page can draw a model before what it says about the model is there. The
    arguments say how many jobs of each kind (`JobStage.slot`) run at a time: a slider never waits for a search.
    """

    def __init__(
        self, foreground: int = 1, background: int = 1, heavy: int = 1, apart: int = 2, cache: ResultCache | None = None
    ) -> None:
        self.places = {"foreground": foreground, "background": background, "heavy": heavy, "apart": apart}
        self.cache = cache or ResultCache()
        self.finished = self.abandoned = 0  # completed stages, and jobs that nobody wanted any more
        self._asked = time.monotonic()  # the last request that was not a prefetch of paths
        self._changed = Condition(Lock())
        self._jobs: dict[Hashable, _Job] = {}
        self._lines: defaultdict[tuple[str, bool], list[_Job]] = defaultdict(list)  # who waits, by slot and rank
        self._blocked: list[_Job] = []  # wait for others to end
        self._count = 0  # of jobs that have been in a line
        self._running: list[tuple[str, bool]] = []  # slots taken
        self._to_call: list[Callable[[], object]] = []  # callbacks to call once the lock is released
        self._dropped: SimpleQueue[tuple[_Job, list[Callable[[], object]]]] = SimpleQueue()
        for number in range(sum(self.places.values())):
            Thread(target=self._serve, name=f"work-{number}", daemon=True).start()

    # ---- for sessions ----

    def peek(self, key: Hashable, stage: int = 0, *, used: bool = True) -> Any:
        """The result of a stage of `key` if the cache has it, otherwise None; `used` as in `ResultCache.get`."""
        results = self.cache.get(key, used=used) or ()
        return results[stage] if len(results) > stage else None

    def submit(self, key: Hashable, *stages: JobStage, after: Sequence[Ticket] = ()) -> Ticket:
        """Take a place for the results of `key`; running work is shared, and cached results are not computed again.

        The job starts when all jobs of `after` have ended, and fails if one of them does.
        """
        with self._locked():
            if stages[0].priority is not Priority.PATHS:
                self._asked = time.monotonic()
            job = self._jobs.get(key)
            if job is not None and job.is_prefetch and not stages[0].priority.is_prefetch:
                if job.running and not stages[0].priority.in_background:  # the work may be slow there
                    job = None
                else:  # somebody asks for it now
                    self._dequeue(job)
                    job.stages = stages
                    if not job.running:
                        self._enqueue(job)
            if job is None:
                job = _Job(key, stages, self.cache.get(key) or ())
                if not job.is_over:
                    self._jobs[key] = job
                    job.after = tuple(ticket._job for ticket in after)
                    for first in job.after:
                        first.waiting += 1
                    self._enqueue(job)
            job.waiting += 1
            return Ticket(self, job)

    @property
    def idle_for(self) -> float:
        """Seconds without a request; 0 while requested work runs or waits."""
        with self._locked():
            busy = any(job.stage.priority is not Priority.PATHS for job in self._jobs.values())
            return 0.0 if busy else time.monotonic() - self._asked

    @property
    def is_crowded(self) -> bool:
        """Whether enough prefetch jobs wait."""
        with self._locked():
            return sum(job.is_prefetch for line in self._lines.values() for job in line) >= MOST_PREFETCHED

    def forget(self, concerns: Callable[[Hashable], bool]) -> None:
        """Drop results for whose key `concerns` is true; running jobs drop theirs when they end."""
        with self._locked():
            self.cache.forget(concerns)
            for job in [job for key, job in self._jobs.items() if concerns(key)]:
                job.forgotten = True

    # ---- under the lock ----

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, give up dropped tickets, and call listeners afterwards."""
        with self._changed:
            self._hear_dropped()
            yield
            to_call, self._to_call = self._to_call, []
        for callback in to_call:
            try:
                callback()
            except Exception:  # for example, the caller's loop is closed
                _log.exception("A listener failed.")

    def _hear_dropped(self) -> None:
        while not self._dropped.empty():
            job, callbacks = self._dropped.get()
            job.listeners.difference_update(callbacks)
            self._give_up(job)

    def _before(self, job: _Job) -> int:
        with self._locked():
            if job.rank is None:
                return 0
            lines = (line for slot, line in self._lines.items() if (slot[0] == "apart") is job.stage.apart)
            return sum(bisect_left(line, job.rank, key=_rank) for line in lines)

    def _enqueue(self, job: _Job) -> None:
        """Let a job wait for a thread, once those before it have ended."""
        if not all(first.is_over for first in job.after):
            self._blocked.append(job)
            return
        self._count += 1
        job.rank = (int(job.stage.priority), self._count)
        insort(self._lines[job.stage.slot], job, key=_rank)
        self._changed.notify()

    def _dequeue(self, job: _Job) -> None:
        if job in self._blocked:
            self._blocked.remove(job)
        if job.rank is not None:
            line = self._lines[job.stage.slot]
            del line[bisect_left(line, job.rank, key=_rank)]
            job.rank = None

    def _give_up(self, job: _Job) -> None:
        """One waiter for a job is gone. A running job finds out when it reports."""
        job.waiting -= 1
        if job.waiting == 0 and not job.running and not job.is_over:
            self._dequeue(job)
            self._fail(job, Abandoned())

    def _fail(self, job: _Job, error: BaseException) -> None:
        self.abandoned += isinstance(error, Abandoned)
        job.error = error
        self._close(job)

    def _detach(self, job: _Job) -> None:
        """Let nobody join a job that is ending. Another job with the same key may have come in the meantime."""
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]

    def _close(self, job: _Job) -> None:
        """End a job: release what it waited for, and start what waited for it."""
        self._detach(job)
        after, job.after = job.after, ()
        for first in after:
            self._give_up(first)
        for follower in [each for each in self._blocked if job in each.after]:
            self._blocked.remove(follower)
            self._enqueue(follower)
        self._to_call += job.listeners

    def _has_room(self, slot: tuple[str, bool]) -> bool:
        kind, is_long = slot
        taken, places = [long for other, long in self._running if other == kind], self.places[kind]
        return len(taken) < places and not (is_long and sum(taken) >= max(1, places - 1))

    def _next(self) -> _Job | None:
        self._hear_dropped()
        return min(
            (line[0] for slot, line in self._lines.items() if line and self._has_room(slot)), key=_rank, default=None
        )

    # ---- at work ----

    def _serve(self) -> None:
        while True:
            with self._changed:
                while (job := self._next()) is None:
                    self._changed.wait()
                self._dequeue(job)
                slot = job.stage.slot
                job.running, job.begun = True, time.monotonic()
                self._running.append(slot)
                self._changed.notify()  # there may be work for another thread
            result, error = None, None
            try:
                error = next((first.error for first in job.after if first.error is not None), None)
                if error is None:
                    result = job.stage.work(*job.results, _JobReport(self, job))
            except BaseException as caught:  # passed on to the waiting scripts
                error = caught
                if not isinstance(caught, ValueError | Abandoned):
                    kind = job.key[0] if isinstance(job.key, tuple) else job.key  # the rest names somebody's columns
                    _log.exception("The job %r failed.", kind)
            with self._locked():
                self._running.remove(slot)
                self._end_stage(job, result, error)
                self._changed.notify()
            del job, result, error  # an idle thread must not keep data alive

    def _end_stage(self, job: _Job, result: Any, error: BaseException | None) -> None:
        job.running, job.begun, job.progress, job.note = False, None, 0.0, ""
        if error is not None:
            self._fail(job, error)
            return
        self.finished += 1
        job.results = (*job.results, result)
        # Somebody may have asked for a prefetched job in the meantime and got more of it.
        if not job.forgotten and not (job.is_prefetch and self.cache.get(job.key, used=False)):
            nbytes = getattr(job.results[0], "nbytes", LIGHT)  # which the later ones complete
            self.cache.put(job.key, job.results, nbytes, first_to_go=job.is_prefetch)
        if job.is_over:
            self._close(job)
        elif job.waiting:
            self._enqueue(job)
            self._to_call += job.listeners
        else:
            self._fail(job, Abandoned())


class _JobReport(Report):
    def __init__(self, queue: WorkQueue, job: _Job) -> None:
        self._queue, self._job = queue, job

    def __call__(self, share: float) -> None:
        queue, job = self._queue, self._job
        job.progress = min(1.0, max(0.0, share))
        if job.waiting == 0 or not queue._dropped.empty():
            with queue._locked():
                if job.waiting == 0:
                    queue._detach(job)
                    raise Abandoned

    def tell(self, found: Any) -> None:
        self._job.found = found

    def say(self, note: str) -> None:
        self._job.note = note
