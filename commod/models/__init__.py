"""COMMOD: the estimator, its solvers, and the evaluation of what it changed."""

from commod.models.estimator import Commod
from commod.models.evaluation import evaluate, figures_of

__all__ = ["Commod", "evaluate", "figures_of"]
