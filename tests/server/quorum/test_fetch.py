"""Fetch and FetchSnapshot of the metadata log, and who follows it."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from kafka_admin_proto.messages import (
    DescribeClusterRequest,
    DescribeQuorumRequest,
    FetchRequest,
    FetchSnapshotRequest,
)
from kafka_admin_proto.messages.describe_quorum_request import PartitionData as QuorumPartition
from kafka_admin_proto.messages.describe_quorum_request import TopicData
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic, ReplicaState
from kafka_admin_proto.messages.fetch_snapshot_request import (
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import ClusterState, read_batches
from kafka_admin_proto.records.metadata.records import read_metadata_value
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.server.apis import Answer
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.server.quorum.controller import CLUSTER_ID, CONTROLLER, Controller

_DIRECTORY = uuid4()


def _request(offset: int = 0, replica: int = 1, **fields: Any) -> FetchRequest:
    given = {
        "fetch_offset": offset,
        "current_leader_epoch": 1,
        "last_fetched_epoch": 1 if offset > 0 else 0,
        "replica_directory_id": _DIRECTORY,
        **fields,
    }
    return FetchRequest(
        cluster_id=CLUSTER_ID,
        replica_state=ReplicaState(replica),
        max_wait_ms=500,
        max_bytes=8 << 20,
        topics=[FetchTopic("", METADATA_TOPIC_ID, [FetchPartition(0, **given)])],
    )


def _row(response: Any) -> Any:
    return response.responses[0].partitions[0]


def _replayed(data: bytes) -> ClusterState:
    """The state that a follower has of these batches."""
    replay = MetadataReplay()
    for batch in read_batches(data):
        for record in batch.records:
            if batch.is_control:
                replay.skip(record.offset, batch.partition_leader_epoch)
                continue
            assert record.value is not None
            problems = replay.apply(
                read_metadata_value(record.value)[0], record.offset, batch.partition_leader_epoch
            )
            assert not list(problems)
    return replay.state


def test_a_follower_has_the_same_state() -> None:
    controller = Controller()
    controller.start(1)
    controller.create("a", [1], [1])
    response = controller.ask(_request())
    row = _row(response)
    assert (row.error_code, row.high_watermark) == (0, controller.state.end_offset)
    assert (row.current_leader.leader_id, row.current_leader.leader_epoch) == (CONTROLLER, 1)
    (endpoint,) = response.node_endpoints
    assert (endpoint.node_id, endpoint.host, endpoint.port) == (CONTROLLER, "h", 9000)
    followed = _replayed(row.records)
    assert followed.items() == controller.state.cluster.items()


def test_pieces_are_whole_batches() -> None:
    """At least one, however few bytes are wanted; together they are the log."""
    controller = Controller()
    controller.start(1)
    controller.create("a", [1])
    data, offset = b"", 0
    while offset < controller.state.end_offset:
        request = _request(offset)
        request.max_bytes = 1
        records = _row(controller.ask(request)).records
        (batch,) = read_batches(records)
        assert batch.records[0].offset == offset
        offset += len(batch.records)
        data += records
    assert data == _row(controller.ask(_request())).records


def test_one_that_has_all_waits_for_the_next_record() -> None:
    controller = Controller()
    answer = controller.answer(_request(controller.state.end_offset))
    assert answer.wait is not None
    assert answer.wait.wait_ms == 500
    assert not _complete(controller, answer, is_over=False)
    controller.register(1)
    assert _complete(controller, answer, is_over=False)
    assert _row(answer.response).high_watermark == controller.state.end_offset
    assert _row(answer.response).records


def test_the_wait_has_an_end() -> None:
    controller = Controller()
    answer = controller.answer(_request(controller.state.end_offset))
    assert _complete(controller, answer, is_over=True)
    assert _row(answer.response).records == b""


def test_one_that_knows_an_older_high_watermark_is_answered_at_once() -> None:
    controller = Controller()
    end = controller.state.end_offset
    assert controller.answer(_request(end, high_watermark=end - 1)).wait is None
    assert controller.answer(_request(end, high_watermark=end)).wait is not None


def _complete(controller: Controller, answer: Answer, *, is_over: bool) -> bool:
    assert answer.wait is not None
    return answer.wait.complete(answer, controller.state, {None}, is_over)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"current_leader_epoch": 0}, codes.FENCED_LEADER_EPOCH),
        ({"current_leader_epoch": 2}, codes.UNKNOWN_LEADER_EPOCH),
        ({"current_leader_epoch": -1}, codes.INVALID_REQUEST),
        ({"last_fetched_epoch": -1}, codes.INVALID_REQUEST),
        ({"last_fetched_epoch": 2}, codes.INVALID_REQUEST),
        ({"fetch_offset": -1}, codes.INVALID_REQUEST),
    ],
)
def test_positions_that_are_refused_name_the_leader(fields: dict[str, Any], code: int) -> None:
    response = Controller().ask(_request(**fields))
    row = _row(response)
    assert (row.error_code, row.records, row.current_leader.leader_id) == (code, b"", CONTROLLER)
    assert response.node_endpoints


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"cluster_id": "another"}, codes.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, codes.INVALID_REQUEST),
        ({"topics": [FetchTopic("", UUID(int=7), [FetchPartition(0)])]}, codes.INVALID_REQUEST),
        ({"topics": [FetchTopic("", METADATA_TOPIC_ID, [FetchPartition(1)])]},
         codes.INVALID_REQUEST),
        ({"topics": [FetchTopic("", METADATA_TOPIC_ID, [])]}, codes.INVALID_REQUEST),
    ],
)  # fmt: skip
def test_requests_that_are_refused(change: dict[str, Any], code: int) -> None:
    request = _request()
    for name, value in change.items():
        setattr(request, name, value)
    response = Controller().ask(request)
    assert (response.error_code, response.responses) == (code, [])


def test_an_older_version_names_no_epoch() -> None:
    """Version 11 has no last fetched epoch, and names the topic, which is not enough."""
    request = _request()
    request.topics = [FetchTopic("__cluster_metadata", partitions=[FetchPartition(0)])]
    request.cluster_id, request.replica_state = None, ReplicaState()
    assert Controller().ask(request, 11).error_code == codes.INVALID_REQUEST


@pytest.mark.parametrize(("offset", "epoch", "shared"), [(1000, 1, None), (3, 0, 0)])
def test_a_log_that_parts_from_this_one(offset: int, epoch: int, shared: int | None) -> None:
    controller = Controller()
    row = _row(controller.ask(_request(offset, last_fetched_epoch=epoch)))
    end = controller.state.end_offset if shared is None else shared
    assert (row.error_code, row.records) == (0, b"")
    assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (epoch, end)


def test_who_fetches_is_an_observer() -> None:
    controller = Controller()
    end = controller.state.end_offset
    controller.ask(_request(3, replica=1))
    controller.ask(_request(end, replica=2))
    for nobody in (-1, CONTROLLER):
        controller.ask(_request(end, replica=nobody))
    asked = [TopicData("__cluster_metadata", [QuorumPartition(0)])]
    found = controller.ask(DescribeQuorumRequest(asked)).topics[0].partitions[0]
    (voter,) = found.current_voters
    assert voter.replica_id == found.leader_id == CONTROLLER
    assert found.high_watermark == end
    seen = [(each.replica_id, each.log_end_offset, each.last_caught_up_timestamp > 0)
            for each in found.observers]  # fmt: skip
    assert seen == [(1, 3, False), (2, end, True)]
    assert found.observers[0].replica_directory_id == _DIRECTORY


def test_those_who_stay_away_are_forgotten() -> None:
    controller = Controller()
    log = controller.state.metadata_log
    assert log is not None
    for replica in range(1, 1101):
        log.fetched(replica, _DIRECTORY, 0)
    assert list(log.observers()) == list(range(101, 1101))


def test_there_is_no_snapshot() -> None:
    controller = Controller()

    def code(name: str = "__cluster_metadata", epoch: int = 1, cluster: str | None = None) -> int:
        row = PartitionSnapshot(0, epoch, SnapshotId(5, 1), 0)
        asked = FetchSnapshotRequest(
            cluster_id=cluster, replica_id=1, max_bytes=1000, topics=[TopicSnapshot(name, [row])]
        )
        response = controller.ask(asked)
        found: int = response.error_code
        if not found:
            assert response.node_endpoints
            found = response.topics[0].partitions[0].error_code
        return found

    assert code() == codes.SNAPSHOT_NOT_FOUND
    assert code(epoch=0) == codes.FENCED_LEADER_EPOCH
    assert code(epoch=2) == codes.UNKNOWN_LEADER_EPOCH
    assert code("a") == codes.UNKNOWN_TOPIC_OR_PARTITION
    assert code(cluster="another") == codes.INCONSISTENT_CLUSTER_ID
    empty = FetchSnapshotRequest(replica_id=1, max_bytes=1000)
    assert controller.ask(empty).error_code == codes.INVALID_REQUEST


def test_the_controllers_are_described() -> None:
    controller = Controller()
    found = controller.ask(DescribeClusterRequest(endpoint_type=2))
    assert (found.cluster_id, found.endpoint_type) == (CLUSTER_ID, 2)
    assert found.controller_id == CONTROLLER
    assert [(each.broker_id, each.port) for each in found.brokers] == [(CONTROLLER, 9000)]
    refused = controller.ask(DescribeClusterRequest(endpoint_type=1))
    assert refused.error_code == codes.MISMATCHED_ENDPOINT_TYPE
    refused = controller.ask(DescribeClusterRequest(endpoint_type=3))
    assert refused.error_code == codes.UNSUPPORTED_ENDPOINT_TYPE
