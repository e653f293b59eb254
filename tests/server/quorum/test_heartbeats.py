"""BrokerHeartbeat: when a broker is fenced, unfenced, and may end."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_admin_proto.messages import (
    BrokerHeartbeatRequest,
    CreateTopicsRequest,
    FeatureLevelRecord,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.brokers.view import has_uncordoned
from kafka_admin_proto.server.failures import MOST_RECORDS
from kafka_admin_proto.server.topics.assignments import UNASSIGNED_DIRECTORY
from tests.server.quorum.controller import Controller


def test_a_broker_is_unfenced_once_it_has_its_registration() -> None:
    controller = Controller()
    controller.register(1)
    epoch = controller.broker(1).epoch
    behind = controller.beat(1, current_metadata_offset=epoch - 1)
    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    wanted = controller.beat(1, want_fence=True)
    assert (wanted.is_caught_up, wanted.is_fenced) == (True, True)
    there = controller.beat(1, current_metadata_offset=epoch)
    assert (there.is_caught_up, there.is_fenced, there.should_shut_down) == (True, False, False)
    assert not controller.broker(1).fenced


@pytest.mark.parametrize(("number", "epoch"), [(1, 0), (2, -1)])
def test_another_epoch_or_broker(number: int, epoch: int) -> None:
    controller = Controller()
    controller.register(1)
    request = BrokerHeartbeatRequest(broker_id=number, broker_epoch=epoch)
    assert controller.ask(request).error_code == codes.STALE_BROKER_EPOCH


def test_one_that_is_silent_is_fenced_when_its_session_is_over() -> None:
    controller = Controller(configs={"broker.session.timeout.ms": "3000"})
    controller.start(1)
    controller.start(2)
    topic = controller.create("a", [1, 2])
    for _ in range(4):
        controller.clock.pass_time(2)
        controller.beat(2)
    assert controller.broker(1).fenced
    assert not controller.broker(2).fenced
    found = controller.partition(topic)
    assert (found.leader, found.isr, found.leader_epoch) == (2, [2], 1)
    # Its next heartbeat makes it one of them again; its replica joins when the leader says so.
    assert not controller.beat(1).is_fenced
    assert controller.partition(topic).isr == [2]


def test_the_timeout_begins_with_the_last_heartbeat() -> None:
    controller = Controller()
    controller.start(1)
    controller.clock.pass_time(8)
    controller.beat(1)
    controller.clock.pass_time(8.9)
    assert not controller.broker(1).fenced
    controller.clock.pass_time(0.1)
    assert controller.broker(1).fenced
    assert controller.state.sessions.lowest_active_offset() == float("inf")


def test_a_broker_of_more_partitions_than_a_user_may_change_at_once() -> None:
    controller = Controller()
    controller.start(1)
    for name in ("a", "b"):
        topics = [CreatableTopic(name, MOST_RECORDS // 2, 1)]
        created = controller.ask(CreateTopicsRequest(topics=topics, timeout_ms=1000))
        assert created.topics[0].error_code == 0
    controller.clock.pass_time(9)
    assert controller.broker(1).fenced
    assert not controller.beat(1).is_fenced
    assert not controller.broker(1).fenced


def test_what_a_broker_wants() -> None:
    controller = Controller()
    controller.start(1)
    assert controller.beat(1, want_fence=True).is_fenced
    assert not controller.beat(1).is_fenced
    ended = controller.beat(1, want_fence=True, want_shut_down=True)
    assert (ended.is_fenced, ended.should_shut_down) == (True, True)
    again = controller.beat(1, want_shut_down=True)
    assert (again.is_fenced, again.should_shut_down) == (True, True)


def test_a_controlled_shutdown_waits_for_the_others() -> None:
    controller = Controller()
    controller.start(1)
    controller.start(2)
    topic = controller.create("a", [1, 2])
    stale = controller.state.end_offset - 1
    controller.beat(2, current_metadata_offset=stale)
    first = controller.beat(1, want_shut_down=True)
    assert (first.is_fenced, first.should_shut_down) == (False, False)
    assert controller.broker(1).in_controlled_shutdown
    assert controller.partition(topic).leader == 2
    # Broker 2 has not heard of it yet.
    end = controller.state.end_offset
    assert not controller.beat(1, want_shut_down=True).should_shut_down
    assert controller.state.end_offset == end
    controller.beat(2)
    assert controller.beat(1, want_shut_down=True).should_shut_down
    assert controller.broker(1).fenced


def test_a_controlled_shutdown_that_cannot_move_its_leaders() -> None:
    """The only replica of a partition leads it until its broker is fenced, as in Kafka."""
    controller = Controller()
    controller.start(1)
    topic = controller.create("a", [1])
    assert not controller.beat(1, want_shut_down=True).should_shut_down
    assert controller.partition(topic).leader == -1
    assert controller.beat(1, want_shut_down=True).should_shut_down


def test_one_that_is_kept_fenced() -> None:
    controller = Controller()
    controller.start(1)
    controller.state.sessions.fence(1)
    assert controller.broker(1).fenced
    assert controller.beat(1).is_fenced
    controller.state.sessions.unfence(1)
    assert not controller.beat(1).is_fenced
    with pytest.raises(ValueError, match="there is no broker 2; registered are 1"):
        controller.state.sessions.fence(2)


def test_directories_that_are_offline() -> None:
    """A replica there leaves the ISR; one in another directory stays."""
    controller = Controller()
    here, there = uuid4(), uuid4()
    controller.start(1, log_dirs=[here, there])
    controller.start(2)
    topic = controller.create("a", [1, 2], [1, 2])
    # A broker with two chooses by itself.
    assert controller.partition(topic).directories[0] == UNASSIGNED_DIRECTORY
    for number, directory in enumerate((here, there)):
        controller.assign(1, directory, topic, number)
    assert controller.partition(topic, 1).directories[0] == there
    controller.beat(1, offline_log_dirs=[there])
    assert controller.partition(topic, 0).leader == 1
    assert (controller.partition(topic, 1).leader, controller.partition(topic, 1).isr) == (2, [2])
    assert controller.broker(1).directories == [here]
    end = controller.state.end_offset
    controller.beat(1, offline_log_dirs=[there])
    assert controller.state.end_offset == end
    # It may not lead what it cannot read, though it is the last one.
    controller.clock.pass_time(9)
    controller.beat(1, offline_log_dirs=[there])
    assert controller.partition(topic, 0).leader == 1
    assert controller.partition(topic, 1).leader == -1


def test_a_replica_that_turns_out_to_be_in_a_lost_directory() -> None:
    controller = Controller()
    here, there = uuid4(), uuid4()
    controller.start(1, log_dirs=[here, there])
    controller.start(2)
    topic = controller.create("a", [1, 2])
    controller.beat(1, offline_log_dirs=[there])
    controller.assign(1, there, topic, 0)
    assert (controller.partition(topic).leader, controller.partition(topic).isr) == (2, [2])


def test_cordoned_directories() -> None:
    controller = Controller()
    directory = uuid4()
    controller.start(1, log_dirs=[directory])
    assert controller.broker(1).cordoned_directories is None
    for cordoned in ([], [directory]):
        controller.beat(1, cordoned_log_dirs=cordoned)
        assert controller.broker(1).cordoned_directories == cordoned
        end = controller.state.end_offset
        for same in (cordoned, None):
            controller.beat(1, cordoned_log_dirs=same)
            assert controller.state.end_offset == end
    # It gets no new replicas, neither by name nor by the placer.
    topics = [
        CreatableTopic("named", -1, -1, [CreatableReplicaAssignment(0, [1])]),
        CreatableTopic("placed", 1, 1),
    ]
    refused = controller.ask(CreateTopicsRequest(topics=topics, timeout_ms=1000)).topics
    assert [each.error_code for each in refused] == [
        codes.INVALID_REPLICA_ASSIGNMENT,
        codes.INVALID_REPLICATION_FACTOR,
    ]
    controller.beat(1, cordoned_log_dirs=[])
    assert controller.broker(1).cordoned_directories == []
    # A level of metadata.version without them has no record of them.
    controller.state.append([FeatureLevelRecord("metadata.version", 29)])
    controller.beat(1, cordoned_log_dirs=[directory])
    assert controller.broker(1).cordoned_directories == []


def test_a_broker_without_directories_takes_replicas() -> None:
    """As in Kafka, whatever is cordoned."""
    controller = Controller()
    controller.start(1)
    broker = controller.broker(1)
    broker.directories, broker.cordoned_directories = [], [uuid4()]
    assert has_uncordoned(broker)
