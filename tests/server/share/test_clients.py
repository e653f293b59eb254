"""Share consumers of librdkafka: two members, and records that are released and rejected."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import ConfigChange, ConfigResource, SyncAdminClient
from kafka_admin_proto.server import SyncCluster

_PATIENCE_S = 30.0
_AT_ONCE = {
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
}


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(topics={"orders": 1}, configs=_AT_ONCE) as found:
        _read_from_the_start(found)
        yield found


def _read_from_the_start(cluster: SyncCluster) -> None:
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        group = ConfigResource("group", "billing")
        earliest = {"share.auto.offset.reset": "earliest"}
        admin.alter_configs([ConfigChange(resource=group, set=earliest)])


@contextlib.contextmanager
def _consumer(cluster: SyncCluster) -> Iterator[Any]:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    if not hasattr(confluent_kafka, "ShareConsumer"):
        pytest.skip("this confluent-kafka has no share consumers")
    consumer = confluent_kafka.ShareConsumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing",
            "share.acknowledgement.mode": "explicit",
        }
    )  # fmt: skip
    consumer.subscribe(["orders"])
    try:
        yield consumer
    finally:
        consumer.close()


def _poll(consumer: Any) -> list[Any]:
    """The records of a poll that has some."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        found = [each for each in consumer.poll(0.5) if each.error() is None]
        if found:
            return found
    raise AssertionError(f"no records within {_PATIENCE_S} s")


def test_records_are_shared_released_and_rejected(cluster: SyncCluster) -> None:
    from confluent_kafka import AcknowledgeType as Type

    cluster.produce("orders", ["a", "b", "c"])
    with _consumer(cluster) as one:
        first = _poll(one)
        assert [each.value() for each in first] == [b"a", b"b", b"c"]
        for each, kind in zip(first, (Type.ACCEPT, Type.RELEASE, Type.REJECT), strict=True):
            one.acknowledge(each, kind)
        one.commit_sync()
        again = _poll(one)
        assert [(each.value(), each.offset()) for each in again] == [(b"b", 1)]
        one.acknowledge(again[0], Type.RELEASE)
        with _consumer(cluster) as two:
            one.commit_sync()
            found = cluster.group("billing")
            assert (found.type, found.state) == ("share", "Stable")
            _check_admin(cluster)
            one.close()
            (last,) = _poll(two)
            assert last.value() == b"b"
            two.acknowledge(last, Type.ACCEPT)
            two.commit_sync()
    assert cluster.group("billing").state == "Empty"


def _check_admin(cluster: SyncCluster) -> None:
    """This package's client knows the group."""
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        (listed,) = admin.list_groups(types=["share"]).groups
        assert (listed.group_id, listed.type, listed.state) == ("billing", "share", "Stable")
        (group,) = admin.describe_groups(["billing"])
        assert (group.type, group.protocol, group.state) == ("share", "simple", "Stable")
        assert [each.subscribed_topics for each in group.members if each.assignment]


def test_the_state_survives_the_end_of_the_cluster(tmp_path: Path) -> None:
    from confluent_kafka import AcknowledgeType as Type

    with SyncCluster(topics={"orders": 1}, configs=_AT_ONCE, data=tmp_path) as cluster:
        _read_from_the_start(cluster)
        cluster.produce("orders", ["a", "b", "c"])
        with _consumer(cluster) as consumer:
            kinds = (Type.ACCEPT, Type.RELEASE, Type.ACCEPT)
            for each, kind in zip(_poll(consumer), kinds, strict=True):
                consumer.acknowledge(each, kind)
            consumer.commit_sync()
    with SyncCluster(configs=_AT_ONCE, data=tmp_path) as cluster:
        assert cluster.group("billing").committed == {("orders", 0): 0}
        with _consumer(cluster) as consumer:
            (left,) = _poll(consumer)
            assert left.value() == b"b"
            consumer.acknowledge(left, Type.ACCEPT)
            consumer.commit_sync()
        assert cluster.group("billing").committed == {("orders", 0): 1}
