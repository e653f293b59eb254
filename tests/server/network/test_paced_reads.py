"""Clients that send in small pieces: a few of them are read in a turn, and all are answered."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, ParamSpec

import pytest

from kafka_admin_proto.messages import ApiVersionsRequest, MetadataRequest
from kafka_admin_proto.protocol import FrameReader, frame, write_request
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.paced_reads import PacedReads

P = ParamSpec("P")

_CLIENTS = 60
#: The most that one turn of the event loop may read of them.
_MOST_READS = 4
_WAIT_S = 30.0
_ASKED = frame(write_request(ApiVersionsRequest("a", "1"), 3, 7))


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """The test, run by an event loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Turns:
    """Counts, for each turn of the event loop, how many connections were read in it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._turn = 0
        self._ended = False
        self.reads: Counter[int] = Counter()
        read = NodeConnection.buffer_updated

        def counted(connection: NodeConnection, nbytes: int) -> None:
            self.reads[self._turn] += 1
            read(connection, nbytes)

        patch.setattr(NodeConnection, "buffer_updated", counted)
        self._next()

    def _next(self) -> None:
        self._turn += 1
        if not self._ended:
            asyncio.get_running_loop().call_soon(self._next)

    def end(self) -> None:
        self._ended = True


@contextlib.contextmanager
def clients(cluster: Cluster, count: int = _CLIENTS) -> Iterator[list[socket.socket]]:
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    with contextlib.ExitStack() as opened:
        found = [
            opened.enter_context(socket.create_connection((host, int(port)), timeout=_WAIT_S))
            for _ in range(count)
        ]
        for each in found:
            each.setblocking(False)
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield found


async def read_by_server(cluster: Cluster, count: int) -> None:
    """Wait until so many bytes of unfinished requests are there."""
    service = cluster._service
    assert service is not None
    async with asyncio.timeout(_WAIT_S):
        while service.limiter.unfinished_bytes != count:
            await asyncio.sleep(0.001)


async def answer(client: socket.socket) -> bytes:
    loop, reader = asyncio.get_running_loop(), FrameReader()
    async with asyncio.timeout(_WAIT_S):
        while True:
            data = await loop.sock_recv(client, 1 << 16)
            assert data, "the connection was closed"
            for payload in reader.feed(data):
                return payload


def paced_reads(cluster: Cluster) -> PacedReads:
    assert cluster._service is not None
    return cluster._service.paced_reads


@in_loop
async def test_a_turn_reads_few_of_many_that_send_byte_by_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Cluster() as cluster:
        with clients(cluster) as peers:
            turns = Turns(monkeypatch)
            for index in range(len(_ASKED)):
                if index == 6:  # from here on the server knows of each how it sends
                    turns.reads.clear()
                for peer in peers:
                    peer.send(_ASKED[index : index + 1])
                if index < len(_ASKED) - 1:
                    await read_by_server(cluster, (index + 1) * len(peers))
            for peer in peers:
                assert (await answer(peer))[:4] == bytes([0, 0, 0, 7])
            turns.end()
            assert sum(turns.reads.values()) == (len(_ASKED) - 6) * len(peers)
            assert max(turns.reads.values()) <= _MOST_READS
            assert len(paced_reads(cluster)._resume) == len(peers)
            for peer in peers:  # the next requests are whole
                peer.send(_ASKED)
            for peer in peers:
                await answer(peer)
            assert not paced_reads(cluster)._resume


@in_loop
async def test_a_client_that_goes_away_is_not_watched() -> None:
    async with Cluster() as cluster:
        with clients(cluster) as peers:
            for index in range(8):
                for peer in peers:
                    peer.send(_ASKED[index : index + 1])
                await read_by_server(cluster, (index + 1) * len(peers))
            assert len(paced_reads(cluster)._resume) == len(peers)
        await read_by_server(cluster, 0)
        assert not paced_reads(cluster)._resume
        assert not any(node.connections for node in cluster._nodes.values())


@in_loop
async def test_a_client_that_is_held_waits_and_keeps_its_order() -> None:
    """Its answer is delayed: what it sends meanwhile is read, and answered, behind that."""
    async with Cluster() as cluster:
        fault = cluster.faults.add(api="ApiVersions", delay_ms=100, count=1)
        with clients(cluster, 1) as (peer,):
            second = frame(write_request(MetadataRequest(topics=[]), 12, 8))
            for each in _ASKED + second:
                peer.send(bytes([each]))
                await asyncio.sleep(0.001)
            reader, found = FrameReader(), list[bytes]()
            async with asyncio.timeout(_WAIT_S):
                while len(found) < 2:
                    data = await asyncio.get_running_loop().sock_recv(peer, 1 << 16)
                    found += reader.feed(data)
            assert [each[3] for each in found] == [7, 8]
            assert fault.fired == 1


@in_loop
async def test_large_pieces_of_large_requests_are_read_at_once() -> None:
    names = [MetadataRequest.MetadataRequestTopic(name=f"topic-{each}") for each in range(200)]
    request = frame(write_request(MetadataRequest(names), 12, 7))
    async with Cluster() as cluster:
        with clients(cluster, 1) as (peer,):
            for _ in range(5):
                for start in range(0, len(request), 1000):
                    peer.send(request[start : start + 1000])
                    await asyncio.sleep(0.002)
                await answer(peer)
            assert not paced_reads(cluster)._resume


@in_loop
async def test_without_epoll_clients_are_read_as_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafka_admin_proto.server.network.paced_reads._HAS_EPOLL", False)
    async with Cluster() as cluster:
        with clients(cluster, 3) as peers:
            for each in _ASKED:
                for peer in peers:
                    peer.send(bytes([each]))
                await asyncio.sleep(0.001)
            for peer in peers:
                assert (await answer(peer))[:4] == bytes([0, 0, 0, 7])
            assert not paced_reads(cluster)._resume
