"""Compare: every method of the paper on one scene, and models of equal fairness and accuracy side by side."""

from commod.dashboard.pages.compare.page import show

show()
