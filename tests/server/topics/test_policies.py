"""Policies (KIP-108): asked after Kafka's own rules, topic by topic; and KIP-4's own rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_admin_proto.messages import IncrementalAlterConfigsRequest
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.server import PolicyViolation, SyncCluster
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served


class Policy:
    """Keeps what it is asked; refuses topics and configs by their names."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.configured: list[Mapping[str, str]] = []
        self.closed = 0

    def configure(self, configs: Mapping[str, str]) -> None:
        self.configured.append(configs)

    def validate(self, metadata: Any) -> None:
        self.asked.append(metadata)
        name = getattr(metadata, "topic", None) or metadata.resource_name
        if name == "refused":
            raise PolicyViolation("not this one")
        if name == "broken":
            raise KeyError(name)

    def close(self) -> None:
        self.closed += 1


def test_each_topic_for_itself() -> None:
    served, policy = Served(), Policy()
    served.state.create_topic_policy = policy
    found = create(served, topic("a"), topic("refused"), topic("b", 0))
    assert found[:2] == [("a", 0, None), ("refused", 44, "not this one")]
    assert found[2][1] == 37
    assert [each.topic for each in policy.asked] == ["a", "refused"]


def test_what_a_policy_is_told() -> None:
    served, policy = Served(), Policy()
    served.state.create_topic_policy = policy
    create(served, topic("a", -1, 2, retention_ms="5"), topic("b", assignment={0: [2, 1]}))
    first, second = policy.asked
    assert (first.partitions, first.replication_factor, first.assignment) == (1, 2, None)
    assert first.configs == {"retention.ms": "5"}
    assert (second.partitions, second.replication_factor) == (None, None)
    assert second.assignment == {0: [2, 1]}


def test_validated_only_and_then_created() -> None:
    served = Served()
    served.state.create_topic_policy = Policy()
    assert create(served, topic("a"), validate_only=True) == [("a", 0, None)]
    assert create(served, topic("a")) == [("a", 0, None)]


def test_a_policy_that_fails_fails_the_request_and_the_server_lives() -> None:
    served = Served()
    served.state.create_topic_policy = Policy()
    assert create(served, topic("a"), topic("broken")) == [("a", -1, None), ("broken", -1, None)]
    assert create(served, topic("a")) == [("a", 0, None)]


def test_configs_of_new_and_of_old_topics() -> None:
    served, policy = Served(), Policy()
    served.state.alter_config_policy = policy
    create(served, topic("a"), topic("refused"))
    assert policy.asked == []
    changed = [AlterableConfig("retention.ms", 0, "5")]
    rows = [AlterConfigsResource(2, each, changed) for each in ("a", "refused")]
    answer = served.ask(IncrementalAlterConfigsRequest(rows))
    assert [(each.error_code, each.error_message) for each in answer.responses] == [
        (0, None),
        (44, "not this one"),
    ]


def test_configured_and_closed_with_the_cluster() -> None:
    policy = Policy()
    with SyncCluster(create_topic_policy=policy, configs={"a.b": "c"}):
        assert policy.configured[0]["a.b"] == "c"
        assert policy.closed == 0
    assert policy.closed == 1


# KIP-4.


@pytest.fixture
def kip_4() -> Served:
    served = Served()
    served.state.rules = "kip-4"
    return served


def test_the_controller_alone_answers(kip_4: Served) -> None:
    kip_4.state.quorum.controller = 2
    assert create(kip_4, topic("a"))[0][1] == 41
    kip_4.state.quorum.controller = 1
    assert create(kip_4, topic("a"))[0][1] == 0


def test_a_name_twice_refuses_all(kip_4: Served) -> None:
    found = create(kip_4, topic("a"), topic("b"), topic("a"))
    assert [code for _, code, _ in found] == [42, 42, 42]
    assert list(kip_4.state.topic_names) == []


def test_an_assignment_with_counts_refuses_all(kip_4: Served) -> None:
    both = topic("a", assignment={0: [1]})
    both.num_partitions = 1
    assert [code for _, code, _ in create(kip_4, topic("b"), both)] == [42, 42]


def test_no_defaults_of_the_broker(kip_4: Served) -> None:
    found = create(kip_4, topic("a", -1, 1), topic("b", 1, -1), topic("c"))
    assert [code for _, code, _ in found] == [37, 38, 0]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_topics_are_created_all_the_same(kip_4: Served, timeout_ms: int) -> None:
    found = create(kip_4, topic("a"), topic("b", 0), timeout_ms=timeout_ms)
    assert [code for _, code, _ in found] == [7, 37]
    assert list(kip_4.state.topic_names) == ["a"]
