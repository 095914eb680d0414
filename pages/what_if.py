"""What if: one person, every feature editable, and the sum that leads from f to g."""

from commod.dashboard.pages.what_if.page import show

show()
