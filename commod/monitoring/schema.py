"""What a `model.json` says of the people that its model was tested on, as a schema."""

from itertools import pairwise
from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from commod.uploads.limits import MAX_COLUMNS, MAX_TEXT

# Bins of the score in which labels are counted.
N_BINS = 10

T = TypeVar("T")
Name = Annotated[str, Meta(max_length=MAX_TEXT)]
# Of people, or of weights, of which only the ratio matters: how many there may be.
MOST = 1e9
Count = Annotated[float, Meta(ge=0, le=MOST)]
Pair = tuple[Count, Count]
Cube = tuple[tuple[Pair, Pair], tuple[Pair, Pair]]  # label, f, g
# Mean of label − score and its standard error.
Gap = tuple[Annotated[float, Meta(ge=-1, le=1)], Annotated[float, Meta(ge=0, le=1)]]


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


class _Both(Struct, Generic[T]):
    f: T
    g: T


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


class _Node(Struct):
    parent: int
    predicts: bool
    rule: Annotated[str, Meta(max_length=600)]
    count: Count
    changed: Count
    column: str | None = None
    level: str | UnsetType = UNSET
    cut: float | UnsetType = UNSET

    @property
    def asks(self) -> bool:
        return self.level is not UNSET or self.cut is not UNSET

    def __post_init__(self) -> None:
        if self.changed > self.count or (self.level is not UNSET and self.cut is not UNSET):
            raise ValueError("a node has at most as many changes as people, and asks one thing")


class _Reference(Struct):
    groups: Annotated[list[Name], Meta(min_length=2, max_length=100)]
    attributes: Annotated[list[_Attribute], Meta(min_length=1)]
    combinations: list[list[Annotated[int, Meta(ge=0)]]]
    label: _Label
    favourable: Literal[0, 1]
    outcomes: tuple[Name, Name]
    counts: list[Cube]
    changes: _Changes
    gaps: _Both[list[Gap | None]]
    bins: _Both[Annotated[list[tuple[Count, Count, Count]], Meta(min_length=N_BINS, max_length=N_BINS)]]
    columns: Annotated[dict[Name, _Distribution], Meta(max_length=MAX_COLUMNS)]
    scores: _Both[_Distribution]
    weight: Name | UnsetType = UNSET
    squares: list[Cube] | UnsetType = UNSET
    rows: list[Cube] | UnsetType = UNSET
    tree: Annotated[list[_Node], Meta(min_length=1, max_length=127)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        self._check_groups()
        for gaps, bins in ((self.gaps.f, self.bins.f), (self.gaps.g, self.bins.g)):
            if len(gaps) != len(self.groups) + 1 or gaps[0] is None:
                raise ValueError("gaps must be those of everyone and of each group")
            if any(max(row) > row[0] + 1e-6 for row in bins):
                raise ValueError("a bin has fewer people than labels")
        if UNSET in (self.scores.f.edges, self.scores.g.edges):
            raise ValueError("scores need edges")
        if isinstance(self.tree, list):
            self._check_tree(self.tree)

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

    def _check_tree(self, tree: list[_Node]) -> None:
        children = [0] * len(tree)
        for place, node in enumerate(tree):
            if not (0 <= node.parent < place if place else node.parent == -1):
                raise ValueError("each node of the tree but the first follows its parent")
            if place:
                children[node.parent] += 1
            if node.asks and node.column not in self.columns:
                raise ValueError("the tree asks for a column that is not known")
        if any(count != 2 * node.asks for count, node in zip(children, tree, strict=True)):
            raise ValueError("each node of the tree that asks has two children")


class ModelFile(Struct):
    """What of a `model.json` is checked here; `commod.portable.Portable` checks the rest."""

    reference: _Reference | UnsetType = UNSET
