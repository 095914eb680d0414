"""Counts of people that add up over runs, in a small file.

They cover all people since the first run, and windows that start every `STEP` people, so that a long good past does not
hide a drop (as in the e-detectors of Shin, Ramdas and Rinaldo 2023).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from commod.monitoring.reference import MOST, Cells
from commod.monitoring.requirements import ON_TOTAL, Look
from commod.monitoring.watch import LEAST_PEOPLE, Watched
from commod.uploads.json_file import JsonError, read_json

# People until a new window starts, windows kept, and the share of the remaining money that each gets.
STEP, KEPT, EACH = 1_000, 6, 0.04
FORMAT, MAX_BYTES = "commod-watch/1", 2**20


def money_on(number: int) -> float:
    """The share of the money that is bet on all people (0), or on a window."""
    return ON_TOTAL if not number else (1 - ON_TOTAL) * EACH * (1 - EACH) ** (number - 1)


@dataclass(frozen=True)
class _Counted:
    """People counted together: all (number 0), or those since the start of a window."""

    number: int
    cells: Cells
    changes: Mapping[str, tuple[int, int]]

    @property
    def people(self) -> int:
        return int(self.cells.rows.sum())

    def plus(self, cells: Cells, changes: Mapping[str, tuple[int, int]]) -> _Counted:
        summed = {name: (a + changes[name][0], b + changes[name][1]) for name, (a, b) in self.changes.items()}
        return replace(self, cells=Cells(*(a + b for a, b in zip(self.cells, cells, strict=True))), changes=summed)


@dataclass(frozen=True)
class WatchState:
    """Counts of the people of all runs so far."""

    model: str  # digest of the model's file
    batches: tuple[str, ...] = ()  # digests of the batches counted, so that none is counted twice
    # All people first, then the last windows.
    parts: tuple[_Counted, ...] = ()

    @property
    def people(self) -> int:
        """How many people are counted."""
        return self.parts[0].people if self.parts else 0

    def plus(self, found: Watched, batch: bytes) -> WatchState:
        """With one more batch, unless it is counted already; ValueError if not all have groups and labels alike."""
        digest, (cells, changes) = _digest(batch), (found.counted.cells, found.counted.changes)
        if digest in self.batches:
            return self
        nobody = Cells(*(np.zeros_like(each) for each in cells))
        parts = list(self.parts or [_Counted(0, nobody, dict.fromkeys(changes, (0, 0)))])
        if parts[0].cells.rows.shape != cells.rows.shape or parts[0].changes.keys() != changes.keys():
            raise ValueError("Not all batches have groups and labels alike: start another --state file for this one.")
        parts = [part.plus(cells, changes) for part in parts]
        if parts[-1].people >= STEP:
            parts.append(_Counted(parts[-1].number + 1, nobody, dict.fromkeys(changes, (0, 0))))
        return WatchState(self.model, (*self.batches, digest), (parts[0], *parts[1:][-KEPT:]))

    def looks(self, found: Watched) -> list[Look]:
        """What is known of all people, and of each window."""
        return [
            (money_on(part.number), replace(found.counted, cells=part.cells, changes=part.changes).facts)
            for part in self.parts
            if part.people >= LEAST_PEOPLE
        ]

    @property
    def recent(self) -> int:
        """Which look is about the present: the oldest window that is kept, or all people while there are few."""
        return 1 if len(self.parts) > KEPT else 0

    @property
    def text(self) -> str:
        """As JSON, for `read_state`."""
        parts = [
            {"number": part.number, "cells": [each.tolist() for each in part.cells], "changes": dict(part.changes)}
            for part in self.parts
        ]
        return json.dumps({"format": FORMAT, "model": self.model, "batches": self.batches, "parts": parts})


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def read_state(content: bytes | None, model: bytes) -> WatchState:
    """The state in a file, or a new one without; ValueError if it is damaged, or about another model."""
    if content is None:
        return WatchState(_digest(model))
    found = read_json(content, "a state of commod watch", MAX_BYTES)
    try:
        if found["format"] != FORMAT:
            raise KeyError
        state = WatchState(str(found["model"]), tuple(map(str, found["batches"])), tuple(map(_part, found["parts"])))
    except (KeyError, TypeError, ValueError):
        raise JsonError("The file is no state of commod watch, or is damaged: choose another --state.") from None
    if state.model != _digest(model):
        raise ValueError("This state counts people of another model: choose another --state file.")
    return state


def _part(found: Any) -> _Counted:
    cells = Cells(*(np.array(each, dtype=float) for each in found["cells"]))
    changes = {name: (int(part), int(whole)) for name, (part, whole) in found["changes"].items()}
    sound = all(each.shape == cells.rows.shape and ((each >= 0) & (each <= MOST)).all() for each in cells)
    if not sound or cells.rows.ndim != 4 or not changes.keys() <= {"sure", "right"}:
        raise ValueError
    return _Counted(int(found["number"]), cells, changes)
