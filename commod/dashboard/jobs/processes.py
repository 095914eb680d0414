"""Computing in processes of their own, so that a training does not hold up the pages of everybody else.

Python runs one thread at a time: on two cores thirty pages share one interpreter with every training, tree and SHAP run
of the server. A `WorkerProcess` is handed functions of this package by name, one at a time (``helper.py`` is its other
end). Where a process is busy, still starting or gone, the work is done here, to the same last digit. An f that is
trained on data that somebody has brought may take minutes: it gets a process to itself, with bounds, that can be ended.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from typing import Any

import psutil

from commod.dashboard.jobs import helper
from commod.dashboard.jobs.forking import fork
from commod.dashboard.jobs.messages import pack, receive_parcel, send_parcel, unpack
from commod.dashboard.jobs.queue import Report, say, tell
from commod.dashboard.jobs.scheduling import (
    LOOK,
    MAX_MEMORY,
    MAX_SECONDS,
    MAX_WAIT,
    RESTART_PAUSE,
    SILENT,
    STOPPED,
    WATCH,
    Kind,
)
from commod.datasets import load_task
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
    """Whatever goes wrong on the line, or makes no sense there, means that the process is lost."""
    try:
        yield
    except Exception as error:
        raise ConnectionError("the process that computed is gone") from error


class WorkerProcess:
    """A process that computes what it is handed, one thing at a time."""

    def __init__(self, kind: Kind = Kind.FOREGROUND) -> None:
        self.kind = kind
        self.is_new = True  # whether it has never been ready
        self._lock = Lock()  # of whoever has work for it
        self._number = 0
        self._lost = float("-inf")
        self._to_forget: list[str] = []
        self._start()

    def _start(self) -> None:
        self._process, self._wire = fork(
            helper.serve,
            self.kind,
            seconds=MAX_SECONDS,
            memory=MAX_MEMORY,
            is_warmed_up=os.environ.get("COMMOD_WARM_UP") != "0",
        )
        self._ready = False
        assert self._process.pid is not None  # it has been started
        self._pulse = _Pulse(self._process.pid)

    @property
    def ready(self) -> bool:
        """Whether it can be handed work; one that was lost is started anew."""
        try:
            if not self._ready and self._wire.poll():
                self._ready = self._wire.recv() == ("ready", None)
                self.is_new = self.is_new and not self._ready
        except (EOFError, OSError):
            self._lose()
        return self._ready

    def _lose(self) -> None:
        self._ready = self.is_new = False
        if time.monotonic() - self._lost < RESTART_PAUSE:
            return
        self._lost = time.monotonic()
        self._renew()

    def _renew(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        """End the process."""
        self._wire.close()
        self._process.kill()
        self._process.join()

    @property
    def will_be_free(self) -> bool:
        """Whether it is at work, or starting for the first time: in a while it can be taken."""
        return self.is_new or self._lock.locked()

    def take(self) -> bool:
        """Take it for oneself; false if somebody has, or it is not ready."""
        if not self._lock.acquire(blocking=False):
            return False
        if self.ready:
            self._pulse.beat()
            return True
        self._lock.release()
        return False

    def _release(self) -> None:
        self._lock.release()
        self._tell_to_forget()

    def look(self) -> None:
        """End a process that hangs, and replace one that has ended, so that nobody waits for it."""
        idle = self._lock.acquire(blocking=False)
        process, pulse = self._process, self._pulse  # who is at work may replace them meanwhile
        try:
            if pulse.is_hung(expected=not (idle and self.ready)):
                _log.warning("A process of kind %s hangs and is ended.", self.kind.value)
                process.kill()
            elif idle and process.exitcode is not None:
                self._lose()
        finally:
            if idle:
                self._release()

    # ---- functions ----

    def compute(self, scene: SceneKey, function: Callable[..., Any], arguments: tuple[Any, ...], report: Report) -> Any:
        """``function(*arguments, report)``, after `take`; the process is free again when this ends.

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
                    self._wire.send(("work", self._number, scene, pack((function, arguments), here)))
                kind, content = self._listen(report, scene)
                with _heard():
                    result = unpack(content, here)
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
                tell(report, found)
            elif answer is not None and answer[0] != "lacks":
                return answer
            try:
                report(share)
            except BaseException:  # nobody wants it any more
                with suppress(ConnectionError):
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
        """Have it leave off, and hear it out."""
        if self.kind is Kind.APART:  # it is ended
            return
        try:
            with _heard():
                self._wire.send(("stop", self._number))
                while self._wire.recv()[0] not in ("done", "failed"):
                    pass
        except ConnectionError:
            self._lose()
            raise

    def _send_scene(self, scene: SceneKey) -> None:
        """Data that somebody has brought, and their f."""
        key = scene._replace(threshold=ONE_HALF)
        self._wire.send(("scene", key))
        send_parcel(self._wire, (load_task(key.data), parts_of(prepare(*key))))

    # ---- data that somebody has brought ----

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], report: Report, *, heavy: bool) -> Any:
        """``function(*arguments)``, after `take`; ended at once if nobody wants it any more.

        After `heavy` work, the process is replaced, too, and its memory given back.

        Raises
        ------
        ValueError
            If the function raises one, or takes more time or memory than there is for it.
        ConnectionError
            If the process is gone.
        """
        started, ended_well = time.monotonic(), False

        def tell(_: float) -> None:
            seconds = time.monotonic() - started
            if seconds > MAX_WAIT:
                raise ValueError(TOO_LONG)
            report(min(seconds / MAX_SECONDS, 0.99))

        try:
            with _heard():
                self._wire.send(("call",))
                send_parcel(self._wire, (function, arguments))
            kind, sentence = self._listen(tell)
            if kind != "returned":
                raise ValueError(sentence or TOO_LARGE)
            with _heard():
                result = receive_parcel(self._wire)
            ended_well = not heavy
        except ConnectionError:
            self._process.join(1)
            if self._process.exitcode == -signal.SIGXCPU:
                raise ValueError(TOO_LONG) from None
            raise
        finally:
            if not ended_well:
                self._renew()
            self._release()
        return result

    def forget(self, data: str) -> None:
        """Drop data that must go: at once, or as soon as it has ended what it is doing."""
        self._to_forget.append(data)
        self._tell_to_forget()

    def _tell_to_forget(self) -> None:
        while self._to_forget and self._lock.acquire(blocking=False):
            try:
                with suppress(OSError, IndexError):  # it is gone, and the data with it; or another thread has said it
                    self._wire.send(("forget", self._to_forget.pop()))
            finally:
                self._lock.release()


class _Pulse:
    """Whether a process goes on: it sends something, uses a core, or would if it were given one."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._used = 0.0
        self._last = time.monotonic()  # that it was seen to go on
        self._running = time.monotonic()  # that it was seen not to be stopped

    def beat(self) -> None:
        """It has sent something, or is handed work."""
        self._last = time.monotonic()

    def is_hung(self, *, expected: bool) -> bool:
        """Whether it does nothing though something is expected of it, or has been stopped by a signal."""
        now = time.monotonic()
        try:
            status, used = self._process.status(), sum(self._process.cpu_times()[:2])
        except psutil.Error:  # it has ended: whoever listens hears of that
            return False
        if status not in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
            self._running = now
        if used > self._used or status in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP) or not expected:
            self._last = now
        self._used = used
        return now - self._running > STOPPED or (expected and now - self._last > SILENT)


class ProcessPool:
    """The processes of a server, and a thread that looks after them.

    Parameters
    ----------
    foreground : int
        How many for what people wait for with a slider in hand; with none, all is computed here.
    background : int
        How many for the background. The first is started with the others, each of the rest when those before it are
        ready: a start takes seconds of a core, which the first picture wants.
    apart : int
        How many in which an f is trained on data that somebody has brought, and all is computed if those are large.
    after : float
        Seconds until they are started.
    """

    def __init__(self, foreground: int, background: int = 1, apart: int = 0, after: float = 0.0) -> None:
        if os.name != "posix" or foreground == 0:
            foreground = background = apart = 0
        self._numbers = Counter({Kind.FOREGROUND: foreground, Kind.BACKGROUND: background, Kind.APART: apart})
        self.workers: list[WorkerProcess] = []
        if foreground:
            Thread(target=self._look_after, args=(after,), name="look-after", daemon=True).start()

    def _look_after(self, after: float) -> None:
        time.sleep(after)
        for kind, number in self._numbers.items():
            at_once = min(1, number) if kind is Kind.BACKGROUND else number
            self.workers += [WorkerProcess(kind) for _ in range(at_once)]
        while True:
            time.sleep(WATCH)
            if self._is_starting(Kind.BACKGROUND) and not any(worker.is_new for worker in self.workers):
                with suppress(OSError):  # no process can be started: the next look may find otherwise
                    self.workers.append(WorkerProcess(Kind.BACKGROUND))
            for worker in tuple(self.workers):
                try:
                    worker.look()
                except Exception:  # no process can be started, say; the next look may find otherwise
                    _log.exception("A process could not be looked after.")

    def _is_starting(self, kind: Kind) -> bool:
        """Whether some of the processes are still to be started."""
        return len(self._of(kind)) < self._numbers[kind]

    def _of(self, kind: Kind) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.kind is kind]

    def compute(
        self,
        scene: SceneKey,
        function: Callable[..., Any],
        *arguments: Any,
        report: Report,
        background: bool = False,
        large: bool = False,
    ) -> Any:
        """``function(*arguments, report)`` in a process that is free, else here.

        What is `large` waits for one of those in which others do not have their sliders in hand, and what is in the
        `background` for one that is at work or starting: here it would hold up the pages of everybody.
        """
        kind = Kind.APART if large else Kind.BACKGROUND if background else Kind.FOREGROUND
        until = time.monotonic() + MAX_WAIT
        while True:
            workers = self._of(kind)
            for worker in workers:
                if worker.take():
                    with suppress(ConnectionError):
                        return worker.compute(scene, function, arguments, report)
                    say(report, AGAIN)
            can_wait = background and (self._is_starting(kind) or any(worker.will_be_free for worker in workers))
            if large:
                can_wait = self._numbers[kind] > 0
            if not can_wait or time.monotonic() > until:
                return function(*arguments, report)
            report(0.0)
            time.sleep(LOOK)

    def train(self, key: SceneKey, report: Report, *, heavy: bool = False) -> None:
        """Train the f of data that somebody has brought, in a process of its own, and keep its scene here."""
        task = load_task(key.data)
        say(report, f"Training f on 70 % of {len(task.y):,} rows; the bar shows the time used of at most {BOUND}")
        if self._numbers[Kind.APART]:
            keep_trained(key, self.call(helper.trained_parts, key, task, report=report, heavy=heavy))
        else:
            prepare(*key)

    def call(self, function: Callable[..., Any], *arguments: Any, report: Report, heavy: bool = False) -> Any:
        """``function(*arguments)`` in a process to itself, where there are processes."""
        if not self._numbers[Kind.APART]:
            return function(*arguments)
        for _ in range(2):
            with suppress(ConnectionError):
                return self._take_apart(report).call(function, arguments, report, heavy=heavy)
            say(report, AGAIN)
        raise ValueError(NOT_DONE)

    def _take_apart(self, report: Report) -> WorkerProcess:
        started = time.monotonic()
        while time.monotonic() - started < MAX_WAIT:
            for worker in self._of(Kind.APART):
                if worker.take():
                    return worker
            report(0.0)
            time.sleep(LOOK)
        raise ValueError(NOT_DONE)

    def forget(self, data: str) -> None:
        """Drop data that must go from all processes."""
        for worker in self.workers:
            worker.forget(data)
