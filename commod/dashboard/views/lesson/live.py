"""A step of a lesson with its models from the app's queue."""

from typing import Any

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state.settings import Settings
from commod.dashboard.views.lesson.steps import Stage, Step
from commod.experiments.sweep import Cell


def live_stage(step: Step, place: Any, here: Settings | None = None) -> Stage:
    """The step with its models, each waited for when it is first asked for, its progress shown at `place`."""
    return Stage(
        step,
        lambda settings: result_of(tasks.fit(settings), place, "Training"),
        lambda model: result_of(tasks.shap(model), place, "SHAP"),
        lambda settings, *rival: result_of(tasks.rival(settings, Cell(*rival)), place, "Training another method"),
        here,
    )
