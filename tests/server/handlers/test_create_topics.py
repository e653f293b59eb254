"""CreateTopics' rules, a row each: codes and messages as real clusters give them."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.server.failures import MOST_RECORDS
from kafka_admin_proto.server.releases import RELEASES
from tests.server.served import Served


def topic(
    name: str = "t",
    partitions: int = 1,
    factor: int = 1,
    assignment: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    if assignment is not None:
        partitions = factor = -1
    return CreatableTopic(
        name,
        partitions,
        factor,
        [CreatableReplicaAssignment(*each) for each in (assignment or {}).items()],
        [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()],
    )


def create(served: Served, *topics: CreatableTopic, **fields: Any) -> list[Any]:
    fields = {"timeout_ms": 1000, **fields}
    version = fields.pop("version", None)
    found = served.ask(CreateTopicsRequest(topics=list(topics), **fields), version)
    return [(each.name, each.error_code, each.error_message) for each in found.topics]


#: Rule → (topic, code, the message or its beginning).
REFUSED: dict[str, tuple[CreatableTopic, int, str]] = {
    "empty name": (topic(""), 17, "Topic name is invalid: the empty string is not allowed"),
    "dot": (topic("."), 17, "Topic name is invalid: '.' is not allowed"),
    "long name": (topic("x" * 250), 17, f"Topic name is invalid: the length of '{'x' * 250}' is"),
    "characters": (topic("a b"), 17, "Topic name is invalid: 'a b' contains one or more char"),
    "exists": (topic("there.is"), 36, "Topic 'there.is' already exists."),
    "collides": (topic("there_is"), 17, "Topic 'there_is' collides with existing topic: there.is"),
    "log of the controllers": (
        topic("__cluster_metadata"), 42,
        "Creation of internal topic __cluster_metadata is prohibited.",
    ),
    "no partitions": (topic(partitions=0), 37, "Number of partitions was set to an invalid non-p"),
    "no replicas": (topic(factor=0), 38, "Replication factor must be larger than 0, or -1 to use"),
    "few brokers": (
        topic(factor=4), 38,
        "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot",
    ),
    "both": (
        CreatableTopic("t", 1, -1, [CreatableReplicaAssignment(0, [1])]), 42,
        "A manual partition assignment was specified, but numPartitions was not set to -1.",
    ),
    "unknown broker": (
        topic(assignment={0: [9]}), 39,
        "The manual partition assignment includes broker 9, but no such broker is registered.",
    ),
    "broker twice": (
        topic(assignment={0: [1, 1]}), 39,
        "The manual partition assignment includes the broker 1 more than once.",
    ),
    "uneven": (
        topic(assignment={0: [1, 2], 1: [1]}), 39,
        "The manual partition assignment includes a partition with 1 replica(s), but this is not "
        "consistent with previous partitions, which have 2 replica(s).",
    ),
    "gap": (
        topic(assignment={0: [1], 2: [1]}), 39,
        "partitions should be a consecutive 0-based integer sequence",
    ),
    "unknown config": (topic(nope="1"), 40, "Unknown topic config name: nope"),
    "null config": (
        topic(retention_ms=None), 40, "Null value not supported for topic configs: retention.ms",
    ),
    "type of a config": (
        topic(retention_ms="x"), 40,
        "Invalid value x for configuration retention.ms: Not a number of type LONG",
    ),
    "range of a config": (
        topic(retention_ms="-2"), 40,
        "Invalid value -2 for configuration retention.ms: Value must be at least -1",
    ),
    "a double": (
        topic(min_cleanable_dirty_ratio="2"), 40,
        "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more t",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", REFUSED)
@pytest.mark.parametrize("release", RELEASES)
def test_refused(rule: str, release: str) -> None:
    refused, code, message = REFUSED[rule]
    served = Served(release)
    create(served, topic("there.is"))
    before = served.state.end_offset
    ((name, found, text),) = create(served, refused)
    assert (name, found) == (refused.name, code)
    assert text.startswith(message)
    assert served.state.end_offset == before


def test_others_go_on() -> None:
    found = create(Served(), topic("a"), topic("b", 0), topic("c"))
    assert [(name, code) for name, code, _ in found] == [("a", 0), ("b", 37), ("c", 0)]


def test_a_name_twice_is_refused_and_others_go_on() -> None:
    found = create(Served(), topic("a"), topic("b"), topic("a"))
    assert found == [("b", 0, None), ("a", 42, "Duplicate topic name.")]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_a_timeout_that_is_over_creates_nothing(timeout_ms: int) -> None:
    served = Served()
    found = create(served, topic("a"), topic("b", 0), timeout_ms=timeout_ms)
    assert found == [("a", 7, None), ("b", 7, None)]
    assert served.state.topic("a") is None


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("counts", [[10_001], [5_000, 5_001], [10_000, -1]])
def test_too_many_partitions_refuse_the_request(release: str, counts: list[int]) -> None:
    wanted = [topic(str(index), count) for index, count in enumerate(counts)]
    found = create(Served(release), *wanted, topic("", 1), validate_only=True)
    text = "Excessively large number of partitions per request."
    assert [(code, message) for _, code, message in found] == [(44, text)] * len(found)


def test_too_many_records() -> None:
    served = Served()
    text = "Unable to perform excessively large batch operation."
    assert create(served, topic("a", MOST_RECORDS)) == [("a", 44, text)]
    assert create(served, topic("a", MOST_RECORDS - 1), validate_only=True) == [("a", 0, None)]


def test_validated_only() -> None:
    served = Served()
    assert create(served, topic("a"), validate_only=True) == [("a", 0, None)]
    assert create(served, topic("a")) == [("a", 0, None)]


@pytest.mark.parametrize("release", RELEASES)
def test_each_version_answers_what_it_has(release: str) -> None:
    served = Served(release)
    for version in served.versions[19]:
        request = CreateTopicsRequest([topic(f"v{version}", -1, -1)], timeout_ms=1000)
        (found,) = served.ask(request, version).topics
        assert found.error_code == 0
        assert (found.topic_id.int != 0) == (version >= 7)
        assert bool(found.configs) == (version >= 5)


def test_an_assignment_is_taken_as_it_is() -> None:
    served = Served()
    create(served, topic("a", assignment={0: [3, 1], 1: [2, 3]}))
    (found,) = served.ask(MetadataRequest(topics=None)).topics
    assert [each.replica_nodes for each in found.partitions] == [[3, 1], [2, 3]]
    assert [each.leader_id for each in found.partitions] == [3, 2]


def test_what_counts_for_a_new_topic_follows_the_brokers() -> None:
    served = Served()

    def retention() -> tuple[str, int]:
        request = CreateTopicsRequest([topic()], 1000, True)
        rows = {each.name: each for each in served.ask(request).topics[0].configs}
        return rows["retention.ms"].value, rows["retention.ms"].config_source

    alter = IncrementalAlterConfigsRequest
    change = alter.AlterableConfig("log.retention.hours", 0, "2")
    before = retention()
    served.ask(alter([alter.AlterConfigsResource(4, "", [change])]))
    assert before[1] == 5
    assert retention() == before  # no running broker takes that one

    change = alter.AlterableConfig("log.retention.ms", 0, "7000")
    served.ask(alter([alter.AlterConfigsResource(4, "", [change])]))
    assert retention() == ("7000", 3)
    own = topic(retention_ms="5")
    assert own.configs[0].name == "retention.ms"
    shown = served.ask(CreateTopicsRequest([own], 1000, True)).topics[0].configs
    assert [each.value for each in shown if each.name == "retention.ms"] == ["5"]
    assert [each.name for each in shown] == sorted(each.name for each in shown)


def test_a_default_of_a_broker_that_is_none_counts_unless_the_topic_says_otherwise() -> None:
    served = Served()
    started_with: Any = served.state.static[1]  # a Mapping for all but this test
    started_with["log.cleanup.policy"] = "shred"
    fault = "Invalid value shred for configuration cleanup.policy: String must be one of: compact"
    for _ in range(2):
        ((_, code, text),) = create(served, topic(retention_ms="5"), validate_only=True)
        assert (code, text[: len(fault)]) == (40, fault)
    assert create(served, topic(cleanup_policy="compact")) == [("t", 0, None)]


def test_the_topics_of_one_request_are_spread_over_the_brokers() -> None:
    served = Served()
    create(served, *(topic(f"t{number}") for number in range(60)))
    leaders = [each.partitions[0].leader for each in served.state.cluster.topics.values()]
    assert min(leaders.count(broker) for broker in (1, 2, 3)) > 5
