"""Limits: what so many changes can do at best, and how near to it COMMOD and the others come."""

from commod.dashboard.pages.limits.page import show

show()
