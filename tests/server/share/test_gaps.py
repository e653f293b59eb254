"""Offsets of no record: there may be more of them than memory has room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import write_share_group_state_request as written
from kafka_admin_proto.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequestGroup,
)
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.acknowledged import Acknowledgement
from kafka_admin_proto.server.share.acquiring import Acquired, Acquiring, LogBatch, without
from kafka_admin_proto.server.share.in_flight import InFlight, loaded
from kafka_admin_proto.server.share.partition import Kept, ShareLimits, SharePartition
from kafka_admin_proto.server.share.state import (
    ACKNOWLEDGED,
    ARCHIVED,
    AVAILABLE,
    ShareKey,
    ShareState,
    StateBatch,
)
from tests.server.share.sharing import Fetcher, Sharer, acks, kept_states, produce, shared_cluster
from tests.server.still_clock import StillClock

_FAR = 1 << 62
_ACCEPT, _RELEASE, _REJECT = 1, 2, 3
_LIMITS = ShareLimits(30_000, 5, 2000, renews=True)


class _Partition:
    """A partition with a kept state whose changes are kept at once."""

    def __init__(self, *kept: StateBatch) -> None:
        self.changes: list[StateBatch] = []
        state = ShareState(0, 1, 0, 0, 0, kept)
        self.share = SharePartition(
            state, 0, StillClock(), lambda: _LIMITS, self._keep, lambda: None
        )

    def _keep(self, start: int, completed: int, changes: Sequence[StateBatch], then: Kept) -> None:
        self.changes += changes
        then(0, None)

    def acquire(
        self,
        first: int,
        *found: tuple[int, int],
        strict: int | None = None,
        most: int = 500,
        size: int = 500,
    ) -> list[Acquired]:
        asked = Acquiring(strict or most, size, is_strict=strict is not None)
        return self.share.acquire("one", asked, first, [LogBatch(*each) for each in found])

    def acknowledge(self, first: int, last: int, *types: int) -> None:
        self.share.acknowledge("one", [Acknowledgement(first, last, types)], lambda *_: None)


def test_a_batch_of_the_log_with_more_offsets_than_memory() -> None:
    """Compaction leaves such batches: what is acknowledged of one is cut out of it."""
    partition = _Partition()
    assert partition.acquire(0, (0, _FAR)) == [Acquired(0, _FAR, 1)]
    partition.acknowledge(5, 7, _ACCEPT, _ACCEPT, _RELEASE)
    partition.acknowledge(8, _FAR - 1, _REJECT)
    found = [(each.first_offset, each.last_offset, each.state) for each in partition.changes]
    assert found == [(5, 6, 2), (7, 7, 0), (8, _FAR - 1, 4)]
    assert partition.share.next_offset == 7
    assert partition.acquire(7, (0, _FAR)) == [Acquired(7, 7, 2)]
    partition.share.release("one", lambda *_: None)
    assert partition.acquire(0, (0, _FAR)) == [
        Acquired(0, 4, 2), Acquired(7, 7, 3), Acquired(_FAR, _FAR, 2),
    ]  # fmt: skip


def test_a_member_gets_some_of_such_a_batch() -> None:
    partition = _Partition()
    assert partition.acquire(0, (0, _FAR), strict=3) == [Acquired(0, 2, 1)]
    assert partition.share.next_offset == 3
    assert partition.acquire(3, (0, _FAR), strict=2) == [Acquired(3, 4, 1)]


@pytest.mark.parametrize(
    ("start", "batch"),
    [(-1, (_FAR, _FAR, AVAILABLE, 1)), (0, (1, _FAR, ARCHIVED, 1)), (0, (0, _FAR, AVAILABLE, 0))],
)
def test_a_kept_state_of_very_many_offsets(start: int, batch: tuple[int, int, int, int]) -> None:
    """As another broker may write it, or a damaged log have it."""
    cluster = shared_cluster()
    Sharer(cluster, "one").join()
    topic = cluster.state.topic("orders")
    assert topic is not None
    key = ShareKey("g", topic.id, 0)
    cluster.state.share_states.led(key.text).initialize(key, 2, 0, lambda *_: None)
    part = written.PartitionData(0, 2, 0, start, 0, [written.StateBatch(*batch)])
    request = m.WriteShareGroupStateRequest("g", [written.WriteStateData(topic.id, [part])])
    assert cluster.ask(request).results[0].partitions[0].error_code == 0
    produce(cluster, 1)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 0, 1)]
    assert one.get(acks(0, 0, _RELEASE)) == [(0, 0, 2)]
    assert one.acknowledge(acks(0, 0, _ACCEPT)) == 0
    assert kept_states(cluster)[0].completed > 0


def test_a_damaged_state() -> None:
    """Each offset is in one batch, however those of the snapshot overlap."""
    batches = [StateBatch(5, 9, AVAILABLE, 1), StateBatch(2, 7, ARCHIVED, 1)]
    found = loaded([*batches, StateBatch(9, 3, AVAILABLE, 1), StateBatch(-4, 0, ARCHIVED, 1)], 1)
    assert [(each.first, each.last, each.parts[0].state) for each in found] == [
        (1, 1, AVAILABLE), (2, 7, ARCHIVED), (8, 9, AVAILABLE),
    ]  # fmt: skip


#: The kept state of a leader that has ended: it had given 0 to 3 and 6 to 9 to members, too.
_KEPT = (StateBatch(4, 5, ACKNOWLEDGED, 1), StateBatch(10, 11, AVAILABLE, 1))
_PAIRS = [(first, first + 1) for first in range(0, 14, 2)]


def test_gaps_of_a_kept_state_come_in_ranges() -> None:
    """Each with the size that the member wants, like new records, and up to the next batch."""
    assert _Partition(*_KEPT).acquire(0, *_PAIRS, size=1) == [
        Acquired(0, 1, 1), Acquired(2, 3, 1), Acquired(6, 7, 1), Acquired(8, 9, 1),
        Acquired(10, 11, 2), Acquired(12, 13, 1),
    ]  # fmt: skip
    assert _Partition(*_KEPT).acquire(0, (0, 13)) == [
        Acquired(0, 3, 1), Acquired(6, 9, 1), Acquired(10, 11, 2), Acquired(12, 13, 1),
    ]  # fmt: skip


def test_as_many_records_of_gaps_come_as_the_member_wants() -> None:
    """With the rest of their batch of the log, but not what is behind the gap."""
    partition = _Partition(*_KEPT)
    assert partition.acquire(0, *_PAIRS, most=1) == [Acquired(0, 1, 1)]
    assert partition.share.next_offset == 2
    assert partition.acquire(2, *_PAIRS[1:], most=3) == [Acquired(2, 3, 1), Acquired(6, 7, 1)]
    assert partition.acquire(8, (8, 13), most=1) == [Acquired(8, 9, 1)]
    assert partition.acquire(10, (8, 13), most=1) == [Acquired(10, 11, 2)]
    partition.acknowledge(0, 3, _ACCEPT)
    partition.acknowledge(6, 9, _ACCEPT)
    assert partition.share.start == 10


def test_a_member_gets_some_of_a_gap_alone() -> None:
    partition = _Partition(*_KEPT)
    assert partition.acquire(0, *_PAIRS, strict=1) == [Acquired(0, 0, 1)]
    assert partition.acquire(1, *_PAIRS, strict=2) == [Acquired(1, 1, 1), Acquired(2, 2, 1)]
    assert partition.share.next_offset == 3


def test_offsets_of_a_gap_that_the_log_has_no_more_are_passed_over() -> None:
    partition = _Partition(*_KEPT)
    assert partition.acquire(0, *_PAIRS[1:3]) == [Acquired(2, 3, 1)]
    partition.acknowledge(2, 3, _ACCEPT)
    assert partition.share.start == partition.share.next_offset == 6
    partition.share.log_starts_at(9)
    assert partition.share.next_offset == 9
    assert partition.acquire(9, (8, 11)) == [Acquired(9, 9, 1), Acquired(10, 11, 2)]
    other = _Partition(*_KEPT)
    assert other.acquire(0, (6, 9)) == [Acquired(6, 9, 1)]


def test_a_gap_that_nobody_has_is_not_acknowledged() -> None:
    """An acknowledgement is about the records before it, as those of new records."""
    partition = _Partition(*_KEPT)
    partition.acquire(0, *_PAIRS[:2], most=1)
    with pytest.raises(ApiFailure, match="past acquired records"):
        partition.acknowledge(2, 3, _ACCEPT)
    partition.acknowledge(0, 1, _ACCEPT)
    assert partition.share.start == 2


def test_a_gap_with_which_the_log_begins_is_not_acknowledged() -> None:
    partition = _Partition(*_KEPT)
    partition.share.log_starts_at(2)
    with pytest.raises(ApiFailure, match="not found in the cache"):
        partition.acknowledge(0, 3, _ACCEPT)


@pytest.mark.parametrize("size", [0, -1, -(1 << 31)])
def test_ranges_without_a_size(size: int) -> None:
    """A range for each batch of the log, and none without records, which would never end."""
    partition = _Partition()
    found = [LogBatch(0, 1), LogBatch(2, 3)]
    rows = partition.share.acquire("one", Acquiring(500, batch_size=size), 0, found)
    assert rows == [Acquired(0, 1, 1), Acquired(2, 3, 1)]


class _Counted(list[InFlight]):
    """A list that counts how often somebody looks at all of it."""

    looks = 0

    def __iter__(self) -> Iterator[InFlight]:
        self.looks += 1
        return super().__iter__()


def test_very_many_aborted_batches() -> None:
    """Each is found among those in flight, and nobody looks at all of them for each one."""
    partition = _Partition()
    partition.share.batches = batches = _Counted()
    found = [LogBatch(first, first + 2) for first in range(0, 300, 3)]
    rows = partition.share.acquire("one", Acquiring(500, batch_size=1), 0, found, found[1::2])
    assert rows == [Acquired(first, first + 2, 1) for first in range(0, 300, 6)]
    assert batches.looks < 9
    partition.acknowledge(0, 2, _ACCEPT)
    assert partition.share.start == 6


def test_aborted_batches_within_ranges() -> None:
    rows = [Acquired(0, 3, 1), Acquired(4, 7, 2), Acquired(8, 9, 1)]
    assert without(rows, [LogBatch(1, 1), LogBatch(3, 5)]) == [
        Acquired(0, 0, 1), Acquired(2, 2, 1), Acquired(6, 7, 2), Acquired(8, 9, 1),
    ]  # fmt: skip
    assert without(rows, [LogBatch(0, 9), LogBatch(10, 11)]) == []


def test_a_lag_that_overflows() -> None:
    """As the sum of Java's longs, which has a place in the response."""
    cluster = shared_cluster()
    Sharer(cluster, "one").join()
    topic = cluster.state.topic("orders")
    assert topic is not None
    part = written.PartitionData(0, 2, 0, (1 << 63) - 1, 7, [])
    request = m.WriteShareGroupStateRequest("g", [written.WriteStateData(topic.id, [part])])
    assert cluster.ask(request).results[0].partitions[0].error_code == 0
    group = DescribeShareGroupOffsetsRequestGroup("g", None)
    asked = m.DescribeShareGroupOffsetsRequest([group])
    found = cluster.served.ask(asked, node=cluster.node).groups[0].topics[0].partitions
    assert [each.lag for each in found] == [(1 << 63) - 6, -1]
