"""One queue for all sessions: a bounded number of jobs at a time, equal work once, stale work dropped."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Condition, Event, Lock, Thread
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from joblib import cpu_count

from commod.dashboard.jobs.cache import ResultCache, weight_of
from commod.dashboard.jobs.scheduling import MOST_AHEAD, REST, Priority, uses

# Called by a job with the share done, as often as it can; raises `Abandoned` once nobody waits for the job.
Report = Callable[[float], None]


def say(report: Report, note: str) -> None:
    """Tell those who wait for a job what is being done, in place of what they asked for."""
    if isinstance(report, _Reporter):
        report.job.note = note


def tell(report: Report | None, found: Any) -> None:
    """Let those who wait for a job see what it has found so far."""
    if isinstance(report, Telling):
        report.tell(found)


@runtime_checkable
class Telling(Protocol):
    """A `Report` that takes what was found so far, too."""

    def tell(self, found: Any) -> None:
        """Keep it for whoever looks."""


class Abandoned(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    """Raised inside a job that nobody waits for, to end it."""


@dataclass(frozen=True)
class Stage:
    """A part of a job with a result of its own.

    Parameters
    ----------
    work : callable
        Called with the results of the stages before it, and with a `Report`.
    priority : Priority
    heavy : bool
        Whether it takes seconds, and leaves the interpreter to others: small ones do not wait for it.
    apart : bool
        Whether it is worked on in a process to itself, and in the background.
    kept : bool
        Whether the result is kept for whoever asks next.
    """

    work: Callable[..., Any]
    priority: Priority = Priority.TRAIN
    heavy: bool = False
    apart: bool = False
    kept: bool = True

    @property
    def rank(self) -> int:
        """The smallest is taken first."""
        return int(self.priority) if uses("priorities") else int(self.priority.in_background)


# Jobs that wait and differ in nothing by which one is taken: the first that came stands first.
_Lane = OrderedDict["_Job", None]


class _Job:
    def __init__(self, key: Hashable, stages: Sequence[Stage], done: tuple[Any, ...]) -> None:
        self.key = key
        self.stages = stages
        self.results = done  # of the stages so far
        self.waiting = 0
        self.bells: set[Event] = set()  # of those who wait
        self.progress = 0.0
        self.note = ""  # what is being done, if that is not what was asked for
        self.found: Any = None  # what it has told so far
        self.error: BaseException | None = None
        self.forgotten = not all(stage.kept for stage in stages)  # whether its results may not be kept
        self.after: tuple[_Job, ...] = ()  # what has to be done first
        self.followers: list[_Job] = []  # for whom this has to be done first
        self.lane: _Lane | None = None  # in which it waits
        self.number = 0  # of all that have waited

    @property
    def stage(self) -> Stage:
        """The next to be worked on, or at work."""
        return self.stages[min(len(self.results), len(self.stages) - 1)]

    @property
    def is_over(self) -> bool:
        return self.error is not None or len(self.results) >= len(self.stages)

    @property
    def at_hand(self) -> _Job:
        """The job that is waited for just now: this, or what has to be done first."""
        return next((first.at_hand for first in self.after if not first.is_over), self)

    def turn(self) -> tuple[int, int]:
        """The smallest is taken first."""
        return self.stage.rank, self.number

    @property
    def share(self) -> float:
        """Share done, of this or of all that has to be done first."""
        if self.at_hand is self:
            return self.progress
        return sum(1.0 if first.is_over else first.share for first in self.after) / len(self.after)

    def ring(self) -> None:
        """Tell those who wait that there is something new."""
        for bell in tuple(self.bells):
            bell.set()


class Ticket:
    """A session's place in the queue; given up when it is left (as a context manager) or forgotten."""

    def __init__(self, queue: WorkQueue, job: _Job) -> None:
        self._queue = queue
        self._job = job
        self._held = True
        self._bell = Event()
        job.bells.add(self._bell)

    def leave(self) -> None:
        """Give the place up; work that nobody waits for any more ends."""
        if self._held:
            self._held = False
            self._job.bells.discard(self._bell)
            self._queue._leave(self._job)

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def __del__(self) -> None:
        # A script that Streamlit stops between asking and waiting drops its ticket without a word. This may be called
        # wherever memory is collected, also by a thread that holds the queue's lock: it only leaves a message.
        if self._held:
            self._held = False
            self._queue._forgotten.put((self._job, self._bell))

    @property
    def is_held(self) -> bool:
        """Whether the place was not given up."""
        return self._held

    def listen(self, heard: Callable[[], None]) -> None:
        """Call `heard`, from any thread, whenever a stage is done or the job ends; until the place is given up."""
        self._job.bells.discard(self._bell)
        self._bell = _Callback(heard)
        self._job.bells.add(self._bell)

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
        """How many jobs are taken before this one; 0 once it runs."""
        return self._queue._before(self._job.at_hand)

    @property
    def progress(self) -> float:
        """Share done of the stage at work, 0 to 1."""
        return self._job.share

    @property
    def note(self) -> str:
        """What is being done, if that is not what was asked for."""
        return self._job.at_hand.note

    @property
    def found(self) -> Any:
        """What the job says it has found so far, None if nothing; it stays when the job is stopped."""
        return self._job.found

    @property
    def parts(self) -> list[Any]:
        """Results of what had to be done first, as far as they are there."""
        return [first.results[-1] for first in self._job.after if first.is_over and first.error is None]

    def result(self, stage: int = -1) -> Any:
        """What a stage returned; its exception is raised here, but none that would end who waits for it."""
        job, place = self._job, stage % len(self._job.stages)
        if len(job.results) > place:
            return job.results[place]
        if job.error is None:
            raise RuntimeError("The work is not done: wait for it.")
        if not isinstance(job.error, Exception):
            raise RuntimeError("The work was cut short.") from job.error
        raise job.error


class _Callback(Event):
    """An event that calls a function when it is set."""

    def __init__(self, heard: Callable[[], None]) -> None:
        super().__init__()
        self._heard = heard

    def set(self) -> None:
        super().set()
        self._heard()


class WorkQueue:
    """Threads that take jobs in order of priority, a cache of results, and a count of who waits for what.

    A job has one stage or more, each with a result and a priority of its own: a model can be drawn before what is said
    about it has been worked out. Jobs in the background are taken only when no other can be, and never on the last free
    thread, so that a slider never waits for one; while others are at work they rest wherever they report, for `REST` at
    most, since one that is computed in this process shares its interpreter.

    Parameters
    ----------
    workers : int, optional
        Jobs at a time that are small or in the background; default, the cores that this process may use.
    small : int, optional
        Jobs at a time that are neither heavy nor in the background; default, all. They spend their time in Python,
        where two take as long side by side as one after the other, and keep the pages from being drawn.
    background : int, optional
        Jobs in the background at a time; default, all but one. Of more than one, a place is left for what is short:
        those that somebody has pressed a button for can take long, and get all but one.
    heavy : int, optional
        Heavy jobs at a time; default, one less than `workers`.
    apart : int
        Jobs at a time that have a process to themselves, beside all others; heavy ones leave one place free.
    cache : ResultCache, optional
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        small: int | None = None,
        background: int | None = None,
        heavy: int | None = None,
        apart: int = 2,
        cache: ResultCache | None = None,
    ) -> None:
        self.workers = workers or cpu_count()
        self.small = (small if uses("one_by_one") else None) or self.workers
        self.background = min(background or self.workers, max(1, self.workers - 1))
        self.heavy = heavy or max(1, self.workers - 1)
        self.apart = apart
        self.cache = cache or ResultCache()
        self.finished = 0  # stages worked to their end, for tests and reports
        self.abandoned = 0
        self._asked = time.monotonic()  # when somebody last did
        # Hundreds of jobs may wait: a change wakes one thread, which wakes the next if it finds work, and each looks
        # only at the first of every lane.
        lock = Lock()
        self._changed, self._quieter = Condition(lock), Condition(lock)
        self._jobs: dict[Hashable, _Job] = {}
        self._lanes: defaultdict[tuple[Priority, bool, bool], _Lane] = defaultdict(OrderedDict)
        self._held_up: _Lane = OrderedDict()  # those for which something has to be done first
        self._count = 0  # of jobs that have waited
        self._running: list[_Job] = []
        self._places: dict[_Job, int] | None = None  # how many come before each, until that changes
        self._forgotten: SimpleQueue[tuple[_Job, Event]] = SimpleQueue()  # places that were dropped without a word
        for number in range(self.workers + self.heavy + self.apart):
            Thread(target=self._serve, name=f"work-{number}", daemon=True).start()

    # ---- for sessions ----

    def peek(self, key: Hashable, stage: int = 0, *, used: bool = True) -> Any:
        """The result of a stage of `key` if it is kept, else None; `used` as of `ResultCache.get`."""
        results = self.cache.get(key, used=used)
        return results[stage] if results is not None and len(results) > stage else None

    def submit(self, key: Hashable, *stages: Stage, after: Sequence[Ticket] = ()) -> Ticket:
        """Take a place for the results of `key`; work in hand is shared, and what is kept is not done again.

        It is not begun before the jobs of `after` have ended, and fails if one of them does.
        """
        with self._changed:
            if stages[0].priority is not Priority.LADDERS:
                self._asked = time.monotonic()
            job = self._jobs.get(key)
            if job is not None and self._is_more_urgent(stages, job):
                if job.lane is not None:
                    self._let_go(job)
                    job.stages = stages
                    self._have_wait(job)
                else:  # at work in the background: it may take its time there
                    job = None
            if job is None:
                job = _Job(key, stages, self.cache.get(key) or ())
                if not job.is_over:
                    self._jobs[key] = job
                    job.after = tuple(ticket._job for ticket in after)
                    for first in job.after:
                        first.waiting += 1
                        if not first.is_over:
                            first.followers.append(job)
                    self._have_wait(job)
            job.waiting += 1
            return Ticket(self, job)

    @staticmethod
    def _is_more_urgent(stages: Sequence[Stage], job: _Job) -> bool:
        """Whether what was to be done ahead of anybody's asking is asked for now."""
        return job.stages[0].priority.is_ahead and not stages[0].priority.is_ahead

    @property
    def idle_for(self) -> float:
        """Seconds for which nobody has asked for anything; 0 as long as something is at work that somebody did."""
        with self._changed:
            at_work = any(job.stage.priority is not Priority.LADDERS for job in self._jobs.values())
            return 0.0 if at_work else time.monotonic() - self._asked

    @property
    def is_crowded(self) -> bool:
        """Whether so much is to be done ahead of anybody's asking that no more should be."""
        with self._changed:
            return sum(len(lane) for (priority, *_), lane in self._lanes.items() if priority.is_ahead) >= MOST_AHEAD

    def forget(self, concerns: Callable[[Hashable], bool]) -> None:
        """Drop kept results whose key `concerns` what must go; jobs at work on it drop theirs when they end."""
        with self._changed:
            self.cache.forget(concerns)
            for job in [job for key, job in self._jobs.items() if concerns(key)]:
                job.forgotten = True

    # ---- for tickets ----

    def _before(self, job: _Job) -> int:
        with self._changed:
            self._hear_of_forgotten()
            if self._places is None:
                self._places = self._count_places()
            return self._places.get(job, 0)

    def _count_places(self) -> dict[_Job, int]:
        """How many come before each job that waits, apart or not: once for all who ask until something changes."""
        ready = sorted((job for lane in self._lanes.values() for job in lane), key=_Job.turn)
        lines = ([job for job in ready if job.stage.apart is apart] for apart in (False, True))
        return {job: place for line in lines for place, job in enumerate(line)}

    def _leave(self, job: _Job) -> None:
        with self._changed:
            self._give_up(job)

    def _give_up(self, job: _Job) -> None:
        """One who waited for a job does no longer. Called under the lock."""
        job.waiting -= 1
        if job.waiting == 0 and job.lane is not None:
            self._let_go(job)
            self._abandon(job)
            self._quieter.notify_all()

    def _abandon(self, job: _Job) -> None:
        self._close(job)
        self.abandoned += 1
        job.error = Abandoned()  # whoever comes back to its ticket must not wait for ever
        self._let_follow(job)
        job.ring()

    def _close(self, job: _Job) -> None:
        """Nobody may join a job that has ended or is about to; another of the same key may have come meanwhile."""
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        after, job.after = job.after, ()
        for first in after:
            if job in first.followers:
                first.followers.remove(job)
            self._give_up(first)

    def _hear_of_forgotten(self) -> None:
        """Give up the places that were dropped without a word. Called under the lock."""
        while not self._forgotten.empty():
            job, bell = self._forgotten.get()
            job.bells.discard(bell)
            self._give_up(job)

    # ---- who waits; all are called under the lock ----

    def _have_wait(self, job: _Job) -> None:
        self._count += 1
        job.number, self._places = self._count, None
        stage = job.stage
        job.lane = self._lanes[stage.priority, stage.heavy, stage.apart] if job.at_hand is job else self._held_up
        job.lane[job] = None
        self._changed.notify()

    def _let_go(self, job: _Job) -> None:
        assert job.lane is not None  # it waits
        del job.lane[job]
        job.lane, self._places = None, None

    def _first(self) -> Iterator[_Job]:
        """The first of each lane."""
        return (next(iter(lane)) for lane in self._lanes.values() if lane)

    def _let_follow(self, job: _Job) -> None:
        """A job is over: those that it held up need wait for it no longer."""
        followers, job.followers = job.followers, []
        for follower in followers:
            if follower.lane is self._held_up and follower.at_hand is follower:
                self._let_go(follower)
                self._have_wait(follower)

    # ---- at work ----

    def _next(self) -> _Job | None:
        self._hear_of_forgotten()
        running = [job.stage for job in self._running]
        apart = [stage for stage in running if stage.apart]
        beside = [stage for stage in running if not stage.apart]
        heavy = sum(stage.heavy for stage in beside)
        background = sum(stage.priority.in_background and not stage.heavy for stage in beside)
        small = len(beside) - background - heavy
        long = sum(stage.priority is Priority.SEARCH and not stage.heavy for stage in beside)

        def is_free(stage: Stage) -> bool:
            if stage.apart:
                return len(apart) < self.apart and sum(other.heavy for other in apart) < self.apart - stage.heavy
            if stage.heavy:
                return heavy < self.heavy
            if small + background >= self.workers:
                return False
            if not stage.priority.in_background:
                return small < self.small
            is_long = stage.priority is Priority.SEARCH
            return background < self.background and not (is_long and long >= max(1, self.background - 1))

        return min((job for job in self._first() if is_free(job.stage)), key=_Job.turn, default=None)

    def _serve(self) -> None:
        while True:
            with self._changed:
                job = self._next()
                while job is None:
                    self._changed.wait()
                    job = self._next()
                self._let_go(job)
                self._running.append(job)
                self._changed.notify()  # there may be work for another
            result, error = None, None
            try:
                error = next((first.error for first in job.after if first.error is not None), None)
                if error is None:
                    result = job.stage.work(*job.results, _Reporter(self, job))
            except BaseException as caught:  # handed to whoever waits
                error = caught
            with self._changed:
                self._running.remove(job)
                self._hear_of_forgotten()
                self._end_stage(job, result, error)
                self._quieter.notify_all()
            del job, result, error  # an idle thread holds nobody's data

    def _end_stage(self, job: _Job, result: Any, error: BaseException | None) -> None:
        self._places = None
        job.progress, job.note = 0.0, ""
        if error is not None:
            self._close(job)
            self.abandoned += isinstance(error, Abandoned)
            job.error = error
        else:
            self.finished += 1
            job.results = (*job.results, result)
            ahead = job.stages[0].priority.is_ahead
            if not job.forgotten and not (
                ahead and self.cache.get(job.key, used=False)
            ):  # somebody asked, and has more by now
                self.cache.put(job.key, _Results(job.results), first_to_go=ahead)
            if job.is_over:
                self._close(job)
            elif job.waiting:
                self._have_wait(job)
            else:
                self._abandon(job)
        if job.is_over:
            self._let_follow(job)
        job.ring()

    def _heed(self, job: _Job) -> None:
        """Called as a job reports: it makes way for others, and ends if nobody waits for it."""
        if job.stage.priority.in_background and not (job.stage.apart or job.stage.heavy) and uses("rest"):
            self._make_way()
        if job.waiting == 0 or not self._forgotten.empty():
            with self._changed:
                self._hear_of_forgotten()
                if job.waiting == 0:
                    self._close(job)
                    raise Abandoned

    def _make_way(self) -> None:
        """Rest while there is work that somebody waits for with a slider in hand."""

        def is_quiet() -> bool:
            others = (job.stage for job in (*self._first(), *self._running))
            return all(stage.priority.in_background or stage.heavy for stage in others)

        with self._quieter:
            self._quieter.wait_for(is_quiet, timeout=REST)


class _Reporter:
    """The `Report` of a job in a queue."""

    def __init__(self, queue: WorkQueue, job: _Job) -> None:
        self.queue, self.job = queue, job

    def __call__(self, share: float) -> None:
        self.job.progress = min(1.0, max(0.0, share))
        self.queue._heed(self.job)

    def tell(self, found: Any) -> None:
        self.job.found = found


class _Results(tuple[Any, ...]):
    """Results of the stages of a job so far, as the cache keeps them."""

    @property
    def nbytes(self) -> int:
        """Of the first, which the later ones complete."""
        return weight_of(self[0])
