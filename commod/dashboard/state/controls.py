"""What a slider or choice of the app is. `Settings` declares each of them once, by `control`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Control:
    """How a setting is chosen, and how it is spoken of."""

    label: str  # as it stands above its widget
    name: str  # as it stands in a sentence
    # All that a number can be: equal settings are then equal to the last digit, and train once for everybody.
    grid: tuple[float, ...] = ()
    # Of a choice, in place of a grid: from the data set that is shown to the title of each option.
    titles: Callable[[str], Mapping[str, str]] | None = None
    typed: bool = False  # whether a number is typed, not slid
    # The scene: models that do not have these in common have no place in one picture. The model. Or nothing but how a
    # model is looked at.
    decides: Literal["scene", "model", "look"] = "model"
    argument: str = ""  # of `Commod`, if it is one
    word: str = ""  # its entry in the glossary, which is its tooltip
    freezable: bool = True  # whether a teacher's link can freeze it
    # Whether files of saved runs may lack it and then mean its default: true for one that was added later than they.
    optional: bool = False

    @property
    def heading(self) -> str:
        """The name as it stands at the beginning of a row; a symbol (k, λ_fair) stays as it is."""
        is_symbol = len(self.name) == 1 or "_" in self.name
        return self.name if is_symbol else self.name.capitalize()

    def options(self, data: str) -> Mapping[Any, str]:
        """All that it can be set to while a data set is shown, and how that is read."""
        return self.titles(data) if self.titles else {value: f"{value:g}" for value in self.grid}

    def in_words(self, value: Any, data: str) -> str:
        """A value as it is read."""
        return self.titles(data)[value] if self.titles else f"{value:g}"

    def nearest(self, text: str, data: str) -> tuple[Any, bool]:
        """The option that a text asks for and whether it is just this one; None if it asks for nothing known."""
        if self.titles:
            return (text, True) if text in self.titles(data) else (None, False)
        try:
            number = float(text)
        except ValueError:
            return None, False
        if not math.isfinite(number):
            return None, False
        found = min(self.grid, key=lambda option: abs(option - number))
        return found, math.isclose(found, number, abs_tol=1e-9)


def control(default: Any, label: str, *, name: str = "", **more: Any) -> Any:
    """Declare a field of `Settings`; its name is the label, unless said otherwise."""
    declared = Control(label, name or label[0].lower() + label[1:], **more)
    return field(default=default, metadata={"control": declared})
