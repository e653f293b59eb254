"""Following a metadata log while leaders, logs and snapshots change from request to request."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.admin import (
    BrokerError,
    ConnectionFailedError,
    ConnectionLostError,
    InstructionError,
    MetadataEvent,
    MetadataRecords,
    MetadataSnapshot,
    QuorumLeader,
    RequestTimedOutError,
)
from kafka_admin_proto.admin.operations.metadata_log import MetadataLogOperations
from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.wire.secrets import METADATA_TOPIC
from tests.admin.fake_caller import Call, FakeCaller
from tests.helpers.profile import draws

_NODES = (1, 2, 3)
_Row = m.FetchResponse.PartitionData
_Leader = m.FetchResponse.LeaderIdAndEpoch


def _batch(offset: int, epoch: int) -> bytes:
    records = [Record(offset, 0, None, b"%d/%d" % (offset, epoch))]
    return write_batch(Batch(base_offset=offset, partition_leader_epoch=epoch, records=records))


class _Quorum:
    """Controllers of which one at most leads; ``change`` is what happens between two requests."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.leader: int | None = 1
        self.epoch = 1
        #: The epoch of the record at each offset.
        self.log: list[int] = [1]
        self.high_watermark = 0
        self.start, self.start_epoch = 0, 0
        self.is_calm = False

    def change(self) -> None:
        """Append, commit, elect, lose the leader, or take a snapshot."""
        chance = self.chance.random()
        if chance < 0.4 and self.leader is not None:
            self.log += [self.epoch] * self.chance.randint(1, 3)
        elif chance < 0.6 and self.leader is not None:
            self.high_watermark = self.chance.randint(self.high_watermark, len(self.log))
        elif chance < 0.75:
            del self.log[self.chance.randint(self.high_watermark, len(self.log)) :]
            self.epoch += self.chance.randint(1, 2)
            self.leader = self.chance.choice(_NODES)
            self.log.append(self.epoch)
        elif chance < 0.85:
            self.epoch += self.chance.randint(0, 1)  # or it resigns
            self.leader = None
        elif self.high_watermark > self.start:
            self.start = self.chance.randint(self.start + 1, self.high_watermark)
            self.start_epoch = self.log[self.start - 1]

    def calm_down(self) -> None:
        """From now on one controller leads, and all is committed."""
        self.is_calm = True
        self.leader = 2
        self.epoch += 1
        self.log.append(self.epoch)
        self.high_watermark = len(self.log)

    def fetch(self, request: m.FetchRequest, call: Call) -> m.FetchResponse | Exception:
        if not self.is_calm:
            self.change()
            if self.chance.random() < 0.1:
                return ConnectionLostError("gone")
        assert request.topics[0].topic_id == METADATA_TOPIC_ID
        (asked,) = request.topics[0].partitions
        row = _Row(records=b"", high_watermark=-1)
        row.current_leader = _Leader(-1 if self.leader is None else self.leader, self.epoch)
        if asked.current_leader_epoch < self.epoch:
            row.error_code = codes.FENCED_LEADER_EPOCH
        elif call.broker != self.leader:
            row.error_code = codes.NOT_LEADER_OR_FOLLOWER
        else:
            self._read(asked, row)
        topic = m.FetchResponse.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[row])
        return m.FetchResponse(responses=[topic])

    def _read(self, asked: m.FetchRequest.FetchPartition, row: _Row) -> None:
        offset, epoch = asked.fetch_offset, asked.last_fetched_epoch
        row.high_watermark = self.high_watermark
        if offset < self.start:
            row.snapshot_id = m.FetchResponse.SnapshotId(self.start, self.start_epoch)
            return
        if offset > 0 and (offset, epoch) != (self.start, self.start_epoch):
            known = [each for each in self.log if each <= epoch]
            has_it = bool(known) and known[-1] == epoch and len(known) >= offset
            if not has_it:
                end = m.FetchResponse.EpochEndOffset(known[-1] if known else 0, len(known))
                row.diverging_epoch = end
                return
        until = min(len(self.log), offset + self.chance.randint(1, 4))
        row.records = b"".join(_batch(at, self.log[at]) for at in range(offset, until))

    def snapshot(
        self, request: m.FetchSnapshotRequest, call: Call
    ) -> m.FetchSnapshotResponse | Exception:
        if not self.is_calm and self.chance.random() < 0.2:
            self.change()
        (asked,) = request.topics[0].partitions
        end = asked.snapshot_id.end_offset
        row = m.FetchSnapshotResponse.PartitionSnapshot(unaligned_records=b"")
        if (asked.current_leader_epoch, call.broker) != (self.epoch, self.leader):
            row.error_code = codes.FENCED_LEADER_EPOCH
        elif end != self.start:
            row.error_code = codes.SNAPSHOT_NOT_FOUND
        else:
            data = b"".join(_batch(at, self.log[at]) for at in range(end))
            piece = data[asked.position : asked.position + self.chance.randint(1, 100)]
            row.size, row.position, row.unaligned_records = len(data), asked.position, piece
        topic = m.FetchSnapshotResponse.TopicSnapshot(METADATA_TOPIC, [row])
        return m.FetchSnapshotResponse(topics=[topic])


class _Client(MetadataLogOperations, FakeCaller):
    asks_controllers = True


def _client(
    fetch: Callable[..., Any], snapshot: Callable[..., Any] | None = None, **about: Any
) -> _Client:
    handlers: dict[Any, Any] = {m.FetchRequest: fetch, m.FetchSnapshotRequest: snapshot}
    return _Client(handlers, brokers=_NODES, **about)


@pytest.mark.exhaustive
@settings(max_examples=draws(300), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(5, 80))
def test_each_committed_record_comes_once_and_in_order(chance: random.Random, steps: int) -> None:
    quorum = _Quorum(chance)
    client = _client(quorum.fetch, quorum.snapshot)

    async def follow() -> None:
        given, leader = 0, QuorumLeader(None, 0)
        async for event in client.follow_metadata():
            if isinstance(event, QuorumLeader):
                assert event != leader
                assert event.epoch >= leader.epoch
                leader = event
                continue
            values = [record.value for batch in event.batches for record in batch.records]
            if isinstance(event, MetadataSnapshot):
                assert event.end_offset > given
                assert event.epoch == quorum.log[event.end_offset - 1]
                given, first = event.end_offset, 0
            else:
                given, first = event.next_offset, given
                assert given <= event.high_watermark <= quorum.high_watermark
            assert values == [b"%d/%d" % (at, quorum.log[at]) for at in range(first, given)]
            if len(client.calls) > steps and not quorum.is_calm:
                quorum.calm_down()
            if quorum.is_calm and given == quorum.high_watermark:
                assert leader == QuorumLeader(quorum.leader, quorum.epoch)
                return

    async def bounded() -> None:
        asking = asyncio.create_task(follow())
        while not asking.done() and len(client.calls) < 50 * steps:
            await asyncio.sleep(0)
            if len(client.calls) > steps and not quorum.is_calm:
                quorum.calm_down()
        assert asking.done(), "it asks without end"
        await asking

    asyncio.run(bounded())


def _first_error(client: _Client, **arguments: Any) -> Exception:
    async def run() -> None:
        async for _ in client.follow_metadata(**arguments):
            pass

    with pytest.raises(Exception) as raised:  # noqa: PT011 which one is what the tests are about
        asyncio.run(asyncio.wait_for(run(), 20))
    return raised.value


def _answer(*rows: _Row, **about: Any) -> Callable[..., m.FetchResponse]:
    topic = m.FetchResponse.FetchableTopicResponse(
        topic_id=METADATA_TOPIC_ID, partitions=list(rows)
    )
    return lambda request, call: m.FetchResponse(responses=[topic], **about)


def _led(**fields: Any) -> _Row:
    row = _Row(**{"high_watermark": 5, "records": b"", **fields})
    row.current_leader = _Leader(1, 3)
    return row


def test_a_client_of_brokers_is_refused() -> None:
    client = _client(_answer())
    client.asks_controllers = False
    with pytest.raises(InstructionError, match="bootstrap_controllers"):
        client.follow_metadata()


def test_who_may_not_is_told_what_it_takes() -> None:
    error = _first_error(_client(_answer(error_code=codes.CLUSTER_AUTHORIZATION_FAILED)))
    assert isinstance(error, BrokerError)
    assert "ClusterAction" in str(error)


def test_a_leader_that_resigns_is_named_once_and_then_nobody() -> None:
    resigned = _Row(error_code=codes.NOT_LEADER_OR_FOLLOWER)
    resigned.current_leader = _Leader(-1, 3)
    stale = _Row(error_code=codes.NOT_LEADER_OR_FOLLOWER)
    stale.current_leader = _Leader(1, 3)
    back = _led(records=_batch(0, 3))
    answers = [_led(), resigned, stale, resigned, stale, resigned, stale, back]

    def fetch(request: m.FetchRequest, call: Call) -> m.FetchResponse:
        return _answer(answers.pop(0))(request, call)

    async def run() -> list[MetadataEvent]:
        client = _client(fetch)
        found = []
        async for event in client.follow_metadata():
            found.append(event)
            if not answers:
                return found
        return found

    events = asyncio.run(run())
    leaders = [event for event in events if isinstance(event, QuorumLeader)]
    assert leaders == [QuorumLeader(1, 3), QuorumLeader(None, 3), QuorumLeader(1, 3)]


def test_a_quorum_without_a_leader_ends_the_wait_for_the_first_answer() -> None:
    nobody = _Row(error_code=codes.NOT_LEADER_OR_FOLLOWER)
    nobody.current_leader = _Leader(-1, 3)
    error = _first_error(_client(_answer(nobody)), timeout=0.1)
    assert isinstance(error, RequestTimedOutError)
    assert "no active controller answered within 0.1 s" in str(error)


def test_controllers_that_never_answer() -> None:
    client = _client(lambda request, call: ConnectionLostError("gone"))
    assert isinstance(_first_error(client, timeout=0.1), ConnectionFailedError)
    assert {call.broker for call in client.calls} == set(_NODES)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ([], "answered about 0"),
        ([_led(), _led()], "answered about 2"),
        ([_led(records=_batch(0, 3)[:-1] + b"\1")], "do not decode"),
    ],
    ids=["no row", "two rows", "a damaged batch"],
)
def test_answers_that_no_controller_gives(row: list[_Row], text: str) -> None:
    error = _first_error(_client(_answer(*row)))
    assert isinstance(error, RemoteProtocolError)
    assert text in str(error)


def test_committed_records_that_are_gone() -> None:
    answers = [
        _led(records=_batch(0, 3) + _batch(1, 3)),
        _led(diverging_epoch=m.FetchResponse.EpochEndOffset(3, 1)),
    ]

    def fetch(request: m.FetchRequest, call: Call) -> m.FetchResponse:
        return _answer(answers.pop(0))(request, call)

    error = _first_error(_client(fetch))
    assert isinstance(error, RemoteProtocolError)
    assert "the quorum has lost some" in str(error)


@pytest.mark.parametrize("lie", ["size", "position", "nothing", "rows"])
def test_snapshots_that_lie_about_themselves(lie: str) -> None:
    data = _batch(0, 1) + _batch(1, 1)

    def snapshot(request: m.FetchSnapshotRequest, call: Call) -> m.FetchSnapshotResponse:
        (asked,) = request.topics[0].partitions
        row = m.FetchSnapshotResponse.PartitionSnapshot(
            size=len(data), position=asked.position,
            unaligned_records=data[asked.position : asked.position + 50],
        )  # fmt: skip
        if asked.position and lie == "size":
            row.size = 1 << 40
        elif asked.position and lie == "position":
            row.position = 0
        elif lie == "nothing":
            row.unaligned_records = b""
        rows = [] if lie == "rows" else [row]
        topic = m.FetchSnapshotResponse.TopicSnapshot(METADATA_TOPIC, rows)
        return m.FetchSnapshotResponse(topics=[topic])

    asked_for = _led(snapshot_id=m.FetchResponse.SnapshotId(2, 1))
    error = _first_error(_client(_answer(asked_for), snapshot))
    assert isinstance(error, RemoteProtocolError)
    assert ("answered about 0" if lie == "rows" else "were asked for") in str(error)


async def test_what_is_not_committed_does_not_come() -> None:
    row = _led(records=_batch(0, 3) + _batch(1, 3))
    row.high_watermark = 1

    client = _client(_answer(row))
    found = []
    async for event in client.follow_metadata():
        found.append(event)
        if len(found) == 2:
            break
    leader, records = found
    assert leader == QuorumLeader(1, 3)
    assert isinstance(records, MetadataRecords)
    assert (records.next_offset, records.high_watermark) == (1, 1)
