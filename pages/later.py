"""Still true? A later batch of people beside those that a model was tested on."""

from commod.dashboard.pages.later.page import show

show()
