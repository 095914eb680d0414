"""What can be done at all: limits of fairness by few changes, exact, and the rule that is optimal in theory."""

from commod.theory.blind import blind_curve, chance_of_group, fewest_blind_changes
from commod.theory.flips import best_curve, fails_from, mistreatment_curve, p_rule_curve, switching_point
from commod.theory.interventions import error_rates, fewest_interventions, fewest_to_reach, interventions_by_demand

__all__ = [
    "best_curve",
    "blind_curve",
    "chance_of_group",
    "error_rates",
    "fails_from",
    "fewest_blind_changes",
    "fewest_interventions",
    "fewest_to_reach",
    "interventions_by_demand",
    "mistreatment_curve",
    "p_rule_curve",
    "switching_point",
]
