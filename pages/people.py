"""Who changed: group sizes first, what it did to each group, the segments, and the people one by one."""

from commod.dashboard.pages.people.page import show

show()
