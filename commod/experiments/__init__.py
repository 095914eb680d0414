"""Methods swept and compared on one scene."""

from commod.experiments.scene import Scene, prepare
from commod.experiments.sweep import Model, Sweep, compare, points_of, sweep_method

__all__ = ["Model", "Scene", "Sweep", "compare", "points_of", "prepare", "sweep_method"]
