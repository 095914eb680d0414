"""Paper: Table 1 of the paper recomputed, the printed numbers next to ours."""

from commod.dashboard.pages.paper import show

show()
