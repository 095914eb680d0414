"""The model of the sliders as a file that runs anywhere, and that later people can be set beside."""

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.model.fitted import FitResult
from commod.monitoring.reference import DEPTH


def model_file(result: FitResult) -> str:
    """Its text, with the tree of the changes, which may have to be waited for."""
    tree = result_of(tasks.tree(result, DEPTH)) if result.changed_train.any() else None
    return result.as_json(tree)
