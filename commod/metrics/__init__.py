"""Fairness of decisions, changes between two models, and their intervals."""

from commod.metrics.calibration import (
    calibration_by_group,
    calibration_table,
    expected_calibration_error,
    reliability_table,
)
from commod.metrics.counts import MIN_GROUP, compared_groups, left_out_in_words
from commod.metrics.fairness import (
    accuracy,
    compare_groups,
    delta_fpr,
    delta_tpr,
    demographic_parity_difference,
    disparate_mistreatment,
    extreme_groups,
    group_table,
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
    "delta_fpr",
    "delta_tpr",
    "demographic_parity_difference",
    "disparate_mistreatment",
    "expected_calibration_error",
    "extreme_groups",
    "group_table",
    "left_out_in_words",
    "p_rule",
    "reliability_table",
]
