"""COMMOD: the estimator, its solvers, and the evaluation of what it changed."""

from commod.models.best_response import Climb
from commod.models.estimator import Commod
from commod.models.evaluation import evaluate, figures_of

__all__ = ["Climb", "Commod", "evaluate", "figures_of"]
