"""The topic commands' text, sentence by sentence; a test's docstring begins with the text's lines.

docs/proposals.md has the table.
"""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kafka_admin_proto.messages.kip_4a.alter_topic_request import (
    AlterTopicRequest,
    AlterTopicRequestItem,
    ReplicaAssignment,
)
from kafka_admin_proto.messages.kip_4a.delete_topic_request import DeleteTopicRequest
from kafka_admin_proto.messages.kip_4a.topic_metadata_request import TopicMetadataRequest
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.apis import served_apis
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.server.handlers.drafts.served import ServedDraft

NOW = [[1, 2], [2, 3]]
GONE = "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.fixture
def cluster() -> ServedDraft:
    """Three brokers, with the topics t and u of two partitions with two replicas each."""
    cluster = ServedDraft("kip-4a")
    for name in ("t", "u"):
        rows = [CreatableReplicaAssignment(number, each) for number, each in enumerate(NOW)]
        topic = CreatableTopic(name, -1, -1, rows)
        cluster.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000))
    return cluster


def alter(
    name: str = "t",
    partitions: int = -1,
    factor: int = -1,
    assignment: dict[int, list[int]] | None = None,
) -> AlterTopicRequestItem:
    rows = [ReplicaAssignment(number, each) for number, each in (assignment or {}).items()]
    return AlterTopicRequestItem(name, partitions, factor, rows)


def altered(cluster: ServedDraft, *items: AlterTopicRequestItem) -> dict[str, str | int]:
    codes = cluster.codes(AlterTopicRequest(list(items)))
    cluster.pass_time()
    return codes


def test_messages_are_added_to_the_protocol() -> None:
    """a9, a17: AlterTopic and DeleteTopic get api keys, which ApiVersions lists."""
    listed = {each.api_key: each.name for each in served_apis(ReleaseNumber(4, 3), "kip-4a")}
    shipped = {each.api_key for each in served_apis(ReleaseNumber(4, 3))}
    assert {listed[key] for key in listed.keys() - shipped} == {"AlterTopic", "DeleteTopic"}
    assert shipped < listed.keys()


def test_topic_metadata_is_the_next_version_of_the_request() -> None:
    """a11: TopicMetadata v1 has the api key of TopicMetadata v0, which became Metadata."""
    entry = catalog().entry("TopicMetadataRequest", "kip-4a")
    assert (entry.api_key, str(entry.versions)) == (3, "1")


def test_a_response_maps_topics_to_codes(cluster: ServedDraft) -> None:
    """a27, a81, a98: a code for each topic, 0 for one that is altered or deleted."""
    codes = altered(cluster, alter("t", 3), alter("u", 1), alter("x", 3))
    assert codes == {"t": 0, "u": "INVALID_PARTITIONS", "x": GONE}
    assert cluster.codes(DeleteTopicRequest(["t", "x"])) == {"t": 0, "x": GONE}


def test_alter_is_a_batch(cluster: ServedDraft) -> None:
    """a37: one request alters many topics, each for itself."""
    items = [alter("t", 4), alter("x", 4), alter("u", factor=3)]
    assert altered(cluster, *items) == {"t": 0, "x": GONE, "u": 0}
    assert len(cluster.replicas("t")) == 4
    assert [len(each) for each in cluster.replicas("u")] == [3, 3]


def test_alter_initiates(cluster: ServedDraft) -> None:
    """a37: the answer comes before the replicas have moved."""
    assert cluster.codes(AlterTopicRequest([alter(assignment={0: [3, 1]})])) == {"t": 0}
    topic = cluster.state.topic("t")
    assert topic is not None
    assert topic.partitions[0].adding_replicas == [3]
    cluster.pass_time()
    assert cluster.replicas("t")[0] == [3, 1]


def test_an_assignment_leaves_the_numbers_out_of_account(cluster: ServedDraft) -> None:
    """a40, a42: with an assignment, partitions and replication factor are ignored."""
    assert altered(cluster, alter("t", 9, 1, {0: [2, 1]})) == {"t": 0}
    assert altered(cluster, alter("u", 1, 99, {1: [3, 2]})) == {"u": 0}
    assert cluster.replicas("t") == [[2, 1], [2, 3]]
    assert cluster.replicas("u") == [[1, 2], [3, 2]]


def test_each_partition_of_the_assignment_counts(cluster: ServedDraft) -> None:
    """a44: some are reassigned and others added by one instruction."""
    assert altered(cluster, alter(assignment={2: [1, 3], 0: [3], 1: [1, 2, 3]})) == {"t": 0}
    assert cluster.replicas("t") == [[3], [1, 2, 3], [1, 3]]


def test_a_partition_that_differs_is_reassigned(cluster: ServedDraft) -> None:
    """a46, a48: one that exists and differs moves; one that is the same stays as it is."""
    before = cluster.state.end_offset
    assert altered(cluster, alter(assignment={0: NOW[0]})) == {"t": 0}
    assert cluster.state.end_offset == before
    assert altered(cluster, alter(assignment={1: [3, 2]})) == {"t": 0}
    assert cluster.replicas("t") == [NOW[0], [3, 2]]


def test_a_partition_that_does_not_exist_is_added(cluster: ServedDraft) -> None:
    """a50, a52: with the replicas that the assignment has."""
    assert altered(cluster, alter(assignment={2: [3, 1], 3: [2]})) == {"t": 0}
    assert cluster.replicas("t") == [*NOW, [3, 1], [2]]


@pytest.mark.parametrize(
    "assignment", [{3: [1, 2]}, {-1: [1, 2]}, {0: []}, {0: [1, 1]}, {0: [1, 9]}, {2: [9]}]
)
def test_an_impossible_assignment(cluster: ServedDraft, assignment: dict[int, list[int]]) -> None:
    """a44: partitions in the way of a gap, brokers unknown or twice, no brokers."""
    assert altered(cluster, alter(assignment=assignment)) == {"t": "INVALID_REPLICA_ASSIGNMENT"}
    assert cluster.replicas("t") == NOW


def test_a_partition_named_twice(cluster: ServedDraft) -> None:
    """a44: an assignment says one thing of a partition."""
    item = alter(assignment={0: [2, 1]})
    item.replica_assignment.append(ReplicaAssignment(0, [3, 1]))
    assert altered(cluster, item) == {"t": "INVALID_REPLICA_ASSIGNMENT"}


def test_a_factor_and_a_number_regenerate_all(cluster: ServedDraft) -> None:
    """a54, a56, a58: existing and new partitions get the factor."""
    assert altered(cluster, alter("t", 5, 3)) == {"t": 0}
    assert [len(each) for each in cluster.replicas("t")] == [3] * 5
    assert altered(cluster, alter("u", 1, 3)) == {"u": "INVALID_PARTITIONS"}
    assert cluster.replicas("u") == NOW


def test_fenced_brokers_get_replicas_where_live_ones_are_too_few(cluster: ServedDraft) -> None:
    """a54, a56: the factor counts brokers that are fenced, as in CreateTopics."""
    for broker in (1, 2):
        cluster.fence(broker)
    assert altered(cluster, alter("t", 5, 3)) == {"t": 0}
    assert [sorted(each) for each in cluster.replicas("t")] == [[1, 2, 3]] * 5
    assert [each[0] for each in cluster.replicas("t")[2:]] == [3] * 3


def test_a_factor_alone_regenerates_the_existing(cluster: ServedDraft) -> None:
    """a60, a62: no partition is added."""
    assert altered(cluster, alter(factor=1)) == {"t": 0}
    assert [len(each) for each in cluster.replicas("t")] == [1, 1]
    for impossible in (0, -2, 4):
        answer = altered(cluster, alter("u", factor=impossible))
        assert answer == {"u": "INVALID_REPLICATION_FACTOR"}


def test_partitions_do_not_decrease(cluster: ServedDraft) -> None:
    """a64, a66: fewer partitions than there are is InvalidPartitions."""
    for fewer in (1, 0, -2):
        assert altered(cluster, alter("t", fewer)) == {"t": "INVALID_PARTITIONS"}
    assert altered(cluster, alter("t", 1_000_000_000)) == {"t": "INVALID_PARTITIONS"}
    assert cluster.replicas("t") == NOW


def test_new_partitions_get_a_generated_assignment(cluster: ServedDraft) -> None:
    """a68: existing partitions stay; as many as there are adds none."""
    assert altered(cluster, alter("t", 4), alter("u", 2)) == {"t": 0, "u": 0}
    assert cluster.replicas("t")[:2] == NOW
    assert [len(each) for each in cluster.replicas("t")[2:]] == [2, 2]
    assert cluster.replicas("u") == NOW


def test_an_instruction_that_defines_nothing(cluster: ServedDraft) -> None:
    """a40, a54, a64: none of the three branches is taken."""
    assert altered(cluster, alter()) == {"t": 0}
    assert cluster.replicas("t") == NOW


def test_of_several_instructions_the_last_is_executed(cluster: ServedDraft) -> None:
    """a71: those before it are silently ignored, errors included."""
    items = [alter("t", 9), alter("u", 3), alter("t", 0), alter("t", 4)]
    assert altered(cluster, *items) == {"t": 0, "u": 0}
    assert len(cluster.replicas("t")) == 4
    assert altered(cluster, alter("u", 5), alter("u", 1)) == {"u": "INVALID_PARTITIONS"}
    assert len(cluster.replicas("u")) == 3


def test_replicas_that_move_already(cluster: ServedDraft) -> None:
    """a46: the current assignment is where they go; elsewhere they do not go meanwhile."""
    moving = alter(assignment={0: [3, 1]})
    assert cluster.codes(AlterTopicRequest([moving])) == {"t": 0}
    assert cluster.codes(AlterTopicRequest([moving])) == {"t": 0}
    for other in (alter(assignment={0: [1, 2]}), alter("t", 3), alter(factor=1)):
        assert cluster.codes(AlterTopicRequest([other])) == {"t": "REASSIGNMENT_IN_PROGRESS"}
    cluster.pass_time()
    assert altered(cluster, alter(assignment={0: [1, 2]})) == {"t": 0}


def test_delete_takes_names(cluster: ServedDraft) -> None:
    """a89: nothing but names, each for itself."""
    assert cluster.codes(DeleteTopicRequest(["u", "x"])) == {"u": 0, "x": GONE}
    assert cluster.topics == {"t"}


def test_of_several_deletions_the_last_is_executed(cluster: ServedDraft) -> None:
    """a90: a topic named twice is deleted once, without an error."""
    assert cluster.codes(DeleteTopicRequest(["t", "u", "t"])) == {"t": 0, "u": 0}
    assert cluster.topics == set()


def test_metadata_shows_whether_a_request_is_done(cluster: ServedDraft) -> None:
    """a105: expected and actual state can be compared, of creation, alteration and deletion."""

    def partitions(name: str) -> list[list[int]] | str:
        (topic,) = cluster.ask(TopicMetadataRequest([name])).topic_metadata
        if topic.topic_error_code:
            assert topic.topic_error_code == 3
            return GONE
        assert topic.topic_name == name
        return [each.replicas for each in topic.partition_metadata]

    assert partitions("t") == NOW
    cluster.codes(AlterTopicRequest([alter(assignment={0: [3]})]))
    assert partitions("t") == [[3, 1, 2], [2, 3]]
    cluster.pass_time()
    assert partitions("t") == [[3], [2, 3]]
    cluster.codes(DeleteTopicRequest(["t"]))
    assert partitions("t") == GONE
    assert cluster.ask(TopicMetadataRequest(["?"])).topic_metadata[0].topic_error_code == 17
    assert cluster.topics == {"u"}  # looking at a topic does not create it


def test_metadata_of_all_topics(cluster: ServedDraft) -> None:
    """a106: names alone are asked for; an empty list stands for all topics."""
    found = cluster.ask(TopicMetadataRequest([])).topic_metadata
    assert {each.topic_name for each in found} == {"t", "u"}
    found = cluster.ask(TopicMetadataRequest(["u", "u"])).topic_metadata
    assert [each.topic_name for each in found] == ["u"]


def test_metadata_has_no_isr(cluster: ServedDraft) -> None:
    """a110, a122, a17, a130: brokers with their addresses; partitions with leader and replicas
    alone.
    """
    found = cluster.ask(TopicMetadataRequest(["t"]))
    assert [each.node_id for each in found.broker] == [1, 2, 3]
    assert {(each.host, each.port) for each in found.broker} == {("h", 9000 + n) for n in (1, 2, 3)}
    partition = found.topic_metadata[0].partition_metadata[1]
    assert partition.__struct_fields__ == (
        "partition_error_code", "partition_id", "leader", "replicas",
    )  # fmt: skip
    assert (partition.partition_error_code, partition.partition_id, partition.leader) == (0, 1, 2)
