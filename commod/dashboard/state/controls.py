"""The app's sliders and choices. `Settings` declares each of them once, with `control`."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal
from urllib.parse import unquote


@dataclass(frozen=True)
class Control:
    """How a setting is chosen, and what it is called."""

    label: str  # above its widget
    name: str  # within a sentence
    # All possible values of a number: equal settings are equal to the last digit, and train once for everybody.
    grid: tuple[float, ...] = ()
    stops: tuple[float, ...] = ()  # where its slider stops; by default everywhere on the grid
    # For a choice, instead of a grid: from the task shown (`Settings.task_name`) to the title of each option.
    titles: Callable[[str], Mapping[str, str]] | None = None
    # Whether several options can be chosen; the value is their names in one text, as `join` writes them.
    several: bool = False
    typed: bool = False  # whether a number is typed, not slid
    text: bool = False  # whether it is a line of text
    count: bool = False  # whether it is a whole number from 1 on, or empty; the value is its text
    # The scene: models that differ in it cannot be in one picture. The model. Only how a model is shown. Or nothing at
    # all: a user's note.
    decides: Literal["scene", "model", "display", "note"] = "model"
    argument: str = ""  # of `Commod`, if it is one
    word: str = ""  # its entry in the glossary, which is its tooltip
    freezable: bool = True  # whether a teacher's link can freeze it
    # Whether files of saved runs may lack it and then mean its default: true for a setting added after them.
    optional: bool = False

    @property
    def heading(self) -> str:
        """The name at the beginning of a row; a symbol (k, λ_fair) stays as it is."""
        is_symbol = len(self.name) == 1 or "_" in self.name
        return self.name if is_symbol else self.name.capitalize()

    def options(self, task: str) -> Mapping[Any, str]:
        """All values that it can have while a task is shown, in words."""
        return self.titles(task) if self.titles else self._of_grid

    @cached_property
    def _of_grid(self) -> Mapping[Any, str]:
        return {value: f"{value:g}" for value in self.grid}

    def in_words(self, value: Any, task: str) -> str:
        if self.text or self.count:
            return str(value)
        if self.several:
            *first, last = [self.options(task)[name] for name in split(value)] or ["none"]
            return f"{', '.join(first)} and {last}" if first else last
        return self.titles(task)[value] if self.titles else f"{value:g}"

    def takes(self, value: Any, task: str) -> bool:
        """Whether it can be set to this while a task is shown."""
        if not (self.text or self.several or self.count):
            return value in self.options(task)
        return isinstance(value, str) and self.nearest(value, task) == (value, True)

    def to_widget(self, value: Any) -> Any:
        return list(split(value)) if self.several else value

    def from_widget(self, shown: Any, task: str) -> Any:
        """A widget's content as a value; names in the order in which they are offered."""
        if self.text:
            return clean_line(shown) if isinstance(shown, str) else shown
        if self.count and isinstance(shown, str):
            return re.sub(r"[\s,]", "", shown)  # 1,000 is 1000
        if self.typed and isinstance(shown, int | float) and self.grid[0] <= shown <= self.grid[-1]:
            return min(self.grid, key=lambda option: abs(option - shown))  # the closest one
        if not self.several or not isinstance(shown, list):
            return shown
        known = list(self.options(task))
        return join(name for name in known if name in shown) if all(name in known for name in shown) else None

    def nearest(self, text: str, task: str) -> tuple[Any, bool]:
        """The option closest to a text, and whether it is exact; None if the text is not understood."""
        if self.text:
            return clean_line(text), clean_line(text) == text
        if self.count:
            whole = text.isdecimal() and len(text) < 10 and int(text) > 0
            return ("", True) if text == "" else (f"{int(text)}" if whole else None, whole)
        if self.several:
            known, asked = list(self.options(task)), set(split(text))
            names = [name for name in known if name in asked]
            # All of them would leave nothing.
            return (join(names), len(names) == len(asked)) if len(names) < len(known) else (None, False)
        if self.titles:
            return (text, True) if text in self.titles(task) else (None, False)
        try:
            number = float(text)
        except ValueError:
            return None, False
        if not math.isfinite(number):
            return None, False
        found = min(self.grid, key=lambda option: abs(option - number))
        return found, math.isclose(found, number, abs_tol=1e-9)

    def fault(self, found: Any) -> str:
        """What is wrong with a text in which `nearest` found only this."""
        if self.count:
            return "is no whole number" if found is None else "goes with an update that counts changed decisions"
        if self.several:
            return "leaves no feature" if found is None else "holds what is no feature here"
        return "is not known" if found is None else "is not on its slider"


def join(names: Iterable[str]) -> str:
    """Names in one text; they may contain any characters."""
    return ",".join(name.replace("%", "%25").replace(",", "%2C") for name in names)


def split(text: str) -> tuple[str, ...]:
    """The names in a text that `join` has written."""
    return tuple(unquote(part) for part in text.split(",") if part)


def clean_line(text: str, most: int = 200) -> str:
    """A text as one line of at most this many characters, without invisible ones."""
    joiners = "\u200c\u200d"  # letters and emoji need them
    kept = "".join(c if c.isprintable() or c in joiners else " " for c in text[: 20 * most])
    line = " ".join(kept.split())[:most].strip()
    return line if line.strip(joiners + " ") else ""


def control(default: Any, label: str, *, name: str = "", **more: Any) -> Any:
    """Declare a field of `Settings`; its name is the label, unless said otherwise."""
    declared = Control(label, name or label[0].lower() + label[1:], **more)
    return field(default=default, metadata={"control": declared})
