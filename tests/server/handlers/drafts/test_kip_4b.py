"""The admin schema's text, sentence by sentence; a test's docstring begins with the text's lines.

docs/proposals.md has the table.
"""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import BrokerRegistrationChangeRecord, PartitionChangeRecord
from kafka_admin_proto.messages.kip_4b import (
    AlterTopicRequest,
    CreateTopicRequest,
    DeleteTopicRequest,
    PreferredReplicaLeaderElectionRequest,
    TopicMetadataRequest,
)
from kafka_admin_proto.messages.kip_4b.alter_topic_request import (
    AddedConfigEntry,
    AlterTopicRequestItem,
)
from kafka_admin_proto.messages.kip_4b.alter_topic_request import ReplicaAssignment as Altered
from kafka_admin_proto.messages.kip_4b.create_topic_request import (
    ConfigEntry,
    CreateTopicRequestItem,
    ReplicaAssignment,
)
from kafka_admin_proto.messages.kip_4b.preferred_replica_leader_election_request import (
    PreferredReplicaLeaderElectionRequestItem,
)
from kafka_admin_proto.messages.kip_4b.topic_metadata_response import (
    PartitionMetadata,
    TopicMetadata,
)
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server.apis import served_apis
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.server.handlers.drafts.served import ServedDraft

NOW = {0: [1, 2], 1: [2, 3]}
REPLICAS = list(NOW.values())
GONE = "UNKNOWN_TOPIC_OR_PARTITION"
TWICE = "MultipleTopicInstructionsInOnebatch"


@pytest.fixture
def cluster() -> ServedDraft:
    """Three brokers, with the topics t and u of two partitions with two replicas each."""
    cluster = ServedDraft("kip-4b")
    items = [new(name, assignment=NOW, configs={"retention.ms": "1000"}) for name in ("t", "u")]
    assert created(cluster, *items) == {"t": 0, "u": 0}
    return cluster


def new(
    name: str,
    partitions: int = -1,
    replicas: int = -1,
    assignment: dict[int, list[int]] | None = None,
    configs: dict[str, str] | None = None,
) -> CreateTopicRequestItem:
    rows = [ReplicaAssignment(number, each) for number, each in (assignment or {}).items()]
    entries = [ConfigEntry(key, value) for key, value in (configs or {}).items()]
    return CreateTopicRequestItem(name, partitions, replicas, rows, entries)


def created(cluster: ServedDraft, *items: CreateTopicRequestItem) -> dict[str, str | int]:
    return cluster.codes(CreateTopicRequest(list(items)))


def alter(
    name: str = "t",
    partitions: int = -1,
    replicas: int = -1,
    assignment: dict[int, list[int]] | None = None,
    added: dict[str, str] | None = None,
    deleted: tuple[str, ...] = (),
) -> AlterTopicRequestItem:
    rows = [Altered(number, each) for number, each in (assignment or {}).items()]
    entries = [AddedConfigEntry(key, value) for key, value in (added or {}).items()]
    return AlterTopicRequestItem(name, partitions, replicas, rows, entries, list(deleted))


def altered(cluster: ServedDraft, *items: AlterTopicRequestItem) -> dict[str, str | int]:
    codes = cluster.codes(AlterTopicRequest(list(items)))
    cluster.pass_time()
    return codes


def elected(cluster: ServedDraft, **wanted: list[int]) -> dict[str, str | int]:
    items = [PreferredReplicaLeaderElectionRequestItem(*each) for each in wanted.items()]
    return cluster.codes(PreferredReplicaLeaderElectionRequest(items))


def described(cluster: ServedDraft, name: str = "t") -> TopicMetadata:
    (found,) = cluster.ask(TopicMetadataRequest([name])).topic_metadata
    assert isinstance(found, TopicMetadata)
    return found


def lead(cluster: ServedDraft, number: int, leader: int) -> None:
    """Let another replica than the first lead a partition of t."""
    topic = cluster.state.topic("t")
    assert topic is not None
    record = PartitionChangeRecord(partition_id=number, topic_id=topic.id, leader=leader)
    cluster.state.append([record])


def test_a_topic_that_exists(cluster: ServedDraft) -> None:
    """b28, b106: TopicAlreadyExists has code 1001."""
    (row,) = cluster.ask(CreateTopicRequest([new("t", 1, 1)])).items
    assert row.error_code == 1001
    assert created(cluster, new("t", 1, 1)) == {"t": "TopicAlreadyExists"}


def test_an_impossible_number_of_partitions(cluster: ServedDraft) -> None:
    """b29, b108: InvalidArgumentPartitions, 1002: negative, or not defined where it is needed."""
    assert error_code("InvalidArgumentPartitions", dialect="kip-4b").code == 1002
    for wrong in (-1, 0, -5, 1_000_000_000):
        assert created(cluster, new("x", wrong, 1)) == {"x": "InvalidArgumentPartitions"}
    for wrong in (-5, 1_000_000_000):
        assert altered(cluster, alter("t", wrong)) == {"t": "InvalidArgumentPartitions"}


def test_too_many_partitions_in_a_batch(cluster: ServedDraft) -> None:
    """b29, b93: what one request may make at most is made, the topics behind it are refused."""
    batch = [new("a", 6000, 1), new("b", 6000, 1), new("c", 1, 1)]
    assert created(cluster, *batch) == {"a": 0, "b": "InvalidArgumentPartitions", "c": 0}


def test_an_impossible_factor(cluster: ServedDraft) -> None:
    """b30, b32, b109: InvalidArgumentReplicationFactor, 1004, for creation and alteration."""
    assert error_code("InvalidArgumentReplicationFactor", dialect="kip-4b").code == 1004
    for wrong in (-1, 0, -5, 4):
        assert created(cluster, new("x", 1, wrong)) == {"x": "InvalidArgumentReplicationFactor"}
    for wrong in (0, -5, 4):
        found = altered(cluster, alter("t", replicas=wrong))
        assert found == {"t": "InvalidArgumentReplicationFactor"}


@pytest.mark.parametrize("wrong", [[], [1, 1], [9]])
def test_an_impossible_assignment(cluster: ServedDraft, wrong: list[int]) -> None:
    """b33, b110: InvalidArgumentReplicaAssignment, 1005: duplicates, unknown brokers, none."""
    assert error_code("InvalidArgumentReplicaAssignment", dialect="kip-4b").code == 1005
    expected = "InvalidArgumentReplicaAssignment"
    assert created(cluster, new("x", assignment={0: wrong})) == {"x": expected}
    assert created(cluster, new("x", assignment={1: [1]})) == {"x": expected}
    assert altered(cluster, alter("t", 3, assignment={2: wrong})) == {"t": expected}
    twice = alter("t", 3, assignment={2: [1, 2]})
    twice.replica_assignment *= 2
    assert altered(cluster, twice) == {"t": expected}


def test_an_impossible_config(cluster: ServedDraft) -> None:
    """b39, b114: InvalidTopicConfig, 1006, later InvalidArgumentTopicConfig: its name or value."""
    assert error_code("InvalidTopicConfig", dialect="kip-4b").code == 1006
    for wrong in ({"no.such": "1"}, {"retention.ms": "soon"}):
        assert created(cluster, new("x", 1, 1, configs=wrong)) == {"x": "InvalidTopicConfig"}
        assert altered(cluster, alter(added=wrong)) == {"t": "InvalidTopicConfig"}
    both = alter(added={"segment.ms": "5"}, deleted=("segment.ms",))
    assert altered(cluster, both) == {"t": "InvalidTopicConfig"}
    twice = new("x", 1, 1, configs={"segment.ms": "5"})
    twice.config_entry *= 2
    assert created(cluster, twice) == {"x": "InvalidTopicConfig"}
    assert cluster.configs("t") == {"retention.ms": "1000"}


def test_an_election_while_one_runs(cluster: ServedDraft) -> None:
    """b44, b120: PreferredReplicaLeaderElectionInProgress, 1007, until the first one is done."""
    assert error_code("PreferredReplicaLeaderElectionInProgress", dialect="kip-4b").code == 1007
    assert elected(cluster, t=[0]) == {"t": 0}
    assert elected(cluster, u=[]) == {"u": "PreferredReplicaLeaderElectionInProgress"}
    cluster.pass_time()
    assert elected(cluster, u=[]) == {"u": 0}


def test_invalid_election_data(cluster: ServedDraft) -> None:
    """b45: InvalidArgumentPreferredReplicaElectionData, 1008, for duplicates."""
    name = "InvalidArgumentPreferredReplicaElectionData"
    assert error_code(name, dialect="kip-4b").code == 1008
    assert elected(cluster, t=[0, 0], u=[1]) == {"t": name, "u": 0}
    cluster.pass_time()
    items = [PreferredReplicaLeaderElectionRequestItem("t", [each]) for each in (0, 1)]
    assert cluster.codes(PreferredReplicaLeaderElectionRequest(items)) == {"t": name}
    assert elected(cluster, t=[7], x=[]) == {"t": GONE, "x": GONE}


def test_a_reassignment_while_one_runs(cluster: ServedDraft) -> None:
    """b47, b121: ReassignPartitionsInProgress, 1009, of AlterTopic in the second table."""
    assert error_code("ReassignPartitionsInProgress", dialect="kip-4b").code == 1009
    assert cluster.codes(AlterTopicRequest([alter(replicas=3)])) == {"t": 0}
    for other in (alter(replicas=1), alter("t", 3)):
        assert cluster.codes(AlterTopicRequest([other])) == {"t": "ReassignPartitionsInProgress"}
    cluster.pass_time()
    assert altered(cluster, alter("t", 3)) == {"t": 0}


def test_requests_only_initiate(cluster: ServedDraft) -> None:
    """b68, b91: the answer comes first; whether it is done is seen by TopicMetadata."""
    assert cluster.codes(AlterTopicRequest([alter(replicas=3)])) == {"t": 0}
    lags = [each.lag for each in described(cluster).partition_metadata[0].replicas_lag]
    assert -1 in lags
    cluster.pass_time()
    lags = [each.lag for each in described(cluster).partition_metadata[0].replicas_lag]
    assert lags == [0, 0, 0]


def test_all_messages_are_batches(cluster: ServedDraft) -> None:
    """b70, b93: many topics in one request, each for itself."""
    assert created(cluster, new("x", 1, 1), new("y"), new("z", 2, 1)) == {
        "x": 0, "y": "InvalidArgumentPartitions", "z": 0,
    }  # fmt: skip
    assert altered(cluster, alter("x", 2), alter("n", 2), alter("z", 1)) == {
        "x": 0, "n": GONE, "z": "DecreasePartitionsNotAllowed",
    }  # fmt: skip
    assert cluster.codes(DeleteTopicRequest(["x", "n", "z"])) == {"x": 0, "n": GONE, "z": 0}
    assert elected(cluster, t=[0], n=[]) == {"t": 0, "n": GONE}


def test_each_command_has_a_message() -> None:
    """b58, b59, b60, b61, b64: CreateTopic, AlterTopic, DeleteTopic, TopicMetadata v1, election."""
    shipped = {each.api_key for each in served_apis(ReleaseNumber(4, 3))}
    added = {
        each.name
        for each in served_apis(ReleaseNumber(4, 3), "kip-4b")
        if each.api_key not in shipped
    }
    assert added == {"CreateTopic", "AlterTopic", "DeleteTopic", "PreferredReplicaLeaderElection"}
    assert 3 in shipped  # TopicMetadata v1 is Metadata v1's place


@pytest.mark.parametrize("wrong", ["", "..", "a b", "x" * 250])
def test_an_invalid_name(cluster: ServedDraft, wrong: str) -> None:
    """b107: InvalidArgumentTopicName, which has no code in the text."""
    assert error_code("InvalidArgumentTopicName", dialect="kip-4b").code == 1010
    assert created(cluster, new(wrong, 1, 1)) == {wrong: "InvalidArgumentTopicName"}


def test_fewer_partitions(cluster: ServedDraft) -> None:
    """b31, b119, b179: what does not increase the number is DecreasePartitionsNotAllowed, 1003."""
    assert error_code("DecreasePartitionsNotAllowed", dialect="kip-4b").code == 1003
    for wrong in (0, 1, 2):
        assert altered(cluster, alter("t", wrong)) == {"t": "DecreasePartitionsNotAllowed"}
    assert cluster.replicas("t") == REPLICAS


@pytest.mark.parametrize(
    "both",
    [
        alter("t", 3, 3),
        alter("t", 3, added={"segment.ms": "5"}),
        alter("t", replicas=3, added={"segment.ms": "5"}),
        alter("t", replicas=3, deleted=("retention.ms",)),
    ],
)
def test_one_change_at_once(cluster: ServedDraft, both: AlterTopicRequestItem) -> None:
    """b122: the factor and a config, say, are MultipleInstructionsForOneTopic."""
    assert altered(cluster, both) == {"t": "MultipleInstructionsForOneTopic"}
    assert cluster.replicas("t") == REPLICAS
    assert cluster.configs("t") == {"retention.ms": "1000"}


def test_one_topic_twice_in_a_batch(cluster: ServedDraft) -> None:
    """b123: CreateTopic, AlterTopic and DeleteTopic refuse that topic, and do the others."""
    assert created(cluster, new("x", 1, 1), new("y", 1, 1), new("x", 2, 1)) == {"x": TWICE, "y": 0}
    assert altered(cluster, alter("t", 3), alter("u", 3), alter("t", 4)) == {"t": TWICE, "u": 0}
    assert cluster.codes(DeleteTopicRequest(["t", "u", "t"])) == {"t": TWICE, "u": 0}
    assert cluster.topics == {"t", "y"}
    assert cluster.replicas("t") == REPLICAS


def test_create_by_numbers_or_by_an_assignment(cluster: ServedDraft) -> None:
    """b141: a name and either; -1 is empty."""
    assert created(cluster, new("x", 3, 2), new("y", assignment={0: [3], 1: [1]})) == {
        "x": 0, "y": 0,
    }  # fmt: skip
    assert [len(each) for each in cluster.replicas("x")] == [2, 2, 2]
    assert cluster.replicas("y") == [[3], [1]]
    assert created(cluster, new("z", -1, 1)) == {"z": "InvalidArgumentPartitions"}


def test_create_with_configs(cluster: ServedDraft) -> None:
    """b141: configs are the topic's own, and an empty list leaves the defaults."""
    configs = {"segment.ms": "5", "cleanup.policy": "compact"}
    assert created(cluster, new("x", 1, 1, configs=configs), new("y", 1, 1)) == {"x": 0, "y": 0}
    assert (cluster.configs("x"), cluster.configs("y")) == (configs, {})


def test_create_with_an_assignment_leaves_numbers_out_of_account(cluster: ServedDraft) -> None:
    """b145: the assignment alone says how many partitions and replicas there are."""
    assert created(cluster, new("x", 7, 1, {0: [2, 3], 1: [3, 1]})) == {"x": 0}
    assert cluster.replicas("x") == [[2, 3], [3, 1]]


def test_create_without_an_assignment_needs_both_numbers(cluster: ServedDraft) -> None:
    """b146: the server generates the assignment; there are no defaults."""
    assert created(cluster, new("x", 4, -1)) == {"x": "InvalidArgumentReplicationFactor"}
    assert created(cluster, new("x", -1, 2)) == {"x": "InvalidArgumentPartitions"}
    assert created(cluster, new("x", 4, 2)) == {"x": 0}
    assert {len({*each}) for each in cluster.replicas("x")} == {2}


def test_responses_map_topics_to_codes(cluster: ServedDraft) -> None:
    """b156, b191, b207, b288: a code for each topic, once, 0 where there is no error."""
    requests = [
        CreateTopicRequest([new("x", 1, 1), new("t", 1, 1), new("t", 1, 1)]),
        AlterTopicRequest([alter("x", 2), alter("t", 1), alter("n")]),
        DeleteTopicRequest(["x", "n", "n"]),
        PreferredReplicaLeaderElectionRequest([PreferredReplicaLeaderElectionRequestItem("t")]),
    ]
    for request in requests:
        names = [
            each if isinstance(each, str) else getattr(each, "topic", "") or each.topic_name
            for each in getattr(request, "items", None) or getattr(request, "topic_name", [])
        ]
        codes = cluster.codes(request)
        assert list(codes) == list(dict.fromkeys(names))
        assert next(iter(codes.values())) == 0


def test_configs_are_added_and_deleted(cluster: ServedDraft) -> None:
    """b171: both at once are one change; a config that is deleted needs no value."""
    item = alter(added={"segment.ms": "5"}, deleted=("retention.ms", "flush.ms"))
    assert altered(cluster, item) == {"t": 0}
    assert cluster.configs("t") == {"segment.ms": "5"}
    assert altered(cluster, alter(added={"segment.ms": "6"})) == {"t": 0}
    assert cluster.configs("t") == {"segment.ms": "6"}


def test_new_partitions_with_or_without_an_assignment(cluster: ServedDraft) -> None:
    """b171, b181: the new partitions' assignment is generated, or the request's if it has one."""
    assert altered(cluster, alter("t", 3), alter("u", 4, assignment={2: [3, 1], 3: [1, 2]})) == {
        "t": 0, "u": 0,
    }  # fmt: skip
    assert cluster.replicas("t")[:2] == REPLICAS
    assert len(cluster.replicas("t")[2]) == 2
    assert cluster.replicas("u") == [*REPLICAS, [3, 1], [1, 2]]
    named = alter("t", 4, assignment={0: [1, 2], 3: [2, 3]})  # others may be named as they are
    assert altered(cluster, named) == {"t": 0}
    assert cluster.replicas("t")[3] == [2, 3]


@pytest.mark.parametrize("partial", [{0: [2, 1], 2: [3, 1]}, {2: [3, 1], 3: [1]}, {0: [1, 2]}])
def test_the_assignment_is_that_of_the_new_partitions(
    cluster: ServedDraft, partial: dict[int, list[int]]
) -> None:
    """b181: neither fewer nor more than those, and the others as they are."""
    expected = {"t": "InvalidArgumentReplicaAssignment"}
    assert altered(cluster, alter("t", 3, assignment=partial)) == expected
    assert cluster.replicas("t") == REPLICAS


def test_without_partitions_nothing_increases(cluster: ServedDraft) -> None:
    """b173, b177: -1 is empty, and the assignment is then not taken into account, even a wrong."""
    for ignored in ({0: [3, 1]}, {2: [1, 2]}, {9: [9, 9]}):
        assert altered(cluster, alter(assignment=ignored)) == {"t": 0}
    assert cluster.replicas("t") == REPLICAS


def test_partitions_is_used_to_increase_only(cluster: ServedDraft) -> None:
    """b175: the partitions that exist stay as they are."""
    assert altered(cluster, alter("t", 6)) == {"t": 0}
    assert cluster.replicas("t")[:2] == REPLICAS
    assert len(cluster.replicas("t")) == 6


def test_another_factor(cluster: ServedDraft) -> None:
    """b122, b162: Replicas alone gives all partitions another replication factor."""
    assert altered(cluster, alter(replicas=3)) == {"t": 0}
    assert [sorted(each) for each in cluster.replicas("t")] == [[1, 2, 3]] * 2
    assert altered(cluster, alter(replicas=1)) == {"t": 0}
    assert [len(each) for each in cluster.replicas("t")] == [1, 1]


def test_fenced_brokers_get_replicas_where_live_ones_are_too_few(cluster: ServedDraft) -> None:
    """b162, b175: new partitions and another factor are placed as CreateTopics places them."""
    cluster.fence(2)
    assert altered(cluster, alter("t", 4)) == {"t": 0}
    assert [sorted(each) for each in cluster.replicas("t")[2:]] == [[1, 3]] * 2
    cluster.fence(1)
    assert altered(cluster, alter("u", 4)) == {"u": 0}
    added = cluster.replicas("u")[2:]
    assert [each[0] for each in added] == [3, 3]
    assert [len({*each}) for each in added] == [2, 2]
    assert altered(cluster, alter(replicas=3)) == {"t": 0}
    assert [sorted(each) for each in cluster.replicas("t")] == [[1, 2, 3]] * 4
    assert altered(cluster, alter(replicas=4)) == {"t": "InvalidArgumentReplicationFactor"}


def test_a_smaller_factor_keeps_the_live_replicas(cluster: ServedDraft) -> None:
    """b162: also where fenced brokers have the rest."""
    assert altered(cluster, alter(replicas=3)) == {"t": 0}
    for broker in (1, 2):
        cluster.fence(broker)
    assert altered(cluster, alter(replicas=2)) == {"t": 0}
    assert [each[0] for each in cluster.replicas("t")] == [3, 3]
    assert [len({*each}) for each in cluster.replicas("t")] == [2, 2]


def test_a_broker_that_is_about_to_end_gets_no_replica(cluster: ServedDraft) -> None:
    """b175: as in CreateTopics."""
    broker = cluster.state.cluster.brokers[2]
    ending = BrokerRegistrationChangeRecord(2, broker.epoch, in_controlled_shutdown=1)
    cluster.state.append([ending])
    assert altered(cluster, alter("t", 8)) == {"t": 0}
    assert {*map(tuple, map(sorted, cluster.replicas("t")[2:]))} == {(1, 3)}


def test_delete_takes_names(cluster: ServedDraft) -> None:
    """b198: nothing but names."""
    assert cluster.codes(DeleteTopicRequest(["u"])) == {"u": 0}
    assert cluster.topics == {"t"}


def test_metadata_describes_and_checks(cluster: ServedDraft) -> None:
    """b211: overridden configs for each topic, and the lag of each replica."""
    topic = described(cluster)
    assert [(each.config_key, each.config_value) for each in topic.config_entry] == [
        ("retention.ms", "1000")
    ]
    lags = topic.partition_metadata[1].replicas_lag
    assert [(each.replica_id, each.lag) for each in lags] == [(2, 0), (3, 0)]


def test_lag_counts_records(cluster: ServedDraft) -> None:
    """b211: how far a replica is behind the leader; one that lags is so while it is in sync."""
    topic = cluster.state.topic("t")
    assert topic is not None
    cluster.state.partitions.delay(3, 5.0)
    batch = Batch.of([Record(number, 1, None, b"v") for number in range(4)])
    log = cluster.state.partitions.log(topic, 1)
    log.append(write_batch(batch), leader_epoch=0, now_ms=1)
    lags = described(cluster).partition_metadata[1].replicas_lag
    assert [(each.replica_id, each.lag) for each in lags] == [(2, 0), (3, 4)]
    cluster.state.partitions.delay(3, 0.0)
    lags = described(cluster).partition_metadata[1].replicas_lag
    assert [(each.replica_id, each.lag) for each in lags] == [(2, 0), (3, 0)]


def test_metadata_of_all_topics(cluster: ServedDraft) -> None:
    """b215: names alone are asked for; an empty list stands for all topics."""
    found = cluster.ask(TopicMetadataRequest([])).topic_metadata
    assert {each.topic_name for each in found} == {"t", "u"}


def test_metadata_has_the_brokers(cluster: ServedDraft) -> None:
    """b221: any number of them, here the live ones."""
    cluster.fence(2)
    found = cluster.ask(TopicMetadataRequest(["t"])).broker
    assert [(each.node_id, each.host, each.port) for each in found] == [
        (1, "h", 9001),
        (3, "h", 9003),
    ]


def test_fields_of_a_description(cluster: ServedDraft) -> None:
    """b236, b244, b248, b252, b256: of a topic without an error its configs and partitions."""
    topic = described(cluster)
    assert (topic.topic_error_code, topic.topic_name) == (0, "t")
    assert [each.config_key for each in topic.config_entry] == ["retention.ms"]
    assert [each.partition_id for each in topic.partition_metadata] == [0, 1]


def test_a_partition_without_a_leader(cluster: ServedDraft) -> None:
    """b258: the leader is -1 where it is not defined."""
    assert [each.leader for each in described(cluster).partition_metadata] == [1, 2]
    lead(cluster, 0, -1)
    partition = described(cluster).partition_metadata[0]
    assert isinstance(partition, PartitionMetadata)
    assert (partition.leader, partition.partition_error_code) == (-1, 5)


def test_lag_and_isr(cluster: ServedDraft) -> None:
    """b259, b260: all replicas with their lag, and beside them those that are in sync."""
    cluster.codes(AlterTopicRequest([alter(replicas=3)]))
    partition = described(cluster).partition_metadata[0]
    lags = {each.replica_id: each.lag for each in partition.replicas_lag}
    assert lags == {1: 0, 2: 0, 3: -1}
    assert sorted(partition.isr) == [1, 2]


def test_a_description_with_an_error_has_defaults(cluster: ServedDraft) -> None:
    """b262: nothing but the code and the name."""
    assert described(cluster, "x") == TopicMetadata(3, "x", [], [])
    assert described(cluster, "?") == TopicMetadata(17, "?", [], [])
    assert cluster.topics == {"t", "u"}  # looking at a topic does not create it


def test_an_election_does_not_block(cluster: ServedDraft) -> None:
    """b274: the partitions that the request names are begun with, the answer does not wait."""
    lead(cluster, 0, 2)
    lead(cluster, 1, 3)
    assert elected(cluster, t=[1]) == {"t": 0}
    assert [each.leader for each in described(cluster).partition_metadata] == [2, 3]
    cluster.pass_time()
    assert [each.leader for each in described(cluster).partition_metadata] == [2, 2]


def test_an_election_for_all_partitions(cluster: ServedDraft) -> None:
    """b276: an empty list of topics is all of the cluster, one of partitions all of a topic."""
    cases: list[tuple[dict[str, list[int]], dict[str, str | int]]]
    cases = [({}, {"t": 0, "u": 0}), ({"t": []}, {"t": 0})]
    for wanted, codes in cases:
        lead(cluster, 0, 2)
        lead(cluster, 1, 3)
        assert elected(cluster, **wanted) == codes
        cluster.pass_time()
        assert [each.leader for each in described(cluster).partition_metadata] == [1, 2]


def test_the_head_of_the_replicas_is_the_leader(cluster: ServedDraft) -> None:
    """b290: so TopicMetadata tells that the election is done, or that it could not be."""

    def is_done() -> list[bool]:
        return [
            each.leader == each.replicas_lag[0].replica_id
            for each in described(cluster).partition_metadata
        ]

    lead(cluster, 0, 2)
    elected(cluster, t=[0])
    assert is_done() == [False, True]
    cluster.pass_time()
    assert is_done() == [True, True]
    lead(cluster, 0, 2)
    cluster.fence(1)
    assert elected(cluster, t=[0]) == {"t": 0}
    cluster.pass_time()
    assert is_done() == [False, True]


def test_what_goes_before_the_election_ends(cluster: ServedDraft) -> None:
    """b274: a topic deleted meanwhile is left out."""
    assert elected(cluster) == {"t": 0, "u": 0}
    cluster.codes(DeleteTopicRequest(["t"]))
    cluster.pass_time()
    assert cluster.topics == {"u"}
