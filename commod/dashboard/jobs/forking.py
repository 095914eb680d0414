"""Processes that are forked from one that has loaded the modules: they are there at once, and share its memory."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import spawn
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from typing import Any

from commod.dashboard.jobs.messages import Wire

# What that process finds: one thread for each product of matrices, and no module from the folder that the server
# happens to be started in.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
_context: Any = multiprocessing.get_context("forkserver" if os.name == "posix" else None)
_starting = Lock()  # two threads at once would each start that process, and change the environment


def fork(function: Callable[..., None], *arguments: Any, **more: Any) -> tuple[BaseProcess, Wire[Any, Any]]:
    """A process that calls ``function(wire, *arguments, **more)``, and the other end of that wire.

    The module of the function is loaded once for all processes.
    """
    ours, theirs = _context.Pipe()
    process = _context.Process(target=function, args=(theirs, *arguments), kwargs=more, daemon=True)
    with theirs, _starting, _environment(), _without_main():
        _context.set_forkserver_preload([function.__module__])
        process.start()
    return process, ours


@contextmanager
def _without_main() -> Iterator[None]:
    """Have no process run the server's main module.

    While Streamlit draws, that is the script of a page: app.py would be run in each process, and fail where the app is
    installed.
    """
    usual = spawn.get_preparation_data

    def told(name: str) -> dict[str, Any]:
        return {key: value for key, value in usual(name).items() if not key.startswith("init_main_from")}

    spawn.get_preparation_data = told
    try:
        yield
    finally:
        spawn.get_preparation_data = usual


@contextmanager
def _environment() -> Iterator[None]:
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    here = _ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    before = {name: os.environ.get(name) for name in here}
    os.environ.update(here)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
