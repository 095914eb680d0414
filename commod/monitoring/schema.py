"""What a `model.json` says of the people that its model was tested on, as a schema."""

from itertools import pairwise
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from commod.uploads.limits import MAX_COLUMNS, MAX_TEXT

Name = Annotated[str, Meta(max_length=MAX_TEXT)]
# Of people, or of weights, of which only the ratio matters: how many there may be.
MOST = 1e9
Count = Annotated[float, Meta(ge=0, le=MOST)]
Pair = tuple[Count, Count]
Cube = tuple[tuple[Pair, Pair], tuple[Pair, Pair]]  # label, f, g


def _rising(numbers: list[float]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


class _Attribute(Struct):
    column: Name
    cuts: list[float]
    merge: dict[Name, Name]
    levels: list[Name]

    def __post_init__(self) -> None:
        if not _rising(self.cuts):
            raise ValueError("cuts must rise")


class _Label(Struct):
    column: Name
    positive: Name | Annotated[list[Name], Meta(min_length=1)]
    negative: Name | None
    cut: float | None


class _Changes(Struct):
    # How many, of how many changed decisions.
    sure: Pair
    right: Pair

    def __post_init__(self) -> None:
        if self.sure[0] > self.sure[1] or self.right[0] > self.right[1]:
            raise ValueError("a part must not be larger than the whole")


class _Distribution(Struct):
    counts: Annotated[list[Count], Meta(max_length=2_000)]
    levels: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    edges: list[float] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if isinstance(self.levels, list):
            sound, size = len(set(self.levels)) == len(self.levels), len(self.levels)
        else:
            edges = [] if isinstance(self.edges, UnsetType) else self.edges
            sound, size = self.edges is not UNSET and _rising(edges), len(edges) + 2
        if not sound or len(self.counts) != size or not sum(self.counts) > 0:
            raise ValueError("counts must be one for each level, or two more than edges, which rise")


class _Scores(Struct):
    f: _Distribution
    g: _Distribution


class _Reference(Struct):
    # Older files also hold calibration and a tree of the changes; both are ignored.
    groups: Annotated[list[Name], Meta(min_length=2, max_length=100)]
    attributes: Annotated[list[_Attribute], Meta(min_length=1)]
    combinations: list[list[Annotated[int, Meta(ge=0)]]]
    label: _Label
    favourable: Literal[0, 1]
    outcomes: tuple[Name, Name]
    counts: list[Cube]
    changes: _Changes
    columns: Annotated[dict[Name, _Distribution], Meta(max_length=MAX_COLUMNS)]
    scores: _Scores
    weight: Name | UnsetType = UNSET
    squares: list[Cube] | UnsetType = UNSET
    rows: list[Cube] | UnsetType = UNSET

    def __post_init__(self) -> None:
        self._check_groups()
        if UNSET in (self.scores.f.edges, self.scores.g.edges):
            raise ValueError("scores need edges")

    def _check_groups(self) -> None:
        sizes = [len(attribute.levels) for attribute in self.attributes]
        sound = len(self.combinations) == len(self.groups) and all(
            len(codes) == len(sizes) and all(code < size for code, size in zip(codes, sizes, strict=True))
            for codes in self.combinations
        )
        if not sound:
            raise ValueError("combinations must name one level of each attribute for each group")
        for cubes in (self.counts, *((self.squares, self.rows) if self.weight is not UNSET else ())):
            if isinstance(cubes, UnsetType) or len(cubes) != len(self.groups):
                raise ValueError("counts must be there for each group, and with weights squares and rows, too")
            if not sum(number for cube in cubes for table in cube for pair in table for number in pair) > 0:
                raise ValueError("counts must not all be 0")


class ModelFile(Struct):
    """What of a `model.json` is checked here; `commod.portable.Portable` checks the rest."""

    reference: _Reference | UnsetType = UNSET
