"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords; what is left after unclean elections."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages import (
    DeleteRecordsRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
)
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsTopic,
)
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, read_batches, write_batch
from tests.helpers.profile import draws
from tests.server.handlers.records.asked import Asked, Waiting, fetching, produced


def listed(
    asked: Asked, timestamp: int, version: int = 11, node: int = 1, epoch: int = -1, **fields: Any
) -> Any:
    part = ListOffsetsPartition(0, epoch if version >= 4 else -1, timestamp)
    topics = [ListOffsetsTopic("t", [part])]
    request = ListOffsetsRequest(**{"replica_id": -1, "topics": topics, **fields})
    (item,) = asked.ask(request, version, node).topics
    (row,) = item.partitions
    return row


#: The offset of each special timestamp, and the first version that has it.
_SPECIAL = {-1: (3, 0), -2: (1, 0), -3: (2, 7), -4: (1, 8), -5: (-1, 9), -6: (-1, 11), -7: (0, 99)}


@pytest.mark.parametrize("version", range(1, 12))
@pytest.mark.parametrize("timestamp", _SPECIAL)
def test_special_timestamps(timestamp: int, version: int) -> None:
    asked = Asked("t")
    for at in (5, 7, 9):
        data = write_batch(Batch.of([Record(0, at, b"k", b"v")]))
        asked.log("t").append(data, leader_epoch=0, now_ms=at)
    asked.log("t").delete_before(1)
    row = listed(asked, timestamp, version)
    offset, first = _SPECIAL[timestamp]
    if version < first:
        assert (row.error_code, row.offset) == (codes.UNSUPPORTED_VERSION, -1)
    else:
        assert (row.error_code, row.offset) == (0, offset)
        assert row.timestamp == (9 if timestamp == -3 else -1)
        assert row.leader_epoch == (0 if version >= 4 and offset >= 0 else -1)


def test_times_and_isolation() -> None:
    asked = Asked("t")
    asked.produce("t", b"a")
    transactional = produced(
        "t", b"b", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True
    ).topic_data[0].partition_data[0].records  # fmt: skip
    assert transactional is not None
    asked.log("t").append(transactional, leader_epoch=0, now_ms=1)
    asked.state.partitions.left(2)
    asked.produce("t", b"c")
    assert listed(asked, -1).offset == 2, "the high watermark"
    assert listed(asked, -1, isolation_level=1).offset == 1, "the last stable offset"
    assert listed(asked, -1, replica_id=2).offset == 3, "a follower may have all"
    assert listed(asked, 0).offset == 0
    assert listed(asked, 2).offset == -1, "no record has that time"
    assert listed(asked, -1, node=2).error_code == codes.NOT_LEADER_OR_FOLLOWER
    assert listed(asked, -1, node=2, replica_id=-2).error_code == 0


@pytest.mark.parametrize("timestamp", [-2, -4])
def test_a_follower_hears_of_an_epoch_with_its_records(timestamp: int) -> None:
    asked = Asked("t")
    found = [listed(asked, timestamp, node=each, replica_id=-2).leader_epoch for each in (1, 2)]
    assert found == [0, -1]
    asked.produce("t", b"a")
    assert listed(asked, timestamp, node=2, replica_id=-2).leader_epoch == 0


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(-1, 0), (0, codes.FENCED_LEADER_EPOCH), (1, 0), (2, codes.UNKNOWN_LEADER_EPOCH)],
)
def test_the_leaders_epoch(epoch: int, code: int) -> None:
    asked = Asked("t")
    asked.change("t", leader=1)
    assert listed(asked, -1, epoch=epoch).error_code == code
    assert end_of(asked, 0, current=epoch).error_code == code


def end_of(asked: Asked, epoch: int, node: int = 1, current: int = -1) -> Any:
    part = OffsetForLeaderPartition(0, current, epoch)
    request = OffsetForLeaderEpochRequest(-2, [OffsetForLeaderTopic("t", [part])])
    (item,) = asked.ask(request, 4, node).topics
    (row,) = item.partitions
    return row


@pytest.mark.parametrize(
    ("version", "code"), [(4, codes.LEADER_NOT_AVAILABLE), (5, codes.OFFSET_NOT_AVAILABLE)]
)
def test_a_new_leader_does_not_know_the_high_watermark(version: int, code: int) -> None:
    """KIP-207: until its replicas have what it has, later offsets than before are no answer."""
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.state.partitions.left(3)
    asked.produce("t", b"b")
    asked.change("t", leader=2)
    for timestamp, found in ((-1, (code, -1)), (-2, (0, 0)), (1, (0, 0))):
        row = listed(asked, timestamp, version, 2)
        assert (row.error_code, row.offset) == found
    assert listed(asked, -1, version, 2, replica_id=-2).offset == 2
    asked.change("t", isr=[1, 2])
    assert listed(asked, -1, version, 2).offset == 2


def test_where_epochs_end() -> None:
    asked = Asked("t")
    asked.produce("t", b"a", b"b")
    for leader in (2, 3, 1):  # epochs 1 and 2 have no records
        asked.change("t", leader=leader)
    asked.produce("t", b"c")
    found = {each: end_of(asked, each) for each in (-1, 0, 1, 2, 3, 4)}
    assert {each: (row.leader_epoch, row.end_offset) for each, row in found.items()} == {
        -1: (-1, -1), 0: (0, 2), 1: (0, 2), 2: (0, 2), 3: (3, 3), 4: (-1, -1),
    }  # fmt: skip
    assert end_of(asked, 0, node=2).error_code == codes.NOT_LEADER_OR_FOLLOWER


_steps = st.lists(
    st.one_of(
        st.just(("append", 0)),
        st.just(("append", 0)),
        st.just(("fetch", 0)),
        st.just(("fetch", 0)),
        st.tuples(st.sampled_from(["leave", "elect", "join"]), st.integers(1, 3)),
    ),
    max_size=40,
)


@settings(max_examples=draws(400), deadline=None)
@given(steps=_steps)
def test_a_consumer_ends_with_the_records_of_the_log(steps: list[tuple[str, int]]) -> None:
    """Whoever is elected: where the log parts from what it has read, it hears so (KIP-320)."""
    asked = Asked("t")
    seen: list[tuple[int, bytes | None]] = []  # epoch and value of each offset
    leader, count = 1, 0

    def fetch() -> bool:
        epoch = seen[-1][0] if seen else -1
        request = fetching(("t", 0, len(seen)), last_fetched_epoch=epoch, max_wait_ms=0)
        (item,) = asked.begin(request, 12, leader).response.responses
        (row,) = item.partitions
        assert row.error_code == 0
        if row.diverging_epoch.epoch >= 0:
            kept = min(row.diverging_epoch.end_offset, len(seen))
            while kept and seen[kept - 1][0] > row.diverging_epoch.epoch:
                kept -= 1
            assert kept < len(seen)
            del seen[kept:]
            return True
        for batch in read_batches(row.records):
            seen.extend((batch.partition_leader_epoch, each.value) for each in batch.records)
        return bool(row.records)

    for name, node in steps:
        if name == "append":
            count += 1
            asked.produce_at(leader, "t", b"%d" % count)
        elif name == "fetch":
            fetch()
        elif name == "leave" and node != leader:
            asked.state.partitions.left(node)
        elif name == "elect" and node != leader:
            leader = node
            asked.state.partitions.came(node)
            asked.change("t", leader=node, isr=[node])
        elif name == "join":
            asked.state.partitions.came(node)
            asked.change("t", isr=sorted({leader, node}))
    asked.change("t", isr=[leader])
    while fetch():
        pass
    log = asked.log("t").log
    stored = [
        (batch.partition_leader_epoch, record.value)
        for batch in read_batches(log.read(0, 1 << 30, up_to=log.end_offset))
        for record in batch.records
    ]
    assert seen == stored


def deleting(offset: int, **fields: Any) -> DeleteRecordsRequest:
    part = DeleteRecordsPartition(0, offset)
    return DeleteRecordsRequest([DeleteRecordsTopic("t", [part])], **{"timeout_ms": 500, **fields})


def outcome(waiting: Waiting) -> tuple[int, int]:
    (item,) = waiting.end_time().topics
    (row,) = item.partitions
    return row.error_code, row.low_watermark


@pytest.mark.parametrize(
    ("offset", "found"),
    [(1, (0, 1)), (-1, (0, 2)), (0, (0, 0)), (2, (0, 2)), (3, (1, -1)), (-2, (1, -1))],
)
def test_records_are_deleted(offset: int, found: tuple[int, int]) -> None:
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.produce("t", b"b")
    asked.state.partitions.left(2)
    asked.produce("t", b"c")  # above the high watermark
    asked.state.cluster.brokers[2].fenced = True
    assert outcome(asked.begin(deleting(offset), 2)) == found
    if not found[0]:
        assert listed(asked, -2).offset == found[1]
        assert outcome(asked.begin(deleting(0), 2)) == found, "what is gone does not come back"


def test_deleting_waits_for_live_replicas() -> None:
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.state.partitions.left(2)
    waiting = asked.begin(deleting(1), 2)
    assert waiting.waits()
    assert outcome(waiting) == (codes.REQUEST_TIMED_OUT, 0)
    waiting = asked.begin(deleting(1), 2)
    asked.state.partitions.came(2)
    asked.change("t", isr=[1, 2, 3])
    assert outcome(waiting) == (0, 1)


def test_where_records_may_not_be_deleted() -> None:
    asked = Asked()
    asked.create("t", cleanup_policy="compact")
    assert outcome(asked.begin(deleting(0), 2))[0] == codes.POLICY_VIOLATION
    assert outcome(asked.begin(deleting(0), 2, 2))[0] == codes.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("release", "version", "found"),
    [
        ("4.3", 11, [("t", [(0, codes.INVALID_REQUEST), (1, 0)])]),
        ("3.9", 8, [("t", [(0, codes.INVALID_REQUEST)] * 2), ("t", [(1, 0)])]),
        ("3.9", 0, [("t", [(0, 0), (0, 0)]), ("t", [(1, 0)])]),
    ],
)
def test_what_is_asked_for_twice(
    release: str, version: int, found: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    """4.3.1 and 3.9.2: merged since 4.0, and no fault of version 0."""
    asked = Asked(release=release)
    asked.create("t", 4)
    asked.change("t", 1, leader=1)
    parts = [ListOffsetsPartition(0, -1, -1, max_num_offsets=1) for _ in range(2)]
    topics = [
        ListOffsetsTopic("t", parts),
        ListOffsetsTopic("t", [ListOffsetsPartition(1, -1, -1, max_num_offsets=1)]),
    ]
    answer = asked.ask(ListOffsetsRequest(-1, topics=topics), version)
    assert [
        (item.name, [(each.partition_index, each.error_code) for each in item.partitions])
        for item in answer.topics
    ] == found
