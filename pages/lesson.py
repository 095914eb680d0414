"""Lesson: a guided hour on the live app, one question before every slider."""

from commod.dashboard import layout, session
from commod.dashboard.lesson import page

layout.page("pages/lesson.py")
page.overview()
step = page.head()
session.keep_link()
page.work_through(step)
page.turn_pages()
page.for_teachers()
session.keep_link()
