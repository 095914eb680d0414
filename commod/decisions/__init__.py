"""Requirements, verdicts, and signed decisions."""

from commod.decisions.facts import Facts, Measured, facts_of, facts_of_counts, facts_of_f
from commod.decisions.record import (
    TRIED,
    DecisionError,
    Signature,
    confirmation,
    data_hash,
    is_of,
    make_record,
    read_record,
    record_json,
    requirements_in,
    tried_in_words,
    with_opened,
)
from commod.decisions.requirements import DIRECTIONS, RULES, Requirements, RequirementsError, Rule
from commod.decisions.rivals import BestModel, best_under, collapse_of
from commod.decisions.verdicts import VERDICTS, check_requirements, met_in_words, more_people, overall
from commod.decisions.verify import not_checked, open_sealed, other_versions, verify_record

__all__ = [
    "DIRECTIONS",
    "RULES",
    "TRIED",
    "VERDICTS",
    "BestModel",
    "DecisionError",
    "Facts",
    "Measured",
    "Requirements",
    "RequirementsError",
    "Rule",
    "Signature",
    "best_under",
    "check_requirements",
    "collapse_of",
    "confirmation",
    "data_hash",
    "facts_of",
    "facts_of_counts",
    "facts_of_f",
    "is_of",
    "make_record",
    "met_in_words",
    "more_people",
    "not_checked",
    "open_sealed",
    "other_versions",
    "overall",
    "read_record",
    "record_json",
    "requirements_in",
    "tried_in_words",
    "verify_record",
    "with_opened",
]
