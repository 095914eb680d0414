"""The server's side of the fork server, and how to see that a process hangs."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock

import psutil

from commod.dashboard.jobs.scheduling import SILENT, STOPPED

# One thread for each matrix product, and no module from the folder that the server happens to be started in.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}


class Pulse:
    """Whether a process goes on: it sends something, uses a core, or would if it had one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._process = psutil.Process(pid)
        self.used = 0.0  # seconds of a core, when last looked at
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
        if used > self.used or status in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP) or not expected:
            self._last = now
        self.used = used
        return now - self._running > STOPPED or (expected and now - self._last > SILENT)

    def kill(self) -> None:
        """End it, unless it has ended already."""
        with suppress(psutil.Error):
            self._process.kill()


class ForkServer:
    """A process that forks others on request (`worker.fork_on_request`); replaced when it is gone or hangs.

    With a `parent` it is itself forked, for the background.
    """

    def __init__(self, parent: ForkServer | None = None) -> None:
        self._parent = parent
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pulse: Pulse | None = None
        # All processes end when this pipe does, with the server.
        self._alive = os.pipe() if parent is None else None

    @property
    def pid(self) -> int:
        """Of the process; 0 before it has started."""
        return self._pulse.pid if self._pulse else 0

    def fork(self, kind: str, memory: int = 0) -> tuple[Pulse, socket.socket]:
        """A new process, and the server's end of its wire."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            try:
                if self._control is None:
                    self._start()
                assert self._control is not None
                assert self._pulse is not None
                socket.send_fds(self._control, [json.dumps([kind, memory]).encode()], [theirs.fileno()])
                self._pulse.beat()
                while not select.select([self._control], [], [], 0.1)[0]:
                    if self._pulse.is_hung(expected=True):
                        raise ConnectionError("the fork server hangs")
                return Pulse(int(self._control.recv(64))), ours
            except (OSError, ValueError, psutil.Error) as error:
                ours.close()
                self._end()
                raise ConnectionError("the fork server is gone") from error

    def _start(self) -> None:
        if self._parent is not None:
            self._pulse, self._control = self._parent.fork("fork server")
            return
        if self._alive is None:
            raise ConnectionError("the fork server was closed")
        paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "commod.dashboard.jobs.worker", str(theirs.fileno())],
                stdin=self._alive[0],
                pass_fds=[theirs.fileno()],
                env=os.environ | _ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
            )
        self._pulse = Pulse(self._process.pid)

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._pulse is not None:
            self._pulse.kill()
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
