"""The room: a class sees what it guesses, tries and votes for."""

from commod.dashboard.pages.room.page import show

show()
