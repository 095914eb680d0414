"""Lesson: a guided hour on the live app, one question before every slider."""

from commod.dashboard.pages.lesson.page import show

show()
