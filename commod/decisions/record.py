"""The record of a decision: who decides what and why, as a small JSON file that is sealed by a hash over all of it.

The seal shows that a file was not changed by accident. It is no signature: whoever changes the file can seal it again.
What the file says of the model is checked by training it again, see `commod.decisions.verify`.
"""

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import numpy as np
import pandas as pd
from msgspec import Meta, Struct, to_builtins

from commod.datasets import Task
from commod.decisions.facts import Facts
from commod.decisions.requirements import RULES, Requirements
from commod.decisions.verdicts import VERDICTS, check_requirements
from commod.experiments.scene import Scene
from commod.experiments.sweep import Cell
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES
from commod.models.competitors import METHODS
from commod.portable import FORMATS as MODELS
from commod.uploads.json_file import check_schema, read_json, same_names
from commod.uploads.limits import short

# What a file says of its own format; any other is refused.
FORMAT = "commod-decision/1"
# The method of a decision to leave f as it is.
KEEP_F = "f"
# Bytes of a file, letters of a text in it, rejected alternatives, and refits that may be asked for again.
MAX_BYTES, MAX_TEXT, MAX_REJECTED, MAX_REFITS = 2**20, 4_000, 30, 200
PACKAGES = ("commod", "numpy", "scipy", "scikit-learn", "pandas")


class DecisionError(ValueError):
    """What is wrong with the file of a decision, in a sentence that says what to do."""


Seed = Annotated[int, Meta(ge=0, lt=2**32)]


class Signature(Struct, frozen=True, forbid_unknown_fields=True):
    """Who decides, and why: a name that somebody typed, not a cryptographic signature.

    Parameters
    ----------
    who, role, why : str
    signed, look_again : date
        When it was sealed, and when somebody is to look at it again.
    rejected : dict of str to str
        Each alternative that was rejected, and the reason.
    """

    who: str
    role: str
    why: str
    signed: date
    look_again: date
    rejected: dict[str, str]

    def __post_init__(self) -> None:
        for name in ("who", "role", "why"):
            if not getattr(self, name).strip():
                raise DecisionError(f"Nothing is said under “{name}”: a decision needs a name, a role and a reason.")
        if self.look_again <= self.signed:
            raise DecisionError("The day to look again must come after the day of the decision.")
        if len(self.rejected) > MAX_REJECTED:
            raise DecisionError(f"At most {MAX_REJECTED} rejected alternatives can be named.")
        texts = [self.who, self.role, self.why, *self.rejected, *self.rejected.values()]
        if any(len(text) > MAX_TEXT for text in texts):
            raise DecisionError(f"A text of a decision has at most {MAX_TEXT:,} letters: shorten it.")


def hash_of_scene(scene: Scene) -> str:
    """What a signed decision on a scene says of its data."""
    return data_hash(scene.task)


def data_hash(task: Task) -> str:
    """SHA-256 of a task's rows in their order: features (by name), labels, groups and weights."""
    found = hashlib.sha256()

    def add(name: str, values: pd.Series) -> None:
        found.update(f"\n{name}\n".encode())
        if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == object:
            texts = values.astype(object).where(values.notna(), "\x00").map(str)
            found.update("\x1f".join(texts).encode("utf-8", "surrogatepass"))
        else:
            found.update(values.to_numpy(dtype="<f8").tobytes())

    for column in sorted(task.X.columns, key=str):
        add(str(column), task.X[column])
    add("label", task.y)
    add("group", task.sensitive)
    if task.weight is not None:
        add("weight", task.weight)
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
) -> dict[str, Any]:
    """The record as data that `json.dumps` takes, its hash in it.

    Parameters
    ----------
    signature : Signature
    scene : Scene
    decisions : array of 0 and 1
        Of the model that is decided for, on the test rows.
    cell : Cell or None
        Its method and settings; None to leave f as it is.
    fairness : str
        The criterion that it was trained for.
    requirements, facts
        What is required, and what is known of the model: see `facts_of`.
    sha256 : str
        The hash of the data where it is known: it takes a while with many rows, see `data_hash`.
    """
    checked = check_requirements(requirements, facts)
    columns = ("requirement", "value", "low", "high", "refits_low", "refits_high", "verdict")
    content: dict[str, Any] = {
        "format": FORMAT,
        "signature": to_builtins(signature),
        "model": {
            "base_model": scene.base_model,
            "threshold": scene.threshold,
            "split": scene.seed,
            "fairness": fairness,
            "method": KEEP_F if cell is None else cell.method,
            "value": 0.0 if cell is None else float(cell.value),
            "settings": {} if cell is None else {name: plain(value) for name, value in cell.others},
            "seed": 0 if cell is None else cell.seed,
            "refits": facts.n_refits,
        },
        "data": {
            "name": scene.task.name,
            "sha256": sha256 or data_hash(scene.task),
            "rows": len(scene.task.y),
            "words": read_as(scene.task),
        },
        "figures": figures_of(scene, np.asarray(decisions).astype(int)),
        "requirements": requirements.plain,
        "verdicts": [{name: plain(row[name]) for name in columns} for _, row in checked.iterrows()],
        "versions": versions(),
    }
    return content | {"sha256": _seal(content)}


def read_as(task: Task) -> list[str]:
    """How a table that somebody brought was read; empty for data that ship."""
    return [json.dumps(task.roles, ensure_ascii=False, sort_keys=True)] if task.roles else []


def record_json(record: Mapping[str, Any]) -> str:
    """A record as the text of a file."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def plain(value: Any) -> Any:
    """As JSON has it: lists for tuples, None for NaN."""
    if isinstance(value, tuple):
        return list(value)
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def figures_of(scene: Scene, decisions: np.ndarray) -> dict[str, float | None]:
    """The key figures of a model, and those of f behind them with an f in front."""
    both = {"": decisions, "f_": scene.decisions_test}
    found = {f"{of}{name}": value for of, each in both.items() for name, value in scene.figures(each).items()}
    return {name: plain(value) for name, value in found.items()} | {"people": float(len(scene.test))}


def versions() -> dict[str, str]:
    """Of the software that decides what a model is."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _seal(content: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON: sorted names, no spaces, UTF-8; without the hash itself."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
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
            raise ValueError("To leave f as it is takes no settings")
        if not all(map(str.isidentifier, self.settings)):
            raise ValueError("A setting has a name that no setting has")


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
            raise ValueError("A verdict has a name that no verdict has")


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

    def __post_init__(self) -> None:
        keys = [figure.name for figure in FIGURES.values() if figure.key]
        same_names("figures", self.figures, [*keys, *(f"f_{name}" for name in keys), "people"])
        if unknown := sorted(set(self.versions) - {"python", *PACKAGES}):
            raise ValueError(f"Under “versions” is an unknown name, {short(unknown[0])!r}")
        if len({each.requirement for each in self.verdicts}) < len(self.verdicts):
            raise ValueError("There are two verdicts on one requirement")


def read_record(content: bytes | str) -> dict[str, Any]:
    """Read the file of a decision.

    Raises
    ------
    ValueError
        In one sentence, if it is no such file, of another version, was changed since it was written, or holds what no
        decision has.
    """
    record = read_json(content, "a decision", MAX_BYTES)
    if record.get("format") in MODELS:
        raise DecisionError(
            "This is the file of a model (from Take home), not of a decision: choose the file that was downloaded when "
            "the decision was sealed."
        )
    if record.get("format") != FORMAT:
        raise DecisionError(
            f"This is no decision that can be read here, which would have the format {FORMAT!r}: choose the file that "
            "was downloaded when it was sealed, or take a newer version of commod."
        )
    if "sha256" in record and record["sha256"] != _seal(record):
        raise DecisionError("This decision was changed since it was sealed: its hash is not that of what it says.")
    check_schema(record, _Record, DecisionError)
    requirements_in(record)
    return record


def requirements_in(record: Mapping[str, Any]) -> Requirements:
    """What is required in a record."""
    return Requirements.from_plain(record["requirements"])
