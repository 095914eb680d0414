"""A process that says it is ready and then does what no process of ours should."""

import os
import pickle
import random
import struct
import time


def serve_oddly(odd, wire):
    """What it does is `odd`."""
    wire.send(("ready", None))
    if odd == "deaf":  # what is sent to it fills the pipe
        time.sleep(600)
    wire.recv_bytes()
    if odd == "bytes":
        os.write(wire.fileno(), struct.pack("!i", 5000) + random.Random(0).randbytes(5000))
    elif odd == "half a message":
        os.write(wire.fileno(), struct.pack("!i", 5000) + b"x")
    elif odd == "an unknown word":
        wire.send(("perhaps", 1))
    elif odd == "not a pair":
        wire.send(["done"])
    elif odd == "content that is none":
        wire.send(("done", b"\x80\x05nonsense"))
    elif odd == "content cut off":
        wire.send(("done", pickle.dumps(list(range(1000)))[:100]))
    time.sleep(600)  # else it is silent for ever
