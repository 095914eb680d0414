"""Explanations of what COMMOD changed: each returns frames, drawing lives elsewhere."""

from commod.explain.concepts import explain_concepts, explain_loadings
from commod.explain.shap_comparison import ShapComparison, explain_with_shap
from commod.explain.tree import DEPTHS, ChangeTree, explain_tree

__all__ = [
    "DEPTHS",
    "ChangeTree",
    "ShapComparison",
    "explain_concepts",
    "explain_loadings",
    "explain_tree",
    "explain_with_shap",
]
