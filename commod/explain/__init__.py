"""Explanations of what COMMOD changed, as frames; drawing is done elsewhere."""

from commod.explain.checks import CHECKS, Answer, Check, explain_certainty, explain_record
from commod.explain.concepts import explain_concepts, explain_loadings
from commod.explain.groups import count_hundred, explain_proxies
from commod.explain.people import DEPTHS, ChangeTree, explain_tree
from commod.explain.shap_comparison import ShapComparison, explain_with_shap
from commod.explain.what_if import explain_merit

__all__ = [
    "CHECKS",
    "DEPTHS",
    "Answer",
    "ChangeTree",
    "Check",
    "ShapComparison",
    "count_hundred",
    "explain_certainty",
    "explain_concepts",
    "explain_loadings",
    "explain_merit",
    "explain_proxies",
    "explain_record",
    "explain_tree",
    "explain_with_shap",
]
