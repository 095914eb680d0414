"""Models of COMMOD's sweep that are asked about in pairs, on Decide and in a room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state.settings import Settings, defaults
from commod.decisions import Interview, models_to_choose_from
from commod.experiments import Scene, Sweep, prepare


@dataclass(frozen=True)
class Offer:
    """What there is to choose from on a scene.

    Attributes
    ----------
    settings : Settings
        Of whoever asks: their scene and criterion.
    """

    settings: Settings
    scene: Scene
    sweep: Sweep
    interview: Interview

    def decisions(self, place: int) -> np.ndarray:
        """Of a model of the sweep, on test."""
        return self.sweep.models[place].decisions_test

    def there(self, place: int) -> Settings:
        """The settings under which Explore trains a model of the sweep."""
        cell, usual = self.sweep.models[place].cell, defaults(self.settings.data, self.settings.groups)
        others: dict[str, Any] = {"lambda_concepts": usual.lambda_concepts, "k": usual.k, "update": Settings.update}
        return replace(self.settings.free(), lambda_fair=cell.value, **others | dict(cell.others))


def offer_of(settings: Settings, place: Any) -> Offer:
    """The models to choose from, waited for with a progress bar at `place`."""
    sweep: Sweep = result_of(tasks.sweep("commod", settings), place, "Training models to choose from")
    scene = prepare(*settings.scene())
    return Offer(settings, scene, sweep, Interview(models_to_choose_from(scene, sweep)))
