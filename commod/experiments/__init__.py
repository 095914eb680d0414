"""Methods swept and compared on one scene."""

from commod.experiments.checks import answers_of
from commod.experiments.compare import compare
from commod.experiments.grid import grid_of, run_grid
from commod.experiments.refits import Refits, refit
from commod.experiments.scene import Scene, prepare
from commod.experiments.sweep import Model, Sweep, points_of, sweep_method
from commod.experiments.target import Target, find_settings

__all__ = [
    "Model",
    "Refits",
    "Scene",
    "Sweep",
    "Target",
    "answers_of",
    "compare",
    "find_settings",
    "grid_of",
    "points_of",
    "prepare",
    "refit",
    "run_grid",
    "sweep_method",
]
