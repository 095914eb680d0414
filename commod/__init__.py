"""COMMOD: controlled model debiasing through minimal and interpretable updates."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commod.datasets import load_task, task_names
    from commod.models import Commod, evaluate

__all__ = ["Commod", "evaluate", "load_task", "task_names"]
__version__ = "0.3.0"

# Imported on first use: `commod.portable` must run where only numpy is installed.
_HOMES = {
    "Commod": "commod.models",
    "evaluate": "commod.models",
    "load_task": "commod.datasets",
    "task_names": "commod.datasets",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
