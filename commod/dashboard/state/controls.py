"""What a slider or choice of the app is. `Settings` declares each of them once, by `slider`, `number` or `choice`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

# Titles of the options of a choice, by the data set that is shown.
Titles = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True)
class Control:
    """How a setting is chosen, and how it is spoken of.

    Parameters
    ----------
    label : str
        As it stands above its widget.
    name : str
        As it stands in a sentence.
    widget : {"slider", "number", "choice"}
        A number is slid or typed.
    grid : tuple of numbers
        All that a number can be: equal settings are then equal to the last digit, and train once for everybody.
    titles : callable or None
        Of a choice: from the name of the data set that is shown to the title of each option.
    decides : {"scene", "model", "look"}
        The scene: only models that have these in common can be compared in one picture. The model. Or nothing but how a
        model is looked at.
    argument : str
        The argument of `Commod` that it is, if it is one.
    word : str
        Its entry in the glossary, which is its tooltip.
    freezable : bool
        Whether a teacher's link can freeze it.
    optional : bool
        Whether files of saved runs may lack it. True for one that was added after such files had been written: they
        mean its default.
    """

    label: str
    name: str
    widget: Literal["slider", "number", "choice"]
    grid: tuple[float, ...] = ()
    titles: Titles | None = None
    decides: Literal["scene", "model", "look"] = "model"
    argument: str = ""
    word: str = ""
    freezable: bool = True
    optional: bool = False

    @property
    def heading(self) -> str:
        """The name as it stands at the beginning of a row; a symbol stays as it is."""
        return self.name.capitalize() if " " in self.name else self.name

    def options(self, data: str) -> dict[Any, str]:
        """All that it can be set to while a data set is shown, and how that is read."""
        if self.titles is None:
            return {value: f"{value:g}" for value in self.grid}
        return dict(self.titles(data))

    def in_words(self, value: Any, data: str) -> str:
        """A value as it is read."""
        return f"{value:g}" if self.titles is None else self.titles(data)[value]

    def nearest(self, text: str, data: str) -> tuple[Any, bool]:
        """The option that a text asks for and whether it is just this one; None if it asks for nothing known."""
        if self.titles is not None:
            return (text, True) if text in self.titles(data) else (None, False)
        try:
            number = float(text)
        except ValueError:
            return None, False
        if not math.isfinite(number):
            return None, False
        found = min(self.grid, key=lambda option: abs(option - number))
        return found, math.isclose(found, number, abs_tol=1e-9)


def slider(default: float, label: str, grid: Sequence[float], **more: Any) -> Any:
    """Declare a number that is slid."""
    return _field(default, label, widget="slider", grid=tuple(grid), **more)


def number(default: float, label: str, grid: Sequence[float], **more: Any) -> Any:
    """Declare a number that is typed."""
    return _field(default, label, widget="number", grid=tuple(grid), **more)


def choice(default: str, label: str, titles: Titles, **more: Any) -> Any:
    """Declare a choice between names."""
    return _field(default, label, widget="choice", titles=titles, **more)


def _field(default: Any, label: str, *, name: str = "", **more: Any) -> Any:
    control = Control(label, name or label[0].lower() + label[1:], **more)
    return field(default=default, metadata={"control": control})
