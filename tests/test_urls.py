"""An answer that drips has as long as its timeout says, not each of its bytes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from urllib.error import URLError

import pytest

from kafka_admin_proto.urls import timed_opener

_HEAD = b"HTTP/1.0 200 OK\r\nContent-Length: 20000\r\n\r\n"
_TIMEOUT_S = 0.2


@pytest.fixture(params=[len(_HEAD), 9], ids=["in the body", "in the head"])
def dripping(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an endpoint that sends a part of its answer at once, and then byte after byte."""
    at_once: int = request.param
    is_over = threading.Event()

    def drip(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(_HEAD[:at_once])
            while not is_over.wait(_TIMEOUT_S / 10):
                try:
                    connection.sendall(b"x")
                except OSError:  # the client has gone
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        ended = threading.Timer(3.0, is_over.set)  # so that a fault does not hang
        ended.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        ended.cancel()
        is_over.set()
        thread.join()


def test_an_answer_that_drips_has_a_time_limit(dripping: str) -> None:
    with pytest.raises((TimeoutError, URLError), match="timed out"):  # noqa: SIM117
        with timed_opener().open(dripping, timeout=_TIMEOUT_S) as response:
            response.read()


def test_redirects_share_the_time_limit() -> None:
    """Each answer is in time, and the ten that urllib follows are not."""
    is_over = threading.Event()

    def redirect(server: socket.socket) -> None:
        for number in range(20):
            try:
                connection = server.accept()[0]
            except OSError:  # the test is over
                return
            with connection:
                connection.recv(4096)
                is_over.wait(_TIMEOUT_S / 4)
                head = f"HTTP/1.0 302 x\r\nLocation: /{number}\r\nContent-Length: 0\r\n\r\n"
                connection.sendall(head.encode())

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=redirect, args=(server,))
        thread.start()
        try:
            with pytest.raises((TimeoutError, URLError), match="timed out"):
                timed_opener().open(
                    f"http://127.0.0.1:{server.getsockname()[1]}/", timeout=_TIMEOUT_S
                )
        finally:
            is_over.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
