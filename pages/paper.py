"""Paper: every table and figure of the paper recomputed, the printed numbers beside ours."""

from commod.dashboard.pages.paper.page import show

show()
