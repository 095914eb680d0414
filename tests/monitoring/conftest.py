"""A model that tells of half of its test people, and the other half as a later batch."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest

from commod.datasets import Split
from commod.experiments import Scene, prepare
from commod.models import Commod
from commod.models.export import portable_json
from commod.monitoring import batch_of, read_model, reference_of
from commod.portable import Portable
from tests.fitting import case, fit


def margins(scene, g, rows):
    return scene.margin_of_f(rows.X), g.decision_function(rows.X)


def text_of(scene, g, rows):
    reference = reference_of(scene.task, rows, *margins(scene, g, rows), line=scene.line)
    return portable_json(g, contract=scene.task.contract, reference=reference)


@dataclass(frozen=True)
class Watching:
    scene: Scene
    g: Commod
    old: Split
    new: Split
    text: str

    @property
    def content(self) -> bytes:
        return self.text.encode()

    @property
    def model(self) -> Portable:
        return _read(self.content)

    @property
    def batch(self) -> pd.DataFrame:
        return batch_of(self.scene.task, self.new)


@cache
def _read(content: bytes) -> Portable:
    return read_model(content)


def watching(name: str, **settings) -> Watching:
    scene = prepare(name)
    g = fit(case(name), **settings)
    order = np.random.default_rng(0).permutation(len(scene.test))
    old, new = (scene.test.take(np.sort(part)) for part in np.array_split(order, 2))
    return Watching(scene, g, old, new, text_of(scene, g, old))


@pytest.fixture(scope="session")
def law() -> Watching:
    return watching("law_school", lambda_fair=3.0, lambda_concepts=0.05)
