"""Who imports the modules of the pages: one thread at a time."""

from threading import Lock

# Two that import the same packages in different orders would wait for each other, for which Python raises.
one_at_a_time = Lock()
