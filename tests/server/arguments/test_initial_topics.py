"""Topics that a cluster starts with: created as CreateTopics does, refused where they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.server import Cluster, PolicyViolation, SyncCluster
from kafka_admin_proto.server.arguments.initial_topics import TopicSetting, _Fields
from kafka_admin_proto.server.arguments.settings import RULES
from tests.helpers.kap import run_kap
from tests.helpers.profile import draws
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served

_TOPICS: dict[str, TopicSetting] = {
    "orders": 3,
    "by-default": -1,
    "rich": {
        "partitions": 2,
        "replication_factor": 2,
        "configs": {"retention.ms": 5000, "preallocate": True, "cleanup.policy": "compact"},
    },
    "assigned": {"assignment": {0: [2, 1], 1: [3, 2]}},
}


def described(cluster: SyncCluster) -> dict[str, list[list[int]]]:
    with SyncAdminClient(cluster.bootstrap_servers) as client:
        found = client.describe_topics()
    return {each.name or "": [one.replicas for one in each.partitions] for each in found}


def own_configs(cluster: SyncCluster, name: str) -> dict[str, Any]:
    return dict(cluster.state.configs(2, name))


@pytest.mark.parametrize("rules", RULES)
def test_they_are_there_when_it_serves(rules: Any) -> None:
    configs = {"num.partitions": 4, "default.replication.factor": 3}
    with SyncCluster(3, topics=_TOPICS, configs=configs, rules=rules) as cluster:
        found = described(cluster)
        assert {name: (len(each), len(each[0])) for name, each in found.items()} == {
            "orders": (3, 3), "by-default": (4, 3), "rich": (2, 2), "assigned": (2, 2),
        }  # fmt: skip
        assert found["assigned"] == [[2, 1], [3, 2]]
        assert own_configs(cluster, "rich") == {
            "retention.ms": "5000", "preallocate": "true", "cleanup.policy": "compact",
        }  # fmt: skip


def test_a_value_has_the_fields_of_the_clients_topic() -> None:
    fields = {each.name: each.default for each in msgspec.structs.fields(NewTopic)}
    del fields["name"]
    assert {each.name: each.default for each in msgspec.structs.fields(_Fields)} == fields


def test_acls_do_not_count() -> None:
    """The cluster itself creates them: no ACL allows it, and none has to."""
    acls = [
        {"resource_type": "TOPIC", "name": "orders", "principal": "User:ANONYMOUS",
         "operation": "CREATE", "permission": "DENY"}
    ]  # fmt: skip
    with SyncCluster(topics={"orders": 1}, acls=acls) as cluster:
        assert cluster.state.topic("orders") is not None


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ({"orders": "3"}, "topics['orders'] is '3'; expected a number of partitions, or a mapping"),
        ({"orders": True}, "topics['orders'] is True; expected a number of partitions, or a"),
        ({"orders": NewTopic("orders")}, "expected a number of partitions, or a mapping of the fi"),
        (["orders"], "topics is ['orders']; expected"),
        ({"orders": {"partition": 3}}, "topics: 'orders': Object contains unknown field"),
        ({"orders": {"partitions": "3"}}, "topics: 'orders': Expected `int`, got `str`"),
        ({"orders": {1: 2}}, "topics: 'orders': Expected `str`"),
        ({"orders": {"configs": {"retention.ms": None}}}, "topics: 'orders': Expected `"),
        ({"a b": 3}, "topics: 'a b' cannot be created: INVALID_TOPIC_EXCEPTION: Topic name is"),
        ({"a.b": 1, "a_b": 1}, "'a_b' cannot be created: INVALID_TOPIC_EXCEPTION: Topic 'a_b'"),
        ({"orders": 0}, "topics: 'orders' cannot be created: INVALID_PARTITIONS: Number of"),
        ({"orders": 10_000}, "topics: 'orders' cannot be created: POLICY_VIOLATION"),
        ({"orders": {"replication_factor": 2}}, "INVALID_REPLICATION_FACTOR: Unable to replicate"),
        ({"orders": {"configs": {"retention.ms": "x"}}}, "created: INVALID_CONFIG: Inv"),
        ({"orders": {"assignment": {0: [2]}}}, "created: INVALID_REPLICA_ASSIGNMENT"),
        ({"orders": {"assignment": {0: [1]}, "partitions": 1}}, "INVALID_REQUEST: A manual"),
    ],
)  # fmt: skip
def test_what_cannot_be_created_is_refused_where_it_is_given(topics: Any, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Cluster(topics=topics)
    assert said in str(refused.value)


@settings(max_examples=draws(200))
@given(
    name=st.sampled_from(["orders", "", ".", "a b", "x" * 250, "__cluster_metadata"]),
    partitions=st.sampled_from([-2, -1, 0, 1, 5, 9_999, 10_001]),
    factor=st.sampled_from([-2, -1, 0, 1, 3, 4]),
    configs=st.dictionaries(
        st.sampled_from(["retention.ms", "cleanup.policy", "no.such"]),
        st.sampled_from(["1", "-2", "compact"]),
    ),
)
def test_the_same_errors_as_a_request(
    name: str, partitions: int, factor: int, configs: dict[str, str]
) -> None:
    served = Served(nodes=3)
    dotted = {key.replace(".", "_"): value for key, value in configs.items()}
    ((_, code, message),) = create(served, topic(name, partitions, factor, None, **dotted))
    fields = {"partitions": partitions, "replication_factor": factor, "configs": configs}
    if code == 0:
        Cluster(3, topics={name: fields})
        return
    with pytest.raises(SettingsError) as refused:
        Cluster(3, topics={name: fields})
    assert str(refused.value) == (
        f"topics: {name!r} cannot be created: {error_name(code)}: {message}"
    )


class NoTests:
    def configure(self, configs: Any) -> None: ...

    def validate(self, metadata: Any) -> None:
        if metadata.topic.startswith("test"):
            raise PolicyViolation("no tests here")
        if metadata.topic == "broken":
            raise KeyError("broken")

    def close(self) -> None: ...


def test_a_policy_is_asked_at_the_start_and_nothing_is_created(tmp_path: Path) -> None:
    topics: dict[str, TopicSetting] = {"orders": 1, "test-orders": 1}
    with (
        pytest.raises(SettingsError, match="'test-orders' cannot be created: POLICY_VIOL"),
        SyncCluster(topics=topics, create_topic_policy=NoTests(), data=tmp_path),
    ):
        raise AssertionError("it serves")
    with SyncCluster(data=tmp_path) as cluster:
        assert list(cluster.state.topic_names) == []


def test_a_policy_that_fails_is_the_cause() -> None:
    with (
        pytest.raises(SettingsError, match=r"created: UNKNOWN_SERVER_ERROR$") as error,
        SyncCluster(topics={"broken": 1}, create_topic_policy=NoTests()),
    ):
        raise AssertionError("it serves")
    assert isinstance(error.value.__cause__, KeyError)


def test_a_folder_has_them_already(tmp_path: Path) -> None:
    with SyncCluster(3, topics=_TOPICS, data=tmp_path) as cluster:
        ids = {each.name: each.id for each in cluster.state.cluster.topics.values()}
    with SyncCluster(3, topics={**_TOPICS, "more": 1}, data=tmp_path) as cluster:
        found = {each.name: each.id for each in cluster.state.cluster.topics.values()}
    assert {name: found[name] for name in ids} == ids
    assert found.keys() - ids.keys() == {"more"}


@pytest.mark.parametrize(
    ("given_now", "said"),
    [
        (4, "with partitions 3, not 4"),
        ({"replication_factor": 2}, "with replication_factor 1, not 2"),
        ({"configs": {"retention.ms": 6}}, "with retention.ms 5, not 6"),
        ({"configs": {"segment.ms": 6}}, "with segment.ms None, not 6"),
        ({"assignment": {0: [1]}}, "with assignment {"),
    ],
)
def test_a_folders_topic_is_otherwise(tmp_path: Path, given_now: Any, said: str) -> None:
    before = {"partitions": 3, "replication_factor": 1, "configs": {"retention.ms": 5}}
    with SyncCluster(2, topics={"orders": before}, data=tmp_path):
        pass
    with (
        pytest.raises(SettingsError) as refused,
        SyncCluster(2, topics={"more": 1, "orders": given_now}, data=tmp_path),
    ):
        raise AssertionError("it serves")
    assert str(refused.value).startswith(f"topics: 'orders' is there already, {said}")
    with SyncCluster(2, data=tmp_path) as cluster:
        assert list(cluster.state.topic_names) == ["orders"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--topic", "orders:x"], "--topic takes NAME[:PARTITIONS], not orders:x"),
        (["--topic", "orders:"], "--topic takes NAME[:PARTITIONS], not orders:"),
        (["--topic", f"orders:{'9' * 5000}"], "--topic takes NAME[:PARTITIONS], not orders:99"),
        (["--topic", "a:1:2"], "--topic takes NAME[:PARTITIONS], not a:1:2"),
        (["--topic", "a", "--topic", "a:2"], "--topic names a twice; leave one out"),
        (["--topic", "a b"], "topics: 'a b' cannot be created: INVALID_TOPIC_EXCEPTION"),
        (["--topic", "a:0"], "topics: 'a' cannot be created: INVALID_PARTITIONS"),
    ],
)
def test_kap_serve_refuses_topics(options: list[str], said: str) -> None:
    ended = run_kap("serve", *options)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert said in " ".join(ended.stderr.split())


def test_kap_serve_takes_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, int] = {}

    async def served(cluster: Cluster, control: Any) -> None:
        async with cluster:
            topics = cluster.state.cluster.topics.values()
            found.update({each.name: len(each.partitions) for each in topics})

    monkeypatch.setattr("kafka_admin_proto.cli.server.serve._serve", served)
    options = ["--topic", "orders:3", "--topic", "more", "--config", "num.partitions=2"]
    assert run_kap("serve", *options).exit_code == 0
    assert found == {"orders": 3, "more": 2}
