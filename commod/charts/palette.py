"""Colours of Okabe and Ito: told apart with any colour vision, legible on light and on dark."""

__all__ = ["BETTER", "COMMOD", "FRONTIER", "PATH", "SHAP", "TRAIL", "WORSE", "F", "G"]

F = "#0072B2"
G = "#D55E00"
PATH = "#CC79A7"
TRAIL = "#E69F00"
FRONTIER = "#8A8A8A"
BETTER = "#009E73"
WORSE = "#CC79A7"
COMMOD = "#D55E00"
SHAP = "#56B4E9"
