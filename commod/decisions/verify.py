"""Check a signed decision: train its model and refits again, and compare line by line."""

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets import Task
from commod.datasets.choice import roles_in
from commod.datasets.load import lent
from commod.decisions.facts import Facts, facts_of, facts_of_f
from commod.decisions.record import (
    KEEP_F,
    DecisionError,
    data_hash,
    plain,
    read_as,
    read_record,
    recorded_figures,
    requirements_in,
    verdicts_of,
    versions,
)
from commod.decisions.verdicts import check_requirements
from commod.experiments.refits import refit
from commod.experiments.scene import Scene, prepare
from commod.experiments.sweep import Cell, fit_cell
from commod.models.base_models import GIVEN_SCORES
from commod.models.competitors import METHODS

# Largest difference of equal figures: machines differ in the last digits.
TOLERANCE = 1e-9


def verify_record(record: Mapping[str, Any], task: Task) -> pd.DataFrame:
    """Train the model of a record (from `read_record`) again on its data, and compare line by line.

    Returns
    -------
    DataFrame
        One row per line: ``line`` (the data's hash, rows and roles, each figure, each verdict, the features kept out),
        ``recorded, found`` (in words), ``agrees``. If the data differ, nothing is trained. `not_checked` has the rest.
    """
    data = record["data"]
    sha256 = data_hash(task if record["model"]["base_model"] == GIVEN_SCORES else task.without_scores())
    found = (sha256, len(task.y) + len(task.sealed or ()))
    recorded = (data["sha256"], data["rows"], _roles_of(data["words"]))
    lines = zip(("data", "rows", "read as"), recorded, (*found, _roles_of(read_as(task))), strict=True)
    rows: list[tuple[str, str, str, bool]] = [(name, str(then), str(now), then == now) for name, then, now in lines]
    if rows[0][3]:
        model = record["model"]
        with lent(task):
            scene = prepare(task.name, model["base_model"], model["split"], model["threshold"])
            rows += _judged_again(scene, record, record)
            if "confirmed" in record:
                again = _judged_again(scene.on_sealed, record, record["confirmed"])
                rows += [(f"sealed {row[0]}", *row[1:]) for row in again]
        required = requirements_in(record)
        if required.kept_out:
            known = {feature.name for feature in task.spec.features} | {task.spec.sensitive}
            unknown = ", ".join(name for name in required.kept_out if name not in known)
            there = f"no such feature: {unknown}" if unknown else "features"
            rows.append(("kept out", ", ".join(required.kept_out), there, not unknown))
    return pd.DataFrame(rows, columns=["line", "recorded", "found", "agrees"])


def open_sealed(scene: Scene, frozen: str) -> dict[str, Any]:
    """Figures and verdicts of the model in a record (its text) on the sealed people: see `with_opened`."""
    record = read_record(frozen)
    there = scene.on_sealed
    decisions, facts = _train_again(there, record["model"])
    return {"figures": recorded_figures(there, decisions), "verdicts": verdicts_of(requirements_in(record), facts)}


def _judged_again(scene: Scene, record: Mapping[str, Any], part: Mapping[str, Any]) -> list[tuple[str, str, str, bool]]:
    """Train a record's model again and compare each figure and verdict in `part` of it on the scene's people."""
    decisions, facts = _train_again(scene, record["model"])
    figures, then = recorded_figures(scene, decisions), part["figures"]
    rows = [(name, shown(then[name]), shown(figures[name]), agree(then[name], figures[name])) for name in then]
    checked = check_requirements(requirements_in(record), facts).set_index("requirement")
    recorded = {verdict["requirement"]: verdict for verdict in part["verdicts"]}
    return rows + [_compared(name, recorded.get(name), checked) for name in dict.fromkeys([*checked.index, *recorded])]


def _roles_of(words: list[str]) -> str:
    """How a table was read, in one notation for all versions of a record."""
    with suppress(ValueError):
        return json.dumps(roles_in(words), ensure_ascii=False, sort_keys=True) if words else ""
    return shlex.join(words)


def _train_again(scene: Scene, model: Mapping[str, Any]) -> tuple[np.ndarray, Facts]:
    if model["method"] == KEEP_F:
        return scene.decisions_test, facts_of_f(scene)
    others = tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in model["settings"].items())
    cell = Cell(model["method"], model["value"], others, model["seed"])
    try:
        decisions = fit_cell(scene, cell, model["fairness"]).decisions_test
        count = model["refits"]
        refits = refit(scene, cell, model["fairness"], count=count) if count else None
    except TypeError:  # a setting that the method does not have
        raise DecisionError(f"{METHODS[cell.method].title} does not have all the settings in this file.") from None
    return decisions.astype(int), facts_of(scene, decisions, cell, refits)


def _compared(name: str, recorded: Mapping[str, Any] | None, checked: pd.DataFrame) -> tuple[str, str, str, bool]:
    line = f"verdict: {name}"
    if recorded is None or name not in checked.index:
        there, here = (("–", "required"), ("required", "–"))[recorded is not None]
        return line, there, here, False
    row = checked.loc[name]
    # Older records say "pass" where we now say "does not apply".
    alike = recorded["verdict"] == row["verdict"] or (recorded["verdict"], row["verdict"]) == ("pass", "does not apply")
    same = alike and all(
        agree(recorded[column], plain(row[column])) for column in ("value", "low", "high", "refits_low", "refits_high")
    )
    then, now = (f"{each['verdict']} ({shown(plain(each['value']))})" for each in (recorded, row))
    return line, then, now, bool(same)


def agree(recorded: Any, found: Any) -> bool:
    """Whether two numbers, texts or gaps (None, NaN) are the same, except for rounding."""
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (recorded, found)]
    if all(numbers):
        return bool(abs(recorded - found) <= TOLERANCE) or (found != found and recorded != recorded)
    return bool(recorded == found) or (recorded is None and found != found)


def shown(value: Any) -> str:
    """A value as shown in a line of the comparison."""
    if value is None or value != value:
        return "–"
    return f"{value:.10g}".replace("-", "−") if isinstance(value, int | float) else str(value)


def not_checked(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What training again cannot check: what people wrote, and the settings that it starts from."""
    signature, model = record["signature"], record["model"]
    said = [(name, text) for name, text in signature.items() if name != "rejected"]
    said += [(f"rejected: {title}", reason) for title, reason in signature["rejected"].items()]
    said += [("required", text) for text in requirements_in(record).in_words] + [("data name", record["data"]["name"])]
    settings = {**{name: value for name, value in model.items() if name != "settings"}, **model["settings"]}
    said += [(f"setting: {name}", str(value)) for name, value in settings.items()]
    said += [(f"tried: {name}", f"{count}") for name, count in record.get("tried", {}).items()]
    said += [("opened before", ", ".join(record["confirmed"]["earlier"]) or "no")] if "confirmed" in record else []
    return said + [(f"version: {name}", text) for name, text in record["versions"].items()]


def other_versions(record: Mapping[str, Any]) -> list[str]:
    """How the software differs from a record's, in words: "numpy 2.1.0 then, 2.3.4 here"."""
    here = versions()
    then = {name: text for name, text in record["versions"].items() if text != here.get(name, text)}
    return [f"{name} {text} then, {here[name]} here" for name, text in then.items()]
