"""A process that computes for the server, seen from inside."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from multiprocessing import parent_process
from threading import Thread
from typing import Any

import psutil

from commod.dashboard.jobs import results  # noqa: F401 - loaded before it is ready, and it forgets data that must go
from commod.dashboard.jobs.messages import Wire, pack, receive_parcel, send_parcel, unpack
from commod.dashboard.jobs.scheduling import TELL, Kind, uses
from commod.datasets import Task, add_task, forget_task, is_shipped
from commod.experiments import Scene, prepare
from commod.experiments.scene import SceneKey, has_trained, keep_trained, parts_of
from commod.explain.shap_comparison import warm_up
from commod.uploads.apart import bound_memory, bound_time


class _Stopped(Exception):  # noqa: N818 - not an error: nobody wants the result any more
    """Ends work in a process."""


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
        # else "stop", of something that has ended already


def _work(wire: Wire[Any, Any], number: int, key: SceneKey, content: bytes) -> tuple[str, Any]:
    if not is_shipped(key.data) and not has_trained(key) and not _fetch_scene(wire):
        return "done", None
    scene = prepare(*key)
    try:
        function, arguments = unpack(content, scene)
        return "done", pack(function(*arguments, _Report(wire, number)), scene)
    except _Stopped:
        return "done", None
    except Exception as error:
        return "failed", _packed_error(error, scene)


class _Report:
    """The `Report` of work in this process: sends on what it is told now and then, and hears whether to stop."""

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


def _fetch_scene(wire: Wire[Any, Any]) -> bool:
    """Ask the server for data that somebody has brought, with their f; false if nobody wants the result any more."""
    wire.send(("lacks", None))
    kind, key = wire.recv()
    if kind == "stop":
        return False
    task, parts = receive_parcel(wire)
    add_task(task)
    keep_trained(key, parts)
    return True


def _call(wire: Wire[Any, Any]) -> None:
    """Do something with data that somebody has brought, of which this process has nothing."""
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


def trained_parts(key: SceneKey, task: Task) -> tuple[Any, ...]:
    """Train the f of data that somebody has brought; what `keep_trained` takes."""
    add_task(task)
    try:
        return parts_of(prepare(*key))
    finally:
        forget_task(key.data)


def _packed_error(error: Exception, scene: Scene) -> bytes:
    try:
        content = pack(error, scene)
        unpack(content, scene)
    except Exception:  # an exception that cannot be sent: its text can
        return pack(RuntimeError(str(error)), scene)
    return content


def _end_with(server: Any) -> None:
    """End this process when the server is gone, also in the midst of work that hears nothing."""
    server.join()
    os._exit(0)


def serve(wire: Wire[Any, Any], kind: Kind, *, seconds: float, memory: int, is_warmed_up: bool) -> None:
    """Compute for the server at the other end of `wire` until it is gone.

    A process apart takes at most so many `seconds` of a core for each thing, and `memory` beyond that of the modules.
    """
    # Ctrl-C ends the server, and the server's end ends this. In a session of its own it would share the cores as an
    # equal (Linux makes a group of every session), and the idle class below would count for nothing.
    os.setpgid(0, 0)
    Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    if kind is Kind.BACKGROUND and uses("idle_class"):
        with suppress(AttributeError, OSError):  # where the system has such a thing, only time that nobody wants
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if kind is Kind.BACKGROUND and is_warmed_up:
        warm_up()
    if kind is Kind.APART:
        os.nice(5)  # a third of what a slider gets where both want the same core: somebody waits for it, too
        bound_memory(psutil.Process().memory_info().vms + memory)
    with suppress(EOFError, OSError):
        wire.send(("ready", None))
        _serve(wire, seconds if kind is Kind.APART else None)
