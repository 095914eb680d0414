"""Your data: upload a table, say what is what, and every other page works on it."""

from commod.dashboard.pages.your_data.page import show

show()
