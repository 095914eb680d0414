"""The record of a decision: who decides what and why, as a small JSON file that a hash seals.

The seal detects accidental changes. It is no signature: anyone who changes the file can seal it again. To check what
the file says about the model, train it again: see `commod.decisions.verify`.
"""

import hashlib
import json
import math
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any

import numpy as np
import pandas as pd
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from commod.datasets import Task, is_shipped
from commod.decisions.facts import Facts
from commod.decisions.requirements import RULES, Requirements
from commod.decisions.verdicts import VERDICTS, check_requirements
from commod.experiments.scene import Scene
from commod.experiments.sweep import Cell
from commod.installation import versions_of
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES
from commod.models.competitors import METHODS
from commod.portable import FORMATS as MODELS
from commod.uploads.json_file import check_schema, read_json, same_names
from commod.uploads.limits import count_of, short

# Known formats; the second has a sealed part.
FORMAT, WITH_SEALED = "commod-decision/1", "commod-decision/2"
# The "method" of a decision to leave f as it is.
KEEP_F = "f"
# Bytes of a file, letters of a text in it, rejected alternatives, and refits that may be asked for again.
MAX_BYTES, MAX_TEXT, MAX_REJECTED, MAX_REFITS = 2**20, 4_000, 30, 200
# What is counted before the sealed people are opened, and how it is called.
TRIED = {"settings": "settings", "limits": "sets of limits", "seeds": "splits", "compared": "models compared"}
PACKAGES = ("commod", "numpy", "scipy", "scikit-learn", "pandas")


class DecisionError(ValueError):
    """What is wrong with a decision file, and what to do, in a sentence."""


# What has to be filled in, and how it is called.
ASKED = {"who": "who decides", "role": "in what role", "why": "why"}
Seed = Annotated[int, Meta(ge=0, lt=2**32)]


class Signature(Struct, frozen=True, forbid_unknown_fields=True):
    """Who decides, and why: a typed name, not a cryptographic signature."""

    who: str
    role: str
    why: str
    signed: date
    look_again: date  # when the decision is due for review
    rejected: dict[str, str]  # each rejected alternative, and the reason

    def __post_init__(self) -> None:
        gaps = [words for name, words in ASKED.items() if not getattr(self, name).strip()]
        if gaps:
            raise DecisionError(f"A decision needs a name, a role and a reason. Still empty: {', '.join(gaps)}.")
        if self.look_again <= self.signed:
            raise DecisionError("The day to look again must be after the day of the decision: choose a later one.")
        if len(self.rejected) > MAX_REJECTED:
            raise DecisionError(f"Name at most {MAX_REJECTED} rejected alternatives.")
        texts = [self.who, self.role, self.why, *self.rejected, *self.rejected.values()]
        if any(len(text) > MAX_TEXT for text in texts):
            raise DecisionError(f"A text in a decision can have at most {MAX_TEXT:,} characters: shorten it.")


def hash_of_scene(scene: Scene) -> str:
    """What a signed decision on a scene says of its data."""
    return data_hash(scene.task)


def data_hash(task: Task) -> str:
    """SHA-256 of a task's rows in their order: features (by name), labels, groups and weights; the sealed ones last."""
    found = hashlib.sha256()

    def add(name: str, values: pd.Series) -> None:
        found.update(f"\n{name}\n".encode())
        if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == object:
            texts = values.astype(object).where(values.notna(), "\x00").map(str)
            found.update("\x1f".join(texts).encode("utf-8", "surrogatepass"))
        else:
            found.update(values.to_numpy(dtype="<f8").tobytes())

    for rows in (task, task.sealed) if task.sealed is not None else (task,):
        for column in sorted(rows.X.columns, key=str):
            add(str(column), rows.X[column])
        add("label", rows.y)
        add("group", rows.sensitive)
        if rows.weight is not None:
            add("weight", rows.weight)
    return found.hexdigest()


# ---- writing ----


def make_record(
    signature: Signature,
    scene: Scene,
    decisions: Any,
    cell: Cell | None,
    fairness: str,
    requirements: Requirements,
    facts: Facts,
    *,
    sha256: str = "",
    tried: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The record as data for `json.dumps`, including its hash.

    Parameters
    ----------
    decisions : array of 0 and 1
        Of the chosen model, on the test rows.
    cell, fairness : Cell or None, str
        Its method and settings (None to leave f as it is), and its criterion.
    sha256 : str
        The hash of the data, if known; computing it takes a while with many rows (`data_hash`).
    tried : mapping of str to int, optional
        If people are sealed: how many ``settings, limits, seeds`` were tried and models ``compared`` before that.
    """
    content: dict[str, Any] = {
        "format": FORMAT if tried is None else WITH_SEALED,
        "signature": to_builtins(signature),
        "model": {
            "base_model": scene.base_model,
            "threshold": scene.threshold,
            "split": scene.seed,
            "fairness": fairness,
            **_model_of(cell),
            "refits": facts.n_refits,
        },
        "data": {
            "name": scene.task.name,
            "sha256": sha256 or data_hash(scene.task),
            "rows": len(scene.task.y) + len(scene.task.sealed or ()),
            "words": read_as(scene.task),
        },
        "figures": recorded_figures(scene, np.asarray(decisions).astype(int)),
        "requirements": requirements.plain,
        "verdicts": verdicts_of(requirements, facts),
        "versions": versions(),
    }
    if tried is not None:
        content["tried"] = dict(tried)
    return content | {"sha256": _seal(content)}


def with_opened(frozen: Mapping[str, Any], found: Mapping[str, Any], earlier: Sequence[str] = ()) -> dict[str, Any]:
    """A record with figures of its sealed people (`open_sealed`); `earlier`: hashes of earlier records that did so."""
    content = {**frozen, "confirmed": {**found, "earlier": [*earlier], "frozen": frozen["sha256"]}}
    return content | {"sha256": _seal(content)}


def confirmation(record: Mapping[str, Any]) -> str:
    """What the sealed people show, in one sentence; empty if they were not opened."""
    if (part := record.get("confirmed")) is None:
        return ""
    found = [each["verdict"] for each in part["verdicts"]]
    met, failed, untold, beside = (found.count(name) for name in VERDICTS)
    # Data that ship were sealed after others, or the same person, had looked at them.
    first = "who had been sealed" if is_shipped(record["data"]["name"]) else "nobody had looked at"
    whom = f"who had been opened {count_of(times, 'time')} before" if (times := len(part["earlier"])) else first
    whom = f"on {part['figures']['people'] or 0:,.0f} people {whom}"
    if not (total := len(found) - beside):
        return f"Nothing to confirm: {whom}, nothing that is required applies."
    head = "Not confirmed" if failed else "Not settled" if untold else "Confirmed"
    applies = f" that appl{'ies' if total == 1 else 'y'}" if beside else ""
    text = f"{head}: {whom}, the model meets {met} of {count_of(total, 'requirement')}{applies}"
    return text + (f"; {failed} failed" if failed else "") + (f"; {untold} cannot be determined." if untold else ".")


def tried_in_words(record: Mapping[str, Any]) -> str:
    """How much was tried before the decision."""
    counts = [f"{words} {record['tried'][name]:,}" for name, words in TRIED.items()]
    return f"Tried before: {', '.join(counts)}."


def is_of(record: Mapping[str, Any], cell: Cell | None) -> bool:
    """Whether a record decides for this model; None is f as it is."""
    return {name: record["model"][name] for name in _model_of(cell)} == _model_of(cell)


def _model_of(cell: Cell | None) -> dict[str, Any]:
    if cell is None:
        return {"method": KEEP_F, "value": 0.0, "settings": {}, "seed": 0}
    settings = {name: plain(value) for name, value in cell.others}
    return {"method": cell.method, "value": float(cell.value), "settings": settings, "seed": cell.seed}


def verdicts_of(requirements: Requirements, facts: Facts) -> list[dict[str, Any]]:
    """Each checked requirement, as stored in a record."""
    columns = ("requirement", "value", "low", "high", "refits_low", "refits_high", "verdict")
    checked = check_requirements(requirements, facts)
    return [{name: plain(row[name]) for name in columns} for _, row in checked.iterrows()]


def read_as(task: Task) -> list[str]:
    """How an uploaded table was read; empty for data that ship."""
    return [json.dumps(task.roles, ensure_ascii=False, sort_keys=True)] if task.roles else []


def record_json(record: Mapping[str, Any]) -> str:
    """A record as the text of a file."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def plain(value: Any) -> Any:
    """In JSON's types: lists for tuples, None for NaN."""
    if isinstance(value, tuple):
        return list(value)
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def recorded_figures(scene: Scene, decisions: np.ndarray) -> dict[str, float | None]:
    """The key figures of a model, followed by f's with the prefix f."""
    both = {"": decisions, "f_": scene.decisions_test}
    found = {f"{of}{name}": value for of, each in both.items() for name, value in scene.figures(each).items()}
    return {name: plain(value) for name, value in found.items()} | {"people": float(len(scene.test))}


def versions() -> dict[str, str]:
    """Versions of the software that determines a model."""
    return {"python": platform.python_version()} | versions_of(PACKAGES)


def _seal(content: Mapping[str, Any], *without: str) -> str:
    """SHA-256 over the canonical JSON: sorted names, no spaces, UTF-8; without the hash itself."""
    rest = {name: value for name, value in content.items() if name not in ("sha256", *without)}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


# ---- reading what a stranger may have written ----


class _Part(Struct, forbid_unknown_fields=True):
    """A part of a record: these fields and no others."""


class _Model(_Part):
    base_model: str
    threshold: Annotated[float, Meta(gt=0, lt=1)]
    split: Seed
    fairness: str
    method: str
    value: float
    settings: dict[str, str | bool | int | float | list[str] | None]
    seed: Seed
    refits: Annotated[int, Meta(ge=0, le=MAX_REFITS)]

    def __post_init__(self) -> None:
        for what, name, known in (
            ("criterion", self.fairness, CRITERIA),
            ("base model", self.base_model, (*BASE_MODELS, GIVEN_SCORES)),
            ("method", self.method, (KEEP_F, *METHODS)),
        ):
            if name not in known:
                raise ValueError(f"There is no {what} {short(name)!r} here: take a newer version of commod")
        if self.method == KEEP_F and (self.value or self.settings or self.seed or self.refits):
            raise ValueError("A decision to leave f as it is has no settings")
        if not all(map(str.isidentifier, self.settings)):
            raise ValueError("A setting has an unknown name")


class _Data(_Part):
    name: str
    sha256: str
    rows: int
    words: list[str]


class _Verdict(_Part):
    requirement: str
    verdict: str
    value: float | None
    low: float | None
    high: float | None
    refits_low: float | None
    refits_high: float | None

    def __post_init__(self) -> None:
        if self.requirement not in (*RULES, "kept_out", "direction") or self.verdict not in VERDICTS:
            raise ValueError("A verdict has an unknown name")


class _Confirmed(_Part):
    figures: dict[str, float | None]
    verdicts: list[_Verdict]
    earlier: list[str]
    frozen: str

    def __post_init__(self) -> None:
        _check_figures(self.figures)


def _check_figures(figures: Mapping[str, Any]) -> None:
    keys = [figure.name for figure in FIGURES.values() if figure.key]
    same_names("figures", figures, [*keys, *(f"f_{name}" for name in keys), "people"])


class _Record(_Part):
    format: str
    signature: Signature
    model: _Model
    data: _Data
    figures: dict[str, float | None]
    requirements: dict[str, Any]
    verdicts: list[_Verdict]
    versions: dict[str, Annotated[str, Meta(max_length=MAX_TEXT)]]
    sha256: str
    tried: dict[str, int] | UnsetType = UNSET
    confirmed: _Confirmed | UnsetType = UNSET

    def __post_init__(self) -> None:
        _check_figures(self.figures)
        if (self.format == FORMAT) != (self.tried is UNSET) or (self.tried is UNSET and self.confirmed is not UNSET):
            raise ValueError(f"Only the format {WITH_SEALED!r} has sealed people")
        if self.tried is not UNSET:
            same_names("tried", self.tried, TRIED)
        if unknown := sorted(set(self.versions) - {"python", *PACKAGES}):
            raise ValueError(f"Under “versions” is an unknown name, {short(unknown[0])!r}")
        if len({each.requirement for each in self.verdicts}) < len(self.verdicts):
            raise ValueError("There are two verdicts on one requirement")


def read_record(content: bytes | str) -> dict[str, Any]:
    """Read a decision file; a ValueError says why it is not one, or that it was changed."""
    record = read_json(content, "a decision", MAX_BYTES)
    if record.get("format") in MODELS:
        raise DecisionError(
            "This is the file of a model (from Take home), not of a decision: choose the file that was downloaded when "
            "the decision was signed."
        )
    if record.get("format") not in (FORMAT, WITH_SEALED):
        raise DecisionError(
            f"This is no decision that can be read here (format {FORMAT!r} or {WITH_SEALED!r}): "
            "choose the file that was downloaded when it was signed, or take a newer version of commod."
        )
    if "sha256" in record and record["sha256"] != _seal(record):
        raise DecisionError("This decision was changed since it was signed: its hash does not match its content.")
    check_schema(record, _Record, DecisionError)
    if "confirmed" in record and record["confirmed"]["frozen"] != _seal(record, "confirmed"):
        raise DecisionError("This decision was changed after its sealed people were opened: it is not what was frozen.")
    requirements_in(record)
    return record


def requirements_in(record: Mapping[str, Any]) -> Requirements:
    """What is required in a record."""
    return Requirements.from_plain(record["requirements"])
