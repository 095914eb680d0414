"""The server's side of the fork server, and how to see that a process hangs."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import psutil

from commod.dashboard.jobs.scheduling import SILENT, STOPPED
from commod.dashboard.jobs.worker import Wire

# One thread for each matrix product, and no module from the folder that the server happens to be started in.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}


class Pulse:
    """Whether a process goes on: it sends something, uses a core, or would if it had one."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._used = 0.0
        self._last = self._running = time.monotonic()  # when it was last seen to go on, and not to be stopped

    def beat(self) -> None:
        """It has sent something, or was given work."""
        self._last = time.monotonic()

    def is_hung(self, *, expected: bool) -> bool:
        """Whether it does nothing though something is expected of it, or was stopped by a signal."""
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


class ForkServer:
    """A process that forks others on request (`worker.fork_on_request`); replaced when it is gone or hangs.

    With a `parent` it is itself forked, for the background.
    """

    def __init__(self, parent: ForkServer | None = None) -> None:
        self._parent = parent
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.pid = 0
        # All processes end when this pipe does, with the server.
        self._alive = os.pipe() if parent is None else None

    def fork(self, **request: Any) -> tuple[int, Wire[Any, Any]]:
        """A new process, and the server's end of its wire."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = self._ask(request, theirs)
            except ConnectionError:
                ours.close()
                raise
        assert pid is not None  # the answer to a request with a socket
        return pid, Wire(ours.detach())

    def exit_code(self, pid: int) -> int | None:
        """How a process ended; None if it has not within a moment."""
        until = time.monotonic() + 1.0
        while (code := self._ask({"ended": pid})) is None and time.monotonic() < until:
            time.sleep(0.01)
        return code

    def _ask(self, request: dict[str, Any], *sockets: socket.socket) -> int | None:
        with self._lock:
            try:
                if self._control is None:
                    self._start()
                assert self._control is not None
                socket.send_fds(self._control, [json.dumps(request).encode()], [each.fileno() for each in sockets])
                self._pulse.beat()
                while not select.select([self._control], [], [], 0.1)[0]:
                    if self._pulse.is_hung(expected=True):
                        raise ConnectionError("the fork server hangs")
                answer: int | None = json.loads(self._control.recv(4096))
                return answer
            except (OSError, ValueError) as error:
                self._end()
                raise ConnectionError("the fork server is gone") from error

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.pid = self._start_on(theirs)
            except BaseException:
                ours.close()
                raise
        self._control, self._pulse = ours, Pulse(self.pid)

    def _start_on(self, control: socket.socket) -> int:
        if self._parent is not None:
            warms_up, is_idle = (os.environ.get(name) != "0" for name in ("COMMOD_WARM_UP", "COMMOD_IDLE_CLASS"))
            pid = self._parent._ask({"kind": "fork server", "warm_up": warms_up, "idle": is_idle}, control)
            assert pid is not None  # the answer to a request with a socket
            return pid
        if self._alive is None:
            raise ConnectionError("the fork server was closed")
        paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "commod.dashboard.jobs.worker", str(control.fileno())],
            stdin=self._alive[0],
            pass_fds=[control.fileno()],
            env=os.environ | _ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        return self._process.pid

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if self._process is not None:
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
