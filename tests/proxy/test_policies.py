"""Policies in the proxy refuse what they refuse on a cluster, and all else passes as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest

from kafka_admin_proto.admin import (
    ConfigChange,
    ConfigResource,
    NewPartitions,
    NewTopic,
    SyncAdminClient,
)
from kafka_admin_proto.messages import CreateTopicsRequest, EnvelopeRequest, MetadataRequest
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.proxy import Call, PolicyFilter, SyncProxy
from kafka_admin_proto.server import (
    AlterConfigRequestMetadata,
    PolicyViolation,
    RequestMetadata,
    SyncCluster,
)
from tests.helpers.profile import draws
from tests.server.differential.machine import Maker, Report, run_steps
from tests.server.differential.policy import ConfigPolicy, TopicPolicy
from tests.server.differential.requests import EVERY_REQUEST
from tests.server.differential.requests.configs import alter_configs, incremental_alter_configs
from tests.server.differential.requests.drawing import Step
from tests.server.differential.requests.topics import (
    create_topics,
    create_valid_topics,
    delete_topics,
    metadata,
)
from tests.server.differential.sides import Sides
from tests.server.differential.wire import Nodes

#: Refused by the broker's own check, and by the policy or for its error.
_BOTH_REFUSED = re.compile(r"topics\[.*\]\.error_code: [1-9]\d* and (44|-1)$")
_STEPS = draws(400)
#: Of CreatePartitions Kafka asks no policy.
JUDGED: Sequence[Maker] = (
    create_topics, create_valid_topics, delete_topics, alter_configs, incremental_alter_configs,
    metadata,
)  # fmt: skip


@contextmanager
def _sides(*, policies: bool) -> Iterator[Sides]:
    """A cluster behind the proxy, and another one without it; policies here and there."""
    of_topics, of_configs = (TopicPolicy(), ConfigPolicy()) if policies else (None, None)
    with ExitStack() as opened:
        behind = opened.enter_context(SyncCluster(3))
        filters = [PolicyFilter(of_topics, of_configs)] if policies else []
        proxy = opened.enter_context(SyncProxy(behind.bootstrap_servers, filters))
        with SyncAdminClient(proxy.bootstrap_servers) as client:
            nodes = client.describe_cluster().nodes
        other = opened.enter_context(
            SyncCluster(3, create_topic_policy=of_topics, alter_config_policy=of_configs)
        )
        addresses = ",".join(f"{each.host}:{each.port}" for each in nodes)
        sides = Sides(addresses, other.bootstrap_servers, other.state)
        sides.settle_s = 0.2
        opened.callback(sides.close)
        yield sides


def test_a_cluster_is_the_same_behind_the_proxy() -> None:
    with _sides(policies=False) as sides:
        run_steps(sides, _STEPS, requests=EVERY_REQUEST)


def report_to(found: list[str]) -> Report:
    """Add what differs to a list.

    A cluster asks of a new topic's configs before it looks at its numbers: the code differs.
    """

    def report(step: Step, lines: list[str]) -> None:
        rows = [each.partition(".error_")[0] for each in lines if _BOTH_REFUSED.search(each)]
        left = [each for each in lines if each.partition(".error_")[0] not in rows]
        found.extend([repr(step), *left] if left else ())

    return report


def test_policies_refuse_what_they_refuse_on_a_cluster() -> None:
    found: list[str] = []
    with _sides(policies=True) as sides:
        run_steps(sides, _STEPS, report_to(found), requests=JUDGED)
    assert not found


class _Few:
    """At most four partitions, of three replicas each."""

    def configure(self, configs: object) -> None: ...
    def close(self) -> None: ...

    def validate(self, metadata: RequestMetadata) -> None:
        if (metadata.partitions or 0) > 4 or metadata.replication_factor != 3:
            raise PolicyViolation(f"{metadata.partitions} x {metadata.replication_factor}")


def test_more_partitions_are_asked_of_too() -> None:
    """Kafka asks no policy; the proxy asks with the topic's replicas and the new count."""
    with (
        SyncCluster(3) as cluster,
        SyncProxy(cluster.bootstrap_servers, [PolicyFilter(_Few())]) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        client.create_topics([NewTopic("few", 2, 3)])
        (grown,) = client.create_partitions([NewPartitions("few", 4)])
        (refused,) = client.create_partitions([NewPartitions("few", 5)])
        (described,) = client.describe_topics(["few"])
    assert grown.error is None
    assert (str(refused.error), refused.message) == ("POLICY_VIOLATION", "5 x 3")
    assert len(described.partitions) == 4


class _NoTmp(_Few):
    """No name that begins with "tmp-"; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[RequestMetadata] = []

    def validate(self, metadata: RequestMetadata) -> None:
        self.asked.append(metadata)
        if metadata.topic.startswith("tmp-"):
            raise PolicyViolation("no topics for a while")


@pytest.fixture(scope="module")
def gate() -> Iterator[tuple[SyncCluster, Nodes, _NoTmp]]:
    """A cluster, the proxy in front of it, and the policy there."""
    policy = _NoTmp()
    with (
        SyncCluster(3, topics={"there": 1}, configs={"num.partitions": "2"}) as cluster,
        SyncProxy(cluster.bootstrap_servers, [PolicyFilter(policy)]) as proxy,
        Nodes(proxy.bootstrap_servers) as nodes,
    ):
        yield cluster, nodes, policy


def _metadata(*names: str) -> MetadataRequest:
    return MetadataRequest([MetadataRequest.MetadataRequestTopic(name=each) for each in names])


@pytest.mark.parametrize("version", range(14))
def test_metadata_creates_no_topic_that_the_policy_refuses(
    gate: tuple[SyncCluster, Nodes, _NoTmp], version: int
) -> None:
    """It is unknown, as on a cluster with that policy; all else is created and described."""
    cluster, nodes, policy = gate
    for names in (["tmp-a"], ["tmp-a", f"new-{version}", "there", "tmp-b", "tmp-a", "."]):
        policy.asked.clear()
        answer = nodes.ask(0, _metadata(*names), version)
        found = {each.name: each.error_code for each in answer.topics}
        known = {"there": 0, ".": codes.INVALID_TOPIC_EXCEPTION}
        assert found == {each: known.get(each, codes.UNKNOWN_TOPIC_OR_PARTITION) for each in names}
        assert len(answer.topics) == len(found)
        assert len(answer.brokers) == 3
        asked = [each for each in dict.fromkeys(names) if each not in known]
        assert policy.asked == [
            RequestMetadata(topic=each, partitions=2, replication_factor=1) for each in asked
        ]
    assert not any(each.startswith("tmp-") for each in cluster.state.topic_names)
    assert f"new-{version}" in cluster.state.topic_names


def test_a_policy_is_not_asked_where_nothing_may_be_created(
    gate: tuple[SyncCluster, Nodes, _NoTmp],
) -> None:
    cluster, nodes, policy = gate
    policy.asked.clear()
    request = _metadata("tmp-a", "there")
    request.allow_auto_topic_creation = False
    everything = MetadataRequest(topics=None)
    assert [each.error_code for each in nodes.ask(0, request, 12).topics] == [0, 3]
    assert len(nodes.ask(0, everything, 12).topics) == len([*cluster.state.topic_names])
    assert len(nodes.ask(0, _metadata(), 0).topics) == len([*cluster.state.topic_names])
    assert nodes.ask(0, _metadata(), 4).topics == []
    assert [each.error_code for each in nodes.ask(0, _metadata("there"), 0).topics] == [0]
    assert policy.asked == []


def test_what_an_envelope_carries_passes_no_policy() -> None:
    """Brokers alone send it, with CreateTopics in it, say."""
    asking = PolicyFilter(_Few()).on_request(EnvelopeRequest(), Call(58, 0, 1, "me"))
    with pytest.raises(StopIteration) as end:
        next(asking)
    assert end.value.value.error_code == codes.CLUSTER_AUTHORIZATION_FAILED


class _Configs:
    """Keeps the configs that it is asked about."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str | None]] = []

    def configure(self, configs: object) -> None: ...
    def close(self) -> None: ...

    def validate(self, metadata: AlterConfigRequestMetadata) -> None:
        self.asked.append(dict(metadata.configs))


class _Faulty(_Few):
    def validate(self, metadata: RequestMetadata) -> None:
        raise ZeroDivisionError


def test_a_policy_is_asked_of_the_list_that_a_change_makes() -> None:
    policy = _Configs()
    with (
        SyncCluster(1, topics={"orders": 1}) as cluster,
        SyncProxy(cluster.bootstrap_servers, [PolicyFilter(None, policy)]) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        resource = ConfigResource("topic", "orders")
        for change in (
            ConfigChange(resource=resource, append={"cleanup.policy": "compact"}),
            ConfigChange(resource=resource, subtract={"cleanup.policy": "delete"}),
        ):
            (altered,) = client.alter_configs([change])
            assert altered.error is None, altered.message
    assert policy.asked == [
        {"cleanup.policy": "delete,compact"}, {"cleanup.policy": "compact"},
    ]  # fmt: skip


def test_a_policy_that_fails_refuses_the_whole_request() -> None:
    rows = [CreatableTopic("a", 1, 1), CreatableTopic("b", 1, 1)]
    with (
        SyncCluster(1) as cluster,
        SyncProxy(cluster.bootstrap_servers, [PolicyFilter(_Faulty())]) as proxy,
        Nodes(proxy.bootstrap_servers) as nodes,
    ):
        answer = nodes.ask(0, CreateTopicsRequest(rows, 1000), 7)
        assert not cluster.state.topic_names
    assert {(each.name, each.error_code) for each in answer.topics} == {
        ("a", codes.UNKNOWN_SERVER_ERROR), ("b", codes.UNKNOWN_SERVER_ERROR),
    }  # fmt: skip
