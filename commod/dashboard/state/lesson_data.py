"""Tables that a teacher has put beside her lessons: data sets for everybody who uses this server.

`COMMOD_LESSONS` names the folder. A scenario there says of each table what is what, in the words of the command line
(docs/workshop.md).
"""

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from commod.dashboard.state.settings import OWN_PREFIX
from commod.datasets import add_task, is_known, task_of_file
from commod.datasets.choice_options import given_options, options_parser

# How the names of these data begin. Like uploaded ones they do not go into files and links for other servers.
LESSON_PREFIX = f"{OWN_PREFIX}lesson-"
_NAME = re.compile(rf"{LESSON_PREFIX}([a-z0-9_]+)-[a-z0-9_]+")
_KEYS = {"file", "options", "people"}


def lessons_folder() -> Path | None:
    """Where a teacher's lessons are, if the server was told."""
    asked = os.environ.get("COMMOD_LESSONS", "")
    return Path(asked) if asked else None


def is_lesson_data(name: str) -> bool:
    """Whether this is a table of a lesson; it is read if nobody has asked for it yet."""
    named, folder = _NAME.fullmatch(name), lessons_folder()
    if named is None or folder is None:
        return False
    if not is_known(name):
        for path in sorted(folder.glob(f"{named[1]}.*.toml")):
            with suppress(ValueError, OSError):  # the Lesson says what is wrong with it
                add_tables(path, tomllib.loads(path.read_text("utf-8")).get("tables", {}))
    return is_known(name)


def add_tables(scenario: Path, tables: Any) -> dict[str, str]:
    """Let the tables of a scenario be loaded; their names as data sets, by their names in it.

    Raises ValueError in one sentence, if one of them is declared wrongly, or cannot be read as it is declared.
    """
    if not isinstance(tables, Mapping):
        raise ValueError("[tables] is no table of tables: write [tables.NAME] above what is said of one.")
    names = {}
    for table, said in tables.items():
        name = f"{LESSON_PREFIX}{scenario.name.split('.')[0]}-{table}"
        if not _NAME.fullmatch(name):
            raise ValueError(f"the table “{table}” must be named with small letters, digits and _.")
        if not isinstance(said, Mapping) or not {"file"} <= set(said) <= _KEYS:
            raise ValueError(f"the table “{table}” needs file, and can have options and people, nothing else.")
        file, options, people = (said.get(key, "") for key in ("file", "options", "people"))
        if not all(isinstance(text, str) for text in (file, options, people)) or Path(file).name != file:
            raise ValueError(f"the table “{table}”: file, options and people are texts, file without a folder.")
        try:
            _add_table(name, scenario.with_name(file), options, people)
        except ValueError as error:
            raise ValueError(f"the table “{table}”: {error}") from None
        names[table] = name
    return names


# What each was made of: the file, its time and size, and what was said of it.
_made_of: dict[str, tuple[Any, ...]] = {}


def _add_table(name: str, path: Path, options: str, people: str) -> None:
    try:
        state = path.stat()
    except OSError:
        raise ValueError(f"there is no file {path.name} beside the scenario.") from None
    said = (path, state.st_mtime_ns, state.st_size, options, people)
    if _made_of.get(name) == said and is_known(name):
        return
    arguments = options_parser("These options say nothing about a file").parse_args(shlex.split(options))
    task, _ = task_of_file(path, given_options(arguments))
    if len(task.groups) != 2:
        raise ValueError(
            f"{path.name} has {len(task.groups)} groups, and a lesson speaks of two: name them by --groups."
        )
    spec = replace(task.spec, name=name, people=people or task.spec.people)
    add_task(replace(task, spec=spec))  # all that was made of other rows of this name goes
    _made_of[name] = said
