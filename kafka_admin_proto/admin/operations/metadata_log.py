"""The log of a KRaft quorum, followed as it grows, without a place in the quorum.

The client fetches as an observer does (``KafkaRaftClient`` in Kafka), but with replica id -1: no
controller counts it, and DescribeQuorum does not show it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

import msgspec

from kafka_admin_proto.admin.caller import Caller, call_deadline
from kafka_admin_proto.admin.errors import (
    AuthenticationError,
    BrokerError,
    ConnectionFailedError,
    InstructionError,
    RequestTimedOutError,
    TlsError,
)
from kafka_admin_proto.admin.operations.common.failures import raise_failure
from kafka_admin_proto.admin.retry import Deadline, is_transient
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, RemoteProtocolError
from kafka_admin_proto.messages import FetchSnapshotRequest, FetchSnapshotResponse
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafka_admin_proto.messages.fetch_response import FetchResponse, PartitionData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import Batch, read_batches
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.wire.secrets import METADATA_TOPIC

_Row = TypeVar("_Row")

#: Since 13 Fetch names topics by id, and the quorum's log has one.
_VERSIONS = VersionRange(13, MAX_VERSION)
#: How long a leader may hold an answer back while there is nothing new, as for Kafka's observers.
_MAX_WAIT_MS = 500
#: Seconds without an answer after which another controller is asked.
_SILENT_S = 5.0
_MAX_BYTES = 1 << 20
#: What it answers to FetchSnapshot when it has a newer snapshot by now.
_OTHER_SNAPSHOT = (codes.SNAPSHOT_NOT_FOUND, codes.POSITION_OUT_OF_RANGE)


class QuorumLeader(msgspec.Struct, frozen=True):
    """The active controller; ``id`` is None while the epoch has none that answers."""

    id: int | None
    epoch: int


class MetadataSnapshot(msgspec.Struct, frozen=True):
    """A snapshot, in place of all records before ``end_offset``. ``epoch`` is the last one's."""

    end_offset: int
    epoch: int
    batches: list[Batch]


class MetadataRecords(msgspec.Struct, frozen=True):
    """Committed batches, none where only the high watermark moved on.

    ``next_offset`` is the offset behind them. Below ``high_watermark`` all records are committed;
    those from ``next_offset`` on come later.
    """

    batches: list[Batch]
    next_offset: int
    high_watermark: int


MetadataEvent = QuorumLeader | MetadataSnapshot | MetadataRecords


class MetadataLogOperations(Caller):
    """Fetch and FetchSnapshot of the metadata log, from controllers of Kafka 3.7 or newer."""

    def follow_metadata(
        self, *, timeout: float | None = None
    ) -> AsyncGenerator[MetadataEvent, None]:
        """The log from its start, or its latest snapshot, on: each committed record once, in order.

        It has no end. Elections, lost controllers and lost majorities are waited for once it has
        begun; ``timeout`` is for its first answer. The client is one with
        ``bootstrap_controllers``; with an authorizer it needs ClusterAction on the cluster.

        Raises InstructionError for a client of brokers, BrokerError
        (CLUSTER_AUTHORIZATION_FAILED), ConnectionFailedError and RequestTimedOutError before the
        first answer, UnsupportedVersionError, and RemoteProtocolError for a log that does not
        decode, or that has lost records that were committed.
        """
        if not self.asks_controllers:
            raise InstructionError(
                "the metadata log is the controllers': make the client with bootstrap_controllers"
            )
        return _Observer(self, timeout).events()


class _ChangedError(Exception):
    """The leader or its snapshot is another one now."""


class _Observer:
    """What has been read of the log, and from which controller it is read next."""

    def __init__(self, caller: Caller, timeout: float | None) -> None:
        self._caller = caller
        #: For the first answer; later there is no limit.
        self._begin: Deadline | None = call_deadline(caller, timeout)
        self._leader: int | None = None
        self._epoch = 0
        self._high_watermark = -1
        #: Batches that were fetched and are not committed yet.
        self._waiting: list[Batch] = []
        #: The end of what was given, and the epoch of its last record.
        self._given, self._given_epoch = 0, 0
        #: How often in a row no controller was of use.
        self._failed = 0

    async def events(self) -> AsyncGenerator[MetadataEvent, None]:
        said: QuorumLeader | None = None
        while True:
            event, is_answered = None, False
            try:
                event = await self._next()
                is_answered = True
                self._failed = 0
            except _ChangedError:
                self._check_begin()
            except (AuthenticationError, TlsError):
                raise
            except (ConnectionFailedError, RequestTimedOutError):
                if self._begin is not None and self._begin.left <= 0:
                    raise
                self._leader = None
                self._failed += 1
            leader = QuorumLeader(self._leader, self._epoch)
            # Others name a leader that is dead until its epoch is over: it counts once it answers.
            is_lost = leader.id is None and said is not None and said.id is not None
            if leader != said and (is_answered or is_lost):
                said = leader
                yield leader
            if event is not None:
                yield event
            elif self._leader is None:
                await asyncio.sleep(self._caller.backoff.pause(self._failed + 1))

    def _check_begin(self) -> None:
        if self._begin is not None and self._begin.left <= 0:
            raise RequestTimedOutError(
                f"no active controller answered within {self._begin.seconds:g} s; kap quorum "
                "describe says who leads"
            )

    async def _next(self) -> MetadataSnapshot | MetadataRecords | None:
        """What one Fetch brings, None without news. Raises _ChangedError."""
        node, request_epoch = await self._node(), self._epoch
        offset, last_epoch = self._position
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=request_epoch,
            fetch_offset=offset,
            last_fetched_epoch=last_epoch,
            partition_max_bytes=_MAX_BYTES,
            high_watermark=self._high_watermark,
        )
        request = FetchRequest(
            max_wait_ms=_MAX_WAIT_MS,
            min_bytes=1,
            max_bytes=_MAX_BYTES,
            topics=[FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
        )
        reply = await self._caller.call_owner(
            request, FetchResponse, to=node, timeout=self._left, versions=_VERSIONS
        )
        self._check(node, request_epoch, reply.body.error_code)
        row = _only([row for topic in reply.body.responses for row in topic.partitions], node)
        self._note_leader(row.current_leader.leader_id, row.current_leader.leader_epoch)
        self._check(node, request_epoch, row.error_code)
        self._begin = None
        if row.diverging_epoch.epoch >= 0:
            self._truncate(node, row.diverging_epoch.epoch, row.diverging_epoch.end_offset)
            return None
        if row.snapshot_id.epoch >= 0:
            return await self._snapshot(node, row.snapshot_id.end_offset, row.snapshot_id.epoch)
        return self._records(node, row)

    @property
    def _position(self) -> tuple[int, int]:
        """The next offset to fetch, and the epoch of the record before it."""
        if not self._waiting:
            return self._given, self._given_epoch
        last = self._waiting[-1]
        return last.last_offset + 1, last.partition_leader_epoch

    async def _node(self) -> int:
        """The leader, or else a controller that may know it: another one each time."""
        if self._leader is not None:
            return self._leader
        nodes = sorted(await self._caller.brokers(refresh=self._failed > 0, timeout=self._left))
        return nodes[self._failed % len(nodes)]

    @property
    def _left(self) -> float:
        """Seconds that a request may take."""
        return _SILENT_S if self._begin is None else min(_SILENT_S, max(self._begin.left, 0.001))

    def _note_leader(self, leader: int, epoch: int) -> None:
        """A controller named the leader of an epoch; -1 where it knows none."""
        if epoch > self._epoch or (epoch == self._epoch and self._leader is None):
            self._leader, self._epoch = (leader if leader >= 0 else None), epoch

    def _check(self, node: int, epoch: int, code: int) -> None:
        """Raise _ChangedError for an error that another leader has not, or BrokerError."""
        if is_transient(code):
            if (self._leader, self._epoch) == (node, epoch):
                self._leader = None  # it leads no more, and knows nothing newer
            if self._leader is None:
                self._failed += 1
            raise _ChangedError
        if code == codes.CLUSTER_AUTHORIZATION_FAILED:
            raise BrokerError(code, "following the metadata log needs ClusterAction on the cluster")
        raise_failure(code, None, context="the metadata log")

    def _truncate(self, node: int, epoch: int, end_offset: int) -> None:
        """Forget what was fetched and is in no leader's log: it was never committed."""
        if end_offset < self._given or epoch < self._given_epoch:
            raise RemoteProtocolError(
                f"controller {node} leads with a log that ends epoch {epoch} at offset "
                f"{end_offset}, and records before offset {self._given} (epoch "
                f"{self._given_epoch}) were committed: the quorum has lost some"
            )
        self._waiting = [
            batch
            for batch in self._waiting
            if batch.last_offset < end_offset and batch.partition_leader_epoch <= epoch
        ]

    async def _snapshot(self, node: int, end_offset: int, epoch: int) -> MetadataSnapshot:
        """The snapshot that the leader has in place of its first records. Raises _ChangedError."""
        data = bytearray()
        size = None
        while size is None or len(data) < size:
            asked = FetchSnapshotRequest.PartitionSnapshot(
                partition=0,
                current_leader_epoch=self._epoch,
                snapshot_id=FetchSnapshotRequest.SnapshotId(end_offset, epoch),
                position=len(data),
            )
            request = FetchSnapshotRequest(
                max_bytes=_MAX_BYTES,
                topics=[FetchSnapshotRequest.TopicSnapshot(METADATA_TOPIC, [asked])],
            )
            reply = await self._caller.call_owner(
                request, FetchSnapshotResponse, to=node, timeout=self._left
            )
            self._check(node, self._epoch, reply.body.error_code)
            row = _only([row for topic in reply.body.topics for row in topic.partitions], node)
            if row.error_code in _OTHER_SNAPSHOT:
                raise _ChangedError
            self._check(node, self._epoch, row.error_code)
            size = row.size if size is None else size
            if row.position != len(data) or row.size != size or not row.unaligned_records:
                raise RemoteProtocolError(
                    f"controller {node} gives bytes from {row.position} on of a snapshot of "
                    f"{counted(row.size, 'bytes')}; those from {len(data)} on of {size} were asked "
                    "for"
                )
            data += row.unaligned_records
        found = MetadataSnapshot(end_offset, epoch, _batches(node, bytes(data)))
        self._waiting = []
        self._given, self._given_epoch = end_offset, epoch
        return found

    def _records(self, node: int, row: PartitionData) -> MetadataRecords | None:
        for batch in _batches(node, row.records or b""):
            if batch.last_offset >= self._position[0]:
                self._waiting.append(batch)
        moved = row.high_watermark > self._high_watermark
        self._high_watermark = max(self._high_watermark, row.high_watermark)
        count = 0
        while (
            count < len(self._waiting) and self._waiting[count].last_offset < self._high_watermark
        ):
            count += 1
        batches, self._waiting = self._waiting[:count], self._waiting[count:]
        if batches:
            self._given = batches[-1].last_offset + 1
            self._given_epoch = batches[-1].partition_leader_epoch
        elif not moved:
            return None
        return MetadataRecords(batches, self._given, self._high_watermark)


def _only(rows: list[_Row], node: int) -> _Row:
    if len(rows) != 1:
        raise RemoteProtocolError(
            f"controller {node} was asked about one partition and answered about {len(rows)}"
        )
    return rows[0]


def _batches(node: int, data: bytes) -> list[Batch]:
    try:
        return list(read_batches(data))
    except DecodeError as error:
        raise RemoteProtocolError(
            f"records of the metadata log from controller {node} do not decode: {error}"
        ) from error
