"""Peers that mean harm, in a process of their own: ``python -m tests.server.hostile.peers``.

Each is a function of (port, the time when it ends); the last line of the output is what it did.
"""

from __future__ import annotations

import contextlib
import random
import socket
import sys
import time
from collections.abc import Callable

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    MetadataRequest,
    ProduceRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.values import Message

HOST = "127.0.0.1"
SECRET = "hunter-2-of-the-test"
_API_VERSIONS = frame(write_request(ApiVersionsRequest("a", "1"), 3, 1))
_METADATA = frame(write_request(MetadataRequest(topics=None), 12, 1))
_DRAW = random.Random(1)

Peer = Callable[[int, float], int]


def opened(port: int) -> socket.socket:
    """A connection that never waits long."""
    return socket.create_connection((HOST, port), timeout=10)


def sent(client: socket.socket, data: bytes) -> bool:
    """Whether the cluster still took it."""
    try:
        client.sendall(data)
    except OSError:
        return False
    return True


def _each_while(port: int, end: float, count: int, say: Callable[[], bytes]) -> int:
    """So many connections at a time say something again and again; one that ends is replaced."""
    clients = [opened(port) for _ in range(count)]
    said = 0
    while time.monotonic() < end:
        for index, client in enumerate(clients):
            client.settimeout(0.05)
            if sent(client, say()):
                with contextlib.suppress(OSError):
                    client.setblocking(False)
                    if client.recv(1 << 16) == b"":
                        client.close()
                        clients[index] = opened(port)
            else:
                client.close()
                clients[index] = opened(port)
            said += 1
        time.sleep(0.001)
    for client in clients:
        client.close()
    return said


def many_connections(port: int, end: float) -> int:
    """A thousand at once: each asks, is answered, and stays."""
    clients = [opened(port) for _ in range(1000)]
    answered = 0
    while time.monotonic() < end or not answered:
        for client in clients:
            client.sendall(_API_VERSIONS)
            assert client.recv(1 << 16)
            answered += 1
            time.sleep(0.001)
    for client in clients:
        client.close()
    return answered


def random_bytes(port: int, end: float) -> int:
    return _each_while(port, end, 20, lambda: _DRAW.randbytes(_DRAW.randrange(1, 2000)))


def fuzzed_frames(port: int, end: float) -> int:
    """Whole frames with wrong bytes in them."""

    def say() -> bytes:
        data = bytearray(_DRAW.choice((_API_VERSIONS, _METADATA))[4:])
        for _ in range(_DRAW.randrange(1, 4)):
            data[_DRAW.randrange(len(data))] = _DRAW.randrange(256)
        return frame(bytes(data))

    return _each_while(port, end, 20, say)


def oversize_frames(port: int, end: float) -> int:
    """Frames that say that they are large: over the limit, and up to it without an end."""
    sizes = ((1 << 31) - 1, (100 << 20) + 1, 100 << 20)
    return _each_while(
        port, end, 20, lambda: _DRAW.choice(sizes).to_bytes(4, "big") + bytes(60_000)
    )


def slow_peers(port: int, end: float) -> int:
    """Two hundred send a request byte by byte, two hundred say nothing."""
    silent = [opened(port) for _ in range(200)]
    clients = [opened(port) for _ in range(200)]
    bytes_sent = 0
    while time.monotonic() < end or not bytes_sent:
        for client in clients:
            client.sendall(_METADATA[bytes_sent % len(_METADATA) :][:1])
        bytes_sent += 1
        time.sleep(0.05)
    for client in (*silent, *clients):
        client.close()
    return bytes_sent * len(clients)


def never_read(port: int, end: float) -> int:
    """Fifty ask for all topics again and again, and take no answer."""
    return _unread(port, end, _METADATA)


def never_read_records(port: int, end: float) -> int:
    """Fifty fetch a megabyte of records again and again, and take no answer."""
    records = write_batch(Batch.of([Record(0, int(time.time() * 1000), None, bytes(1_000_000))]))
    rows = [PartitionProduceData(0, records)]
    with opened(port) as client:
        new = CreateTopicsRequest([CreatableTopic("records", 1, 1)], 1000)
        client.sendall(frame(write_request(new, 7, 1)))
        client.recv(1 << 16)
        produced = ProduceRequest(None, 1, 1000, [TopicProduceData("records", partition_data=rows)])
        client.sendall(frame(write_request(produced, 9, 1)))
        client.recv(1 << 16)
    wanted = FetchTopic("records", partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])
    fetch = FetchRequest(max_bytes=1 << 20, topics=[wanted])
    return _unread(port, end, frame(write_request(fetch, 12, 1)))


def _unread(port: int, end: float, request: bytes) -> int:
    """Fifty send a request again and again, and take no answer."""
    clients = []
    for _ in range(50):
        client = opened(port)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        clients.append(client)
    asked = 0
    while time.monotonic() < end or not asked:
        for client in clients:
            with contextlib.suppress(OSError):
                client.send(request * 100)
                asked += 100
        time.sleep(0.01)
    for client in clients:
        client.close()
    return asked


def half_logins(port: int, end: float) -> int:
    """Logins that stop behind the handshake, or behind a token with a wrong password."""
    clients: list[socket.socket] = []
    begun = 0
    while time.monotonic() < end or begun < 50:
        client = opened(port)
        clients.append(client)
        mechanism = _DRAW.choice(("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"))
        client.sendall(frame(write_request(SaslHandshakeRequest(mechanism), 1, 1)))
        token = f"\0me\0{SECRET}" if mechanism == "PLAIN" else f"n,,n=me,r={SECRET}"
        if _DRAW.random() < 0.7:
            request = SaslAuthenticateRequest(auth_bytes=token.encode())
            client.sendall(frame(write_request(request, 2, 2)))
        begun += 1
        if len(clients) > 2000:
            clients.pop(0).close()
        time.sleep(0.001)
    for client in clients:
        client.close()
    return begun


def topics_in_batches(port: int, end: float) -> int:
    """20,000 topics of five partitions, a hundred in a request, and all deleted again.

    That goes on until the time is over; the first time fewer are made then.
    """
    client = opened(port)
    client.settimeout(60)

    def answered(request: Message, version: int) -> None:
        client.sendall(frame(write_request(request, version, 1)))
        size = int.from_bytes(client.recv(4, socket.MSG_WAITALL), "big")
        while size:
            size -= len(client.recv(size))

    made = 0
    while time.monotonic() < end or not made:
        names = list[str]()
        while len(names) < 20_000 and (time.monotonic() < end or not names):
            batch = [f"t-{len(names) + each}" for each in range(100)]
            new = [CreatableTopic(each, 5, 1) for each in batch]
            answered(CreateTopicsRequest(new, 60_000), 7)
            names += batch
        made += len(names)
        while names and time.monotonic() < end:
            gone = [DeleteTopicState(name=each) for each in names[-100:]]
            answered(DeleteTopicsRequest(gone, timeout_ms=60_000), 6)
            del names[-100:]
    client.close()
    return made


PEERS: dict[str, Peer] = {
    each.__name__: each
    for each in (
        many_connections, random_bytes, fuzzed_frames, oversize_frames, slow_peers, never_read,
        never_read_records,
        half_logins, topics_in_batches,
    )
}  # fmt: skip
#: Those that talk to the listener with logins.
WITH_LOGIN = ("half_logins",)


if __name__ == "__main__":
    name, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    print(PEERS[name](port, time.monotonic() + seconds))
