"""Who belongs to which group: attributes that divide people, alone or crossed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

# Joins the names of a crossing: "Black × Female".
CROSS = " × "
# The code of a row with an unknown group.
UNKNOWN = -1


def bands_of(cuts: Sequence[float]) -> tuple[str, ...]:
    """What the bands between some cuts of a number are called, e.g. ``("< 25", "25 to < 45", "≥ 45")``."""
    texts = [f"{cut:.10g}" for cut in cuts]
    between = [f"{low} to < {high}" for low, high in pairwise(texts)]
    return (f"< {texts[0]}", *between, f"≥ {texts[-1]}")


@dataclass(frozen=True)
class Attribute:
    """A column that divides people into groups, by its levels or by bands of its numbers."""

    name: str  # as in "fair by race"
    column: str
    # Cell to the name of its group; several cells may be one group. Cells that are not named mean an unknown group.
    levels: Mapping[Any, str] = field(default_factory=dict, hash=False)
    cuts: tuple[float, ...] = ()  # where to cut numbers, rising; a number equal to a cut is above it
    bands: tuple[str, ...] = ()  # names of the bands; by default those of `bands_of`

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, by code."""
        if self.cuts:
            return self.bands or bands_of(self.cuts)
        return tuple(dict.fromkeys(self.levels.values()))

    def codes(self, cells: pd.Series) -> np.ndarray:
        """The group of each cell, `UNKNOWN` if the cell does not say."""
        if self.cuts:
            numbers = cells.to_numpy(dtype=float)
            return np.where(np.isnan(numbers), UNKNOWN, np.searchsorted(self.cuts, numbers, side="right"))
        code = {name: place for place, name in enumerate(self.groups)}
        codes = cells.map({cell: code[name] for cell, name in self.levels.items()})
        return codes.astype(float).fillna(UNKNOWN).to_numpy(dtype=np.int64)


@dataclass(frozen=True)
class Grouping:
    """A way to divide the people of a task: by one attribute or, as a crossing, by two or more."""

    name: str  # in links and task names ("adult.race_sex"); empty for the one that a data set opens with
    title: str
    attributes: tuple[Attribute, ...]
    # As in `TaskSpec`, if the task needs its own under this grouping.
    suited: Mapping[str, Any] = field(default_factory=dict, hash=False)
    targets: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    combinations: tuple[tuple[int, ...], ...] = ()  # each group's code in each attribute; default, all in order

    def __post_init__(self) -> None:
        if not self.combinations:
            every = product(*(range(len(attribute.groups)) for attribute in self.attributes))
            object.__setattr__(self, "combinations", tuple(every))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it needs."""
        return tuple(attribute.column for attribute in self.attributes)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, by code; those of a crossing are joined: "Black × Female"."""
        return tuple(
            CROSS.join(attribute.groups[code] for attribute, code in zip(self.attributes, codes, strict=True))
            for codes in self.combinations
        )

    @property
    def margins(self) -> tuple[str, ...]:
        """Names of the attributes that it crosses; none if there is only one."""
        return tuple(attribute.name for attribute in self.attributes) if len(self.attributes) > 1 else ()

    def codes(self, frame: pd.DataFrame) -> pd.Series:
        """The group of each row, `UNKNOWN` where an attribute is not known."""
        parts = np.array([attribute.codes(frame[attribute.column]) for attribute in self.attributes])
        known = (parts >= 0).all(axis=0)
        shape = tuple(len(attribute.groups) for attribute in self.attributes)
        code_of = np.full(shape, UNKNOWN)
        code_of[tuple(np.array(self.combinations).T)] = np.arange(len(self.combinations))
        codes = np.where(known, code_of[tuple(np.maximum(parts, 0))], UNKNOWN)
        return pd.Series(codes, index=frame.index, name=CROSS.join(self.columns))

    def margin_codes(self, codes: pd.Series) -> dict[str, tuple[pd.Series, tuple[str, ...]]]:
        """For each attribute of a crossing, the same rows' codes by it alone and the names of its groups."""
        crossed = codes.to_numpy()
        found = {}
        for place, name in enumerate(self.margins):
            of_group = np.array([combination[place] for combination in self.combinations])
            by_it = np.where(crossed >= 0, of_group[np.maximum(crossed, 0)], UNKNOWN)
            found[name] = (pd.Series(by_it, index=codes.index, name=name), self.attributes[place].groups)
        return found
