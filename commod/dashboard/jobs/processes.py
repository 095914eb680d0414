"""Computing in other processes, so that a training does not hold up everybody's pages.

Python runs one thread at a time. A `WorkerProcess` runs functions of this package, one at a time; ``worker.py`` is its
other end. Where none is free, the server's own thread does the work, to the same last digit. Neither pebble nor loky
can stop a job without killing its process, which would lose the scene and the path that the next slider move needs.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any

from commod.dashboard.jobs import worker
from commod.dashboard.jobs.forks import ForkServer, Pulse
from commod.dashboard.jobs.queue import Report
from commod.dashboard.jobs.scheduling import (
    IDLE,
    LOOK,
    MAX_MEMORY,
    MAX_SECONDS,
    MAX_WAIT,
    RESTART_PAUSE,
    WATCH,
    Kind,
)
from commod.datasets import is_shipped, load_task
from commod.experiments import prepare
from commod.experiments.scene import SceneKey, keep_trained, parts_of
from commod.models.threshold import ONE_HALF

AGAIN = "A process stopped answering and was replaced; this is being done again"
_SMALLER = "Choose another base model, leave columns out, or bring a sample of the rows."
BOUND = f"{MAX_SECONDS // 60} minutes"
TOO_LONG = f"f takes more than {BOUND} to train on these data. {_SMALLER}"
TOO_LARGE = f"f takes more than {MAX_MEMORY // 2**30} GB of memory to train on these data. {_SMALLER}"
NOT_DONE = "The process that works on these data ended twice before it was done. Try again in a minute."
_log = logging.getLogger(__name__)


@contextmanager
def _heard() -> Iterator[None]:
    """Whatever goes wrong on the wire, or makes no sense there, means that the process is lost."""
    try:
        yield
    except Exception as error:
        raise ConnectionError("the process that computed is gone") from error


class WorkerProcess:
    """A process that computes one thing at a time. Only the pool's watcher starts it again after it was lost."""

    def __init__(self, kind: Kind, forks: ForkServer) -> None:
        self.kind, self._forks = kind, forks
        self._lock = Lock()  # held by whoever uses it
        self._number = 0
        self._lost_at = self._restart_at = float("-inf")
        self._to_forget: list[str] = []
        self._start()

    def _start(self) -> None:
        self.pid, self._wire = self._forks.fork(kind=self.kind.value, seconds=MAX_SECONDS, memory=MAX_MEMORY)
        self._pulse = Pulse(self.pid)
        self._ready = self._lost = False
        self.last_used = time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether it can take work."""
        try:
            if not self._ready and not self._lost and self._wire.poll():
                self._ready = self._wire.recv() == ("ready", None)
        except (EOFError, OSError):
            self._lose()
        return self._ready

    def _lose(self, *, on_purpose: bool = False) -> None:
        """End it. One that is lost again soon is restarted after a pause."""
        now = time.monotonic()
        if not on_purpose:
            self._restart_at = now + RESTART_PAUSE if now - self._lost_at < RESTART_PAUSE else now
            self._lost_at = now
        self._ready, self._lost = False, True
        self._wire.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process for good."""
        if not self._lost:
            self._lose(on_purpose=True)
        with suppress(ConnectionError):
            self._forks.exit_code(self.pid)  # or it would stay a zombie

    @property
    def is_taken(self) -> bool:
        """Whether somebody uses it."""
        return self._lock.locked()

    @property
    def will_be_free(self) -> bool:
        """Whether it is at work or starting, so that waiting for it makes sense."""
        return self.is_taken or not (self._ready or self._lost)

    def take(self) -> bool:
        """Take it for oneself; false if it is taken or not ready."""
        if not self._lock.acquire(blocking=False):
            return False
        if self.ready:
            self._pulse.beat()
            self.last_used = time.monotonic()
            return True
        self._lock.release()
        return False

    def _release(self) -> None:
        self._lock.release()
        self._tell_to_forget()

    def look(self) -> None:
        """Kill the process if it hangs, and start another if it is lost."""
        idle = self._lock.acquire(blocking=False)
        try:
            if idle and self._lost:
                if time.monotonic() >= self._restart_at:
                    self.close()
                    self._start()
            elif self._pulse.is_hung(expected=not (idle and self.ready)):
                _log.warning("A %s process hangs and is killed.", self.kind.value)
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)  # whoever listens hears of it
            elif idle and self._ready and self._wire.poll():  # an idle process sends nothing but its end
                self._lose()
        finally:
            if idle:
                self._release()

    # ---- functions ----

    def compute(self, scene: SceneKey, function: Callable[..., Any], arguments: tuple[Any, ...], report: Report) -> Any:
        """``function(*arguments, report=…)``, after `take`; the process is free again when this ends.

        Raises
        ------
        ConnectionError
            If the process is gone, hangs, or answers what cannot be read.
        """
        try:
            here = prepare(*scene)
            self._number += 1
            try:
                with _heard():
                    self._wire.send(("work", self._number, scene, worker.pack((function, arguments), here)))
                kind, content = self._listen(report, scene)
                with _heard():
                    result = worker.unpack(content, here)
            except ConnectionError:
                self._lose()
                raise
        finally:
            self._release()
        if kind == "failed":
            raise result
        return result

    def _listen(self, report: Report, scene: SceneKey | None = None) -> tuple[str, Any]:
        share = 0.0
        while True:
            with _heard():
                answer = self._next_answer()
                if answer is not None and answer[0] == "lacks" and scene is not None:
                    self._send_scene(scene)
            if answer is not None and answer[0] == "progress":
                share, found = answer[1]
                report.tell(found)
            elif answer is not None and answer[0] != "lacks":
                return answer
            try:
                report(share)
            except BaseException:  # nobody wants it any more
                if scene is not None:
                    self._stop()
                raise

    def _next_answer(self) -> tuple[str, Any] | None:
        if not self._wire.poll(LOOK):
            return None
        kind, content = self._wire.recv()
        if kind not in ("progress", "lacks", "done", "failed", "returned", "refused", "too large"):
            raise ValueError(f"an answer of kind {kind!r}")
        self._pulse.beat()
        return kind, content

    def _stop(self) -> None:
        """Have it leave off: it keeps the scene and the path for the next slider move."""
        try:
            with _heard():
                self._wire.send(("stop", self._number))
                while self._wire.recv()[0] not in ("done", "failed"):
                    pass
        except ConnectionError:
            self._lose()

    def _send_scene(self, scene: SceneKey) -> None:
        """A split with its f, and the data if they were uploaded."""
        key = scene._replace(threshold=ONE_HALF)
        self._wire.send(("scene", key))
        task = None if is_shipped(key.data) else load_task(key.data)
        worker.send_parcel(self._wire, (task, parts_of(prepare(*key))))

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], report: Report, *, heavy: bool) -> Any:
        """``function(*arguments)``, after `take`. The process ends if nobody wants it any more, and after `heavy` work.

        Raises
        ------
        ValueError
            If the function raises one, or needs more time or memory than it may.
        ConnectionError
            If the process is gone.
        """
        started, ended_well = time.monotonic(), False

        class Clock(Report):
            def __call__(self, _: float) -> None:
                seconds = time.monotonic() - started
                if seconds > MAX_WAIT:
                    raise ValueError(TOO_LONG)
                report(min(seconds / MAX_SECONDS, 0.99))

        try:
            with _heard():
                self._wire.send(("call",))
                worker.send_parcel(self._wire, (function, arguments))
            kind, sentence = self._listen(Clock())
            if kind != "returned":
                raise ValueError(sentence or TOO_LARGE)
            with _heard():
                result = worker.receive_parcel(self._wire)
            ended_well = not heavy
        except ConnectionError:
            if self._forks.exit_code(self.pid) == -signal.SIGXCPU:
                raise ValueError(TOO_LONG) from None
            raise
        finally:
            if not ended_well:
                self._lose(on_purpose=True)
            self._release()
        return result

    def forget(self, data: str) -> None:
        """Drop uploaded data: at once, or as soon as it has ended what it is doing."""
        self._to_forget.append(data)
        self._tell_to_forget()

    def _tell_to_forget(self) -> None:
        while self._to_forget and self._lock.acquire(blocking=False):
            try:
                with suppress(OSError, IndexError):  # it is gone, and the data with it; or another thread has said it
                    self._wire.send(("forget", self._to_forget.pop()))
            finally:
                self._lock.release()


class ProcessPool:
    """The processes of a server, and a thread that watches them.

    Parameters
    ----------
    foreground : int
        How many compute what people wait for with a slider in hand; with none, the server computes everything itself.
    background : int
        How many compute in the background, at most. One is always there, the others start on demand.
    apart : int
        How many at most, on demand, train an f on uploaded data, or compute anything on large uploaded data.
    after : float
        Seconds until they start.
    """

    def __init__(self, foreground: int, background: int = 1, apart: int = 0, after: float = 0.0) -> None:
        if not hasattr(os, "fork") or foreground == 0:
            foreground = background = apart = 0
        self.most = {Kind.FOREGROUND: foreground, Kind.BACKGROUND: background, Kind.APART: apart}
        self._at_rest = {Kind.FOREGROUND: foreground, Kind.BACKGROUND: min(1, background), Kind.APART: 0}
        self._wanted = dict(self._at_rest)
        self.workers: list[WorkerProcess] = []
        self._lock = Lock()  # of _wanted
        self._wake, self._over, self._fails = Event(), Event(), False
        self.forks: dict[Kind, ForkServer] = {}
        if foreground:
            main = ForkServer()
            self.forks = dict.fromkeys(Kind, main) | {Kind.BACKGROUND: ForkServer(main)}
            self._watcher = Thread(target=self._look_after, args=(after,), name="look-after", daemon=True)
            self._watcher.start()

    def _look_after(self, after: float) -> None:
        self._over.wait(after)
        while not self._over.is_set():
            try:
                self.look()
                self._fails = False
            except Exception:  # no process can be started, say; the next look may find otherwise
                self._fails = True
                _log.exception("The processes could not be looked after.")
            self._wake.wait(WATCH)
            self._wake.clear()

    def look(self) -> None:
        """Start what is missing, replace what is lost or hangs, and end what was started on demand and is idle."""
        for kind, wanted in self._wanted.items():
            while len(self._of(kind)) < wanted and not self._over.is_set():
                self.workers.append(WorkerProcess(kind, self.forks[kind]))
        for process in [*self.workers]:
            process.look()
            with self._lock:
                is_idle = time.monotonic() - process.last_used > IDLE
                if is_idle and self._wanted[process.kind] > self._at_rest[process.kind] and process.take():
                    self._wanted[process.kind] -= 1
                    self.workers.remove(process)
                    process.close()

    def _of(self, kind: Kind) -> list[WorkerProcess]:
        return [process for process in self.workers if process.kind is kind]

    def _want_more(self, kind: Kind) -> None:
        """Have another process started if all are at work."""
        with self._lock:
            present = self._of(kind)
            if len(present) == self._wanted[kind] < self.most[kind] and all(each.is_taken for each in present):
                self._wanted[kind] += 1
                self._wake.set()

    def close(self) -> None:
        """End all processes."""
        self._over.set()
        self._wake.set()
        if self.forks:
            self._watcher.join()
        for process in self.workers:
            process.close()
        for forks in set(self.forks.values()):
            forks.close()

    def compute(
        self, scene: SceneKey, function: Callable[..., Any], *arguments: Any, report: Report, kind: Kind
    ) -> Any:
        """``function(*arguments, report=…)`` in a free process, otherwise here.

        Work in the background, and on large uploaded data, waits for a process: here it would hold up all pages.
        """
        until = time.monotonic() + MAX_WAIT
        while True:
            for process in self._of(kind):
                if process.take():
                    with suppress(ConnectionError):
                        return process.compute(scene, function, arguments, report)
                    report.say(AGAIN)
            if not self._can_wait(kind) or time.monotonic() > until:
                return function(*arguments, report=report)
            self._want_more(kind)
            report(0.0)
            time.sleep(LOOK)

    def _can_wait(self, kind: Kind) -> bool:
        if kind is Kind.FOREGROUND or self._fails or not self.most[kind]:
            return False
        present = self._of(kind)
        will_be = len(present) < self._wanted[kind] or any(process.will_be_free for process in present)
        return will_be or kind is Kind.APART

    def train(self, key: SceneKey, report: Report, *, heavy: bool = False) -> None:
        """Train an f once, and keep its scene here, from where processes get it; uploaded data get a process apart."""
        if is_shipped(key.data):
            report.say("Training f")
            for process in self._of(Kind.FOREGROUND):
                if process.take():
                    with suppress(ConnectionError):
                        keep_trained(key, process.call(worker.trained_parts, (key, None), report, heavy=False))
                        return
            prepare(*key)
            return
        task = load_task(key.data)
        report.say(f"Training f on 70 % of {len(task.y):,} rows; the bar shows the time used of at most {BOUND}")
        if self.most[Kind.APART]:
            keep_trained(key, self.call(worker.trained_parts, key, task, report=report, heavy=heavy))
        else:
            prepare(*key)

    def call(self, function: Callable[..., Any], *arguments: Any, report: Report, heavy: bool = False) -> Any:
        """``function(*arguments)`` in a process to itself, where there are processes."""
        if not self.most[Kind.APART]:
            return function(*arguments)
        for _ in range(2):
            with suppress(ConnectionError):
                return self._take_apart(report).call(function, arguments, report, heavy=heavy)
            report.say(AGAIN)
        raise ValueError(NOT_DONE)

    def _take_apart(self, report: Report) -> WorkerProcess:
        until = time.monotonic() + MAX_WAIT
        while time.monotonic() < until:
            for process in self._of(Kind.APART):
                if process.take():
                    return process
            self._want_more(Kind.APART)
            report(0.0)
            time.sleep(LOOK)
        raise ValueError(NOT_DONE)

    def forget(self, data: str) -> None:
        """Drop uploaded data from all processes."""
        for process in self.workers:
            process.forget(data)
