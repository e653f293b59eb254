"""Servers that follow a script, on a real socket: what a broker never does can be played."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from kafka_admin_proto.protocol import Request, frame, read_request, write_response
from kafka_admin_proto.values import Message

#: Seconds that a script waits for a client at most.
_PATIENCE_S = 20.0


class Peer:
    """A client's connection, as its server sees it."""

    def __init__(self, connection: socket.socket, ended: threading.Event) -> None:
        self._socket = connection
        self._ended = ended
        self._input = connection.makefile("rb")

    @property
    def port(self) -> int:
        """The port that the client has connected to."""
        found: int = self._socket.getsockname()[1]
        return found

    def request(self) -> Request | None:
        """The next request; None when the client has closed."""
        size = self._input.read(4)
        payload = self._input.read(int.from_bytes(size, "big")) if len(size) == 4 else b""
        return read_request(payload) if payload else None

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hold(self, seconds: float = _PATIENCE_S) -> None:
        """Say nothing until the client closes, the server ends or the time is over."""
        self._socket.settimeout(0.05)
        for _ in range(int(seconds / 0.05)):
            if self._ended.is_set():
                return
            try:
                if not self._socket.recv(65536):
                    return
            except TimeoutError:
                continue

    def pause(self, seconds: float) -> bool:
        """Wait; True if the server is to end meanwhile."""
        return self._ended.wait(seconds)

    def end(self) -> None:
        """End the stream in both directions."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._input.close()
        self._socket.close()


Script = Callable[[Peer], None]


class ScriptedServer:
    """Plays ``script`` for each connection, in a thread of its own, while a ``with`` lasts.

    ``connections`` counts them. What the end of a connection raises in a script is expected, and
    any other error of a script is raised at the end of the block.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._failures: list[Exception] = []
        self.connections = 0

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(_PATIENCE_S)
        self._listener.close()
        if error is None and self._failures:
            raise self._failures[0]

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            thread = threading.Thread(target=self._play, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _play(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE_S)
        peer = Peer(connection, self._ended)
        try:
            self._script(peer)
        except OSError:
            pass  # the client has closed
        except Exception as error:
            self._failures.append(error)
        finally:
            peer.close()


def response_frame(body: Message, request: Request, *, correlation_id: int | None = None) -> bytes:
    """The frame of an answer to ``request``; another correlation id is for hostile ones."""
    header = request.header
    assert header is not None
    found = header.correlation_id if correlation_id is None else correlation_id
    return frame(write_response(body, request.api_version, found))
