"""A draft's messages beside Kafka's own, on a cluster with sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import NewTopic, SyncAdminClient, TopicAlteration
from kafka_admin_proto.messages import kip_4b
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.helpers.kap import ended, run_kap
from tests.server.handlers.drafts.two_ways import DRAFTS, Draft


@pytest.mark.parametrize("draft", DRAFTS)
def test_both_see_the_same_topics(draft: Draft) -> None:
    with (
        SyncCluster(3, rules=draft, sync_delay_s=0.01) as cluster,
        SyncAdminClient(cluster.bootstrap_servers) as shipped,
        SyncAdminClient(cluster.bootstrap_servers, dialect=draft) as speaking,
    ):
        shipped.create_topics([NewTopic("s", 1, 1)])
        speaking.create_topics([NewTopic("d", 1, 2)])
        for admin in (shipped, speaking):
            assert [each.name for each in admin.list_topics()] == ["d", "s"]
        speaking.alter_topics([TopicAlteration("s", 3)])
        shipped.alter_topics([TopicAlteration("d", 4)])
        for admin in (shipped, speaking):
            counts = {each.name: len(each.partitions) for each in admin.describe_topics()}
            assert counts == {"s": 3, "d": 4}
        speaking.delete_topics(["s"])
        shipped.delete_topics(["d"])
        assert shipped.list_topics() == []


def test_a_draft_is_kept_on_disk(tmp_path: Path) -> None:
    """The same records: the folder is one of any cluster."""
    settings: dict[str, Any] = {"data": tmp_path, "sync_delay_s": 0.01}
    with (
        SyncCluster(1, rules="kip-4b", **settings) as cluster,
        SyncAdminClient(cluster.bootstrap_servers, dialect="kip-4b") as admin,
    ):
        configs: dict[str, str | None] = {"segment.ms": "60000"}
        admin.create_topics([NewTopic("t", 1, 1, configs=configs)])
        admin.alter_topics([TopicAlteration("t", 2)])
    with SyncCluster(1, **settings) as cluster, SyncAdminClient(cluster.bootstrap_servers) as admin:
        (topic,) = admin.describe_topics(["t"], configs=True)
        assert (len(topic.partitions), (topic.configs or {})["segment.ms"]) == (2, "60000")


def test_each_request_is_traced_as_the_drafts() -> None:
    seen: list[str] = []
    settings: dict[str, Any] = {"trace": lambda node, event, response: seen.append(repr(response))}
    with (
        SyncCluster(1, rules="kip-4b", **settings) as cluster,
        SyncAdminClient(cluster.bootstrap_servers) as admin,
    ):
        for _ in range(2):  # the second answer is kept as bytes
            admin.send(kip_4b.TopicMetadataRequest([]))
    assert len([each for each in seen if each.startswith("TopicMetadataResponse(broker")]) == 2


@pytest.mark.parametrize("draft", DRAFTS)
def test_an_authorizer_is_refused(draft: Draft) -> None:
    """The drafts say nothing of who may do what."""
    configs = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    with pytest.raises(ValueError, match=f"the draft {draft} says nothing"):
        Cluster(rules=draft, configs=configs)
    pair = "=".join(*configs.items())
    assert (
        "leave authorizer.class.name"
        in ended(run_kap("serve --rules", draft, "--config", pair), 2).stderr
    )


def test_the_apis_are_listed_in_both_releases() -> None:
    for release in ("4.3", "3.9"):
        with SyncCluster(1, release=release, rules="kip-4b") as cluster:
            arguments = [
                "cluster", "versions", "-b", cluster.bootstrap_servers, "-o", "json",
                "--dialect", "kip-4b",
            ]  # fmt: skip
            found = json.loads(run_kap(*arguments).stdout)
            names = {each["key"]: each["name"] for each in found["brokers"][0]["apis"]}
            assert {key: names[key] for key in (3, *range(4001, 4005))} == {
                3: "Metadata",
                4001: "CreateTopic",
                4002: "AlterTopic",
                4003: "DeleteTopic",
                4004: "PreferredReplicaLeaderElection",
            }


def test_a_draft_behind_a_login() -> None:
    """Listeners with SASL serve the same messages."""
    listeners, users = {"SASL": "SASL_PLAINTEXT"}, {"bob": "secret"}
    with (
        SyncCluster(1, rules="kip-4b", listeners=listeners, users=users) as cluster,
        SyncAdminClient(
            cluster.bootstrap_servers, dialect="kip-4b", security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN", sasl_username="bob", sasl_password="secret",
        ) as admin,
    ):  # fmt: skip
        (made,) = admin.create_topics([NewTopic("t", 1, 1)])
        assert (made.error, made.complete) == (None, True)
