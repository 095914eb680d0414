"""A process that does what no process of ours should."""

import os
import pickle
import random
import struct
import time
from multiprocessing.connection import Connection

from commod.dashboard.jobs.worker import receive, send


def serve_oddly(odd, control):
    """What it does is `odd`."""
    wire = Connection(control.detach())
    if odd == "deaf":  # what is sent to it fills the pipe
        time.sleep(600)
    receive(wire)
    if odd == "bytes":
        os.write(wire.fileno(), struct.pack("!i", 5000) + random.Random(0).randbytes(5000))
    elif odd == "half a message":
        os.write(wire.fileno(), struct.pack("!i", 5000) + b"x")
    elif odd == "an unknown word":
        send(wire, "perhaps", 1)
    elif odd == "no message":
        wire.send(["done"])
    elif odd == "content that is none":
        wire.send(("done", None, b"\x80\x05nonsense", []))
    elif odd == "content cut off":
        wire.send(("done", None, pickle.dumps(list(range(1000)))[:100], []))
    time.sleep(600)  # else it is silent for ever
