"""Load a declared task from the files in ``data/``."""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pandas as pd

from commod.datasets.declared import TASKS
from commod.datasets.raw import contract_of
from commod.datasets.task import Task
from commod.installation import shipped

CHECKSUMS = "checksums.json"
# The suffix of a built-in task with half of its test part sealed; its training rows stay the same.
SEALED = "+sealed"


class DataFileError(ValueError):
    """A file in ``data/`` is missing or not the one that was built."""


def data_directory() -> Path:
    """Folder with the data files: ``$COMMOD_DATA``, or the ``data/`` that comes with the project."""
    return _folder(os.environ.get("COMMOD_DATA", ""))


@lru_cache(maxsize=8)
def _folder(asked: str) -> Path:
    return Path(asked) if asked else shipped("data")


def task_names() -> list[str]:
    """Names of the data sets that `load_task` knows; each can also be loaded with its other groupings."""
    return list(TASKS)


def is_shipped(name: str) -> bool:
    """Whether a task of this name ships with the project: a data set, under any of its groupings."""
    name = name.removesuffix(SEALED)
    spec = TASKS.get(name.partition(".")[0])
    return spec is not None and name in spec.task_names.values()


def data_of(name: str) -> str:
    """The data set of a built-in task without its grouping: "adult" for "adult.race_sex"; otherwise the name itself."""
    return name.removesuffix(SEALED).partition(".")[0] if is_shipped(name) else name


def load_task(name: str) -> Task:
    """Load a task that ships with the project.

    Parameters
    ----------
    name : str
        One of `task_names`, optionally with another grouping than the first: "adult.race_sex". With the suffix
        "+sealed", half of the test part is sealed.

    Returns
    -------
    Task
        ``X`` (DataFrame), ``y``, ``sensitive``, ``names``, ``datasheet``. Do not modify its frames: they are shared.

    Raises
    ------
    ValueError
        If there is no such task, or its file is missing or damaged (`DataFileError`).

    Notes
    -----
    Sources and licences are in each task's ``datasheet``: LSAC 1998 (Wightman) for the law school tasks, ProPublica
    2016 (Angwin et al.) for COMPAS, UCI for Adult and German credit.
    """
    own = _own.get(name)
    if own is not None:
        return own
    data, _, grouping = name.removesuffix(SEALED).partition(".")
    if data not in TASKS:
        raise ValueError(f"There is no task {name!r}: choose one of {', '.join(TASKS)}.")
    if not is_shipped(name):
        known = ", ".join(TASKS[data].task_names.values())
        raise ValueError(f"{TASKS[data].title} has no groups {grouping!r}: choose one of {known}.")
    return _load(name, data_directory())


# Tasks made while the program runs, by name.
_own: dict[str, Task] = {}


def add_task(task: Task) -> None:
    """Let `load_task` find a task made here until it is forgotten; an earlier task of that name is forgotten."""
    if is_shipped(task.name):
        raise ValueError(f"{task.name!r} is the name of a task that ships with the project: choose another.")
    if task.name in _own and _own[task.name].X is not task.X:
        forget_task(task.name)
    _own[task.name] = task


# Callbacks of caches that keep things made from a task.
_keepers: list[Callable[[str], None]] = []


def on_forget(let_go: Callable[[str], None]) -> None:
    """Have ``let_go(name)`` called whenever a task that was added is forgotten."""
    _keepers.append(let_go)


def forget_task(name: str) -> None:
    """Forget a task that was added, and tell all caches to drop what was made from it."""
    if _own.pop(name, None) is not None:
        for let_go in _keepers:
            let_go(name)


@contextmanager
def lent(task: Task | None) -> Iterator[None]:
    """Let `load_task` find a task inside this block, unless it is known already."""
    if task is None or is_known(task.name):
        yield
        return
    add_task(task)
    try:
        yield
    finally:
        forget_task(task.name)


def is_known(name: str) -> bool:
    """Whether `load_task` finds a task of this name."""
    return name in _own or is_shipped(name)


def damaged_files() -> dict[str, str]:
    """Name of each task whose file is missing or not the one that was built, and a sentence that says so."""
    return dict(_damaged(data_directory()))


@lru_cache(maxsize=8)
def _damaged(folder: Path) -> dict[str, str]:
    found = {}
    for name in TASKS:
        try:
            _checked_content(name, folder)
        except DataFileError as error:
            found[name] = str(error)
    return found


def _checked_content(name: str, folder: Path) -> tuple[bytes, str]:
    """A task's data file (its checksum verified) and its datasheet."""
    file = f"{name}.parquet"
    rebuild = "Install commod again or, in a checkout, run 'python -m data.rebuild'."
    try:
        expected = json.loads((folder / CHECKSUMS).read_text())[file]
        content = (folder / file).read_bytes()
        sheet = (folder / f"{name}.md").read_text()
    except OSError as error:
        what = "is missing" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise DataFileError(f"The data file {Path(str(error.filename)).name} {what}. {rebuild}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise DataFileError(f"{CHECKSUMS} does not name {file}. {rebuild}") from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise DataFileError(f"The data file {file} is damaged: its checksum is not the recorded one. {rebuild}")
    return content, sheet


@lru_cache(maxsize=32)
def _load(name: str, folder: Path) -> Task:
    if name.endswith(SEALED):
        task = _load(name.removesuffix(SEALED), folder).seal(0.5, of_test=True)
        return replace(task, spec=replace(task.spec, name=name))
    data, _, grouping = name.partition(".")
    spec = TASKS[data].under(grouping)
    content, sheet = _checked_content(data, folder)
    frame = pd.read_parquet(io.BytesIO(content))
    X = frame[[feature.name for feature in spec.features]].copy()
    for feature in spec.features:
        X[feature.name] = X[feature.name].astype("category" if feature.kind == "category" else float)
    y = frame[spec.target].astype(int)
    sensitive = spec.parted_by.codes(frame)
    truth = frame[spec.truth].astype(int) if spec.truth else None
    return Task(spec=spec, X=X, y=y, sensitive=sensitive, datasheet=sheet, contract=contract_of(X), truth=truth)
