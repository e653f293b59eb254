"""Faults that the proxy plays in front of a cluster are those that the cluster plays by itself."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from kafka_admin_proto import messages
from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.faults.topics import topic_rows
from kafka_admin_proto.faults.words import FaultError
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.state import State
from tests.admin.live.helpers.kafka_python import kafka_python
from tests.helpers.profile import draws
from tests.server.differential.requests import EVERY_REQUEST
from tests.server.differential.requests.drawing import Draws, Ids
from tests.server.differential.wire import Nodes
from tests.server.faults import test_effects as effects
from tests.server.faults import test_records as of_records
from tests.server.faults.test_effects import metadata
from tests.server.network.test_connection import answers, asked, connect, ids

_STEPS = draws(400)

test_connections_are_cut = effects.test_connections_are_cut
test_nothing_is_answered_behind_a_lost_one = effects.test_nothing_is_answered_behind_a_lost_one
test_garbage_is_no_answer = effects.test_garbage_is_no_answer


class Behind(msgspec.Struct):
    """A cluster whose faults are those of the proxy in front of it."""

    bootstrap_servers: str
    faults: Any
    state: State


@pytest.fixture
def cluster() -> Iterator[Behind]:
    with SyncCluster() as cluster, SyncProxy(cluster.bootstrap_servers) as proxy:
        yield Behind(proxy.bootstrap_servers, proxy.faults, cluster.state)


@pytest.fixture
def nodes(cluster: Behind) -> Iterator[Nodes]:
    topic = CreateTopicsRequest.CreatableTopic
    with Nodes(cluster.bootstrap_servers) as nodes:
        nodes.ask(0, CreateTopicsRequest([topic("orders", 3, 1), topic("other", 1, 1)], 1000), 7)
        yield nodes


def test_answers_behind_a_delayed_one_wait(cluster: Behind) -> None:
    request = MetadataRequest(topics=None)
    with connect(cluster) as client:  # type: ignore[arg-type]
        fault = cluster.faults.add(api="Metadata", count=1, delay_ms=400)
        began = time.monotonic()
        client.sendall(b"".join(asked(request, 12, number) for number in range(5)))
        assert ids(answers(client, 5)) == [0, 1, 2, 3, 4]
        assert time.monotonic() - began > 0.39
        assert fault.fired == 1


def test_a_throttled_client_is_muted(cluster: Behind) -> None:
    cluster.faults.add(api="Metadata", throttle_ms=500, count=1)
    request = MetadataRequest(topics=None)
    with connect(cluster) as client:  # type: ignore[arg-type]
        client.sendall(asked(request, 12, 1) + asked(request, 12, 2))
        (payload,) = answers(client, 1)
        response = messages.MetadataResponse
        assert ids([payload]) == [1]
        began = time.monotonic()
        assert ids(answers(client, 1)) == [2]
        assert time.monotonic() - began > 0.4
        assert isinstance(metadata(client, 3), response)


@pytest.mark.parametrize("acks", [1, -1])
def test_a_partition_that_fails_gets_no_records(cluster: Behind, nodes: Nodes, acks: int) -> None:
    cluster.faults.add(api="Produce", topic="orders", partition=1, error="NOT_LEADER_OR_FOLLOWER")
    answer = nodes.ask(0, of_records.produce(acks), 11)
    assert of_records.codes(answer) == {
        ("orders", 0): 0, ("orders", 1): 6, ("orders", 2): 0, ("other", 0): 0,
    }  # fmt: skip
    fetched = nodes.ask(0, _fetch(3), 12)
    assert [len(each.records or b"") > 0 for each in fetched.responses[0].partitions] == [
        True, False, True
    ]  # fmt: skip


def test_what_gets_no_answer_ends_with_the_connection(cluster: Behind, nodes: Nodes) -> None:
    """With acks 0 brokers close the connection at an error."""
    fault = cluster.faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER")
    assert nodes.ask(0, of_records.produce(0), 11, 5) is None
    fetched = nodes.ask(0, _fetch(3), 12)
    assert not any(each.records for each in fetched.responses[0].partitions)
    assert fault.fired == 1


def _fetch(count: int, **others: Any) -> FetchRequest:
    part = FetchRequest.FetchPartition
    rows = [part(number, fetch_offset=0, partition_max_bytes=1 << 20) for number in range(count)]
    topic = FetchRequest.FetchTopic("orders", partitions=rows)
    return FetchRequest(max_wait_ms=10, topics=[topic], **others)


def test_a_fetch_of_a_session_begins_anew(cluster: Behind, nodes: Nodes) -> None:
    """Its requests do not name what the fault is about."""
    nodes.ask(0, of_records.produce(), 11)
    begun = nodes.ask(0, _fetch(3, session_epoch=0), 12)
    assert begun.session_id > 0
    fault = cluster.faults.add(api="Fetch", topic="orders", partition=0, error=6)
    again = FetchRequest(max_wait_ms=10, session_id=begun.session_id, session_epoch=1)
    assert nodes.ask(0, again, 12).error_code == 70
    answer = nodes.ask(0, _fetch(3, session_epoch=0), 12)
    assert isinstance(answer, FetchResponse)
    found = [each for topic in answer.responses for each in topic.partitions]
    assert {each.partition_index: each.error_code for each in found} == {0: 6, 1: 0, 2: 0}
    assert {each.partition_index: bool(each.records) for each in found}[0] is False
    assert (answer.session_id, fault.fired) == (0, 1)


def test_records_are_damaged(cluster: Behind, nodes: Nodes) -> None:
    nodes.ask(0, of_records.produce(), 11)
    fault = cluster.faults.add_text("api=Fetch garbage=records topic=orders partition=1 count=1")
    good, bad = (nodes.ask(0, _fetch(3), 12) for _ in range(2))
    whole = [bytes(each.records) for each in bad.responses[0].partitions]
    damaged = [bytes(each.records) for each in good.responses[0].partitions]
    assert [a == b for a, b in zip(whole, damaged, strict=True)] == [True, False, True]
    assert (whole[1][:-1], fault.fired) == (damaged[1][:-1], 1)


def test_topics_by_id_are_asked_for(cluster: Behind, nodes: Nodes) -> None:
    (topic,) = nodes.ask(0, MetadataRequest([_named("orders")]), 12).topics
    cluster.faults.add(api="DeleteTopics", topic="ord*", error="POLICY_VIOLATION")
    state = DeleteTopicsRequest.DeleteTopicState
    request = DeleteTopicsRequest([state(None, topic.topic_id)], timeout_ms=1000)
    answer = nodes.ask(0, request, 6)
    assert [each.error_code for each in answer.responses] == [44]
    assert "orders" in cluster.state.topic_names


def _named(name: str) -> Any:
    return MetadataRequest.MetadataRequestTopic(name=name)


def test_a_topic_that_fails_is_not_created_by_asking(cluster: Behind, nodes: Nodes) -> None:
    cluster.faults.add(api="Metadata", topic="new*", error="LEADER_NOT_AVAILABLE")
    answer = nodes.ask(0, MetadataRequest([_named("new-1"), _named("orders")]), 12)
    assert {each.name: each.error_code for each in answer.topics} == {"new-1": 5, "orders": 0}
    assert "new-1" not in cluster.state.topic_names
    assert answer.brokers


_TEXTS = (
    "error=NOT_CONTROLLER",
    "topic=a error=TOPIC_AUTHORIZATION_FAILED",
    "topic=* error=UNKNOWN_SERVER_ERROR message=no",
    "topic=b partition=0 error=NOT_LEADER_OR_FOLLOWER",
    "throttle-ms=1",
    "api=CreateTopics drop=request",
    "cut=before",
)


def test_drawn_requests_are_answered_as_by_a_cluster_with_the_fault() -> None:
    draw, fired = Random(11), 0
    with (
        SyncCluster(3, topics={"a": 2, "b": 1}) as cluster,
        SyncProxy(cluster.bootstrap_servers) as proxy,
        SyncCluster(3, topics={"a": 2, "b": 1}) as own,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        described = client.describe_cluster().nodes
        through = Nodes(",".join(f"{each.host}:{each.port}" for each in described))
        plain = Nodes(own.bootstrap_servers)
        versions = {
            each.api_key: (each.min_version, each.max_version)
            for each in through.ask(0, ApiVersionsRequest(), 0).api_keys
        }
        for _ in range(_STEPS):
            step = draw.choice(EVERY_REQUEST)(Draws(draw, 3, versions, ["a", "b"]))
            if step.make is None:
                continue
            there = {each.name: each.id for each in own.state.cluster.topics.values()}
            request = step.make(Ids(there, {}))
            named = [row.topic for row in topic_rows(request, own.state)]
            if len(set(named)) < len(named):  # Kafka's answers to these depend on all of the rows
                continue
            text = draw.choice(_TEXTS)
            found = []
            for nodes, faults in ((through, proxy.faults), (plain, own.faults)):
                known = nodes.ask(0, MetadataRequest(topics=None), 12).topics
                request = step.make(Ids({each.name: each.topic_id for each in known}, {}))
                with faults.add_text(text) as fault:
                    patience_s = 0.2 if "drop" in text else step.patience_s
                    answer = nodes.ask(step.node, request, step.version, patience_s)
                found.append((fault.fired, _shown(answer)))
                fired += fault.fired
            assert found[0][0] == found[1][0], text
            assert not found[0][0] or found[0] == found[1], (text, request, step.version)
            assert sorted(cluster.state.topic_names) == sorted(own.state.topic_names), text
        through.close()
        plain.close()
    assert fired > _STEPS / 3


def _shown(value: Any, name: str = "") -> Any:
    """What two clusters have alike: no ids, no addresses, rows in any order."""
    if isinstance(value, list):
        return sorted((_shown(each) for each in value), key=repr)
    if hasattr(value, "__struct_fields__"):
        return {
            each: _shown(getattr(value, each), each)
            for each in value.__struct_fields__
            if each not in ("host", "port", "topic_id", "cluster_id", "error_message")
        }
    return re.sub(r":\d+", "", value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("api=ShareFetch topic=a cut=after", "a proxy does not see which topics ShareFetch is"),
        ("api=Metdata cut=after", "there is no api 'Metdata'; did you mean Metadata"),
        ("api=Produce garbage=records", "is for answers to Fetch"),
    ],
)
def test_what_cannot_be_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(FaultError, match=sentence):
        SyncProxy("127.0.0.1:9").faults.add_text(text)


@pytest.mark.exhaustive
def test_clients_of_others_ask_again() -> None:
    with SyncCluster(3) as cluster, SyncProxy(cluster.bootstrap_servers) as proxy:
        fault = proxy.faults.add(api="CreateTopics", error="NOT_CONTROLLER", count=1)
        with kafka_python() as kafka:
            admin = kafka.KafkaAdminClient(bootstrap_servers=proxy.bootstrap_servers)
            admin.create_topics([kafka.admin.NewTopic("made", 1, 1)])
            admin.close()
        assert (fault.fired, list(cluster.state.topic_names)) == (1, ["made"])


def test_a_request_of_all_topics_is_about_each(cluster: Behind, nodes: Nodes) -> None:
    everything = MetadataRequest(topics=None)
    with cluster.faults.add(api="Metadata", topic="ord*", error="LEADER_NOT_AVAILABLE") as fault:
        found = {each.name: each.error_code for each in nodes.ask(0, everything, 12).topics}
        assert found == {"other": 0, "orders": codes.LEADER_NOT_AVAILABLE}
    assert fault.fired == 1
    with cluster.faults.add(api="Metadata", topic="nobody", error="LEADER_NOT_AVAILABLE") as fault:
        assert {each.error_code for each in nodes.ask(0, everything, 12).topics} == {0}
    assert fault.fired == 0


def test_a_fault_of_another_group_leaves_a_request_alone(cluster: Behind, nodes: Nodes) -> None:
    with cluster.faults.add(group="billing", error="COORDINATOR_NOT_AVAILABLE") as fault:
        for group, fired in (("other", 0), ("billing", 1)):
            request = messages.FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
            nodes.ask(0, request, 4)
            assert fault.fired == fired
