"""The processes that compute for the server, seen from inside, and the fork server that creates them.

``python -m commod.dashboard.jobs.worker FD`` imports the modules once and then forks a process for every request on the
socket FD: a new process starts in milliseconds and shares their memory. It runs no script of the server.

A message has a kind, a subject, and a load. The server sends ``work`` (about a number and a scene; its load is called
with a ``report``), ``stop`` (a number), ``forget`` (data), and a ``scene``. A process answers ``progress`` (the share
done; what was found so far), ``lacks`` if it does not have the scene, and ``done`` or ``failed`` with the result.
"""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import psutil

from commod.dashboard.jobs import tasks  # noqa: F401 - loaded once for all processes
from commod.dashboard.jobs.queue import Report
from commod.dashboard.jobs.scheduling import TELL, Kind
from commod.datasets import add_task, forget_task
from commod.experiments import Scene, prepare
from commod.experiments.scene import has_trained, keep_trained
from commod.explain.shap_comparison import warm_up
from commod.uploads.apart import bound_memory

Wire = Connection
# Arrays of this many bytes or more are sent without a copy.
LARGE = 2**16


# ---- messages ----


class _Pickler(pickle.Pickler):
    """Leaves out the scene and its f: both sides have them."""

    def __init__(self, file: io.BytesIO, scene: Scene | None, buffers: Callable[[pickle.PickleBuffer], Any]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers)
        self._known = {} if scene is None else {id(scene): "scene", id(scene.f): "f"}

    def persistent_id(self, thing: Any) -> str | None:
        return self._known.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, scene: Scene | None, buffers: list[bytearray]) -> None:
        super().__init__(io.BytesIO(content), buffers=buffers)
        self._scene = scene

    def persistent_load(self, name: str) -> Any:
        assert self._scene is not None
        return self._scene if name == "scene" else self._scene.f


def send(wire: Wire[Any, Any], kind: str, about: Any = None, load: Any = None, scene: Scene | None = None) -> None:
    """Send a message, its load without the scene."""
    file, apart = io.BytesIO(), list[memoryview]()

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= LARGE:
            apart.append(raw)
        return raw.nbytes < LARGE

    _Pickler(file, scene, is_small).dump(load)
    wire.send((kind, about, file.getvalue(), [raw.nbytes for raw in apart]))
    for raw in apart:
        wire.send_bytes(raw)


def receive(wire: Wire[Any, Any]) -> tuple[str, Any, Callable[..., Any]]:
    """A message's kind, its subject, and a function from the scene to its load, with writable arrays."""
    kind, about, content, sizes = wire.recv()
    buffers = [bytearray(size) for size in sizes]
    for buffer in buffers:
        wire.recv_bytes_into(buffer)
    return kind, about, lambda scene=None: _Unpickler(content, scene, buffers).load()


# ---- a process at work ----


class _Stopped(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    pass


class _Report(Report):
    """Sends progress now and then, and checks whether to stop."""

    def __init__(self, wire: Wire[Any, Any], number: int) -> None:
        self._wire, self._number = wire, number
        self._found: Any = None
        self._last = time.monotonic()

    def __call__(self, share: float) -> None:
        if self._wire.poll() and receive(self._wire)[:2] == ("stop", self._number):
            raise _Stopped
        if time.monotonic() - self._last > TELL:
            self._last = time.monotonic()
            send(self._wire, "progress", share, self._found)

    def tell(self, found: Any) -> None:
        self._found = found


def _work(wire: Wire[Any, Any], about: Any, load: Callable[..., Any]) -> None:
    number, key = about
    try:
        if key is not None and not has_trained(key):
            _fetch_scene(wire)
        scene = None if key is None else prepare(*key)
        result = load(scene)(report=_Report(wire, number))
        send(wire, "done", load=result, scene=scene)
    except _Stopped:
        send(wire, "done")
    except Exception as error:
        error.add_note(traceback.format_exc())  # for the server's log
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # it cannot be sent, but its text can
            error = RuntimeError("\n".join([str(error), *error.__notes__]))
        send(wire, "failed", load=error)


def _fetch_scene(wire: Wire[Any, Any]) -> None:
    send(wire, "lacks")
    kind, key, load = receive(wire)
    if kind == "stop":
        raise _Stopped
    task, parts = load()
    if task is not None:
        add_task(task)
    keep_trained(key, parts)


def _end_with_server() -> None:
    """End this process when the server is gone, even in the middle of work that does not report."""
    os.read(0, 1)
    os._exit(0)


def serve(wire: Wire[Any, Any], kind: Kind, memory: int) -> None:
    """Compute for the server until it is gone; apart, with at most this much `memory` beyond the modules'."""
    Thread(target=_end_with_server, daemon=True).start()
    if kind is Kind.APART:
        os.nice(5)  # a third of what a slider gets on the same core: somebody waits for it, too
        bound_memory(psutil.Process().memory_info().vms + memory)
    with suppress(EOFError, OSError):
        while True:
            kind_of_message, about, load = receive(wire)
            if kind_of_message == "work":
                _work(wire, about, load)
            elif kind_of_message == "forget":
                forget_task(about)
            # a "stop" may come for something that has ended already


# ---- the fork server ----


def fork_on_request(control: socket.socket) -> None:
    """Fork a process for each request, which comes with a socket; the answer is the process id."""
    gc.collect()
    gc.freeze()  # garbage collection would copy the shared pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a process ended
    while True:
        message, sockets, _, _ = socket.recv_fds(control, 4096, 1)
        if not message:  # the server is gone
            os._exit(0)
        kind, memory = json.loads(message)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            if kind == "fork server":  # for the background
                with socket.socket(fileno=sockets[0]) as own:
                    _begin_background()
                    fork_on_request(own)
            serve(Wire(sockets[0]), Kind(kind), memory)
            os._exit(0)
        # Ctrl-C ends the server, and its end ends this process. A session of its own would make it an equal of the
        # server (Linux shares the cores among sessions first), and the idle class would not count.
        with suppress(ProcessLookupError):  # it has ended already
            os.setpgid(pid, pid)
        os.close(sockets[0])
        control.send(str(pid).encode())


def _begin_background() -> None:
    """All background processes are forked from one that has the idle class and has compiled SHAP once."""
    if os.environ.get("COMMOD_IDLE_CLASS") != "0":
        with suppress(AttributeError, OSError):  # if the system has it: only time that nobody else wants
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if os.environ.get("COMMOD_WARM_UP") != "0":
        warm_up()


if __name__ == "__main__":
    # Not this copy of the module: functions are sent by the name of their module.
    from commod.dashboard.jobs import worker

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker.fork_on_request(socket.socket(fileno=int(sys.argv[1])))
