"""Brokers that lie or stall, and clients that never read, harm one connection and cost little."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.messages import ListGroupsRequest, MetadataRequest, MetadataResponse
from kafka_admin_proto.messages.metadata_response import MetadataResponseBroker
from kafka_admin_proto.protocol import frame, write_response
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.testing import certificates
from tests.server.network.test_connection import answers, asked, ids

_SECONDS = 30
_VERSION = 12
#: What is tried to be sent, and what buffers of sockets on the way may take of it.
_MUCH, _LITTLE = 200 << 20, 32 << 20
_QUESTION = MetadataRequest(topics=[])
#: Sends to the broker's end of a connection, whose first request has come.
_Lie = Callable[[socket.socket], None]


def _answer(number: int) -> bytes:
    broker = MetadataResponseBroker(1, "kafka", 9092)
    return frame(write_response(MetadataResponse(brokers=[broker]), _VERSION, number))


def _honest(end: socket.socket) -> None:
    """Answer what is asked one after another."""
    with end.makefile("rb") as read:
        while size := read.read(4):
            payload = read.read(int.from_bytes(size, "big"))
            end.sendall(_answer(int.from_bytes(payload[4:8], "big")))


def _sent(end: socket.socket, data: bytes) -> int:
    """How many bytes a peer takes of the same data sent over and over, until it takes no more."""
    sent, left = 0, memoryview(data)
    end.setblocking(False)
    while sent < _MUCH and select.select([], [end], [], 1.0)[1]:
        try:
            taken = end.send(left)
        except BlockingIOError:
            continue
        sent += taken
        left = left[taken:] or memoryview(data)
    return sent


class _Broker:
    """Listens; the first connection is one that does as ``lie`` says, all others are honest."""

    def __init__(self, lie: _Lie) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._lie = lie
        self._ends: list[socket.socket] = []
        host, port = self._server.getsockname()
        self.address = f"{host}:{port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                end, _ = self._server.accept()
                self._ends.append(end)
                serve = _honest if len(self._ends) > 1 else self._begin
                threading.Thread(target=self._served, args=(serve, end), daemon=True).start()

    def _served(self, serve: _Lie, end: socket.socket) -> None:
        with contextlib.suppress(OSError):
            serve(end)

    def _begin(self, end: socket.socket) -> None:
        assert end.recv(1, socket.MSG_PEEK)
        self._lie(end)

    def close(self) -> None:
        for each in (self._server, *self._ends):
            each.close()


@contextlib.contextmanager
def _behind(
    lie: _Lie, first: bytes = asked(_QUESTION, _VERSION, 0), tls: ssl.SSLContext | None = None
) -> Iterator[tuple[socket.socket, Callable[[], socket.socket]]]:
    """A client whose broker lies, and a function for one whose broker does not."""
    with (
        contextlib.closing(_Broker(lie)) as broker,
        SyncProxy(broker.address, upstream_tls=tls) as proxy,
    ):
        host, _, port = proxy.bootstrap_servers.rpartition(":")

        def connect() -> socket.socket:
            return socket.create_connection((host, int(port)), _SECONDS)

        with connect() as client:
            client.sendall(first)
            yield client, connect


def _is_served(connect: Callable[[], socket.socket]) -> bool:
    with connect() as other:
        other.sendall(asked(_QUESTION, _VERSION, 5))
        return ids(answers(other, 1)) == [5]


@pytest.mark.parametrize(
    ("said", "lie"),
    [
        ("frame size -1 is negative", b"\xff" * 100),
        ("not a Kafka frame but an HTTP response", b"HTTP/1.1 400 Bad"),
        ("is not the one to correlation id 0, the oldest request without", _answer(8)),
        ("sent a Metadata response of version 12 that does not decode", frame(bytes(9))),
        ("sent a response of", _answer(0) + _answer(0)),
    ],
    ids=["no size", "another protocol", "another answer", "no answer", "twice"],
)
def test_a_broker_that_lies_ends_one_connection(
    said: str, lie: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with _behind(lambda end: end.sendall(lie)) as (client, connect):
        while client.recv(1 << 16):
            pass
        assert _is_served(connect)
    (record,) = caplog.records
    assert said in record.getMessage()
    assert not record.exc_info


def test_a_broker_that_never_reads_stops_its_client() -> None:
    stop = threading.Event()

    def stall(_: socket.socket) -> None:
        stop.wait()

    with _behind(stall) as (client, connect):
        assert 0 < _sent(client, asked(_QUESTION, _VERSION, 1) * 1000) < _LITTLE
        assert _is_served(connect)
        stop.set()


def test_a_broker_that_never_answers_stops_its_client() -> None:
    """It reads all that it gets."""

    def read(end: socket.socket) -> None:
        while end.recv(1 << 20):
            pass

    with _behind(read) as (client, connect):
        assert 0 < _sent(client, asked(_QUESTION, _VERSION, 1) * 1000) < _LITTLE
        assert _is_served(connect)


def test_a_client_that_never_reads_stops_its_broker() -> None:
    """The broker's answers are to as many requests as the client may have on their way."""
    sent: list[int] = []
    done = threading.Event()
    large = frame(bytes([0, 0, 0, 0, 0]) + bytes(1 << 20))

    def flood(end: socket.socket) -> None:
        sent.append(_sent(end, large))
        done.set()

    # Answers to these have no address, so that all bytes of the broker would pass.
    requests = asked(ListGroupsRequest(), 5, 0) * 500
    with _behind(flood, requests) as (_, connect):
        assert done.wait(_SECONDS)
        assert 0 < sent[0] < _LITTLE
        assert _is_served(connect)


def test_a_proxy_that_ends_waits_for_no_broker(tmp_path: Path) -> None:
    """One that does not say that it has heard of a TLS session's end kept the socket open."""
    made = certificates(tmp_path)
    has_ended = threading.Event()
    is_closed = threading.Event()

    def listen(end: socket.socket) -> None:
        with made.server_context().wrap_socket(end, server_side=True) as session:
            _honest(session)
            with socket.socket(fileno=session.detach()) as socket_alone:
                has_ended.set()
                if not socket_alone.recv(1):
                    is_closed.set()

    with _behind(listen, tls=made.client_context()) as (client, _):
        assert ids(answers(client, 1)) == [0]
        client.close()
        assert has_ended.wait(_SECONDS)
        assert not is_closed.is_set()
    assert is_closed.wait(_SECONDS)
