"""A prediction task declared as data: features, target, sensitive attribute, split, base model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from commod.datasets.encoding import TabularEncoder
from commod.datasets.grouping import CROSS, UNKNOWN, Attribute, Grouping
from commod.datasets.raw import Contract

# An edit has few weights, so more rows than this make it slower, not better.
MAX_TRAINING = 40_000


@dataclass(frozen=True)
class Feature:
    """One input column: its name in the file, and its words."""

    name: str  # of the column in ``X``
    label: str  # as charts show it
    kind: Literal["number", "category"] = "number"
    unit: str = ""  # of a number: "points", "years"
    description: str = ""  # what the column records, in one sentence
    merit: Literal[1, -1, 0] = 0  # of a number: whether more (1) or less (-1) should never count against a person

    @property
    def title(self) -> str:
        """Label with its unit, e.g. ``"LSAT score (points)"``."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def after_number(self) -> str:
        """The unit after a number: " points"; empty for a count."""
        return f" {self.unit}" if self.unit not in ("", "count") else ""

    def fifths(self, low: float = 1, high: float = 5) -> str:
        """Which fifths of the population, where that is the unit: "lowest 3 fifths"."""
        end = "lowest" if low == 1 else "highest" if high == 5 else ""
        some = f"{end} {high - low + 1:g} fifths" if end else f"fifths {low:g} to {high:g}"
        return f"{self.label}: {some if low < high else f'{end} fifth' if end else f'fifth {low:g}'}"


# Of the rows (or people), as in the paper.
TEST_SHARE = 0.3
# For your own data: as many people confirm as explore, since neither verdict is sharper than the other.
CONFIRM_SHARE = 0.2
# Seed of the draw. An unusual one: an invented table, and its groups, may have been drawn with a usual one.
_LOTS = 0x5EA1ED


@dataclass(frozen=True)
class TaskSpec:
    """The declaration of a task: everything about it except its rows."""

    name: str  # in code and links
    title: str
    features: tuple[Feature, ...]
    target: str  # column of the labels
    target_label: str  # what 1 says of a person
    outcomes: tuple[str, str]  # names of outcomes 0 and 1
    favourable: Literal[0, 1]  # the decision that a person hopes for
    sensitive: str  # column of the groups
    groups: tuple[str, ...]  # names of the groups, by code
    filter: str  # which rows of the source it has
    people: str = "people"  # what the rows are called
    story: str = ""  # who decides what about whom, in a sentence
    # For each group, what its people are called in a sentence: ``"White": "White {people}"``.
    called: Mapping[str, str] = field(default_factory=dict, hash=False)
    scores: str = ""  # column of ``X`` with f's probabilities, if the data came with them; no feature
    threshold: float = 0.5  # default probability above which f decides positively
    suited: Mapping[str, Any] = field(default_factory=dict, hash=False)  # arguments of `Commod`, see `commod_settings`
    # By criterion, an attainable start for the search: the figure, and the share of changes in percent.
    targets: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    opens: str = ""  # the grouping that the app opens it with; default, the first
    groupings: tuple[Grouping, ...] = ()  # ways to divide its people; that of `sensitive` and `groups` is put first
    grouping: str = ""  # the current one (see `under`)
    truth: str = ""  # column of the true labels, if `target` is a biased record of them
    may_be_passed_on: bool = False  # whether its licence allows redistribution of its rows

    def __post_init__(self) -> None:
        if not self.groupings or self.groupings[0].name:
            attribute = Attribute(self.sensitive, self.sensitive, dict(enumerate(self.groups)))
            first = Grouping("", " / ".join(self.groups), (attribute,))
            object.__setattr__(self, "groupings", (first, *self.groupings))

    @property
    def data(self) -> str:
        """Name of the data set without its grouping."""
        return self.name.removesuffix(f".{self.grouping}") if self.grouping else self.name

    @property
    def task_names(self) -> dict[str, str]:
        """Name of each grouping to that of the task under it: ``{"": "adult", "race_sex": "adult.race_sex"}``."""
        return {each.name: f"{self.data}.{each.name}" if each.name else self.data for each in self.groupings}

    @property
    def parted_by(self) -> Grouping:
        """The grouping that it has now."""
        return next(each for each in self.groupings if each.name == self.grouping)

    def under(self, name: str) -> TaskSpec:
        """The task with the same people in other groups, without features that name them; KeyError if unknown."""
        grouping = {each.name: each for each in self.groupings}[name]
        if name == self.grouping:
            return self
        return replace(
            self,
            name=self.task_names[name],
            features=tuple(feature for feature in self.features if feature.name not in grouping.columns),
            sensitive=CROSS.join(attribute.name for attribute in grouping.attributes),
            groups=grouping.groups,
            suited={**self.suited, **grouping.suited},
            targets=grouping.targets,
            grouping=name,
        )

    @property
    def commod_settings(self) -> dict[str, Any]:
        """Arguments of `Commod` that suit it: the app's opening setting; sweeps use its λ_concepts and k, too."""
        # Concepts of many features are easier to read if there are more of them.
        k = 3 if len(self.features) > 8 else min(2, len(self.features))
        return {"lambda_concepts": 0.1, "n_concepts": k, **self.suited}


@dataclass(frozen=True)
class Split:
    """Rows of a task: features, labels (0/1), codes of their groups (-1: not known) and weights, aligned by index."""

    X: pd.DataFrame
    y: pd.Series
    sensitive: pd.Series
    weight: pd.Series | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def sensitive_features(self) -> pd.Series:
        """The groups as `Commod.fit` and the metrics take them: codes, missing if unknown."""
        known = self.sensitive != UNKNOWN
        return self.sensitive if known.all() else self.sensitive.where(known)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """The rows as arguments of `fit`, for `Commod` and the other methods."""
        return {"X": self.X, "y": self.y, "sensitive_features": self.sensitive_features, "sample_weight": self.weight}

    def sample(self, most: int = MAX_TRAINING, seed: int = 0) -> Split:
        """At most this many rows, drawn at random and kept in order; all rows if there are no more."""
        if len(self) <= most:
            return self
        return self.take(np.sort(np.random.default_rng(seed).permutation(len(self))[:most]))

    def take(self, rows: np.ndarray) -> Split:
        """The rows at these places."""
        weight = None if self.weight is None else self.weight.iloc[rows]
        return Split(self.X.iloc[rows], self.y.iloc[rows], self.sensitive.iloc[rows], weight)

    def known(self) -> Split:
        """The rows whose group is known."""
        known = self.sensitive.to_numpy() != UNKNOWN
        return self if known.all() else self.take(np.flatnonzero(known))

    def counted(self) -> Split:
        """The rows with a weight above 0."""
        return self if self.weight is None else self.take(np.flatnonzero(self.weight.to_numpy()))


@dataclass(frozen=True)
class Task:
    """A loaded task."""

    spec: TaskSpec
    X: pd.DataFrame  # features in original units, without the sensitive attribute; categories have dtype ``category``
    y: pd.Series  # 1 is the positive class, which need not be the favourable one (``spec.favourable``)
    sensitive: pd.Series  # the code of each row's group, a place in ``spec.groups``; -1 if it is unknown
    datasheet: str = field(repr=False, default="")  # Markdown: source, licence, size, groups, caveats
    recipe: str = field(repr=False, default="")  # Python that makes the task, if it does not ship
    person: pd.Series | None = field(repr=False, default=None)  # all rows of a person are on one side of a split
    time: pd.Series | None = field(repr=False, default=None)  # the latest rows are the test part
    contract: Contract = field(repr=False, default=())  # how a cell of the file becomes a value in ``X``
    roles: Mapping[str, Any] = field(repr=False, default_factory=dict)
    weight: pd.Series | None = field(repr=False, default=None)  # how many people a row stands for; default, one
    sealed: Split | None = field(repr=False, default=None)  # the people that `seal` has set aside
    test_share: float = TEST_SHARE  # of the rows that are left
    _first: tuple[np.ndarray, np.ndarray] | None = field(repr=False, default=None)  # split 0, if it is given
    # The true labels, if ``y`` is a biased record of them; nothing is trained on them.
    truth: pd.Series | None = field(repr=False, default=None)

    @property
    def command(self) -> list[str]:
        """File and roles as a command takes them; empty for data that ship."""
        file = f"./{self.spec.title}" if self.spec.title.startswith("-") else self.spec.title
        return [file, "--roles", "roles.json"] if self.roles else []

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def names(self) -> Mapping[str, str]:
        """Readable name with unit of each column of ``X``."""
        return {f.name: f.title for f in self.spec.features}

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, by code."""
        return self.spec.groups

    @cached_property
    def outcomes_by_group(self) -> np.ndarray:
        """Rows of each group (by code) with each outcome, 0 and 1."""
        known = self.sensitive >= 0
        cells = 2 * self.sensitive[known] + self.y[known]
        return np.bincount(cells, minlength=2 * len(self.groups)).reshape(-1, 2)

    @property
    def grouping(self) -> Grouping:
        """The attributes that divide its people."""
        return self.spec.parted_by

    def margins(self, sensitive: pd.Series | None = None) -> dict[str, tuple[pd.Series, tuple[str, ...]]]:
        """For a crossing, by attribute: the codes of all rows (or those in `sensitive`) and the names of its groups."""
        return self.grouping.margin_codes(self.sensitive if sensitive is None else sensitive)

    def features(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns of `X` that are features: all but a column of scores."""
        return X.drop(columns=self.spec.scores) if self.spec.scores in X.columns else X

    def without_scores(self) -> Task:
        """The same task with f yet to be trained: without the column of scores."""
        if not self.spec.scores:
            return self
        contract = tuple(rule for rule in self.contract if rule.name != self.spec.scores)
        sealed = self.sealed and replace(self.sealed, X=self.features(self.sealed.X))
        spec = replace(self.spec, scores="")
        return replace(self, X=self.features(self.X), spec=spec, contract=contract, sealed=sealed)

    def feature(self, column: str) -> Feature:
        """The declaration of a column; without one, its name is its label."""
        return next((each for each in self.spec.features if each.name == column), Feature(column, str(column)))

    def label(self, column: str, level: object = None) -> str:
        """Readable name of an encoded column: "LSAT score", or "School cluster: cluster 3" for a level."""
        label = self.feature(column).label
        return label if level is None else f"{label}: {level}"

    def split(
        self, seed: int = 0, test_size: float | None = None, *, confirm: float | None = None
    ) -> tuple[Split, ...]:
        """Split into train and test: at random, stratified by group and label, unless the task knows people or times.

        If the task knows people, whole people are drawn, stratified by their first rows. If it knows times, the latest
        rows are the test part. Rows of unknown group are used for training but never for testing: those that fall into
        the test part are left out (`n_unknown_test`).

        Parameters
        ----------
        seed : int
            The same seed gives the same rows; a split by time is the same for all.
        test_size : float, optional
            Share of the rows (or people) to test on; by default ``test_share`` (the paper: 0.3).
        confirm : float, optional
            Share of the rows to `seal` as a third part: with 0.2, 60 % learn, 20 % explore and 20 % confirm.
        """
        if confirm is not None:
            task = self.seal(confirm)
            assert task.sealed is not None
            return (*task.split(seed, test_size), task.sealed.known())
        train, test = self._places(seed, test_size)
        everyone = self._everyone
        return everyone.take(train), everyone.take(test).known()

    def seal(self, confirm: float = CONFIRM_SHARE, *, of_test: bool = False) -> Task:
        """The task without a share of its people, who are kept in ``sealed`` for one verdict at the end.

        They are drawn by row number (by time, they are the latest), so they do not depend on outcome, groups or seed,
        and no split of the task sees them. The test part becomes equally large; `of_test` draws them from the test part
        of split 0, whose training rows then stay the same.
        """
        if self.sealed is not None:
            raise ValueError("Some people of these data are already sealed: seal only once.")
        if not 0 < confirm <= 0.5:
            raise ValueError(f"At most half of the people can be sealed, but confirm is {confirm:g}: choose 0.2.")
        apart, share = self._lots() < confirm, confirm / (1 - confirm)
        first = None
        if of_test:
            train, test = self._places(0, None)
            apart[train] = False
            number = np.cumsum(~apart) - 1  # of a row among those that are left
            first = number[train], number[test[~apart[test]]]
            share = len(first[1]) / (number[-1] + 1)
        by_row = {name: getattr(self, name) for name in ("X", "y", "sensitive", "weight", "person", "time", "truth")}
        left: dict[str, Any] = {name: rows[~apart] for name, rows in by_row.items() if rows is not None}
        return replace(self, **left, sealed=self._everyone.take(np.flatnonzero(apart)), test_share=share, _first=first)

    def _lots(self) -> np.ndarray:
        """A number from 0 to 1 for each row, or person; the later, the smaller, if the task knows times."""
        if self.time is not None:
            rank = np.argsort(np.argsort(-self.time.to_numpy(), kind="stable"), kind="stable")
            return np.asarray(rank / len(rank))
        is_numbered = pd.api.types.is_integer_dtype(self.X.index)
        rows = self.X.index.to_numpy() if is_numbered else np.arange(len(self.y))
        if self.person is not None:
            rows = pd.Series(rows).groupby(self.person.to_numpy()).transform("min").to_numpy()
        return np.asarray(np.random.default_rng(_LOTS).random(rows.max() + 1)[rows])

    @property
    def _everyone(self) -> Split:
        return Split(self.X, self.y, self.sensitive, self.weight)

    def n_unknown_test(self, seed: int = 0) -> int:
        """How many rows `split` leaves out of the test part because their group is unknown."""
        _, test = self._places(seed, None)
        return int((self.sensitive.to_numpy()[test] == UNKNOWN).sum())

    def _places(self, seed: int, test_size: float | None) -> tuple[np.ndarray, np.ndarray]:
        """Places of the rows to train on and of those to test on, each in order."""
        if test_size is None and seed == 0 and self._first is not None:
            return self._first
        test_size = self.test_share if test_size is None else test_size
        if self.time is not None:
            order = np.argsort(self.time.to_numpy(), kind="stable")
            last = len(order) - int(np.ceil(test_size * len(order)))
            return np.sort(order[:last]), np.sort(order[last:])
        strata = self.sensitive.to_numpy() * 2 + self.y.to_numpy()
        draw = partial(train_test_split, test_size=test_size, random_state=seed)
        if self.person is None:
            train, test = draw(np.arange(len(self.y)), stratify=_drawable(strata))
            return np.sort(train), np.sort(test)
        people, first = np.unique(self.person.to_numpy(), return_index=True)
        _, held = draw(people, stratify=_drawable(strata[first]))
        is_test = self.person.isin(held).to_numpy()
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def base_model(self, classifier: BaseEstimator) -> Pipeline:
        """Return an unfitted Pipeline of the task's preprocessing and a clone of `classifier`."""
        return Pipeline([("prepare", TabularEncoder()), ("model", clone(classifier))])


def _drawable(strata: np.ndarray) -> np.ndarray:
    """The strata; those with one row join the largest, since one row cannot be on both sides of a split."""
    codes, place, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    return np.where(sizes[place] < 2, codes[sizes.argmax()], strata)
