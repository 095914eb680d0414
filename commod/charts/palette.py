"""Colours of Okabe and Ito: told apart with any colour vision, legible on light and on dark."""

__all__ = ["BETTER", "COMMOD", "FRONTIER", "METHODS", "PATH", "SHAP", "TRAIL", "WORSE", "F", "G"]

F = "#0072B2"
G = "#D55E00"
PATH = "#CC79A7"
TRAIL = "#E69F00"
FRONTIER = "#8A8A8A"
BETTER = "#009E73"
WORSE = "#CC79A7"
COMMOD = "#D55E00"
SHAP = "#56B4E9"

# By name in the registry of methods. A rival that knows the group has its blind sibling's colour where it has one.
METHODS = {
    "commod": "#D55E00",
    "adv_debias": "#0072B2",
    "frappe": "#009E73",
    "frappe_mlp": "#7A9A00",
    "lpp": "#CC79A7",
    "oracle_lpp": "#CC79A7",
    "oracle_roc": "#E69F00",
    "hardt": "#56B4E9",
    "pleiss": "#9467BD",
    "wass1": "#9467BD",
    "cfbc": "#E69F00",
    "fst": "#8C564B",
    "fair_projection": "#17A2A2",
    "bayes": "#7F7F7F",
    "oracle": "#7F7F7F",
    "leaf_relabelling": "#B8860B",
    "mnb": "#009E73",
    "rnf": "#E377C2",
    "wass1_penalised": "#9467BD",
    "multiaccuracy_boost": "#56B4E9",
}
