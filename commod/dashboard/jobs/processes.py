"""Computing in other processes, so that training does not block everybody's pages.

If none is free, the server's own thread does the work, to the same last digit. pebble and loky can stop a job only by
killing its process, and with it the scene and the path that the next slider move needs.
"""

from __future__ import annotations

import json
import logging
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import psutil

from commod.dashboard.jobs.queue import Report
from commod.dashboard.jobs.scheduling import (
    BOUND,
    IDLE,
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
from commod.dashboard.jobs.worker import Wire, receive, send
from commod.datasets import is_shipped, load_task
from commod.experiments import Scene, prepare
from commod.experiments.scene import SceneKey, parts_of
from commod.models.threshold import ONE_HALF

AGAIN = "A process stopped responding and was replaced; its work is being done again"
_SMALLER = "Choose another base model, leave columns out, or bring a sample of the rows."
TOO_LONG = f"f takes more than {BOUND} to train on these data. {_SMALLER}"
TOO_LARGE = f"f takes more than {MAX_MEMORY // 2**30} GB of memory to train on these data. {_SMALLER}"
NOT_DONE = "The process working on these data ended too early. Try again in a minute."
# One thread per matrix product, and no modules from the folder in which the server was started.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
_log = logging.getLogger(__name__)


class Pulse:
    """Whether a process is alive: it sends something, uses a core, or waits for one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._process = psutil.Process(pid)
        self.used = 0.0  # seconds of a core, at the last check
        self._last = self._running = time.monotonic()  # when it was last seen alive, and last seen not stopped

    def beat(self) -> None:
        """Note that it has sent something, or was given work."""
        self._last = time.monotonic()

    def is_hung(self, *, expected: bool) -> bool:
        """Whether it does nothing although it has work, or was stopped by a signal."""
        now = time.monotonic()
        try:
            status, used = self._process.status(), sum(self._process.cpu_times()[:2])
        except psutil.Error:  # it has ended, and the listener notices
            return False
        if status not in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
            self._running = now
        if used > self.used or status in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP) or not expected:
            self._last = now
        self.used = used
        return now - self._running > STOPPED or (expected and now - self._last > SILENT)

    def kill(self) -> None:
        with suppress(psutil.Error):
            self._process.kill()


class ForkServer:
    """A process that forks others on request (`worker.fork_on_request`); replaced when it is gone or hangs.

    With a `parent` it is itself forked, for the background.
    """

    def __init__(self, parent: ForkServer | None = None) -> None:
        self._parent = parent
        self._lock = Lock()
        self._running: tuple[Pulse, socket.socket] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        # All processes end when this pipe does, with the server.
        self._alive = os.pipe() if parent is None else None

    def fork(self, kind: str, memory: int = 0) -> tuple[Pulse, socket.socket]:
        """A new process, and the server's end of its wire."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            try:
                self._running = self._running or self._start()
                pulse, control = self._running
                socket.send_fds(control, [json.dumps([kind, memory]).encode()], [theirs.fileno()])
                pulse.beat()
                while not select.select([control], [], [], 0.1)[0]:
                    if pulse.is_hung(expected=True):
                        raise ConnectionError("the fork server hangs")
                return Pulse(int(control.recv(64))), ours
            except (OSError, ValueError, psutil.Error) as error:
                ours.close()
                self._end()
                raise ConnectionError("the fork server is gone") from error

    def _start(self) -> tuple[Pulse, socket.socket]:
        if self._parent is not None:
            return self._parent.fork("fork server")
        if self._alive is None:
            raise ConnectionError("the fork server was closed")
        paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "commod.dashboard.jobs.worker", str(theirs.fileno())],
                stdin=self._alive[0],
                pass_fds=[theirs.fileno()],
                env=os.environ | _ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
            )
        return Pulse(self._process.pid), ours

    def _end(self) -> None:
        if self._running is not None:
            pulse, control = self._running
            control.close()
            pulse.kill()
            self._running = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End it, and all processes that came from it."""
        with self._lock:
            self._end()
        if self._alive is not None:
            for end in self._alive:
                os.close(end)
            self._alive = None


@contextmanager
def _heard() -> Iterator[None]:
    """Treat any error on the wire, and any nonsense, as a lost process."""
    try:
        yield
    except Exception as error:
        raise ConnectionError("the process that computed is gone") from error


class WorkerProcess:
    """A process that computes one thing at a time. Only the pool's watcher restarts a lost one."""

    def __init__(self, kind: Kind, forks: ForkServer) -> None:
        self.kind, self._forks = kind, forks
        self.lock = Lock()  # held by its user
        self._number = 0
        self._lost_at = self._restart_at = float("-inf")
        self._to_forget: list[str] = []
        self._start()

    def _start(self) -> None:
        self._pulse, control = self._forks.fork(self.kind.value, MAX_MEMORY)
        self._wire, self.pid = Wire(control.detach()), self._pulse.pid
        self.lost = False
        self.last_used = time.monotonic()

    def end(self) -> None:
        self.lost = True
        self._wire.close()
        self._pulse.kill()

    def _lose(self) -> None:
        """Note that it ended unexpectedly. If this happens again soon, it is restarted after a pause."""
        now = time.monotonic()
        self._restart_at = now + RESTART_PAUSE if now - self._lost_at < RESTART_PAUSE else now
        self._lost_at = now
        self.end()

    def take(self) -> bool:
        """Reserve it; false if it is taken or lost."""
        if not self.lock.acquire(blocking=False):
            return False
        if self.lost:
            self.lock.release()
            return False
        self._pulse.beat()
        self.last_used = time.monotonic()
        return True

    def _release(self) -> None:
        self.lock.release()
        self._tell_to_forget()

    def check(self) -> None:
        """Kill the process if it hangs, and start another if it is lost."""
        idle = self.lock.acquire(blocking=False)
        try:
            if idle and self.lost:
                if time.monotonic() >= self._restart_at:
                    self._start()
            elif self._pulse.is_hung(expected=not idle):
                _log.warning("A %s process hangs and is killed.", self.kind.value)
                self._pulse.kill()  # the listener notices
            elif idle and self._wire.poll():  # an idle process sends nothing until it ends
                self._lose()
        finally:
            if idle:
                self._release()

    def compute(
        self, call: Callable[..., Any], report: Report, *, scene: SceneKey | None = None, ends: bool = False
    ) -> Any:
        """``call(report=…)``, after `take`; the process is free again when this ends.

        If the result is no longer wanted, a process with a scene stops and keeps the scene; a process without one is
        ended, like one that `ends` with its work. ConnectionError: the process is gone, hangs, or sends something
        unreadable. ValueError: it needs more time or memory than allowed, or failed without a scene.
        """
        try:
            kind, result = self._converse(call, report, scene, None if scene is None else prepare(*scene))
            if ends or (kind == "failed" and scene is None):
                self.end()
        except ConnectionError:
            self._lose()
            raise
        except BaseException as error:
            if scene is None or isinstance(error, ValueError):
                self.end()
            else:
                self._stop()
            raise
        finally:
            self._release()
        if kind == "done":
            return result
        if scene is not None or isinstance(result, ValueError):
            raise result
        _log.error("Work on strangers' data failed.", exc_info=result)
        raise ValueError(TOO_LARGE if isinstance(result, MemoryError) else NOT_DONE)

    def _converse(
        self, call: Callable[..., Any], report: Report, key: SceneKey | None, scene: Scene | None
    ) -> tuple[str, Any]:
        """Whether it is done or has failed, and the result."""
        share, started, used = 0.0, time.monotonic(), self._pulse.used
        self._number += 1
        with _heard():
            send(self._wire, "work", (self._number, key), call, scene)
        while True:
            with _heard():
                if self._wire.poll(LOOK):
                    kind, about, load = receive(self._wire)
                    self._pulse.beat()
                    if kind in ("done", "failed"):
                        return kind, load(scene)
                    if kind == "progress":
                        share = about
                        report.tell(load())
                    elif kind == "lacks" and key is not None:
                        self._send_scene(key)
                    else:
                        raise ValueError(f"an answer of kind {kind!r}")
            seconds = time.monotonic() - started
            if self.kind is Kind.APART and (self._pulse.used - used > MAX_SECONDS or seconds > MAX_WAIT):
                raise ValueError(TOO_LONG if key is None else NOT_DONE)
            report(share if key is not None else min(seconds / MAX_SECONDS, 0.99))

    def _stop(self) -> None:
        """Tell it to stop; it keeps the scene and the path for the next slider move."""
        try:
            with _heard():
                send(self._wire, "stop", self._number)
                while receive(self._wire)[0] not in ("done", "failed"):
                    pass
        except ConnectionError:
            self._lose()

    def _send_scene(self, key: SceneKey) -> None:
        """A split with its f, and the data if they were uploaded."""
        key = key._replace(threshold=ONE_HALF)
        task = None if is_shipped(key.data) else load_task(key.data)
        send(self._wire, "scene", key, (task, parts_of(prepare(*key))))

    def forget(self, data: str) -> None:
        """Drop uploaded data: at once, or when its current work ends."""
        self._to_forget.append(data)
        self._tell_to_forget()

    def _tell_to_forget(self) -> None:
        while self._to_forget and self.lock.acquire(blocking=False):
            try:
                with suppress(OSError, IndexError):  # it is gone, and the data with it; or another thread has told it
                    send(self._wire, "forget", self._to_forget.pop())
            finally:
                self.lock.release()


class ProcessPool:
    """The processes of each `Kind`, and a thread that watches them; they start `after` a number of seconds.

    With none in the `foreground`, the server computes everything itself. In the `background` one is always running;
    others, and those `apart`, start on demand.
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
            self._watcher = Thread(target=self._watch, args=(after,), name="watch-processes", daemon=True)
            self._watcher.start()

    def _watch(self, after: float) -> None:
        self._over.wait(after)
        while not self._over.is_set():
            try:
                self.check()
                self._fails = False
            except Exception:  # for example, no process can be started; the next check may succeed
                self._fails = True
                _log.exception("The processes could not be checked.")
            self._wake.wait(WATCH)
            self._wake.clear()

    def check(self) -> None:
        """Start missing processes, replace lost and hanging ones, and end idle ones that were started on demand."""
        for kind, wanted in self._wanted.items():
            while len(self._of(kind)) < wanted and not self._over.is_set():
                self.workers.append(WorkerProcess(kind, self.forks[kind]))
        for process in [*self.workers]:
            process.check()
            with self._lock:
                is_idle = time.monotonic() - process.last_used > IDLE
                if is_idle and self._wanted[process.kind] > self._at_rest[process.kind] and process.take():
                    self._wanted[process.kind] -= 1
                    self.workers.remove(process)
                    process.end()

    def _of(self, kind: Kind) -> list[WorkerProcess]:
        return [process for process in self.workers if process.kind is kind]

    def _want_more(self, kind: Kind) -> None:
        with self._lock:
            present = self._of(kind)
            if len(present) == self._wanted[kind] < self.most[kind] and all(each.lock.locked() for each in present):
                self._wanted[kind] += 1
                self._wake.set()

    def close(self) -> None:
        self._over.set()
        self._wake.set()
        if self.forks:
            self._watcher.join()
        for process in self.workers:
            process.end()
        for forks in set(self.forks.values()):
            forks.close()

    def compute(
        self, call: Callable[..., Any], report: Report, *, kind: Kind, scene: SceneKey | None = None, ends: bool = False
    ) -> Any:
        """``call(report=…)`` in a free process, otherwise here.

        Background work waits for a process. So does work on uploaded data if there are processes: here it would hold up
        all pages.
        """
        until, lost = time.monotonic() + MAX_WAIT, 0
        while True:
            for process in self._of(kind):
                if process.take():
                    with suppress(ConnectionError):
                        return process.compute(call, report, scene=scene, ends=ends)
                    report.say(AGAIN)
                    lost += 1
            is_late = time.monotonic() > until
            if kind is Kind.APART and self.most[kind]:
                if lost > 1 or is_late:
                    raise ValueError(NOT_DONE)
            elif is_late or not self._can_wait(kind):
                return call(report=report)
            self._want_more(kind)
            report(0.0)
            time.sleep(LOOK)

    def _can_wait(self, kind: Kind) -> bool:
        present = self._of(kind)
        will_be_free = len(present) < self._wanted[kind] or any(process.lock.locked() for process in present)
        return kind is Kind.BACKGROUND and will_be_free and not self._fails

    def forget(self, data: str) -> None:
        for process in self.workers:
            process.forget(data)
