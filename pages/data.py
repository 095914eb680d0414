"""Data sheets: where each data set comes from, group sizes first, and what it cannot support."""

from commod.dashboard.pages.datasheets import show

show()
