"""Models of COMMOD's sweep that are asked about in pairs, on Decide and in a room."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.dashboard.jobs.wait import result_of, scene_of
from commod.dashboard.state.settings import Settings
from commod.dashboard.views.methods import Form, on_explore, own_sweep
from commod.decisions import Interview, models_to_choose_from
from commod.experiments import Scene, Sweep


@dataclass(frozen=True)
class Offer:
    """What there is to choose from on a scene."""

    settings: Settings  # of whoever asks: their scene and criterion
    scene: Scene
    sweep: Sweep
    interview: Interview

    def decisions(self, place: int) -> np.ndarray:
        """Of a model of the sweep, on test."""
        return self.sweep.models[place].decisions_test

    def there(self, place: int) -> Settings:
        """The settings under which Explore trains a model of the sweep."""
        return on_explore(self.settings, self.sweep.models[place].cell)


def offer_of(settings: Settings, place: Any, form: Form = ()) -> Offer:
    """The models to choose from, waited for with a progress bar at `place`; `form` is what limits their update."""
    sweep: Sweep = result_of(own_sweep(settings, form), place, "Training models to choose from")
    scene = scene_of(settings)
    return Offer(settings, scene, sweep, Interview(models_to_choose_from(scene, sweep)))
