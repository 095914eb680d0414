"""The numbers that the paper prints: the only ones typed by hand."""

# Cells of Table 1, (fairness quartile, accuracy quartile), in the order printed.
TABLE1_CELLS = ((1, 3), (1, 4), (2, 2), (2, 3), (3, 2), (4, 1), (4, 2))
METHOD_ROWS = ("oracle_roc", "oracle_lpp", "lpp", "adv_debias", "frappe", "commod")

# Mean share of decisions changed, by data set and method; None where the paper prints a dash.
TABLE1: dict[str, dict[str, tuple[float | None, ...]]] = {
    "law_school": {
        "oracle_roc": (0.18, 0.08, 0.26, None, None, 0.33, None),
        "oracle_lpp": (None, 0.08, None, 0.12, None, None, None),
        "lpp": (0.11, 0.07, 0.15, None, 0.19, 0.23, 0.21),
        "adv_debias": (0.17, 0.12, 0.23, 0.18, 0.28, 0.34, 0.28),
        "frappe": (None, 0.03, 0.16, None, 0.18, 0.24, 0.21),
        "commod": (0.07, 0.01, 0.10, 0.08, 0.13, 0.24, 0.18),
    },
    "compas": {
        "oracle_roc": (0.02, 0.03, None, 0.05, 0.06, None, 0.09),
        "oracle_lpp": (0.02, 0.01, None, 0.03, 0.03, None, 0.06),
        "lpp": (0.08, 0.04, 0.14, 0.12, None, None, None),
        "adv_debias": (0.09, 0.07, 0.16, 0.12, 0.14, 0.20, 0.16),
        "frappe": (None, 0.18, 0.24, None, 0.21, 0.28, None),
        "commod": (0.05, 0.01, 0.09, 0.09, 0.05, 0.20, 0.06),
    },
}

# R² of the regressions of change rate, accuracy and fairness of g on f's figures and the λ's (Sec. 6.4).
R_SQUARED = {"change_rate": 0.96, "accuracy": 0.99, "p_rule": 0.97}

# The example on COMPAS with two concepts (Sec. 6.3): P-Rule and accuracy of f and g, share changed.
FIGURE2 = {"p_rule_f": 0.60, "p_rule": 0.78, "accuracy_f": 0.66, "accuracy": 0.62, "change_rate": 0.08}
