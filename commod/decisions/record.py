"""The record of a decision: who decides what and why, as a small JSON file that is sealed by a hash over all of it.

The seal shows that a file was not changed by accident. It is no signature: whoever changes the file can seal it again.
What the file says of the model is checked by training it again, see `commod.decisions.verify`.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd

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
from commod.uploads.json_file import read_json

# What a file says of its own format; any other is refused.
FORMAT = "commod-decision/1"
# The method of a decision to leave f as it is.
KEEP_F = "f"
# Bytes of a file, letters of a text in it, rejected alternatives, and refits that may be asked for again.
MAX_BYTES, MAX_TEXT, MAX_REJECTED, MAX_REFITS = 2**20, 4_000, 30, 200
PACKAGES = ("commod", "numpy", "scipy", "scikit-learn", "pandas")


class DecisionError(ValueError):
    """What is wrong with the file of a decision, in a sentence that says what to do."""


@dataclass(frozen=True)
class Signature:
    """Who decides, and why: a name that somebody typed, not a cryptographic signature.

    Parameters
    ----------
    who, role, why : str
    signed, look_again : date
        When it was sealed, and when somebody is to look at it again.
    rejected : mapping of str to str
        Each alternative that was rejected, and the reason.
    """

    who: str
    role: str
    why: str
    signed: date
    look_again: date
    rejected: Mapping[str, str]

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
        "signature": {
            "who": signature.who,
            "role": signature.role,
            "why": signature.why,
            "signed": signature.signed.isoformat(),
            "look_again": signature.look_again.isoformat(),
            "rejected": dict(signature.rejected),
        },
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
            "words": list(scene.task.words[1:]),  # the first is the file
        },
        "figures": figures_of(scene, np.asarray(decisions).astype(int)),
        "requirements": requirements.plain,
        "verdicts": [{name: plain(row[name]) for name in columns} for _, row in checked.iterrows()],
        "versions": versions(),
    }
    return content | {"sha256": _seal(content)}


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

_TEXT, _NUMBER, _WHOLE, _MAYBE = (str,), (int, float), (int,), (int, float, type(None))
# Fields of each part and the types of their values; no other field is allowed.
PARTS: dict[str, dict[str, tuple[type, ...]]] = {
    "signature": dict.fromkeys(("who", "role", "why", "signed", "look_again"), _TEXT) | {"rejected": (dict,)},
    "model": {
        **dict.fromkeys(("base_model", "fairness", "method"), _TEXT),
        **dict.fromkeys(("threshold", "value"), _NUMBER),
        **dict.fromkeys(("split", "seed", "refits"), _WHOLE),
        "settings": (dict,),
    },
    "data": {"name": _TEXT, "sha256": _TEXT, "rows": _WHOLE, "words": (list,)},
}
VERDICT = {"requirement": _TEXT, "verdict": _TEXT} | dict.fromkeys(
    ("value", "low", "high", "refits_low", "refits_high"), _MAYBE
)
# What may stand beside `lambda_fair` among the settings of a model, and the types of it.
_SETTINGS = (str, int, float, bool, type(None))


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
    names = {"format", *PARTS, "figures", "requirements", "verdicts", "versions", "sha256"}
    _same_names(record, names, "A decision")
    if record["sha256"] != _seal(record):
        raise DecisionError("This decision was changed since it was sealed: its hash is not that of what it says.")
    for part, types in PARTS.items():
        _typed(record[part], types, part)
    _typed(record["figures"], dict.fromkeys(_names_of_figures(), _MAYBE), "figures")
    if not isinstance(record["verdicts"], list):
        raise _damaged("verdicts")
    for verdict in record["verdicts"]:
        _typed(verdict, VERDICT, "verdicts")
        if verdict["requirement"] not in (*RULES, "kept_out", "direction") or verdict["verdict"] not in VERDICTS:
            raise _damaged("verdicts")
    if len({verdict["requirement"] for verdict in record["verdicts"]}) < len(record["verdicts"]):
        raise DecisionError("The file is damaged: it gives two verdicts on one requirement.")
    if not isinstance(record["versions"], dict) or not _all_texts(record["versions"]):
        raise _damaged("versions")
    if not set(record["versions"]) <= {"python", *PACKAGES}:
        raise _damaged("versions")
    requirements_in(record)
    _signature_in(record["signature"])
    _check_model(record["model"])
    if not all(isinstance(word, str) for word in record["data"]["words"]):
        raise _damaged("data")
    return record


def requirements_in(record: Mapping[str, Any]) -> Requirements:
    """What is required in a record."""
    return Requirements.from_plain(record["requirements"])


def _names_of_figures() -> list[str]:
    keys = [figure.name for figure in FIGURES.values() if figure.key]
    return [*keys, *(f"f_{name}" for name in keys), "people"]


def _damaged(part: str) -> DecisionError:
    return DecisionError(f"The file is damaged: what stands under {part!r} is not what a decision has there.")


def _same_names(found: Mapping[str, Any], names: set[str], what: str) -> None:
    if unknown := sorted(set(found) - names):
        raise DecisionError(f"{what} has no field {unknown[0][:40]!r}: the file is damaged or was written by others.")
    if missing := sorted(names - set(found)):
        raise DecisionError(f"The file is damaged: the field {missing[0]!r} is missing.")


def _typed(found: Any, types: Mapping[str, tuple[type, ...]], part: str) -> None:
    if not isinstance(found, dict):
        raise _damaged(part)
    _same_names(found, set(types), f"“{part}” of a decision")
    for name, kinds in types.items():
        if not isinstance(found[name], kinds) or isinstance(found[name], bool):
            raise _damaged(part)


def _all_texts(found: Mapping[Any, Any]) -> bool:
    return all(isinstance(text, str) and len(text) <= MAX_TEXT for text in (*found, *found.values()))


def _signature_in(found: Mapping[str, Any]) -> Signature:
    if not _all_texts(found["rejected"]):
        raise _damaged("signature")
    try:
        days = {name: date.fromisoformat(found[name]) for name in ("signed", "look_again")}
    except ValueError:
        raise DecisionError("The file is damaged: its days are not written as 2027-05-31.") from None
    return Signature(found["who"], found["role"], found["why"], **days, rejected=found["rejected"])


def _check_model(model: Mapping[str, Any]) -> None:
    if model["fairness"] not in CRITERIA:
        raise DecisionError(f"There is no criterion {model['fairness'][:40]!r}: choose from {', '.join(CRITERIA)}.")
    if model["base_model"] not in (*BASE_MODELS, GIVEN_SCORES):
        raise DecisionError(
            f"There is no base model {model['base_model'][:40]!r} here: take a newer version of commod."
        )
    if model["method"] != KEEP_F and model["method"] not in METHODS:
        raise DecisionError(f"There is no method {model['method'][:40]!r} here: take a newer version of commod.")
    if not 0 < model["threshold"] < 1 or not 0 <= model["refits"] <= MAX_REFITS:
        raise _damaged("model")
    if not 0 <= model["split"] < 2**32 or not 0 <= model["seed"] < 2**32:
        raise _damaged("model")
    if model["method"] == KEEP_F and (model["value"] or model["settings"] or model["seed"] or model["refits"]):
        raise _damaged("model")
    for name, value in model["settings"].items():
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not name.isidentifier() or not (is_list or isinstance(value, _SETTINGS)):
            raise _damaged("model")
