"""Saved runs: models pinned with a name, up to four side by side, and one small file of them all."""

from commod.dashboard.pages.runs.page import show

show()
