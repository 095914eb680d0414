"""How figures and criteria are written wherever they stand."""

from __future__ import annotations

FAIRNESS_TITLES = {"p_rule": "P-Rule (1 is fair)", "dm": "Disparate mistreatment (0 is fair)"}
