"""Requirements, verdicts and signed decisions."""

from commod.decisions.facts import Facts, Measured, facts_of, facts_of_counts, facts_of_f
from commod.decisions.requirements import DIRECTIONS, RULES, Requirements, RequirementsError, Rule
from commod.decisions.rivals import Best, best_under
from commod.decisions.verdicts import VERDICTS, check_requirements, more_people, overall

__all__ = [
    "DIRECTIONS",
    "RULES",
    "VERDICTS",
    "Best",
    "Facts",
    "Measured",
    "Requirements",
    "RequirementsError",
    "Rule",
    "best_under",
    "check_requirements",
    "facts_of",
    "facts_of_counts",
    "facts_of_f",
    "more_people",
    "overall",
]
