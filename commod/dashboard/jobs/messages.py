"""What the server and its processes send each other.

From the server: ``("work", number, scene, content)``, ``("stop", number)``, ``("scene", key)`` and ``("call",)`` with a
parcel each, ``("forget", data)``. From a process: ``("ready", None)``, ``("progress", (share, found))``, ``("lacks",
None)`` if it has not got the scene, ``("done", content)``, ``("failed", content)``; of a call, ``("returned", None)``
with a parcel, ``("refused", sentence)`` or ``("too large", None)``.
"""

from __future__ import annotations

import io
import pickle
from multiprocessing.connection import Connection
from typing import Any

from commod.experiments import Scene

Wire = Connection  # of a socket between the two


class _Pickler(pickle.Pickler):
    """The scene and its f are not sent: either side has them."""

    def __init__(self, file: io.BytesIO, scene: Scene) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._known = {id(scene): "scene", id(scene.f): "f"}

    def persistent_id(self, thing: Any) -> str | None:
        return self._known.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, scene: Scene) -> None:
        super().__init__(file)
        self._known = {"scene": scene, "f": scene.f}

    def persistent_load(self, name: str) -> Any:
        return self._known[name]


def pack(thing: Any, scene: Scene) -> bytes:
    """Content of a message, without the scene."""
    file = io.BytesIO()
    _Pickler(file, scene).dump(thing)
    return file.getvalue()


def unpack(content: bytes, scene: Scene) -> Any:
    """What was packed on the other side."""
    return _Unpickler(io.BytesIO(content), scene).load()


def send_parcel(wire: Wire[Any, Any], thing: Any) -> None:
    """Send hundreds of megabytes: arrays are not copied, and others can run while they are written."""
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    wire.send((content, [part.nbytes for part in raw]))
    for part in raw:
        wire.send_bytes(part)


def receive_parcel(wire: Wire[Any, Any]) -> Any:
    """What `send_parcel` sent; its arrays can be written to."""
    content, sizes = wire.recv()
    rooms = [bytearray(size) for size in sizes]
    for room in rooms:
        wire.recv_bytes_into(room)
    return pickle.loads(content, buffers=rooms)
