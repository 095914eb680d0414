"""What is in a link: settings, what a teacher leaves to learners, and requirements. Whatever it holds, it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from commod.dashboard.state.lesson_data import is_lesson_data
from commod.dashboard.state.settings import (
    CONTROLS,
    OWN_PREFIX,
    Settings,
    criteria_of,
    defaults,
    features_of,
    first_data,
    offered,
    opening,
)
from commod.datasets import TASKS, damaged_files
from commod.decisions import RULES, Requirements, RequirementsError, Rule
from commod.metrics.figures import CRITERIA

# What a teacher's link can leave to a learner. How a model is looked at is always theirs.
FREEZABLE = tuple(name for name, control in CONTROLS.items() if control.freezable)


@dataclass(frozen=True)
class Access:
    """Which controls can be moved: all of them, unless the session was opened by a teacher's link."""

    live: frozenset[str] | None = None
    hidden: bool = False  # whether the others are hidden, or shown as they stand

    def allows(self, *names: str) -> bool:
        """Whether all these controls can be moved."""
        return self.live is None or all(name in self.live or name not in FREEZABLE for name in names)

    def keep(self, settings: Settings, here: Settings) -> Settings:
        """`settings`, but with what cannot be moved as it is `here`."""
        return offered(replace(settings, **{name: getattr(here, name) for name in FREEZABLE if not self.allows(name)}))

    def to_link(self) -> dict[str, str]:
        """Query parameters of a teacher's link."""
        if self.live is None:
            return {}
        controls = {"controls": ",".join(name for name in FREEZABLE if name in self.live)}
        return controls | ({"rest": "hidden"} if self.hidden else {})


def access_from_link(parameters: Mapping[str, str]) -> tuple[Access, list[str]]:
    """What a link leaves to whoever opens it, and a sentence for each name in it that is none of a control."""
    if "controls" not in parameters:
        return Access(), []
    asked = [name.strip() for name in parameters["controls"][:400].split(",") if name.strip()]
    known, unknown = ", ".join(FREEZABLE), [name[:20] for name in asked if name not in FREEZABLE][:3]
    notices = [f"The link names a control “{name}”, which is not known. Known are: {known}." for name in unknown]
    return Access(frozenset(asked) & frozenset(FREEZABLE), parameters.get("rest") == "hidden"), notices


def to_link(settings: Settings) -> dict[str, str]:
    """Query parameters that hold the complete setting; one that is empty needs none."""
    return {name: as_text(value) for name, value in vars(settings).items() if value != ""}


def from_link(parameters: Mapping[str, str], own: str | None = None) -> tuple[Settings, list[str]]:
    """Settings from query parameters, and a sentence for each one that could not be used as it stands.

    An unknown choice or something that is no number falls back to the default, a number beside the grid to the nearest
    on it. Parameters that are not ours are left alone. `own` names the data that this session has uploaded.
    """
    settings, faults = _read(parameters, own)
    return settings, [f"{fault}: {used}" for fault, used in faults]


def settings_of_link(parameters: Mapping[str, str], own: str | None = None) -> Settings:
    """Settings from query parameters, for programs; ValueError if one of them cannot be used as it stands."""
    settings, faults = _read(parameters, own)
    if faults:
        raise ValueError(f"{faults[0][0]}.")
    return settings


def _read(parameters: Mapping[str, str], own: str | None) -> tuple[Settings, list[tuple[str, str]]]:
    """Settings, and for each parameter that could not be used what is wrong with it and what is used instead."""
    data, faults = _data_in(parameters, own)
    # A link that names the data only is one to where they open; others were written with all that is not usual.
    start = defaults(data) if set(CONTROLS) & set(parameters) - {"data"} else opening(data)
    for name, control in CONTROLS.items():  # groups first: what else can be chosen depends on them
        if name == "data" or name not in parameters:
            continue
        found, just_this = control.nearest(parameters[name], start.task_name)
        if name == "groups" and found:
            start = defaults(data, found)
        elif found is not None:
            start = replace(start, **{name: found})
        if not just_this or (control.count and getattr(start, name) != found):
            used = control.in_words(getattr(start, name), start.task_name)
            faults.append(_fault(control.name, parameters[name], control.fault(found), used))
    return start, faults


def link_of_model(settings: Settings) -> str:
    """A model in one text: what is noted of it and how it is looked at stay with whoever does."""
    return urlencode(to_link(settings.model()))


@lru_cache(maxsize=1024)
def model_of_link(link: str) -> Settings:
    """The model of a text that `link_of_model` has written; whatever it holds, it is read."""
    return from_link(dict(parse_qsl(link)))[0].model()


def _data_in(parameters: Mapping[str, str], own: str | None) -> tuple[str, list[tuple[str, str]]]:
    """The data set of a link, or the first one with the reason why."""
    first = first_data()
    data, title = parameters.get("data", first), TASKS[first].title
    if data == own or is_lesson_data(data):
        return data, []
    if data.startswith(OWN_PREFIX):
        fault = "The link is about uploaded data, which stay in the session of whoever uploaded them"
        return first, [(fault, f"{title} is shown. To see the same, upload the file on the page “Your data”.")]
    if data not in TASKS:
        return first, [_fault(CONTROLS["data"].name, data, "is not known", title)]
    if data in damaged_files():
        return first, [(damaged_files()[data].rstrip("."), f"{title} is shown.")]
    return data, []


def as_text(value: Any) -> str:
    """A value of a setting as links have it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _fault(name: str, text: str, why: str, used: str) -> tuple[str, str]:
    shown = text if len(text) <= 20 else text[:20] + "…"
    return f"The link asks for {name} = “{shown}”, which {why}", f"{used} is used."


# ---- what is required ----

# Their name in a link.
REQUIRED = "req"


def rules_of(task: str) -> dict[str, Rule]:
    """The requirements that apply to a task: none of a criterion that is not offered on it."""
    defined = criteria_of(task)
    untold = {criterion.figure_name for name, criterion in CRITERIA.items() if name not in defined}
    return {name: rule for name, rule in RULES.items() if name not in untold}


def applicable(requirements: Requirements, task: str) -> Requirements:
    """The part of requirements that applies to a task; features that it does not have cannot be kept out of it."""
    if not requirements:
        return requirements
    rules, known = rules_of(task), features_of(task)
    kept_out = tuple(name for name in requirements.kept_out if name in known)
    if len(kept_out) == len(known):  # which would leave nothing to an update
        kept_out = ()
    limits = {name: limit for name, limit in requirements.limits.items() if name in rules}
    return Requirements(**limits, kept_out=kept_out, direction=requirements.direction)


def requirements_to_link(requirements: Requirements) -> dict[str, str]:
    """Query parameters that hold the requirements; none if nothing is required."""
    return {REQUIRED: requirements.text} if requirements else {}


def requirements_from_link(parameters: Mapping[str, str], task: str) -> tuple[Requirements, list[str]]:
    """Requirements from query parameters, and a sentence if they could not be used as they stand."""
    try:
        asked = Requirements.from_text(parameters.get(REQUIRED, ""))
    except RequirementsError as error:
        return Requirements(), [f"The requirements of the link are left out. {error}"]
    found = applicable(asked, task)
    if found == asked:
        return found, []
    return found, ["Some of the link's requirements do not apply to these data. The others are in force."]
