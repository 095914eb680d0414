"""A scene: a data set, a split of it and a trained f. Models can be compared only on the same scene."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from commod.datasets import Split, TabularEncoder, Task, is_known, is_shipped, load_task, on_forget
from commod.datasets.load import lent
from commod.explain.checks import certainty, counts_of_changes
from commod.metrics.counts import counts_of_codes, left_out_in_words
from commod.metrics.figures import CRITERIA, key_figures_of
from commod.models import Commod
from commod.models.base_models import GIVEN_SCORES, BaseModel, base_logits, logits_of_probabilities, train_base_model
from commod.models.competitors.membership import Membership
from commod.models.threads import single_threaded
from commod.models.threshold import ONE_HALF, logit_of

# An uploaded table with more rows than this is large: some methods would take minutes on all rows. Built-in data sets
# never count as large, so that their figures match the paper's.
LARGE = 20_000
AT_HAND = ("right", "sure")
# Training rows of a large table that the methods other than COMMOD learn from.
MAX_SAMPLE = 10_000


def is_large(task: Task) -> bool:
    """Whether methods other than COMMOD learn from a sample of the training rows, with one seed each."""
    return not is_shipped(task.name) and len(task.y) > LARGE


class SceneKey(NamedTuple):
    """Identifies a scene: its data set, its base model, the seed of its split, and f's cut-off."""

    data: str
    base_model: str = "logistic_regression"
    seed: int = 0
    threshold: float = ONE_HALF


@dataclass(frozen=True)
class Scene:
    """A split with its trained f; shared by every fit on it."""

    task: Task
    base_model: str
    seed: int
    train: Split
    test: Split
    f: BaseModel  # a Pipeline trained here, or the column of scores that came with the data
    encoder: TabularEncoder  # fitted on the rows that an edit is trained on, like the edit's own
    scores_train: np.ndarray  # f's probabilities
    logit_test: np.ndarray  # of f, minus the threshold's: f decides positively above 0
    encoded_train: np.ndarray
    encoded_test: np.ndarray
    threshold: float = ONE_HALF  # the probability above which f decides positively

    @property
    def line(self) -> float:
        return logit_of(self.threshold)

    def probabilities(self, margin: np.ndarray) -> np.ndarray:
        return np.asarray(1.0 / (1.0 + np.exp(-(margin + self.line))))

    def margin_of_f(self, X: pd.DataFrame) -> np.ndarray:
        return base_logits(self.f, X) - self.line

    @property
    def nbytes(self) -> int:
        """Its approximate size, without the trees of f: its rows, raw and encoded."""
        return 2 * (self.encoded_train.nbytes + self.encoded_test.nbytes)

    @property
    def decisions_test(self) -> np.ndarray:
        return (self.logit_test > 0).astype(int)

    @property
    def scores_test(self) -> np.ndarray:
        return self.probabilities(self.logit_test)

    @property
    def certainty_test(self) -> np.ndarray:
        return certainty(self.logit_test, self.line)

    @property
    def decisions_train(self) -> np.ndarray:
        return (self.logit_train > 0).astype(int)

    @property
    def logit_train(self) -> np.ndarray:
        """Logits of f minus the threshold's."""
        return logits_of_probabilities(self.scores_train, len(self.train), "f") - self.line

    def figures(self, decisions: np.ndarray) -> dict[str, float]:
        test = self.test
        counts = counts_of_codes(
            test.sensitive, len(self.task.groups), test.y, self.decisions_test, decisions, test.weight
        )
        return key_figures_of(counts, self.group_sizes)

    def shares(self, decisions: Any) -> dict[str, float]:
        """The share of the changes that is ``right`` by the record, and that f was ``sure`` of; NaN without changes."""
        counts = counts_of_changes(self.certainty_test, self.decisions_test, decisions, self.test.y)
        return {name: counts[name][0] / counts[name][1] if counts[name][1] else math.nan for name in AT_HAND}

    def figures_on_path(self, g: Commod, fairness: str) -> pd.DataFrame:
        """The key figures on test at each point of the path from f to g, and which one is ``fairness``."""
        rows = []
        for lambda_fair, rescaler in zip(g.path_["lambda_fair"], g.path_rescalers_, strict=True):
            figures = self.figures((rescaler.score(self.encoded_test, self.logit_test) > 0).astype(int))
            fair = figures[CRITERIA[fairness].figure_name]
            rows.append({"lambda_fair": float(lambda_fair), "fairness": fair, **figures})
        return pd.DataFrame(rows)

    @cached_property
    def group_sizes(self) -> np.ndarray:
        return np.bincount(self.test.sensitive, minlength=len(self.task.groups))

    @property
    def left_out(self) -> str:
        """Which groups are too small to be compared on test, and why; empty if none is."""
        return left_out_in_words(self.task.groups, self.group_sizes)

    @cached_property
    def basis(self) -> str:
        """Who is measured, unless it is every row of the test part, counted once; otherwise empty."""
        sentences = []
        if (self.task.sensitive < 0).any():
            unknown = self.task.n_unknown_test(self.seed)
            sentences.append(
                f"Measured on {len(self.test):,} of {len(self.test) + unknown:,} test {self.task.spec.people}, those "
                "whose group is known."
            )
        if self.task.weight is not None:
            sentences.append("Rates and figures are weighted; people are counted as rows.")
        return " ".join(sentences)

    @property
    def on_sealed(self) -> Scene:
        """The same f and training rows, tested on the task's sealed people: to be opened once."""
        if self.task.sealed is None:
            raise ValueError("Nobody is sealed in these data.")
        part = self.task.sealed.known().counted()
        return replace(
            self,
            test=part,
            logit_test=self.margin_of_f(part.X),
            encoded_test=self.encoder.transform(self.task.features(part.X)),
        )

    def learning_from(self, rows: np.ndarray) -> Scene:
        """The scene with only these training rows; its test rows stay."""
        train = self.train.take(rows)
        encoder = TabularEncoder()
        encoded = encoder.fit_transform(self.task.features(train.X), sample_weight=train.weight)
        return replace(
            self,
            train=train,
            encoder=encoder,
            scores_train=self.scores_train[rows],
            encoded_train=encoded,
            encoded_test=encoder.transform(self.task.features(self.test.X)),
        )

    def on_split(self, seed: int) -> Scene:
        """The same data, kind of f and threshold on another split, with f trained again."""
        made = trained_on(self.task, self.base_model, seed)
        return replace(made, threshold=self.threshold, logit_test=made.logit_test - self.line)

    @cached_property
    def sampled(self) -> Scene:
        """A large table's scene with at most `MAX_SAMPLE` training rows, the same share of each group and label."""
        if not is_large(self.task) or len(self.train) <= MAX_SAMPLE:
            return self
        share, rng = MAX_SAMPLE / len(self.train), np.random.default_rng(self.seed)
        strata = 2 * self.train.sensitive.to_numpy() + self.train.y.to_numpy()
        drawn = []
        for stratum in np.unique(strata):
            own = rng.permutation(np.flatnonzero(strata == stratum))
            drawn.append(own[: math.ceil(share * len(own))])  # nobody is left out because there are few
        return self.learning_from(np.sort(np.concatenate(drawn)))

    @cached_property
    def _memberships(self) -> dict[float, Membership]:
        return {}

    def membership(self, penalty: float = 1.0) -> Membership:
        """Who a training row probably is: one model for all methods that ask; a lower penalty regularises more."""
        if penalty not in self._memberships:
            rows = self.train
            # One thread, as the methods' own would have: two of a busy machine take ten times as long.
            with single_threaded():
                made = Membership(C=penalty).fit(self.encoded_train, rows.y, rows.sensitive, rows.weight)
            self._memberships[penalty] = made
        return self._memberships[penalty]


MAX_SCENES = 16
# Their approximate size together: the largest possible upload makes a scene of 200 MB for each f.
MAX_SCENE_BYTES = 1024 * 2**20
_scenes: OrderedDict[SceneKey, Scene] = OrderedDict()  # the one not used for longest first
_preparing: dict[SceneKey, Lock] = {}  # one lock per scene, so that nobody waits for another scene's f to train
_guard = Lock()  # of both; held for a moment only


def prepare(data: str, base_model: str = "logistic_regression", seed: int = 0, threshold: float = ONE_HALF) -> Scene:
    """Split and f of a scene; trained once, kept for a few scenes."""
    key = SceneKey(data, base_model, seed, threshold)
    with _guard:
        if key in _scenes:
            _scenes.move_to_end(key)
            return _scenes[key]
        preparing = _preparing.setdefault(key, Lock())
    with preparing:
        with _guard:
            if key in _scenes:  # another thread has made it meanwhile
                return _scenes[key]
        scene = None
        try:
            scene = _prepare(key)
            return scene
        finally:
            with _guard:
                _preparing.pop(key, None)
                if scene is not None:
                    _keep(key, scene)


def _keep(key: SceneKey, scene: Scene) -> None:
    """Called under the guard."""
    if is_known(key.data):  # it may have been dropped meanwhile
        _scenes[key] = scene
    while len(_scenes) > 1 and (
        len(_scenes) > MAX_SCENES or sum(kept.nbytes for kept in _scenes.values()) > MAX_SCENE_BYTES
    ):
        _scenes.popitem(last=False)


def has_trained(key: SceneKey) -> bool:
    """Whether the f of a scene is at hand, at any threshold."""
    with _guard:
        return key._replace(threshold=ONE_HALF) in _scenes


def keep_trained(key: SceneKey, parts: tuple[Any, ...]) -> None:
    """Take over a scene whose f was trained in another process; `parts` are what `parts_of` gave there."""
    scene = Scene(_task_of(key), *parts)
    with _guard:
        if key not in _scenes:
            _keep(key, scene)


def trained_parts(key: SceneKey, task: Task | None) -> tuple[Any, ...]:
    """Train an f, of uploaded data if a `task` is given; what `keep_trained` takes."""
    with lent(task):
        return parts_of(prepare(*key))


def parts_of(scene: Scene) -> tuple[Any, ...]:
    """The parts of a scene to send to a process that has its data set."""
    return tuple(getattr(scene, entry.name) for entry in fields(scene) if entry.name != "task")


def _task_of(key: SceneKey) -> Task:
    task = load_task(key.data)
    given = key.base_model == GIVEN_SCORES
    if given and not task.spec.scores:
        raise ValueError("These data have no scores of a model: choose a base model to train on them.")
    return task if given else task.without_scores()


def _prepare(key: SceneKey) -> Scene:
    data, base_model, seed, threshold = key
    if threshold != ONE_HALF:
        scene = prepare(data, base_model, seed)
        return replace(scene, threshold=threshold, logit_test=scene.logit_test - logit_of(threshold))
    return trained_on(_task_of(key), base_model, seed)


def trained_on(task: Task, base_model: str, seed: int) -> Scene:
    """A split of a task with its f, which is trained here; nothing is kept."""
    train, test = task.split(seed=seed)
    given = base_model == GIVEN_SCORES
    f: BaseModel = task.spec.scores if given else train_base_model(task, train, base_model)
    train, test = train.sample().counted(), test.counted()  # f learns from all rows, an edit from as many as it needs
    encoder = TabularEncoder().fit(task.features(train.X), sample_weight=train.weight)
    return Scene(
        task,
        base_model,
        seed,
        train,
        test,
        f,
        encoder,
        train.X[f].to_numpy() if isinstance(f, str) else f.predict_proba(train.X)[:, 1],
        base_logits(f, test.X),
        encoder.transform(task.features(train.X)),
        encoder.transform(task.features(test.X)),
    )


def _forget_scenes(data: str) -> None:
    with _guard:
        for key in [key for key in _scenes if key.data == data]:
            del _scenes[key]


on_forget(_forget_scenes)
