"""Glossary: every word that the app explains, by chapter, and what figures do not tell."""

from commod.dashboard.pages.glossary import show

show()
