"""What is done to a server's records and groups, and what of its processor that takes.

Records are produced and consumed by librdkafka (confluent-kafka); offsets are committed and groups
rebalanced by raw requests, so that no client decides when to ask.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from kafka_admin_proto.messages import (
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from kafka_admin_proto.protocol import codes, read_response
from kafka_admin_proto.values import Message as KafkaMessage
from tools.benchmarks.request_load import answer, cpu_s, request_frame
from tools.benchmarks.server import Server

RECORD_BYTES, BATCH_RECORDS = 100, 500
COMMIT_VERSION = 8
_MB = 1_000_000
_TIMEOUT_S = 60.0
_GROUP_VERSION = 3
_SESSION_MS = 45_000


@dataclass
class Work:
    """So much of something done, in seconds of the clock and of the server's processor."""

    amount: float
    seconds: float
    server_cpu_s: float

    @property
    def per_second(self) -> float:
        return self.amount / self.seconds

    @property
    def per_cpu_second(self) -> float:
        return self.amount / max(self.server_cpu_s, 0.01)


@contextlib.contextmanager
def _worked(server: Server, amount: float) -> Iterator[Work]:
    """The work done in the block; its figures are there behind it."""
    found = Work(amount, 0.0, cpu_s(server.pid))
    begin = time.perf_counter()
    yield found
    found.seconds = time.perf_counter() - begin
    found.server_cpu_s = cpu_s(server.pid) - found.server_cpu_s


# Records.


def produce(server: Server, topic: str, mb: float) -> Work:
    """Produce so many MB of values with acks=all, in whole batches. SystemExit if any is lost."""
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer(
        {
            "bootstrap.servers": f"{server.address[0]}:{server.port}",
            "acks": "all",
            "batch.num.messages": BATCH_RECORDS,
            "linger.ms": 100,
            "queue.buffering.max.messages": 200_000,
            "on_delivery": delivered,
        }
    )
    count = int(mb * _MB / RECORD_BYTES)
    value = bytes(range(RECORD_BYTES))
    with _worked(server, mb) as work:
        for _ in range(count):
            while True:
                try:
                    producer.produce(topic, value)
                    break
                except BufferError:
                    producer.poll(0.01)
        left = producer.flush(_TIMEOUT_S)
    if left or failed:
        raise SystemExit(f"port {server.port}: {left} records left, errors {failed[:1]}")
    return work


def consume(server: Server, topic: str, mb: float) -> Work:
    """Consume so many MB of values from the beginning. SystemExit for an error or too few."""
    consumer = Consumer(
        {
            "bootstrap.servers": f"{server.address[0]}:{server.port}",
            "group.id": "bench",
            "enable.auto.commit": False,
            # The client never waits for its own queue to empty.
            "queued.min.messages": 1_000_000,
            "queued.max.messages.kbytes": 1_000_000,
        }
    )
    left = int(mb * _MB / RECORD_BYTES)
    with contextlib.closing(consumer), _worked(server, mb) as work:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while left > 0:
            found = consumer.consume(min(left, 10_000), _TIMEOUT_S)
            failed = [each.error() for each in found if each.error() is not None]
            if failed or not found:
                raise SystemExit(f"port {server.port}: {left} records left, errors {failed[:1]}")
            left -= len(found)
    return work


def single_latencies_ms(server: Server, topic: str, seconds: float) -> list[float]:
    """Milliseconds from a record with acks=all to its acknowledgement, of one record at least."""
    producer = Producer(
        {"bootstrap.servers": f"{server.address[0]}:{server.port}", "acks": "all", "linger.ms": 0}
    )

    def acknowledged_ms() -> float:
        begin = time.perf_counter()
        producer.produce(topic, bytes(RECORD_BYTES))
        if producer.flush(_TIMEOUT_S):
            raise SystemExit(f"port {server.port} acknowledged no record")
        return (time.perf_counter() - begin) * 1e3

    acknowledged_ms()  # it has the connection to make, which can take longer than all the others
    end = time.perf_counter() + seconds
    found = [acknowledged_ms()]
    while time.perf_counter() < end:
        found.append(acknowledged_ms())
    return found


@contextlib.contextmanager
def peak_resident_bytes(server: Server) -> Iterator[list[int]]:
    """The most memory that the server's process had within the block: one number behind it."""
    found: list[int] = []
    Path(f"/proc/{server.pid}/clear_refs").write_text("5")  # begins VmHWM anew
    yield found
    status = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    line = next(each for each in status if each.startswith("VmHWM:"))
    found.append(int(line.split()[1]) * 1024)


# Groups.


def commit_frames(topic: str) -> list[bytes]:
    """Commits of offset after offset by a consumer that manages its partitions itself."""
    ask = OffsetCommitRequest
    frames = []
    for offset in range(1000):
        row = ask.OffsetCommitRequestPartition(0, offset)
        request = ask("bench", topics=[ask.OffsetCommitRequestTopic(topic, partitions=[row])])
        frames.append(request_frame(request, COMMIT_VERSION))
    return frames


def until_answered(server: Server, data: bytes) -> int:
    """Ask until the coordinator has loaded. Returns the bytes of the answer."""
    end = time.monotonic() + _TIMEOUT_S
    find = request_frame(FindCoordinatorRequest("bench"), _GROUP_VERSION)
    while time.monotonic() < end:
        body: Any
        answer(server.address, find)  # makes the topic of all groups
        body, size = answer(server.address, data)
        if body is not None and not body.topics[0].partitions[0].error_code:
            return size
        time.sleep(0.1)
    raise SystemExit(f"port {server.port} takes no commits")


class Group:
    """A classic group whose members have a connection each."""

    def __init__(self, server: Server, name: str, members: int) -> None:
        self._server, self._name = server, name
        self._ends = [socket.create_connection(server.address, _TIMEOUT_S) for _ in range(members)]
        self._reads = [each.makefile("rb") for each in self._ends]
        self._ids = [""] * members
        self._generation = -1
        self._leader = 0
        self._rebalance(range(members))

    def close(self) -> None:
        """Close all connections."""
        for read, end in zip(self._reads, self._ends, strict=True):
            read.close()
            end.close()

    def rebalance(self) -> Work:
        """The leader joins again, all others hear of it and follow, and all get assignments."""
        others = [each for each in range(len(self._ends)) if each != self._leader]
        with _worked(self._server, 1) as work:
            self._send(self._leader, self._join(self._leader))
            unaware = others
            while unaware:
                for each in unaware:
                    beat = HeartbeatRequest(self._name, self._generation, self._ids[each])
                    self._send(each, beat)
                found = zip(unaware, self._received(unaware, HeartbeatRequest), strict=True)
                unaware = [
                    each for each, beat in found if beat.error_code != codes.REBALANCE_IN_PROGRESS
                ]
            self._rebalance(others)
        return work

    def _rebalance(self, joining: Sequence[int]) -> None:
        for each in joining:
            self._send(each, self._join(each))
        everyone = range(len(self._ends))
        joined = self._received(everyone, JoinGroupRequest)
        for number, found in enumerate(joined):
            if found.error_code:
                raise SystemExit(f"port {self._server.port}: JoinGroup has {found.error_code}")
            assert isinstance(found, JoinGroupResponse)
            self._ids[number], self._generation = found.member_id, found.generation_id
            if found.leader == found.member_id:
                self._leader = number
        rows = SyncGroupRequest.SyncGroupRequestAssignment
        assigned = [rows(each, b"assigned") for each in self._ids]
        for each in everyone:
            self._send(
                each,
                SyncGroupRequest(
                    self._name, self._generation, self._ids[each],
                    assignments=assigned if each == self._leader else [],
                ),
            )  # fmt: skip
        for found in self._received(everyone, SyncGroupRequest):
            if found.error_code or found.assignment != b"assigned":
                raise SystemExit(f"port {self._server.port}: SyncGroup has {found.error_code}")

    def _join(self, number: int) -> JoinGroupRequest:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol("range", b"topics")
        return JoinGroupRequest(
            self._name, _SESSION_MS, _SESSION_MS, self._ids[number],
            protocol_type="bench", protocols=[protocol],
        )  # fmt: skip

    def _send(self, member: int, request: KafkaMessage) -> None:
        self._ends[member].sendall(request_frame(request, _GROUP_VERSION))

    def _received(self, members: Sequence[int], request: type[KafkaMessage]) -> list[Any]:
        found = []
        for each in members:
            read = self._reads[each]
            data = read.read(int.from_bytes(read.read(4), "big"))
            assert request.api_key is not None
            found.append(read_response(data, request.api_key, _GROUP_VERSION).body)
        return found
