"""Take home: the current model as a report, as predictions, as a file that runs anywhere, and as code."""

from commod.dashboard.pages.take_home.page import show

show()
