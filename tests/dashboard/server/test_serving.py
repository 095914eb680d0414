"""What stands between the browser and Streamlit: messages at once, and parts of pages one after the other."""

import asyncio
import socket
import threading

from commod.dashboard.server.paint_order import deferred_paint
from commod.dashboard.server.sockets import send_at_once


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
