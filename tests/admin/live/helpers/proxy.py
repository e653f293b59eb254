"""A proxy between clients and one broker that reads frames, and loses those it is asked to."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Self

from tests.server.hostile.peers import sent
from tools.clusters import HOST

#: A request's api key and, behind its version, its correlation id.
_KEY_AND_ID = struct.Struct(">h2xi")


class _Link:
    """One client's connection and the proxy's own to the broker."""

    def __init__(self, client: socket.socket, broker: socket.socket) -> None:
        self.client, self.broker = client, broker
        #: Correlation id → api key of requests that are unanswered.
        self.asked: dict[int, int] = {}

    def close(self) -> None:
        for each in (self.client, self.broker):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class Proxy:
    """Passes frames between ``port`` of this machine and the broker at ``target``.

    The broker has to advertise the proxy's address, so that clients stay with it. ``passed``
    counts the requests by api key, ``lost`` those whose answers were kept back.
    """

    def __init__(self, port: int, target: str) -> None:
        host, _, number = target.rpartition(":")
        self._target = (host, int(number))
        self._listener = socket.create_server((HOST, port))
        self._losing: Counter[int] = Counter()
        self._threads: list[threading.Thread] = []
        self._links: list[_Link] = []
        self.passed: Counter[int] = Counter()
        self.lost: Counter[int] = Counter()
        self.address = f"{HOST}:{port}"

    def lose_answers(self, api_key: int, count: int = 1) -> None:
        """Let the broker answer the next ``count`` requests of this api, and close the client's
        connection instead of passing the answer on.
        """
        self._losing[api_key] = count

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *raised: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        for link in self._links:
            link.close()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _start(self, run: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # the listener is shut down
                return
            self._start(self._link, client)

    def _link(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as broker:
            link = _Link(client, broker)
            self._links.append(link)
            back = threading.Thread(target=self._pass_answers, args=(link,))
            back.start()
            self._pass_requests(link)
            back.join()

    def _pass_requests(self, link: _Link) -> None:
        for request in _frames(link.client):
            api_key, correlation_id = _KEY_AND_ID.unpack_from(request, 4)
            link.asked[correlation_id] = api_key
            self.passed[api_key] += 1
            if not sent(link.broker, request):
                break
        link.close()

    def _pass_answers(self, link: _Link) -> None:
        for answer in _frames(link.broker):
            api_key = link.asked.pop(int.from_bytes(answer[4:8], "big"))
            if self._losing[api_key]:
                self._losing[api_key] -= 1
                self.lost[api_key] += 1
                break
            if not sent(link.client, answer):
                break
        link.close()


def _frames(connection: socket.socket) -> Iterator[bytes]:
    """Whole frames, their sizes in front, until the stream ends."""
    with contextlib.suppress(OSError), connection.makefile("rb") as stream:
        while len(size := stream.read(4)) == 4:
            yield size + stream.read(int.from_bytes(size, "big"))
