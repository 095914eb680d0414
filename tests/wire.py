"""A browser tab reduced to its websocket: what it asks for, and every byte that it is sent."""

import time
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect


class Wire:
    """One session with a server."""

    def __init__(self, address, query="", page="", origin=None):
        self.received = []  # bytes of every message
        self.session_id = ""
        host = urlsplit(address).netloc
        self._connection = connect(
            f"ws://{host}/_stcore/stream",
            subprotocols=["streamlit"],
            origin=origin or address,
            max_size=None,
            close_timeout=0.5,
        )
        self._socket = self._connection.__enter__()
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        self._socket.send(message.SerializeToString())

    def read(self, seconds=60.0):
        """Receive until the script has run to its end; true if it has."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                content = self._socket.recv(timeout=max(0.01, deadline - time.monotonic()))
            except TimeoutError:
                return False
            self.received.append(content)
            message = ForwardMsg.FromString(content)
            self.session_id = self.session_id or message.new_session.initialize.session_id
            if message.WhichOneof("type") == "script_finished":
                return True
        return False

    @property
    def text(self):
        """All that came in, as text."""
        return b"".join(self.received).decode("utf-8", "replace")

    def cut(self):
        """End the connection without a word, as a browser that is killed."""
        self._socket.socket.close()

    def close(self):
        self._connection.__exit__(None, None, None)
