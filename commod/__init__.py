"""COMMOD: controlled model debiasing through minimal and interpretable updates."""

from commod.datasets import load_task, task_names
from commod.models import Commod, evaluate

__all__ = ["Commod", "evaluate", "load_task", "task_names"]
__version__ = "0.1.0"
