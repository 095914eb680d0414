"""Tasks declared as data, their loader, and the one encoding of tables."""

from commod.datasets.choice import Choice, ChoiceError
from commod.datasets.columns import guess_columns
from commod.datasets.declared import TASKS
from commod.datasets.encoding import TabularEncoder
from commod.datasets.from_file import task_of_file
from commod.datasets.grouping import Attribute, Grouping
from commod.datasets.leaks import find_leaks
from commod.datasets.load import (
    DataFileError,
    add_task,
    damaged_files,
    data_directory,
    data_of,
    forget_task,
    is_known,
    is_shipped,
    load_task,
    on_forget,
    task_names,
)
from commod.datasets.own import OwnTask, make_task
from commod.datasets.task import Feature, Split, Task, TaskSpec
from commod.uploads.limits import TableError
from commod.uploads.reading import ReadTable, read_table

__all__ = [
    "TASKS",
    "Attribute",
    "Choice",
    "ChoiceError",
    "DataFileError",
    "Feature",
    "Grouping",
    "OwnTask",
    "ReadTable",
    "Split",
    "TableError",
    "TabularEncoder",
    "Task",
    "TaskSpec",
    "add_task",
    "damaged_files",
    "data_directory",
    "data_of",
    "find_leaks",
    "forget_task",
    "guess_columns",
    "is_known",
    "is_shipped",
    "load_task",
    "make_task",
    "on_forget",
    "read_table",
    "task_names",
    "task_of_file",
]
