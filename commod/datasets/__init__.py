"""Tasks declared as data, their loader, and the one encoding of tables."""

from commod.datasets.declared import TASKS
from commod.datasets.encoding import TabularEncoder
from commod.datasets.load import DataFileError, data_directory, load_task, task_names
from commod.datasets.task import Feature, Split, Task, TaskSpec

__all__ = [
    "TASKS",
    "DataFileError",
    "Feature",
    "Split",
    "TabularEncoder",
    "Task",
    "TaskSpec",
    "data_directory",
    "load_task",
    "task_names",
]
