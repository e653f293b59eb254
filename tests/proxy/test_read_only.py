"""A proxy that is read-only: nothing in the cluster changes, whatever clients ask."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafka_admin_proto import codec, messages
from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.protocol.versions import Api, api_versions
from kafka_admin_proto.proxy import Call, SyncProxy
from kafka_admin_proto.proxy.apis import READING
from kafka_admin_proto.proxy.read_only import ReadOnly
from kafka_admin_proto.render.field_scan import error_codes
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.state import State
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer
from tests.helpers.profile import draws
from tests.server.differential.requests import EVERY_REQUEST
from tests.server.differential.requests.drawing import Draws, Ids
from tests.server.differential.wire import Nodes
from tests.server.security.secured import PASSWORDS, peer

_STEPS = draws(2000)
_CHANGING = [each for each in api_versions(unstable=True) if each.api_key not in READING]


@pytest.mark.parametrize("api", _CHANGING, ids=[each.name for each in _CHANGING])
def test_every_version_is_refused_with_an_error(api: Api) -> None:
    """The answer is one that the version can say."""
    for version in range(api.versions.lowest, api.versions.highest + 1):
        request = getattr(messages, f"{api.name}Request")()
        answer = ReadOnly().on_request(request, Call(api.api_key, version, 1, "me"))
        assert answer is not None
        written = codec(type(answer), version)
        read = written.decode(answer.encode(version))
        fields = written.spec.fields
        if any(each.name == "ErrorCode" and version in each.versions for each in fields):
            assert error_codes(written, read)[0] in (29, 30, 31, 53)


@pytest.mark.parametrize("read_only", [True, False])
def test_drawn_requests_change_nothing(read_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No record is appended to the metadata log; without the option many are."""
    changed: list[Any] = []
    append = State.append

    def noted(self: State, records: Any) -> None:
        changed.extend(records)
        append(self, records)

    draw = Random(5)
    with (
        SyncCluster(3, topics={"a": 2, "b": 1}) as cluster,
        SyncProxy(cluster.bootstrap_servers, read_only=read_only) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        described = client.describe_cluster().nodes
        nodes = Nodes(",".join(f"{each.host}:{each.port}" for each in described))
        rows = nodes.ask(0, messages.MetadataRequest(topics=None), 12).topics
        ids = Ids({each.name: each.topic_id for each in rows}, {})
        versions = {
            each.api_key: (each.min_version, each.max_version)
            for each in nodes.ask(0, messages.ApiVersionsRequest(), 0).api_keys
        }
        monkeypatch.setattr(State, "append", noted)
        for _ in range(_STEPS):
            step = draw.choice(EVERY_REQUEST)(Draws(draw, 3, versions, ["a", "b"]))
            if step.make is not None:
                nodes.ask(step.node, step.make(ids), step.version, step.patience_s)
        nodes.close()
    assert (not changed) is read_only


def test_what_is_only_validated_passes() -> None:
    with (
        SyncCluster() as cluster,
        SyncProxy(cluster.bootstrap_servers, read_only=True) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        (made,) = client.create_topics([NewTopic("c", 1, 1)])
        (tried,) = client.create_topics([NewTopic("c", 1, 1)], validate_only=True)
        assert client.list_topics() == []
    error = ("TOPIC_AUTHORIZATION_FAILED", "the proxy is read-only")
    assert (str(made.error), made.message) == error
    assert tried.error is None


def test_a_consumer_reads_and_a_producer_gives_up() -> None:
    with SyncCluster(topics={"a": 1}) as cluster:
        cluster.produce("a", [b"one"])
        with (
            SyncProxy(cluster.bootstrap_servers, read_only=True) as proxy,
            kafka_python() as kafka,
        ):
            servers = proxy.bootstrap_servers
            consumer = kafka_python_consumer(
                kafka, bootstrap_servers=servers, consumer_timeout_ms=20_000
            )
            consumer.assign([kafka.TopicPartition("a", 0)])
            consumer.seek_to_beginning()
            assert next(consumer).value == b"one"
            consumer.close()
            producer = kafka.KafkaProducer(bootstrap_servers=servers, enable_idempotence=False)
            with pytest.raises(Exception, match="TopicAuthorizationFailed"):
                producer.send("a", b"two").get(timeout=20)
            producer.close()
        assert [each.value for each in cluster.records("a")] == [b"one"]


class _Deletes:
    """Has the broker delete a topic before it describes the cluster."""

    def on_request(self, request: messages.DescribeClusterRequest, call: Call) -> Any:
        answer = yield messages.DeleteTopicsRequest(
            [messages.DeleteTopicsRequest.DeleteTopicState("a")], timeout_ms=1000
        )
        self.code = answer.responses[0].error_code
        yield messages.MetadataRequest([messages.MetadataRequest.MetadataRequestTopic(name="b")])


def test_a_filter_asks_the_broker_for_no_change() -> None:
    deletes = _Deletes()
    with (
        SyncCluster(topics={"a": 1}) as cluster,
        SyncProxy(cluster.bootstrap_servers, [deletes], read_only=True) as proxy,
        Nodes(proxy.bootstrap_servers) as nodes,
    ):
        assert nodes.ask(0, messages.DescribeClusterRequest(), 1).brokers
        assert (deletes.code, list(cluster.state.topic_names)) == (29, ["a"])


def test_nothing_passes_behind_a_login_by_bare_tokens() -> None:
    """Not as a further token either: Metadata of a version before 4 creates topics."""
    asked = messages.MetadataRequest([messages.MetadataRequest.MetadataRequestTopic(name="new")])
    with (
        SyncCluster(1, listeners={"BROKER": "SASL_PLAINTEXT"}, users=PASSWORDS) as cluster,
        SyncProxy(cluster.bootstrap_servers, read_only=True) as proxy,
        peer(proxy.bootstrap_servers) as client,
    ):
        assert client.handshake("PLAIN", 0).error_code == 0
        client.send(frame(b"\0bob\0bob-secret"))
        assert client.frame() == b""
        assert client.ask(asked, 3) is None
        assert not cluster.state.topic_names


def test_many_refusals_at_once() -> None:
    """They are given in turns, and all of them, without another byte of the client."""
    many = 5000
    request = frame(write_request(messages.DeleteTopicsRequest(topic_names=["a"]), 5, 7))
    with (
        SyncCluster(1) as cluster,
        SyncProxy(cluster.bootstrap_servers, read_only=True) as proxy,
        peer(proxy.bootstrap_servers) as client,
    ):
        client.send(request * many)
        assert all(client.frame() for _ in range(many))
