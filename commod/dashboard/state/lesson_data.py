"""Tables that teachers put next to their lessons (docs/workshop.md): data sets for everybody who uses this server."""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from commod.dashboard.state.settings import OWN_PREFIX
from commod.datasets import add_task, is_known, task_of_file
from commod.datasets.choice import roles_in
from commod.uploads.json_file import place_and_reason

# The prefix of these data's names. Like uploaded data they do not go into files and links for other servers.
LESSON_PREFIX = f"{OWN_PREFIX}lesson-"
_NAME = re.compile(rf"{LESSON_PREFIX}([a-z0-9_]+)-[a-z0-9_]+")


class _DeclaredTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table in a scenario's declaration."""

    file: str
    options: str = ""
    people: str = ""

    def __post_init__(self) -> None:
        if Path(self.file).name != self.file:
            raise ValueError("file is a name without a folder")


def lessons_folder() -> Path | None:
    """The folder of teachers' lessons, if the server has one."""
    asked = os.environ.get("COMMOD_LESSONS", "")
    return Path(asked) if asked else None


def is_lesson_data(name: str) -> bool:
    """Whether this is a table of a lesson; it is read at the first request."""
    named, folder = _NAME.fullmatch(name), lessons_folder()
    if named is None or folder is None:
        return False
    if not is_known(name):
        for path in sorted(folder.glob(f"{named[1]}.*.toml")):
            with suppress(ValueError, OSError):  # the Lesson says what is wrong with it
                add_tables(path, tomllib.loads(path.read_text("utf-8")).get("tables", {}))
    return is_known(name)


def add_tables(scenario: Path, tables: Mapping[str, Any]) -> dict[str, str]:
    """Load the tables of a scenario: their names as data sets. ValueError if a declaration is wrong."""
    names = {}
    for table, said in tables.items():
        name = f"{LESSON_PREFIX}{scenario.name.split('.')[0]}-{table}"
        if not _NAME.fullmatch(name):
            raise ValueError(f"the table “{table}” must be named with small letters, digits and _.")
        try:
            declared = msgspec.convert(said, _DeclaredTable)
            _add_table(name, scenario.with_name(declared.file), declared)
        except msgspec.ValidationError as error:
            raise ValueError(f"the table “{table}”: {place_and_reason(error)}.") from None
        except ValueError as error:
            raise ValueError(f"the table “{table}”: {error}") from None
        names[table] = name
    return names


# The source of each: the file, its time and size, and its declaration.
_made_of: dict[str, tuple[Any, ...]] = {}


def _add_table(name: str, path: Path, declared: _DeclaredTable) -> None:
    try:
        state = path.stat()
    except OSError:
        raise ValueError(f"there is no file {path.name} next to the scenario.") from None
    said = (path, state.st_mtime_ns, state.st_size, declared)
    if _made_of.get(name) == said and is_known(name):
        return
    task, _ = task_of_file(path, roles_in(shlex.split(declared.options)))
    if len(task.groups) != 2:
        raise ValueError(f"{path.name} has {len(task.groups)} groups, but a lesson needs two: name them with --groups.")
    spec = replace(task.spec, name=name, people=declared.people or task.spec.people)
    add_task(replace(task, spec=spec))  # drops everything made from earlier rows of this name
    _made_of[name] = said
