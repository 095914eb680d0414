"""What a stakeholder requires, as a session has it: what can be told of its data, and the part of a link."""

from collections.abc import Mapping

from commod.dashboard.state.settings import criteria_of, features_of
from commod.decisions import RULES, Requirements, RequirementsError, Rule
from commod.metrics.figures import CRITERIA

# Their name in a link.
PARAMETER = "req"


def rules_of(task: str) -> dict[str, Rule]:
    """The requirements that can be told of a task: none of a criterion that is not offered on it."""
    told = criteria_of(task)
    untold = {criterion.figure_name for name, criterion in CRITERIA.items() if name not in told}
    return {name: rule for name, rule in RULES.items() if name not in untold}


def applicable(requirements: Requirements, task: str) -> Requirements:
    """What of requirements can be told of a task; features that it does not have cannot be kept out of it."""
    if not requirements:
        return requirements
    told, known = rules_of(task), features_of(task)
    kept_out = tuple(name for name in requirements.kept_out if name in known)
    if len(kept_out) == len(known):  # which would leave nothing to an update
        kept_out = ()
    limits = {name: limit for name, limit in requirements.limits.items() if name in told}
    return Requirements(**limits, kept_out=kept_out, direction=requirements.direction)


def requirements_to_link(requirements: Requirements) -> dict[str, str]:
    """Query parameters that hold the requirements; none if nothing is required."""
    return {PARAMETER: requirements.text} if requirements else {}


def requirements_from_link(parameters: Mapping[str, str], task: str) -> tuple[Requirements, list[str]]:
    """Requirements from query parameters, and a sentence if they could not be used as they stand."""
    try:
        asked = Requirements.from_text(parameters.get(PARAMETER, ""))
    except RequirementsError as error:
        return Requirements(), [f"The requirements of the link are left out. {error}"]
    found = applicable(asked, task)
    if found == asked:
        return found, []
    return found, ["The link requires what cannot be told of the data that are shown: the rest of it is required."]
