"""What brokers change by themselves: ISRs, blocks of producer ids, directories of replicas."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from kafka_admin_proto.messages import (
    AllocateProducerIdsRequest,
    AlterPartitionReassignmentsRequest,
    AlterPartitionRequest,
    AssignReplicasToDirsRequest,
    ElectLeadersRequest,
    PartitionChangeRecord,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.alter_partition_request import (
    BrokerState,
    PartitionData,
    TopicData,
)
from kafka_admin_proto.messages.elect_leaders_request import TopicPartitions
from kafka_admin_proto.protocol import codes
from tests.server.quorum.controller import Controller


class _Leader:
    """Three brokers, and a topic with one partition that broker 1 leads."""

    def __init__(self, *in_sync: int) -> None:
        self.controller = Controller()
        for each in (1, 2, 3):
            self.controller.start(each)
        self.topic = self.controller.create("a", [1, 2, 3])
        if in_sync:
            assert self.alter([*in_sync]).error_code == 0

    def request(self, in_sync: list[int], version: int = 3, **fields: Any) -> AlterPartitionRequest:
        now = self.controller.partition(self.topic)
        epochs = [self.controller.state.cluster.brokers.get(each) for each in in_sync]
        states = [
            BrokerState(each, -1 if known is None else known.epoch)
            for each, known in zip(in_sync, epochs, strict=True)
        ]
        given: dict[str, Any] = {
            "leader_epoch": now.leader_epoch,
            "partition_epoch": now.partition_epoch,
            **({"new_isr": in_sync} if version < 3 else {"new_isr_with_epochs": states}),
            **fields,
        }
        topics = [TopicData(topic_id=self.topic, partitions=[PartitionData(0, **given)])]
        return AlterPartitionRequest(1, self.controller.broker(1).epoch, topics)

    def alter(self, in_sync: list[int], version: int = 3, **fields: Any) -> Any:
        response = self.controller.ask(self.request(in_sync, version, **fields), version)
        assert response.error_code == 0
        return response.topics[0].partitions[0]


@pytest.mark.parametrize("version", [2, 3])
def test_the_isr_shrinks_and_grows(version: int) -> None:
    leader = _Leader()
    row = leader.alter([1, 2], version)
    assert (row.error_code, row.isr, row.leader_id) == (0, [1, 2], 1)
    assert (row.leader_epoch, row.partition_epoch) == (0, 1)
    now = leader.controller.partition(leader.topic)
    assert (now.isr, now.partition_epoch) == ([1, 2], 1)
    row = leader.alter([1, 2, 3], version)
    assert (row.isr, row.partition_epoch) == ([1, 2, 3], 2)


def test_what_is_so_already_is_answered_and_changes_nothing() -> None:
    leader = _Leader()
    end = leader.controller.state.end_offset
    row = leader.alter([1, 2, 3])
    assert (row.error_code, row.isr, row.partition_epoch) == (0, [1, 2, 3], 0)
    assert leader.controller.state.end_offset == end


@pytest.mark.parametrize(
    ("in_sync", "fields", "code"),
    [
        ([1, 2], {"leader_epoch": 1}, codes.NOT_CONTROLLER),
        ([1, 2], {"partition_epoch": 9}, codes.NOT_CONTROLLER),
        ([1, 2], {"leader_epoch": -1}, codes.FENCED_LEADER_EPOCH),
        ([1, 2], {"partition_epoch": 0}, codes.INVALID_UPDATE_VERSION),
        ([2, 3], {}, codes.INVALID_REQUEST),
        ([], {}, codes.INVALID_REQUEST),
        ([1, 2, 2], {}, codes.INVALID_REQUEST),
        ([1, 4], {}, codes.INVALID_REQUEST),
        ([1], {"leader_recovery_state": 1}, codes.INVALID_REQUEST),
        ([1, 2], {"new_isr_with_epochs": [BrokerState(1), BrokerState(2, 0)]},
         codes.INELIGIBLE_REPLICA),
    ],
)  # fmt: skip
def test_changes_that_are_refused(in_sync: list[int], fields: dict[str, Any], code: int) -> None:
    leader = _Leader(1, 2)
    end = leader.controller.state.end_offset
    assert leader.alter(in_sync, **fields).error_code == code
    assert leader.controller.state.end_offset == end


def test_a_fenced_broker_does_not_join() -> None:
    leader = _Leader(1, 2)
    leader.controller.beat(3, want_fence=True)
    assert leader.alter([1, 2, 3]).error_code == codes.INELIGIBLE_REPLICA


def test_a_state_that_there_is_none_of_fails_the_request() -> None:
    leader = _Leader()
    response = leader.controller.ask(leader.request([1], leader_recovery_state=7))
    assert (response.error_code, response.topics) == (codes.UNKNOWN_SERVER_ERROR, [])


def test_another_leader_topic_and_partition() -> None:
    leader = _Leader()
    controller = leader.controller
    request = leader.request([1, 2])
    request.broker_id, request.broker_epoch = 2, controller.broker(2).epoch
    assert controller.ask(request).topics[0].partitions[0].error_code == codes.INVALID_REQUEST
    request = leader.request([1, 2])
    request.topics[0].partitions[0].partition_index = 1
    row = controller.ask(request).topics[0].partitions[0]
    assert row.error_code == codes.UNKNOWN_TOPIC_OR_PARTITION
    request.topics[0].topic_id = UUID(int=5)
    assert controller.ask(request).topics[0].partitions[0].error_code == codes.UNKNOWN_TOPIC_ID


def test_a_reassignment_that_moves_the_leader_is_complete() -> None:
    """The leader hears that it is none any more; the change is made nevertheless."""
    leader = _Leader()
    controller = leader.controller
    controller.start(4)
    moved = [ReassignableTopic("a", [ReassignablePartition(0, [4])])]
    request = AlterPartitionReassignmentsRequest(timeout_ms=1000, topics=moved)
    assert controller.ask(request).responses[0].partitions[0].error_code == 0
    assert controller.partition(leader.topic).adding_replicas == [4]
    assert leader.alter([1, 2, 3, 4]).error_code == codes.NEW_LEADER_ELECTED
    now = controller.partition(leader.topic)
    assert (now.replicas, now.isr, now.leader, now.adding_replicas) == ([4], [4], 4, [])
    assert now.directories == controller.broker(4).directories


@pytest.mark.parametrize(
    "make",
    [
        lambda: AlterPartitionRequest(1, 0),
        lambda: AllocateProducerIdsRequest(1, 0),
        lambda: AssignReplicasToDirsRequest(1, 0),
        lambda: AllocateProducerIdsRequest(9, -1),
    ],
)
def test_another_incarnation(make: Any) -> None:
    leader = _Leader()
    end = leader.controller.state.end_offset
    assert leader.controller.ask(make()).error_code == codes.STALE_BROKER_EPOCH
    assert leader.controller.state.end_offset == end


def test_producer_ids_come_in_blocks() -> None:
    controller = Controller()
    controller.start(1)
    controller.start(2)
    found = [
        controller.ask(AllocateProducerIdsRequest(each, controller.broker(each).epoch))
        for each in (1, 2, 1)
    ]
    assert [(each.producer_id_start, each.producer_id_len) for each in found] == [
        (0, 1000), (1000, 1000), (2000, 1000),
    ]  # fmt: skip


def test_a_directory_of_a_replica_whose_reassignment_is_complete() -> None:
    """An unclean election put the last replica that was missing into the ISR."""
    leader = _Leader(1)
    controller = leader.controller
    moved = [ReassignableTopic("a", [ReassignablePartition(0, [2])])]
    request = AlterPartitionReassignmentsRequest(timeout_ms=1000, topics=moved)
    assert controller.ask(request).responses[0].partitions[0].error_code == 0
    controller.beat(1, want_fence=True)
    unclean = ElectLeadersRequest(1, [TopicPartitions("a", [0])], 1000)
    assert controller.ask(unclean).replica_election_results[0].partition_result[0].error_code == 0
    assert controller.partition(leader.topic).removing_replicas == [1, 3]
    directory = uuid4()
    assert controller.assign(2, directory, leader.topic, 0) == 0
    now = controller.partition(leader.topic)
    assert (now.replicas, now.removing_replicas) == ([2], [])
    assert now.directories == [directory]


def test_a_last_known_leader_that_is_no_replica_any_more() -> None:
    """It does not lead; Kafka fails at it, and lets it come back in no other way either."""
    leader = _Leader()
    controller = leader.controller
    controller.start(4)
    for known, expected in ((4, -1), (3, 3)):
        controller.beat(known, want_fence=True)
        gone = PartitionChangeRecord(partition_id=0, topic_id=leader.topic, isr=[], leader=-1)
        gone.last_known_elr = [known]
        controller.state.append([gone])
        assert not controller.beat(known).is_fenced
        assert controller.partition(leader.topic).leader == expected


def test_a_partition_that_is_named_twice_changes_twice() -> None:
    """As in Kafka: both changes are held against what was before, and the last one counts."""
    leader = _Leader()
    request = leader.request([1, 2])
    request.topics[0].partitions += leader.request([1, 3]).topics[0].partitions
    rows = leader.controller.ask(request).topics[0].partitions
    assert [(each.error_code, each.isr, each.partition_epoch) for each in rows] == [
        (0, [1, 2], 1), (0, [1, 3], 1),
    ]  # fmt: skip
    now = leader.controller.partition(leader.topic)
    assert (now.isr, now.partition_epoch) == ([1, 3], 2)


def test_directories_of_replicas() -> None:
    controller = Controller()
    directory = uuid4()
    controller.start(1, log_dirs=[directory, uuid4()])
    controller.start(2)
    topic = controller.create("a", [1], [2])
    assert controller.assign(1, directory, topic, 0) == 0
    assert controller.partition(topic).directories == [directory]
    end = controller.state.end_offset
    assert controller.assign(1, directory, topic, 0) == 0
    assert controller.state.end_offset == end
    assert controller.assign(1, directory, topic, 1) == codes.NOT_LEADER_OR_FOLLOWER
    assert controller.assign(1, directory, topic, 2) == codes.UNKNOWN_TOPIC_OR_PARTITION
    assert controller.assign(1, directory, UUID(int=5), 0) == codes.UNKNOWN_TOPIC_ID
