"""Fairness of decisions, changes between two models, and their intervals."""

from commod.metrics.calibration import (
    calibration_by_group,
    calibration_table,
    reliability_table,
)
from commod.metrics.counts import MIN_GROUP, compared_groups, left_out_in_words
from commod.metrics.fairness import (
    accuracy,
    compare_groups,
    disparate_mistreatment,
    extreme_groups,
    p_rule,
)
from commod.metrics.figures import CRITERIA, FIGURES, Criterion, Figure
from commod.metrics.report import change_rate, change_table, compare_decisions

__all__ = [
    "CRITERIA",
    "FIGURES",
    "MIN_GROUP",
    "Criterion",
    "Figure",
    "accuracy",
    "calibration_by_group",
    "calibration_table",
    "change_rate",
    "change_table",
    "compare_decisions",
    "compare_groups",
    "compared_groups",
    "disparate_mistreatment",
    "extreme_groups",
    "left_out_in_words",
    "p_rule",
    "reliability_table",
]
