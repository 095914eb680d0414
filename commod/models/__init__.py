"""COMMOD: the estimator, its solvers, and the evaluation of what it changed."""

from commod.models.best_response import WarmStart
from commod.models.estimator import Commod
from commod.models.evaluation import evaluate, figures_of

__all__ = ["Commod", "WarmStart", "evaluate", "figures_of"]
