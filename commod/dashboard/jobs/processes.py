"""Computing in processes of their own, so that a training does not hold up the pages of everybody else.

Python runs one thread at a time: on two cores thirty pages share one interpreter with every training, tree and SHAP run
of the server. A `WorkerProcess` is handed functions of this package by name, one at a time. It works on the data sets
that come with the app; what somebody uploads never leaves the server's process. Where a process is busy, still starting
or gone, the work is done here, to the same last digit.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any

from commod.dashboard.jobs.queue import Report
from commod.dashboard.jobs.scheduling import LOOK, RESTART_PAUSE, TELL, uses
from commod.experiments import Scene, prepare
from commod.experiments.scene import SceneKey
from commod.explain.shap_comparison import warm_up


class _Stopped(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    """Ends work in a process."""


class _Pickler(pickle.Pickler):
    """The scene and its f are not sent: either side has them."""

    def __init__(self, file: io.BytesIO, scene: Scene) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._known = {id(scene): "scene", id(scene.f): "f"}

    def persistent_id(self, thing: Any) -> str | None:
        return self._known.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, scene: Scene) -> None:
        super().__init__(file)
        self._known = {"scene": scene, "f": scene.f}

    def persistent_load(self, name: str) -> Any:
        return self._known[name]


def _pack(thing: Any, scene: Scene) -> bytes:
    file = io.BytesIO()
    _Pickler(file, scene).dump(thing)
    return file.getvalue()


def _unpack(content: bytes, scene: Scene) -> Any:
    return _Unpickler(io.BytesIO(content), scene).load()


class WorkerProcess:
    """A process that computes what it is handed, one thing at a time.

    Parameters
    ----------
    background : bool
        Whether it gives way to everything else on the machine. It compiles SHAP before it says that it is ready.
    """

    def __init__(self, *, background: bool = False) -> None:
        self.background = background
        self._lock = Lock()
        self._number = 0
        self._lost = 0.0
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
            environment = os.environ | {
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
            }
            command = [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), str(int(self.background))]
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C ends the server, and the server's end ends it
            )
        self._wire: Connection[Any, Any] = Connection(ours.detach())
        self._ready = False

    @property
    def ready(self) -> bool:
        """Whether it can be handed work; one that was lost is started anew."""
        try:
            if not self._ready and self._wire.poll():
                self._wire.recv()
                self._ready = True
        except (EOFError, OSError):
            self._lose()
        return self._ready

    def _lose(self) -> None:
        self._ready = False
        if time.monotonic() - self._lost < RESTART_PAUSE:
            return
        self._lost = time.monotonic()
        self.close()
        self._start()

    def close(self) -> None:
        """End the process."""
        self._wire.close()
        self._process.kill()
        self._process.wait()

    def take(self) -> bool:
        """Take it for oneself; false if somebody has, or it is not ready."""
        if not self._lock.acquire(blocking=False):
            return False
        if self.ready:
            return True
        self._lock.release()
        return False

    def compute(self, scene: SceneKey, function: Callable[..., Any], arguments: tuple[Any, ...], report: Report) -> Any:
        """``function(*arguments, report)``, after `take`; the process is free again when this ends.

        Raises
        ------
        ConnectionError
            If the process is gone.
        """
        try:
            here = prepare(*scene)
            self._number += 1
            try:
                self._wire.send((self._number, scene, _pack((function, arguments), here)))
                kind, content = self._listen(report)
            except (EOFError, OSError) as error:
                self._lose()
                raise ConnectionError("the process that computed is gone") from error
            result = _unpack(content, here)
        finally:
            self._lock.release()
        if kind == "failed":
            raise result
        return result

    def _listen(self, report: Report) -> tuple[str, bytes]:
        share = 0.0
        while True:
            if self._wire.poll(LOOK):
                kind, content = self._wire.recv()
                if kind != "progress":
                    return kind, content
                share = content
            try:
                report(share)
            except BaseException:  # nobody wants it any more
                self._wire.send((self._number, None, b""))
                while self._wire.recv()[0] == "progress":
                    pass
                raise


class ProcessPool:
    """The processes of a server: some for what people wait for with a slider in hand, and some for the background.

    Parameters
    ----------
    foreground : int
        How many for the former; with none, all is computed here.
    background : int
    """

    def __init__(self, foreground: int, background: int = 1) -> None:
        if os.name != "posix" or foreground == 0:
            foreground = background = 0
        self.workers = [WorkerProcess() for _ in range(foreground)]
        self.workers += [WorkerProcess(background=True) for _ in range(background)]

    def compute(
        self,
        scene: SceneKey,
        function: Callable[..., Any],
        *arguments: Any,
        report: Report,
        background: bool = False,
    ) -> Any:
        """``function(*arguments, report)`` in a process that is free, else here."""
        for worker in self.workers:
            if worker.background == background and worker.take():
                with suppress(ConnectionError):
                    return worker.compute(scene, function, arguments, report)
        return function(*arguments, report)


# ---- in the process ----


def _serve(wire: Connection[Any, Any]) -> None:
    """Compute what comes in, until the server is gone."""
    while True:
        number, key, content = wire.recv()
        if key is None:  # stop something that has ended already
            continue
        last = time.monotonic()

        def report(share: float, number: int = number) -> None:
            nonlocal last
            if wire.poll() and wire.recv()[0] == number:
                raise _Stopped
            if time.monotonic() - last > TELL:
                last = time.monotonic()
                wire.send(("progress", share))

        scene = prepare(*key)
        try:
            function, arguments = _unpack(content, scene)
            answer = ("done", _pack(function(*arguments, report), scene))
        except _Stopped:
            answer = ("done", _pack(None, scene))
        except Exception as error:
            answer = ("failed", _packed_error(error, scene))
        wire.send(answer)


def _packed_error(error: Exception, scene: Scene) -> bytes:
    try:
        content = _pack(error, scene)
        _unpack(content, scene)
    except Exception:  # an exception that cannot be sent: its text can
        return _pack(RuntimeError(str(error)), scene)
    return content


def _main() -> None:
    wire: Connection[Any, Any] = Connection(int(sys.argv[1]))
    background = sys.argv[2] == "1"
    if background and uses("idle_class"):
        with suppress(AttributeError, OSError):  # where the system has such a thing, only time that nobody wants
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if background and os.environ.get("COMMOD_WARM_UP") != "0":
        warm_up()
    with suppress(EOFError, OSError):
        wire.send("ready")
        _serve(wire)


if __name__ == "__main__":
    _main()
