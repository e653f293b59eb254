"""What share coordinators keep, their records, and the offsets from which groups begin."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import alter_share_group_offsets_request as altered
from kafka_admin_proto.messages import delete_share_group_state_request as deleted
from kafka_admin_proto.messages import describe_share_group_offsets_request as described
from kafka_admin_proto.messages import initialize_share_group_state_request as initialized
from kafka_admin_proto.messages import read_share_group_state_request as read
from kafka_admin_proto.messages import read_share_group_state_summary_request as summed
from kafka_admin_proto.messages import write_share_group_state_request as written
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequestTopic,
)
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import read_known_record
from kafka_admin_proto.records.segments.known_topics import SHARE_GROUP_STATE
from kafka_admin_proto.server.inspection import stored_records
from kafka_admin_proto.server.share.state import StateBatch, combined
from tests.server.groups.coordinated import Coordinated
from tests.server.served import Served
from tests.server.share.sharing import Fetcher, Sharer, acks, kept_states, produce, shared_cluster


@pytest.fixture
def cluster() -> Coordinated:
    return shared_cluster()


def _topic_id(cluster: Coordinated) -> UUID:
    topic = cluster.state.topic("orders")
    assert topic is not None
    return topic.id


def _row(cluster: Coordinated, request: Any, version: int | None = None) -> Any:
    (topic,) = cluster.ask(request, version).results
    (row,) = topic.partitions
    return row


def _initialize(cluster: Coordinated, epoch: int, start: int, partition: int = 0) -> Any:
    part = initialized.PartitionData(partition, epoch, start)
    rows = [initialized.InitializeStateData(_topic_id(cluster), [part])]
    return _row(cluster, m.InitializeShareGroupStateRequest("g", rows))


def _write(cluster: Coordinated, epochs: tuple[int, int], start: int, *batches: Any) -> Any:
    rows = [written.StateBatch(*each) for each in batches]
    part = written.PartitionData(0, *epochs, start, 0, rows)
    topics = [written.WriteStateData(_topic_id(cluster), [part])]
    return _row(cluster, m.WriteShareGroupStateRequest("g", topics))


def _read(cluster: Coordinated, epoch: int) -> Any:
    rows = [read.ReadStateData(_topic_id(cluster), [read.PartitionData(0, epoch)])]
    return _row(cluster, m.ReadShareGroupStateRequest("g", rows))


def _summary(cluster: Coordinated) -> Any:
    rows = [summed.ReadStateSummaryData(_topic_id(cluster), [summed.PartitionData(0)])]
    return _row(cluster, m.ReadShareGroupStateSummaryRequest("g", rows))


def test_a_state_is_begun_changed_read_and_deleted(cluster: Coordinated) -> None:
    assert _read(cluster, 0).error_code == codes.INVALID_REQUEST
    assert (_summary(cluster).error_code, _summary(cluster).start_offset) == (0, -1)
    assert _write(cluster, (1, 0), 0).error_code == codes.INVALID_REQUEST
    assert _initialize(cluster, 2, 5).error_code == 0
    assert _write(cluster, (2, 0), 5, (5, 6, 0, 1), (7, 9, 2, 1)).error_code == 0
    found = _read(cluster, 3)
    assert (found.state_epoch, found.start_offset) == (2, 5)
    assert [each.first_offset for each in found.state_batches] == [5, 7]
    assert _write(cluster, (2, 2), 5).error_code == codes.FENCED_LEADER_EPOCH
    assert _write(cluster, (1, 3), 5).error_code == codes.FENCED_STATE_EPOCH
    assert _read(cluster, 2).error_code == codes.FENCED_LEADER_EPOCH
    assert _initialize(cluster, 1, 0).error_code == codes.FENCED_STATE_EPOCH
    found = _summary(cluster)
    assert (found.state_epoch, found.leader_epoch, found.start_offset) == (2, 3, 5)
    rows = [deleted.DeleteStateData(_topic_id(cluster), [deleted.PartitionData(0)])]
    for _ in range(2):
        assert _row(cluster, m.DeleteShareGroupStateRequest("g", rows)).error_code == 0
    assert kept_states(cluster) == {}


def test_refused_requests_of_brokers(cluster: Coordinated) -> None:
    assert _initialize(cluster, -1, 0).error_code == codes.INVALID_REQUEST
    assert _initialize(cluster, 1, 0, partition=-1).error_code == codes.INVALID_REQUEST
    assert _initialize(cluster, 1, 0, partition=9).error_code == codes.UNKNOWN_TOPIC_OR_PARTITION
    rows = [initialized.InitializeStateData(UUID(int=9), [initialized.PartitionData(0)])]
    found = _row(cluster, m.InitializeShareGroupStateRequest("g", rows))
    assert found.error_code == codes.UNKNOWN_TOPIC_OR_PARTITION


def test_a_state_that_ends_before_it_begins(cluster: Coordinated) -> None:
    _initialize(cluster, 1, 0)
    assert _write(cluster, (1, 0), 0, (5, 4, 0, 1)).error_code == codes.INVALID_REQUEST
    assert kept_states(cluster)[0].batches == ()


@pytest.mark.parametrize("limit", ["0", "2", "500"])
def test_records_are_snapshots_and_updates(limit: str) -> None:
    """The next leader of the coordinator's partition knows the same, with any number of updates."""
    config = "share.coordinator.snapshot.update.records.per.snapshot"
    cluster = shared_cluster(configs={config: limit})
    _initialize(cluster, 1, 0)
    for number in range(5):
        assert _write(cluster, (1, 0), number, (number, number + 1, 0, number)).error_code == 0
    before = kept_states(cluster)[0]
    cluster.state.share_states.left(cluster.node)
    after = kept_states(cluster)[0]
    assert (after.start_offset, after.batches) == (before.start_offset, before.batches)
    assert (after.snapshot_epoch, after.updates) == (before.snapshot_epoch, before.updates)
    records = stored_records.records_of(cluster.state, SHARE_GROUP_STATE)
    found = [read_known_record(SHARE_GROUP_STATE, each.key, each.value) for each in records]
    assert not any(each.problem for each in found)
    kinds = [type(each.key).__name__[5] for each in found]
    assert "".join(kinds) == {"0": "SSSSSS", "2": "SUUSUU", "500": "SUUUUU"}[limit]


_PRUNING_S = 300  # share.coordinator.state.topic.prune.interval.ms


def test_records_before_the_snapshots_are_pruned() -> None:
    """The log begins with the oldest snapshot that counts, and a next leader knows the same."""
    config = "share.coordinator.snapshot.update.records.per.snapshot"
    name = "share.coordinator.state.topic.num.partitions"
    cluster = shared_cluster(configs={config: "2", name: "1"})

    def kinds() -> str:
        records = stored_records.records_of(cluster.state, SHARE_GROUP_STATE)
        found = [read_known_record(SHARE_GROUP_STATE, each.key, each.value) for each in records]
        return "".join(type(each.key).__name__[5] if each.value else "-" for each in found)

    for partition in range(2):
        _initialize(cluster, 1, 0, partition)
    for number in range(4):
        _write(cluster, (1, 0), number, (number, number + 1, 0, number))
    assert kinds() == "SSUUSU"
    cluster.clock.pass_time(_PRUNING_S)
    assert kinds() == "SUUSU"  # it begins with that of partition 1
    _initialize(cluster, 2, 0, 1)
    before = kept_states(cluster)
    cluster.clock.pass_time(_PRUNING_S)
    assert kinds() == "SUS"
    cluster.state.share_states.left(cluster.node)
    assert kept_states(cluster) == before
    cluster.served.ask(m.DeleteTopicsRequest(topics=[DeleteTopicState("orders")], timeout_ms=1000))
    cluster.clock.pass_time(_PRUNING_S)
    assert kinds() == "-"


def test_a_topic_of_that_name_in_a_release_without_share_groups() -> None:
    """Nothing is pruned there, where the config is not known."""
    served = Served("3.9", 1)
    served.ask(m.CreateTopicsRequest([CreatableTopic(SHARE_GROUP_STATE, 1, 1)], timeout_ms=1000))
    served.state.share_states.load()


_BATCHES = st.lists(
    st.builds(
        lambda first, size, state, count: StateBatch(first, first + size, state, count),
        st.integers(0, 30), st.integers(0, 8), st.sampled_from([0, 2, 4]), st.integers(1, 3),
    ),
    max_size=8,
)  # fmt: skip


@given(_BATCHES, _BATCHES, st.integers(0, 30))
def test_combined_states(older: list[StateBatch], newer: list[StateBatch], start: int) -> None:
    """Offset by offset: the most deliveries count, then the state that is nearest to the end."""
    found = combined(older, newer, start)
    expected: dict[int, tuple[int, int]] = {}
    for each in (*older, *newer):
        for offset in range(max(start, each.first_offset), each.last_offset + 1):
            state = each.delivery_count, each.state
            expected[offset] = max(expected.get(offset, state), state)
    assert {
        offset: (each.delivery_count, each.state)
        for each in found
        for offset in range(each.first_offset, each.last_offset + 1)
    } == expected
    for one, two in pairwise(found):
        assert one.last_offset < two.first_offset
        joins = one.last_offset + 1 == two.first_offset
        assert not joins or (one.state, one.delivery_count) != (two.state, two.delivery_count)


def _offsets(cluster: Coordinated, topics: Any = None) -> dict[int, tuple[int, int]]:
    """(start, lag) by partition."""
    group = described.DescribeShareGroupOffsetsRequestGroup("g", topics)
    (row,) = cluster.ask(m.DescribeShareGroupOffsetsRequest([group])).groups
    assert row.error_code == 0
    return {
        part.partition_index: (part.start_offset, part.lag)
        for each in row.topics
        for part in each.partitions
    }


def _alter(cluster: Coordinated, *starts: tuple[int, int]) -> Any:
    rows = [altered.AlterShareGroupOffsetsRequestPartition(*each) for each in starts]
    asked = m.AlterShareGroupOffsetsRequest(
        "g", [altered.AlterShareGroupOffsetsRequestTopic("orders", rows)]
    )
    waiting = cluster.send(asked)
    cluster.clock.pass_time(0.001)
    return waiting.response


def test_offsets_of_a_group(cluster: Coordinated) -> None:
    produce(cluster, 5)
    one = Sharer(cluster, "one")
    one.join()
    assert _offsets(cluster) == {0: (-1, -1), 1: (-1, -1)}
    assert _alter(cluster, (0, 2)).error_code == codes.NON_EMPTY_GROUP
    one.beat(member_epoch=-1)
    found = _alter(cluster, (0, 2), (9, 0))
    codes_of = [each.error_code for each in found.responses[0].partitions]
    assert codes_of == [0, codes.UNKNOWN_TOPIC_OR_PARTITION]
    assert _offsets(cluster) == {0: (2, 3), 1: (-1, -1)}
    fetcher = Fetcher(cluster, "one")
    assert fetcher.get() == [(2, 4, 1)]
    assert fetcher.acknowledge(acks(2, 3, 1)) == 0
    named = [described.DescribeShareGroupOffsetsRequestTopic("orders", [0])]
    assert _offsets(cluster, named) == {0: (2, 1)}
    gone = m.DeleteShareGroupOffsetsRequest("g", [DeleteShareGroupOffsetsRequestTopic("orders")])
    assert cluster.ask(gone).responses[0].error_code == 0
    assert (_offsets(cluster), kept_states(cluster)) == ({}, {})
    (row,) = cluster.ask(gone).responses
    assert row.error_message == "There is no offset information to delete."
    group = cluster.state.coordinators.led("g").share_groups["g"]
    assert not group.partitions.deleting


def test_offsets_make_a_group(cluster: Coordinated) -> None:
    produce(cluster, 3)
    assert _alter(cluster, (0, 1)).error_code == 0
    assert cluster.ask(m.ListGroupsRequest()).groups[0].group_state == "Empty"
    assert _offsets(cluster) == {0: (1, 2)}
    one = Sharer(cluster, "one")
    one.join()
    assert one.partitions == [0, 1]
