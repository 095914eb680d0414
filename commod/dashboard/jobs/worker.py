"""The processes that compute for the server, seen from inside, and the fork server that they come from.

``python -m commod.dashboard.jobs.worker FD`` imports the modules once and then forks a process for every request on the
socket FD: a new process is there in milliseconds and shares their memory. It runs no script of the server.

The server sends a process ``("work", number, scene, content)``, ``("stop", number)``, ``("forget", data)``, and
``("scene", key)`` or ``("call",)`` with a parcel each. A process answers ``("ready", None)``, ``("progress", (share,
found))``, ``("lacks", None)`` if it has not got the scene, ``("done", content)`` or ``("failed", content)``; to a call,
``("returned", None)`` with a parcel, ``("refused", sentence)`` or ``("too large", None)``.
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
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import psutil

from commod.dashboard.jobs import tasks  # noqa: F401 - loaded once for all processes
from commod.dashboard.jobs.queue import Report
from commod.dashboard.jobs.scheduling import TELL, Kind
from commod.datasets import Task, add_task, forget_task
from commod.experiments import Scene, prepare
from commod.experiments.scene import SceneKey, has_trained, keep_trained, parts_of
from commod.explain.shap_comparison import warm_up
from commod.uploads.apart import bound_memory, bound_time

Wire = Connection


# ---- messages ----


class _Pickler(pickle.Pickler):
    """Leaves out the scene and its f: either side has them."""

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


def pack(thing: Any, scene: Scene) -> bytes:
    """Content of a message, without the scene."""
    file = io.BytesIO()
    _Pickler(file, scene).dump(thing)
    return file.getvalue()


def unpack(content: bytes, scene: Scene) -> Any:
    """What the other side packed."""
    return _Unpickler(io.BytesIO(content), scene).load()


def send_parcel(wire: Wire[Any, Any], thing: Any) -> None:
    """Send hundreds of megabytes without copying arrays."""
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    wire.send((content, [part.nbytes for part in raw]))
    for part in raw:
        wire.send_bytes(part)


def receive_parcel(wire: Wire[Any, Any]) -> Any:
    """What `send_parcel` sent; its arrays are writable."""
    content, sizes = wire.recv()
    buffers = [bytearray(size) for size in sizes]
    for buffer in buffers:
        wire.recv_bytes_into(buffer)
    return pickle.loads(content, buffers=buffers)


# ---- a process at work ----


class _Stopped(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    pass


class _Report(Report):
    """Sends progress now and then, and hears whether to stop."""

    def __init__(self, wire: Wire[Any, Any], number: int) -> None:
        self._wire, self._number = wire, number
        self._found: Any = None
        self._last = time.monotonic()

    def __call__(self, share: float) -> None:
        if self._wire.poll() and self._wire.recv() == ("stop", self._number):
            raise _Stopped
        if time.monotonic() - self._last > TELL:
            self._last = time.monotonic()
            self._wire.send(("progress", (share, self._found)))

    def tell(self, found: Any) -> None:
        self._found = found


def _serve(wire: Wire[Any, Any], seconds: float | None) -> None:
    """Do what comes in, each in at most so many `seconds` of a core, until the server is gone."""
    while True:
        kind, *rest = wire.recv()
        if seconds is not None:
            bound_time(seconds)
        if kind == "work":
            wire.send(_work(wire, *rest))
        elif kind == "call":
            _call(wire)
        elif kind == "forget":
            forget_task(*rest)
        # a "stop" may come for something that has ended already


def _work(wire: Wire[Any, Any], number: int, key: SceneKey, content: bytes) -> tuple[str, Any]:
    if not has_trained(key) and not _fetch_scene(wire):
        return "done", None
    scene = prepare(*key)
    try:
        function, arguments = unpack(content, scene)
        return "done", pack(function(*arguments, report=_Report(wire, number)), scene)
    except _Stopped:
        return "done", None
    except Exception as error:
        error.add_note(traceback.format_exc())  # for the server's log
        return "failed", _packed_error(error, scene)


def _packed_error(error: Exception, scene: Scene) -> bytes:
    try:
        content = pack(error, scene)
        unpack(content, scene)
    except Exception:  # it cannot be sent, but its text can
        return pack(RuntimeError("\n".join([str(error), *error.__notes__])), scene)
    return content


def _fetch_scene(wire: Wire[Any, Any]) -> bool:
    """Ask the server for a scene with its f; false if nobody wants the result any more."""
    wire.send(("lacks", None))
    kind, key = wire.recv()
    if kind == "stop":
        return False
    task, parts = receive_parcel(wire)
    if task is not None:
        add_task(task)
    keep_trained(key, parts)
    return True


def _call(wire: Wire[Any, Any]) -> None:
    """Call a function with all that it needs."""
    try:
        function, arguments = receive_parcel(wire)
        result = function(*arguments)
    except ValueError as error:
        wire.send(("refused", str(error)))
    except MemoryError:
        wire.send(("too large", None))
    else:
        wire.send(("returned", None))
        send_parcel(wire, result)


def trained_parts(key: SceneKey, task: Task | None) -> tuple[Any, ...]:
    """Train an f, of uploaded data if a `task` is given, which is then forgotten; what `keep_trained` takes."""
    if task is None:
        return parts_of(prepare(*key))
    add_task(task)
    try:
        return parts_of(prepare(*key))
    finally:
        forget_task(key.data)


def _end_with_server() -> None:
    """End this process when the server is gone, also in the middle of work that hears nothing."""
    os.read(0, 1)
    os._exit(0)


def serve(wire: Wire[Any, Any], kind: Kind, seconds: float, memory: int) -> None:
    """Compute for the server at the other end of `wire` until it is gone.

    A process apart may use so many `seconds` of a core for each thing, and `memory` beyond that of the modules.
    """
    # Ctrl-C ends the server, and its end ends this process. A session of its own would make it an equal of the server
    # (Linux shares the cores among sessions first), and the idle class would not count.
    os.setpgid(0, 0)
    Thread(target=_end_with_server, daemon=True).start()
    if kind is Kind.APART:
        os.nice(5)  # a third of what a slider gets on the same core: somebody waits for it, too
        bound_memory(psutil.Process().memory_info().vms + memory)
    with suppress(EOFError, OSError):
        wire.send(("ready", None))
        _serve(wire, seconds if kind is Kind.APART else None)


# ---- the fork server ----


def fork_on_request(control: socket.socket) -> None:
    """Fork a process for each request that brings a socket; answer any other with how a process ended."""
    gc.collect()
    gc.freeze()  # a walk for garbage would copy the shared pages
    while True:
        message, sockets, _, _ = socket.recv_fds(control, 4096, 1)
        if not message:  # the server is gone
            os._exit(0)
        request = json.loads(message)
        if not sockets:
            control.send(json.dumps(_exit_code(request["ended"])).encode())
            continue
        pid = os.fork()
        if pid == 0:
            control.close()
            if request["kind"] == "fork server":
                with socket.socket(fileno=sockets[0]) as own:
                    _begin_background(request["warm_up"], request["idle"])
                    fork_on_request(own)
            serve(Wire(sockets[0]), Kind(request["kind"]), request["seconds"], request["memory"])
            os._exit(0)
        os.close(sockets[0])
        control.send(json.dumps(pid).encode())


def _begin_background(warms_up: bool, is_idle: bool) -> None:
    """All processes of the background come from one that has the idle class and has compiled SHAP once."""
    if is_idle:
        with suppress(AttributeError, OSError):  # where the system has it: only time that nobody else wants
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if warms_up:
        warm_up()


def _exit_code(pid: int) -> int | None:
    with suppress(ChildProcessError):
        ended, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None
    return 0


def main() -> None:
    """Import the modules, which has happened by now, and fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fork_on_request(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    # Not this copy of the module: functions are sent by the name of their module.
    from commod.dashboard.jobs import worker

    worker.main()
