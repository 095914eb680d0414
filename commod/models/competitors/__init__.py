"""The methods COMMOD is compared with; classes are imported on first use, since some need torch or fairlearn."""

from importlib import import_module
from typing import Any

from commod.installation import needs_extra
from commod.models.competitors.registry import (
    FAMILIES,
    METHODS,
    Knob,
    Method,
    available_methods,
    make_method,
    overview,
    overview_in_words,
    two_groups_in_words,
    weights_in_words,
)

__all__ = [  # and each class below
    "FAMILIES",
    "METHODS",
    "Knob",
    "Method",
    "available_methods",
    "make_method",
    "overview",
    "overview_in_words",
    "two_groups_in_words",
    "weights_in_words",
]

_CLASSES = {name: module for method in METHODS.values() if method.estimator for module, name in [method.estimator]}


def __getattr__(name: str) -> Any:
    """Import a competitor's class on first use."""
    if name in _CLASSES:
        with needs_extra(name, "torch"):
            return getattr(import_module(_CLASSES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_CLASSES])
