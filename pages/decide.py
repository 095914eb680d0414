"""Decide: what is required of a model, whether it holds, and who signs it."""

from commod.dashboard.pages.decide.page import show

show()
