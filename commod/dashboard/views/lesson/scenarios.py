"""The scenarios of the lesson: one file for each and language, here and in a teacher's folder, checked when read.

docs/workshop.md tells how one is written.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, TypeVar

import msgspec
from jinja2 import TemplateError
from msgspec import structs

from commod.dashboard.state.lesson_data import add_tables, lessons_folder
from commod.dashboard.state.settings import CONTROLS, Settings, defaults, suited_to
from commod.dashboard.text.glossary import words, words_in
from commod.dashboard.text.language import LANGUAGES
from commod.dashboard.text.menu import PAGES
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.facts import known_names
from commod.dashboard.views.lesson.steps import SHOWS, LessonStep, Paragraph
from commod.datasets import TASKS
from commod.models.competitors import METHODS
from commod.uploads.json_file import place_and_reason

Read = TypeVar("Read")
# The one that a link means which names none.
FIRST = "bar_exam"
HERE = Path(__file__).with_name("scenarios")
MAX_BYTES = 200_000
MAX_STEPS = 20

# What of a step is text, and so stands in a translation; all else is the same in every language.
_TEXTS = ("title", "text", "question", "unit", "options", "says", "explanation", "talk", "teacher", "objective")
_PARAGRAPHS = ("text", "explanation")
# Tables of a step, and what is said of it besides.
_TABLES = ("goal", "beside", "rivals")
_KNOWN = [name for name in (*LessonStep.__struct_fields__, "data") if name not in ("language", "names")]
# How a figure may be written: 3, 1,234, 0.44, 12 %.
_FORMAT = re.compile(r"\+?,?(\.[0-4])?[dfg%]?")


class ScenarioError(ValueError):
    """What is wrong with a file, in a sentence that names it, its step and what to do."""


@dataclass(frozen=True)
class Scenario:
    """A lesson in one language."""

    name: str
    language: str
    title: str
    steps: tuple[LessonStep, ...]

    @property
    def minutes(self) -> float:
        """How long a class takes over all of it."""
        return sum(step.minutes for step in self.steps)

    @property
    def places(self) -> dict[str, int]:
        return {step.name: place for place, step in enumerate(self.steps)}


def scenario(name: str, language: str) -> Scenario:
    """A scenario in a language, or in the first that it has; the first scenario, if there is none of this name."""
    known = all_scenarios()[0]
    found = known.get(name, known[FIRST])
    return found.get(language) or next(iter(found.values()))


def all_scenarios() -> tuple[dict[str, dict[str, Scenario]], tuple[str, ...]]:
    """Every scenario by name and language, ours first, and what is wrong with those of the teacher's folder."""
    folder = lessons_folder()
    if folder is None:
        return _read_all(None, ())
    try:
        files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        state = tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    except OSError as error:
        return _read_all(None, ())[0], (f"The folder of lessons cannot be read ({error.strerror}).",)
    return _read_all(folder, state)


@lru_cache(maxsize=4)
def _read_all(
    folder: Path | None, state: tuple[tuple[str, int, int], ...]
) -> tuple[dict[str, dict[str, Scenario]], tuple[str, ...]]:
    """What `all_scenarios` gives; `state` is that of the folder, so that a file that was changed is read anew."""
    found = dict(_ours())
    problems = []
    for name in sorted(_names_in(folder)) if folder is not None else []:
        assert folder is not None
        try:
            if name in found:
                raise ScenarioError(f"{name}: a scenario of this name comes with the app; choose another name.")
            found[name] = _read_languages(folder, name)
        except ScenarioError as error:
            problems.append(str(error))
    return found, tuple(problems)


@cache
def _ours() -> dict[str, dict[str, Scenario]]:
    """The scenarios that come with the app, which do not change while it runs."""
    return {name: _read_languages(HERE, name) for name in sorted(_names_in(HERE), key=lambda name: name != FIRST)}


def _names_in(folder: Path) -> set[str]:
    return {path.name.split(".")[0] for path in folder.glob("*.toml")}


def _read_languages(folder: Path, name: str) -> dict[str, Scenario]:
    """A scenario in all languages that it has; the first of them, in the order of `LANGUAGES`, says everything."""
    files = {path.name.split(".")[1]: path for path in sorted(folder.glob(f"{name}.*toml"))}
    if not re.fullmatch(r"[a-z0-9_]{1,40}", name) or not set(files) <= set(LANGUAGES):
        name = next(iter(files.values())).name
        raise ScenarioError(f"{name}: name the file like hiring.en.toml, with a language of {', '.join(LANGUAGES)}.")
    first, *others = [language for language in LANGUAGES if language in files]
    entries = _load(files[first])
    found = {first: read_scenario(files[first], entries, first)}
    for language in others:
        found[language] = read_translation(files[language], _load(files[language]), language, entries, found[first])
    return found


def _load(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ScenarioError(f"{path.name}: larger than {MAX_BYTES:,} bytes.")
        return _renamed(tomllib.loads(path.read_text("utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path.name}: this is not TOML. {error}.") from None
    except (OSError, UnicodeDecodeError):
        raise ScenarioError(f"{path.name}: this file cannot be read as UTF-8.") from None


def _renamed(entries: dict[str, Any]) -> dict[str, Any]:
    """Before 0.3, `explanation` was called "told"."""
    steps = entries.get("step")
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict) and "told" in step and "explanation" not in step:
            step["explanation"] = step.pop("told")
    return entries


# ---- the first language ----


def read_scenario(path: Path, entries: Mapping[str, Any], language: str) -> Scenario:
    """The scenario of a file that says everything; ScenarioError if something in it is wrong."""
    file, steps = _read(path.name, entries, _File), list[LessonStep]()
    try:
        tables = add_tables(path, file.tables)
    except ValueError as error:
        raise ScenarioError(f"{path.name}: {error}") from None
    for number, entry in enumerate(file.step, start=1):
        where = _where(path.name, number, entry)
        if unknown := [name for name in entry if name not in _KNOWN]:
            raise ScenarioError(f"{where}: {_unknown(unknown[0], _KNOWN)}")
        data, start = entry.get("data"), entry.get("start", {})
        if data not in (known := {**{name: name for name in TASKS}, **tables}):
            raise ScenarioError(f"{where}: data {_unknown(data, known)}")
        if not isinstance(start, dict):
            raise ScenarioError(f"{where}: start must be a table of controls.")
        step = _step(where, entry, _settings(where, known[data], start), language, file.names)
        _check_step(where, step)
        if step.name in {other.name for other in steps}:
            raise ScenarioError(f"{where}: another step has this name.")
        steps.append(step)
    return Scenario(path.name.split(".")[0], language, file.title, tuple(steps))


def _step(where: str, entry: Mapping[str, Any], start: Settings, language: str, names: dict[str, str]) -> LessonStep:
    made = {name: value for name, value in entry.items() if name not in ("data", "start")}
    for name in _TABLES:
        if isinstance(made.get(name), dict):
            made[name] = tuple(made[name].items())
    for name in _PARAGRAPHS:
        if isinstance(made.get(name), list):
            made[name] = [{"text": said} if isinstance(said, str) else said for said in made[name]]
    return _read(where, made | {"start": start, "language": language, "names": tuple(names.items())}, LessonStep)


def _settings(where: str, data: str, said: Mapping[str, Any]) -> Settings:
    start = _opening(data)
    for name, value in said.items():
        _check_control(where, name, value, start.task_name)
    return replace(start, **said)


def _opening(data: str) -> Settings:
    """Where a data set opens; of one that ships without its file, which may be damaged, as the page then says."""
    if data not in TASKS:
        return defaults(data)
    return Settings(data=data, threshold=TASKS[data].threshold, **suited_to(TASKS[data]))


def _check_control(where: str, name: str, value: Any, task: str) -> None:
    if name not in CONTROLS or name in ("data", "groups"):
        known = [control for control in CONTROLS if control not in ("data", "groups")]
        raise ScenarioError(f"{where}: the control {_unknown(name, known)}")
    control = CONTROLS[name]
    try:
        offered = control.takes(value, task)
    except (TypeError, ValueError):
        offered = False
    if not offered:
        options = ", ".join(map(str, list(control.options(task))[:30])) if not control.text else "a text"
        raise ScenarioError(f"{where}: {name} cannot be {value!r}: choose from {options}.")


def _check_step(where: str, step: LessonStep) -> None:
    """What a type does not tell: names, places and numbers that must be known."""
    if not re.fullmatch(r"[a-z0-9_]{1,40}", step.name) or step.name.isdecimal():
        raise ScenarioError(f"{where}: the name must be of small letters, digits and _, and no number.")
    if len(step.goal) > 1:
        raise ScenarioError(f"{where}: goal is one control, the one that is moved after the guess.")
    for name, value in (*step.goal, *step.beside):
        _check_control(where, name, value, step.start.task_name)
    for name, _ in step.goal:
        if not CONTROLS[name].grid:
            raise ScenarioError(f"{where}: goal is a slider, {name} is none.")
    for kind, names, known in (
        ("free", step.free, [name for name, control in CONTROLS.items() if control.grid]),
        ("the picture", step.shows, SHOWS),
        ("the page", step.pages, list(PAGES)),
        ("rivals: the method", [method for method, _ in step.rivals], [m for m in METHODS if m != "commod"]),
    ):
        for name in names:
            if name not in known:
                raise ScenarioError(f"{where}: {kind} {_unknown(name, known)}")
    if bool(step.beside) != ("beside" in step.shows):
        raise ScenarioError(f"{where}: beside = {{ … }} and the picture beside go together.")
    if len(step.options) not in (0, *range(2, len(script.LETTERS) + 1)):
        raise ScenarioError(f"{where}: options are 2 to {len(script.LETTERS)}.")
    if not step.options and step.most == "":
        raise ScenarioError(f"{where}: most is missing, the largest number that can be answered.")
    for expression in (step.most, step.answer, step.also):
        if expression != "":
            _check_expression(where, str(expression), step)
    _check_texts(where, step)


def _check_expression(where: str, expression: str, step: LessonStep) -> None:
    try:
        facts = script.facts_in(expression)
    except TemplateError:
        example = "after.worse < before.worse and not move.played"
        raise ScenarioError(f"{where}: “{expression}” cannot be read. Write a condition like “{example}”.") from None
    for fact in sorted(facts):
        _check_fact(where, fact, step)


def _check_texts(where: str, step: LessonStep) -> None:
    paragraphs = (*step.text, *step.explanation)
    for said in paragraphs:
        _check_expression(where, said.when, step)
    for text in (*(said.text for said in paragraphs), step.question, step.unit, step.says):
        for field, form in _fields(where, text):
            if field != "value" or text is not step.says:
                _check_fact(where, field, step)
            if not _FORMAT.fullmatch(form):
                raise ScenarioError(f"{where}: {{{field}:{form}}} cannot be written so: try .0f, .2f, .1% or ,.")
        for word in words_in(text):
            if word not in words():
                raise ScenarioError(f"{where}: the word [[{word}]] is not in the glossary.")


def _fields(where: str, text: str) -> Iterator[tuple[str, str]]:
    try:
        for _, field, form, conversion in Formatter().parse(text):
            if conversion:
                raise ValueError("nothing can be converted by “!”")
            if field is not None:
                yield field, form or ""
    except ValueError as error:
        raise ScenarioError(f"{where}: a text has a brace that is not a fact ({error}): “{text[:60]}…”") from None


def _check_fact(where: str, name: str, step: LessonStep) -> None:
    if name not in (known := known_names(step)):
        raise ScenarioError(f"{where}: the fact {_unknown(name, sorted(known))}")


def _unknown(name: Any, known: Iterable[str]) -> str:
    """A name that is not known, and what may have been meant."""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=3) or known[:12]
    return f"“{str(name)[:60]}” is not known. Perhaps: {', '.join(near)}."


# ---- of any file ----


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """A scenario's file; `names` says how groups and people are called: "Non-White" = "non blancs"."""

    title: str
    step: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1, max_length=MAX_STEPS)]
    tables: dict[str, Any] = {}
    names: dict[str, str] = {}


def _read(where: str, entries: Mapping[str, Any], kind: type[Read]) -> Read:
    try:
        return msgspec.convert(entries, kind)
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{where}: {place_and_reason(error)}.") from None


def _where(file: str, number: int, entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    return f"{file}, step {number}" + (f" ({name})" if isinstance(name, str) else "")


# ---- a translation ----


def read_translation(
    path: Path, entries: Mapping[str, Any], language: str, originals: Mapping[str, Any], first: Scenario
) -> Scenario:
    """A scenario in another language: its texts from this file, all else as the first language has it."""
    file = _read(path.name, entries, _File)
    if file.tables:
        raise ScenarioError(f"{path.name}: a translation has texts only; tables are of the first language's file.")
    if [entry.get("name") for entry in file.step] != [step.name for step in first.steps]:
        names = ", ".join(step.name for step in first.steps)
        raise ScenarioError(f"{path.name}: the steps must be {names}, in this order.")
    steps = []
    parts = zip(file.step, originals["step"], first.steps, strict=True)
    for number, (entry, original, step) in enumerate(parts, start=1):
        where = _where(path.name, number, entry)
        if sentences := [name for name in entry if name not in (*_TEXTS, "name")]:
            raise ScenarioError(f"{where}: {sentences[0]} is the same in every language; a translation leaves it out.")
        if single := [name for name in _TEXTS if (name in entry) != (name in original)]:
            raise ScenarioError(f"{where}: {single[0]} stands in one of the two languages only.")
        for name in set(_TEXTS) & set(entry):
            _check_same_length(where, name, entry[name], original[name])
        translated = _step(where, {**original, **entry}, step.start, language, file.names)
        for name in _PARAGRAPHS:  # each keeps its condition
            said = zip(getattr(translated, name), getattr(step, name), strict=True)
            paragraphs = tuple(Paragraph(new.text, old.when) for new, old in said)
            translated = structs.replace(translated, **{name: paragraphs})
        _check_texts(where, translated)
        steps.append(translated)
    return replace(first, language=language, title=file.title, steps=tuple(steps))


def _check_same_length(where: str, name: str, said: Any, original: Any) -> None:
    if isinstance(said, list) and len(said) != len(original):
        raise ScenarioError(f"{where}: {name} has {len(said)} texts, the first language's {len(original)}.")
    if name in _PARAGRAPHS and not (isinstance(said, list) and all(isinstance(text, str) for text in said)):
        raise ScenarioError(f"{where}: conditions of {name} stand in the first language's file only.")
