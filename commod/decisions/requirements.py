"""Every requirement on a model, declared once: its figure, its side (at least or at most), unit and range.

Pages, links, saved runs, the report, decision records and the command line read this table. A new numeric requirement
is one entry here and its value in `commod.decisions.facts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import quote, unquote

from commod.metrics.figures import FIGURES

# What an update may do to people, and the same in words, as a requirement.
DIRECTIONS = {"improve": "an update by which nobody can lose", "worsen": "an update by which nobody can gain"}
# Limits: features kept out, letters in a feature's name, and letters of requirements as text.
MAX_KEPT_OUT, MAX_NAME, MAX_LETTERS = 50, 200, 4000


class RequirementsError(ValueError):
    """What is wrong with requirements, in a sentence."""


@dataclass(frozen=True)
class Rule:
    """A numeric requirement: something must be at least, or at most, a limit."""

    name: str  # the field of `Requirements`
    title: str  # without the number; it ends with the side: "P-Rule at least"
    words: str  # in a sentence, with a gap for the number: "a P-Rule of {} or more"
    meaning: str  # what is counted, in a sentence
    default: float  # where its control starts
    percent: bool = True  # whether it is written in percent
    most: float = 1.0  # the largest sensible limit; the smallest is 0
    none: str = ""  # the words for the limit 0, if they differ: "nobody worse off"
    of_changes: bool = False  # whether it is a share of the changes, and so does not apply if there are none
    thing: tuple[str, str] = ("", "")  # singular and plural: "12 changes too many"; empty if not a share of people

    @property
    def side(self) -> str:
        """Either "at least" or "at most"."""
        return " ".join(self.title.split()[-2:])

    @property
    def sign(self) -> int:
        """1 if more of it is better, -1 if less of it is."""
        return 1 if self.side == "at least" else -1

    def show(self, value: float) -> str:
        """A value as text: "8.1%" or "0.798"; a dash if there is none."""
        if math.isnan(value):
            return "–"
        text = f"{value:.1%}" if self.percent else f"{value:.3f}"
        return text.lstrip("-") if not text.strip("-0.%") else text.replace("-", "−")  # no minus before 0

    def show_limit(self, limit: float) -> str:
        """A limit without trailing zeros: "8%" or "0.8"."""
        return f"{100 * limit:.6g}%" if self.percent else f"{limit:.6g}"

    def wanted(self, limit: float) -> str:
        """The requirement in words."""
        return self.none if self.none and limit == 0 else self.words.format(self.show_limit(limit))

    def is_met(self, value: float, limit: float) -> bool:
        """Whether a value is on the right side of the limit."""
        return self.sign * (value - limit) >= -1e-12


# Every numeric requirement, by name, in the order of display.
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("p_rule", "P-Rule at least", "a P-Rule of {} or more", FIGURES["p_rule"].meaning, 0.8, percent=False),
        Rule(
            "dm",
            "Mistreatment at most",
            "mistreatment of {} or less",
            FIGURES["dm"].meaning,
            0.2,
            percent=False,
            most=2.0,
        ),
        Rule(
            "accuracy_lost",
            "Accuracy lost at most",
            "at most {} of accuracy lost",
            "Accuracy of f minus that of the model, on the same people.",
            0.02,
            none="no accuracy lost",
            thing=("right decision", "right decisions"),
        ),
        Rule(
            "changed",
            "Decisions changed at most",
            "at most {} of the decisions changed",
            FIGURES["change_rate"].meaning,
            0.08,
            none="no decision changed",
            thing=("change", "changes"),
        ),
        Rule(
            "worse_off",
            "People worse off at most",
            "at most {} of the people worse off",
            "Share of people whose decision went from the favourable one to the other.",
            0.0,
            none="nobody worse off",
            thing=("person", "people"),
        ),
        Rule(
            "sure",
            "Changes f was sure of at most",
            "f was sure in at most {} of the changed cases",
            "Of the decisions that changed, the share to which f gave a probability of more than 90%.",
            0.25,
            none="f was sure in no changed case",
            of_changes=True,
            thing=("case", "cases"),
        ),
        Rule(
            "right",
            "Changes that are right at least",
            "at least {} of the changes agree with the record",
            "Of the decisions that changed, the share that now agrees with the label in the data. If f is calibrated, "
            "that is one minus its probability for what it decided.",
            0.2,
            of_changes=True,
            thing=("right change", "right changes"),
        ),
        Rule(
            "again",
            "Changes that happen again at least",
            "at least {} of the changes survive retraining",
            "Of the decisions that changed, the share that changes again in nine of ten refits on resampled training "
            "data or more.",
            0.8,
            of_changes=True,
            thing=("such change", "such changes"),
        ),
    )
}


@dataclass(frozen=True)
class Requirements:
    """What is required of a model; None or empty means no requirement.

    Parameters
    ----------
    p_rule, dm, accuracy_lost, changed, worse_off, sure, right, again : float, optional
        Limits, as `RULES` says; shares between 0 and 1.
    kept_out : tuple of str
        Features that the update may not use.
    direction : {"", "improve", "worsen"}
        Requires an update by which nobody can lose, or nobody can gain.

    Raises
    ------
    RequirementsError
        If a limit is out of its range, or another value is invalid.
    """

    p_rule: float | None = None
    dm: float | None = None
    accuracy_lost: float | None = None
    changed: float | None = None
    worse_off: float | None = None
    sure: float | None = None
    right: float | None = None
    again: float | None = None
    kept_out: tuple[str, ...] = ()
    direction: str = ""

    def __post_init__(self) -> None:
        for rule in RULES.values():
            value = getattr(self, rule.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= rule.most:
                raise RequirementsError(f"“{rule.title}” takes a number from 0 to {rule.most:g}, or nothing.")
            object.__setattr__(self, rule.name, float(value) + 0.0)  # no minus before 0
        if isinstance(self.kept_out, str) or not isinstance(self.kept_out, tuple | list):
            raise RequirementsError("kept_out must be a list of names of features.")
        are_names = all(isinstance(name, str) and 0 < len(name) <= MAX_NAME for name in self.kept_out)
        if len(self.kept_out) > MAX_KEPT_OUT or not are_names:
            raise RequirementsError(f"Keep out at most {MAX_KEPT_OUT} features, each of 1 to {MAX_NAME} letters.")
        object.__setattr__(self, "kept_out", tuple(sorted(set(self.kept_out))))
        if not isinstance(self.direction, str) or self.direction not in ("", *DIRECTIONS):
            raise RequirementsError(f"direction must be one of {', '.join(DIRECTIONS)}, or left out.")

    def __bool__(self) -> bool:
        """Whether anything is required."""
        return self != Requirements()

    @property
    def limits(self) -> dict[str, float]:
        """Name and limit of each numeric requirement."""
        found = {name: getattr(self, name) for name in RULES}
        return {name: limit for name, limit in found.items() if limit is not None}

    @property
    def in_words(self) -> list[str]:
        """Each requirement in words, for use in a sentence."""
        rules = [RULES[name].wanted(limit) for name, limit in self.limits.items()]
        if self.kept_out:
            rules.append(f"{', '.join(self.kept_out)} kept out of the update")
        return rules + ([DIRECTIONS[self.direction]] if self.direction else [])

    # ---- as JSON ----

    @property
    def plain(self) -> dict[str, Any]:
        """What is required, by name, in JSON's types."""
        found = {"kept_out": list(self.kept_out), "direction": self.direction}
        return self.limits | {name: value for name, value in found.items() if value}

    @classmethod
    def from_plain(cls, content: Any) -> Requirements:
        """Read what `plain` gives; any other input gives a `RequirementsError`."""
        if not isinstance(content, Mapping):
            raise RequirementsError('Requirements must be one JSON object, such as {"p_rule": 0.8}.')
        known = [entry.name for entry in fields(cls)]
        if unknown := [name for name in content if name not in known]:
            name = str(unknown[0])[:40]
            raise RequirementsError(f"There is no requirement {name!r}: choose from {', '.join(known)}.")
        return cls(**content)

    # ---- as a short text, for links ----

    @property
    def text(self) -> str:
        """A short text for a link: ``p_rule:0.8;changed:0.05;kept_out:age,sex``; empty if nothing is required."""
        said = {name: f"{limit:.10g}" for name, limit in self.limits.items()}
        said |= {"kept_out": ",".join(quote(name, safe="") for name in self.kept_out), "direction": self.direction}
        return ";".join(f"{name}:{value}" for name, value in said.items() if value)

    @classmethod
    def from_text(cls, text: str) -> Requirements:
        """Read what `text` gives; any other input gives a `RequirementsError`."""
        if len(text) > MAX_LETTERS:
            raise RequirementsError(f"Requirements can have at most {MAX_LETTERS:,} letters: copy the link again.")
        found: dict[str, Any] = {}
        for part in filter(None, text.split(";")):
            name, _, value = part.partition(":")
            if name in found:
                raise RequirementsError(f"{name[:40]!r} is required twice: leave one of them out.")
            if name in RULES:
                found[name] = _number(value)
            elif name == "kept_out":
                found[name] = tuple(unquote(each) for each in value.split(","))
            else:
                found[name] = value
        return cls.from_plain(found)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan  # which no range holds
