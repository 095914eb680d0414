"""What stands between the browser and Streamlit: messages at once, and a word to the session that is wanted."""

import asyncio
import socket
import threading

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from commod.dashboard.server.paint_order import deferred_paint
from commod.dashboard.server.sockets import send_at_once
from commod.dashboard.server.wake import WakeOnMessage


def test_small_messages_are_not_held_back():
    """As Streamlit makes its socket: not for TCP by name, so that asyncio leaves it as it is."""
    with socket.socket(socket.AF_INET) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        async def accepted():
            async with send_at_once(None):
                with socket.create_connection(listening.getsockname()), listening.accept()[0] as connection:
                    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

        assert asyncio.run(accepted())


def test_a_message_is_told_to_the_session_of_its_connection():
    told = []
    hello = ForwardMsg()
    hello.new_session.initialize.session_id = "one"
    incoming = iter([{"type": "websocket.receive", "bytes": b"1"}, {"type": "websocket.receive", "bytes": b"2"}])
    outgoing = []

    async def streamlit(scope, receive, send):
        await receive()
        assert not told  # nobody knows yet whose it is
        await send({"type": "websocket.send", "bytes": hello.SerializeToString()})
        await receive()
        assert not told  # Streamlit reads it first
        await asyncio.sleep(0)
        assert told == ["one"]

    async def receive():
        return next(incoming)

    async def send(message):
        outgoing.append(message)

    asyncio.run(WakeOnMessage(streamlit, told.append)({"type": "websocket"}, receive, send))
    assert len(outgoing) == 1


def test_other_connections_pass_through():
    seen = []

    async def streamlit(scope, receive, send):
        seen.append((receive, send))

    asyncio.run(WakeOnMessage(streamlit, pytest.fail)({"type": "http"}, "receive", "send"))
    assert seen == [("receive", "send")]


def test_the_rest_of_two_pages_is_drawn_one_after_the_other():
    order, second = [], threading.Event()

    def draw_rest():
        second.set()
        with deferred_paint():
            order.append("second")

    with deferred_paint():
        rest = threading.Thread(target=draw_rest)
        rest.start()
        assert second.wait(30)
        order.append("first")
    rest.join()
    assert order == ["first", "second"]
