"""Saved runs without Streamlit: their names, and the one small file that holds them.

The file is JSON::

    {"format": "commod-runs", "version": 1, "library": "0.1.0",
     "runs": [{"name": "…", "settings": {"data": "law_school", …}, "figures": {"f": {…}, "g": {…}},
               "requirements": {"p_rule": 0.8}}]}

``settings`` holds every field of `Settings`; ``figures`` are for people and other programs, and may be null;
``requirements`` is there if anything was required. What is read comes from anybody: whatever it holds, it gives runs
that are valid, and a sentence for each one that is not.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import msgspec
import pandas as pd

from commod import __version__
from commod.dashboard.state.controls import clean_line
from commod.dashboard.state.link import from_link
from commod.dashboard.state.settings import (
    CONTROLS,
    OWN_PREFIX,
    Settings,
    controls_of,
    data_in_words,
    defaults,
    described,
    task_name,
)
from commod.datasets import TASKS, damaged_files
from commod.decisions import Requirements, RequirementsError
from commod.metrics.figures import CRITERIA, key_figures
from commod.uploads.json_file import JsonError, place_and_reason, read_json

MAX_RUNS = 24
MAX_NAME = 60
MAX_BYTES = 2**20
MAX_SENTENCES = 5  # about single runs; the rest are counted
FORMAT, VERSION = "commod-runs", 1

# Model (f, g) to figure to value; None where a figure is not defined.
Figures = dict[str, dict[str, float | None]]


class RunsFileError(ValueError):
    """A file that holds no runs for us; the message says why and what to do."""


@dataclass(frozen=True)
class Run:
    """A model with a name."""

    name: str
    settings: Settings
    requirements: Requirements = field(default_factory=Requirements)

    @property
    def is_own(self) -> bool:
        """Whether it is about uploaded data, which stay in their session."""
        return self.settings.data.startswith(OWN_PREFIX)


# ---- names ----


def unique_name(name: str, taken: Collection[str]) -> str:
    """`name`, or "name (2)" and so on if it is taken; a name that is empty becomes "Run"."""
    name = clean_line(name, MAX_NAME) or "Run"
    found, number = name, 1
    while found in taken:
        number += 1
        end = f" ({number})"
        found = name[: MAX_NAME - len(end)].rstrip() + end
    return found


def default_name(settings: Settings) -> str:
    """What a run is called if nobody says: the data set, λ_fair, and whatever else is not as usual."""
    usual, words = defaults(settings.data, settings.groups), described(settings)
    names = {name: control.name for name, control in controls_of("model").items()}
    names |= {"seed": "split", "threshold": "cut-off"}
    parts = {name: f"{short} {words[name]}" for name, short in names.items()}
    parts |= {"f": words["f"], "fairness": CRITERIA[settings.fairness].short}
    first, *rest = (
        part for name, part in parts.items() if name == "lambda_fair" or getattr(settings, name) != getattr(usual, name)
    )
    name = f"{data_in_words(settings)}: {first}"
    for part in rest:  # as many as there is room for
        if len(f"{name}, {part}") > MAX_NAME - 2:
            return clean_line(f"{name} …", MAX_NAME)
        name = f"{name}, {part}"
    return clean_line(name, MAX_NAME)


# ---- figures ----


def figures_of_run(frame: pd.DataFrame) -> Figures:
    """The figures of f and g that go into a file, out of those of a fit."""
    found: Figures = {}
    for model in ("f", "g"):
        figures = [figure for figure in key_figures() if model == "g" or not figure.of_change]
        values = {figure.name: float(frame[model].get(figure.name, math.nan)) for figure in figures}
        found[model] = {name: value if math.isfinite(value) else None for name, value in values.items()}
    return found


# ---- the file ----


def write_runs(runs: Sequence[Run], figures: Mapping[Settings, Figures]) -> str:
    """The file of `runs`, those on uploaded data left out; `figures` by model, null for one that is not there."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "library": __version__,
        "runs": [
            {"name": run.name, "settings": asdict(run.settings), "figures": figures.get(run.settings.model())}
            | ({"requirements": run.requirements.plain} if run.requirements else {})
            for run in runs
            if not run.is_own
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_runs(content: bytes) -> tuple[list[Run], list[str]]:
    """The runs of a file, and a sentence for each that is not taken as it stands; RunsFileError if it holds none."""
    try:
        document = read_json(content, "a file of saved runs", MAX_BYTES)
    except JsonError as error:
        raise RunsFileError(str(error)) from None
    if document.get("format") != FORMAT:
        raise RunsFileError("This file does not hold saved runs. Choose one that was downloaded from this page.")
    version = document.get("version")
    if isinstance(version, bool) or version != VERSION:
        later = isinstance(version, int | float) and version > VERSION
        why = "was written by a later version of this app" if later else "does not say in which version it is written"
        raise RunsFileError(f"This file {why}; this app reads version {VERSION}. Download the runs again here.")
    entries = document.get("runs")
    if not isinstance(entries, list) or not entries:
        raise RunsFileError("There are no runs in this file. Pin a model or two before downloading it.")
    runs: list[Run] = []
    problems: list[str] = []
    for place, entry in enumerate(entries[:MAX_RUNS], start=1):
        run, said = _read_run(entry, place)
        if run is not None:
            runs.append(replace(run, name=unique_name(run.name, {other.name for other in runs})))
        problems += said
    problems = _shortened(problems)
    if len(entries) > MAX_RUNS:
        problems.append(f"The file holds {len(entries):,} runs. The first {MAX_RUNS} were read; there is no more room.")
    return runs, problems


# Every setting as a file has it; one that was declared later than the first files may be missing.
_FIELDS = [(name, float if known.grid else str, known.optional) for name, known in CONTROLS.items()]
_Settings = msgspec.defstruct(
    "_Settings",
    [(name, kind, msgspec.UNSET) if optional else (name, kind) for name, kind, optional in _FIELDS],
    forbid_unknown_fields=True,
    kw_only=True,
)


class _Entry(msgspec.Struct):
    """A run as a file has it."""

    name: str
    settings: _Settings  # type: ignore[valid-type]


def _read_run(entry: Any, place: int) -> tuple[Run | None, list[str]]:
    named = entry.get("name") if isinstance(entry, dict) else None
    name = (clean_line(named, MAX_NAME) if isinstance(named, str) else "") or f"Run {place}"
    try:
        msgspec.convert(entry, _Entry)
        settings = entry["settings"]
        reason = _wrong_data(settings["data"]) or _wrong_choice(settings)
    except msgspec.ValidationError as error:
        reason = f"{place_and_reason(error)}."
    if reason:
        return None, [f"“{name}” is not taken: {reason}"]
    texts = {key: value if isinstance(value, str) else repr(value) for key, value in settings.items()}
    read, notices = from_link(texts)
    said = [f"“{name}”: {notice.replace('The link asks', 'the file asks', 1)}" for notice in notices]
    required = Requirements()
    try:
        required = Requirements.from_plain(entry.get("requirements") or {})
    except RequirementsError as error:
        said.append(f"“{name}” is taken without what was required of it. {error}")
    return Run(name, read, required), said


def _wrong_choice(settings: dict[str, Any]) -> str:
    """Which choice is not known here, or nothing: another one in its place would be another model."""
    task = settings["data"]
    for name, control in CONTROLS.items():
        if control.titles and name in settings and not control.takes(settings[name], task):
            return f"its {control.name} “{clean_line(settings[name], 20)}” is not known here."
        if name == "groups":  # the features depend on them
            task = task_name(task, settings.get(name, ""))
    return ""


def _wrong_data(data: str) -> str:
    if data.startswith(OWN_PREFIX):
        return "it is about uploaded data, which stay in the session of whoever uploaded them."
    if data not in TASKS:
        return f"there is no data set “{clean_line(data, 20)}” here; there are {', '.join(TASKS)}."
    return damaged_files().get(data, "")


def _shortened(problems: list[str]) -> list[str]:
    if len(problems) <= MAX_SENTENCES:
        return problems
    return [*problems[:MAX_SENTENCES], f"And {len(problems) - MAX_SENTENCES:,} more of this kind."]
