"""What a request is refused for in seldom cases, with the code that Kafka has for it."""

from __future__ import annotations

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsTopic,
)
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import OffsetFetchRequestTopic
from kafka_admin_proto.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.values import Message
from tests.server.handlers.records.asked import Asked

_OFFSETS = "__consumer_offsets"


@pytest.fixture
def asked() -> Asked:
    return Asked(
        "orders", offsets_topic_num_partitions="1", transaction_state_log_num_partitions="1"
    )


def test_a_topic_that_is_to_be_deleted_by_its_name_and_its_id_stays(asked: Asked) -> None:
    topic_id = asked.id_of("orders")
    states = [DeleteTopicState("orders"), DeleteTopicState(None, topic_id)]
    (row,) = asked.ask(m.DeleteTopicsRequest(topics=states, timeout_ms=1000), 6).responses
    assert (row.name, row.topic_id, row.error_code) == ("orders", topic_id, codes.INVALID_REQUEST)
    assert "already supplied" in row.error_message
    assert asked.id_of("orders") == topic_id


@pytest.mark.parametrize(
    ("version", "code"), [(2, codes.INVALID_REQUEST), (3, codes.TOPIC_DELETION_DISABLED)]
)
def test_topics_that_nobody_may_delete(version: int, code: int) -> None:
    asked = Asked("orders", delete_topic_enable="false")
    request = m.DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
    (row,) = asked.ask(request, version).responses
    assert (row.name, row.error_code) == ("orders", code)


@pytest.mark.parametrize(
    ("unclean", "code"), [("false", codes.INVALID_REPLICA_ASSIGNMENT), ("true", 0)]
)
def test_a_reassignment_is_cancelled_where_the_old_replicas_are_out_of_sync(
    unclean: str, code: int
) -> None:
    asked = Asked()
    asked.create("orders", unclean_leader_election_enable=unclean)
    asked.change("orders", replicas=[1, 2, 3], adding_replicas=[2, 3], isr=[2, 3], leader=2)

    row = ReassignablePartition(0, None)
    request = m.AlterPartitionReassignmentsRequest(topics=[ReassignableTopic("orders", [row])])
    (topic,) = asked.ask(request).responses
    assert topic.partitions[0].error_code == code
    assert asked.log("orders").in_sync == (1 if not code else 2)


def test_clients_write_and_delete_no_records_of_kafkas_own_topics(asked: Asked) -> None:
    asked.create(_OFFSETS)
    assert asked.produce(_OFFSETS, b"v").error_code == codes.INVALID_TOPIC_EXCEPTION
    topics = [DeleteRecordsTopic(_OFFSETS, [DeleteRecordsPartition(0, -1)])]
    (topic,) = asked.ask(m.DeleteRecordsRequest(topics, 1000)).topics
    assert topic.partitions[0].error_code == codes.INVALID_TOPIC_EXCEPTION


_COMMITS = OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0)])


@pytest.mark.parametrize(
    "request_",
    [
        m.OffsetCommitRequest("g", topics=[_COMMITS]),
        m.OffsetFetchRequest("g", [OffsetFetchRequestTopic("orders", [0])]),
    ],
)
def test_offsets_that_zookeeper_kept(asked: Asked, request_: Message) -> None:
    (topic,) = asked.ask(request_, 0).topics
    assert topic.partitions[0].error_code == codes.UNSUPPORTED_VERSION


def test_requests_without_a_name(asked: Asked) -> None:
    (row,) = asked.ask(m.DescribeTransactionsRequest([""])).transaction_states
    assert row.error_code == codes.INVALID_REQUEST
    part = TxnOffsetCommitRequestPartition(0)
    topics = [TxnOffsetCommitRequestTopic("orders", partitions=[part])]
    (topic,) = asked.ask(m.TxnOffsetCommitRequest("t", "", 1, 0, topics=topics), 5).topics
    assert topic.partitions[0].error_code == codes.INVALID_GROUP_ID


@pytest.mark.parametrize(
    ("broker", "names", "code"),
    [
        ("1", ["log.retention.ms", "log.retention.ms"], codes.INVALID_REQUEST),
        ("1", ["min.insync.replicas"], codes.INVALID_CONFIG),
        ("", ["min.insync.replicas"], 0),
        ("9", ["log.retention.ms"], codes.INVALID_REQUEST),
    ],
)
def test_configs_that_no_broker_gets(
    asked: Asked, broker: str, names: list[str], code: int
) -> None:
    """The least number of replicas in sync is the cluster's while ELR is on (KIP-966)."""
    rows = [AlterConfigsResource(4, broker, [AlterableConfig(each, 0, "7") for each in names])]
    (row,) = asked.ask(m.IncrementalAlterConfigsRequest(rows)).responses
    assert row.error_code == code
