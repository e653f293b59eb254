"""``kap groups`` and ``kap offsets`` for share groups: where they begin, what they have left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kafka_admin_proto.messages as m
from kafka_admin_proto.admin import ConfigChange, ConfigResource, SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from tests.server.groups.test_commands import kap_on

_AT_ONCE = {"group.share.assignment.interval.ms": 0}
_RECORDS = 5


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    topics = {"orders": 2, "bills": 1}
    with SyncCluster(topics=topics, configs=_AT_ONCE) as found:
        for topic, partitions in topics.items():
            rows = [
                {"value": f"{each}", "partition": number}
                for each in range(_RECORDS)
                for number in range(partitions)
            ]
            found.produce(topic, rows)
        yield found


def _member(cluster: SyncCluster, epoch: int = 0) -> int:
    """The epoch of a member that has joined the group or, with epoch -1, left it."""
    request = m.ShareGroupHeartbeatRequest(
        "billing", "a-member", epoch, subscribed_topic_names=["orders", "bills"]
    )
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        earliest = {"share.auto.offset.reset": "earliest"}
        admin.alter_configs(
            [ConfigChange(resource=ConfigResource("group", "billing"), set=earliest)]
        )
        for asked in (m.FindCoordinatorRequest(coordinator_keys=["billing"]), request):
            answer: Any = admin.call(
                asked, getattr(m, asked.message_name.replace("Request", "Response"))
            )
    assert answer.body.error_code == 0, answer
    joined: int = answer.body.member_epoch
    return joined


def _begins(cluster: SyncCluster) -> dict[tuple[str, int], tuple[int, int]]:
    """(offset, lag) of each partition where the group has begun."""
    code, said, answer = kap_on(cluster, "groups", "describe", "billing")
    assert code == 0, said
    (group,) = answer["groups"]
    assert group["type"] == "share"
    return {
        (each["topic"], each["partition"]): (each["offset"], each["lag"])
        for each in group["offsets"]
        if each["offset"] is not None
    }


def test_offsets_are_reset_and_deleted(cluster: SyncCluster) -> None:
    _member(cluster)
    _member(cluster, -1)

    def reset(*words: str) -> None:
        code, said, _ = kap_on(cluster, "offsets", "reset", "--group", "billing", *words, "--yes")
        assert code == 0, said

    reset("--topic", "orders", "--topic", "bills", "--to-earliest")
    assert _begins(cluster) == {
        ("bills", 0): (0, 5), ("orders", 0): (0, 5), ("orders", 1): (0, 5),
    }  # fmt: skip
    reset("--partition", "orders:1", "--to-offset", "3")
    reset("--topic", "bills", "--shift-by", "9")
    reset("--partition", "orders:0", "--to-latest", "--dry-run")
    expected = {("bills", 0): (5, 0), ("orders", 0): (0, 5), ("orders", 1): (3, 2)}
    assert _begins(cluster) == expected
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        (found,) = admin.list_share_group_offsets({"billing": [("orders", 1)]})
    (one,) = found.offsets
    assert (one.offset, one.leader_epoch, one.lag, one.error) == (3, 0, 2, None)
    delete = ("offsets", "delete", "--group", "billing", "--yes")
    code, said, _ = kap_on(cluster, *delete, "--topic", "orders:0")
    assert (code, "by whole topics: name the topic orders" in said) == (2, True)
    code, said, answer = kap_on(cluster, *delete, "--topic", "orders")
    assert (code, len(answer["offsets"])) == (0, 2), said
    assert _begins(cluster) == {("bills", 0): (5, 0)}


def test_a_group_with_members_keeps_its_offsets(cluster: SyncCluster) -> None:
    _member(cluster)
    kap_on(cluster, "offsets", "reset", "--group", "billing", "--topic", "orders", "--to-latest")
    words = ("offsets", "reset", "--group", "billing", "--topic", "bills", "--to-latest")
    for more in (("--dry-run",), ("--yes",)):
        code, said, answer = kap_on(cluster, *words, *more)
        assert code == 1, said
        assert [each["error"] for each in answer["offsets"]] == ["NON_EMPTY_GROUP"]


def test_a_group_of_another_type_is_no_share_group(cluster: SyncCluster) -> None:
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        assert admin.alter_group_offsets("classic", {("orders", 0): 1})[0].error is None
        (found,) = admin.list_share_group_offsets({"classic": None})
        (altered,) = admin.alter_share_group_offsets("classic", {("orders", 0): 1})
        (deleted,) = admin.delete_share_group_offsets("classic", ["orders"])
    assert (found.offsets, found.error) == ([], None)
    assert [altered.error, deleted.error] == ["GROUP_ID_NOT_FOUND"] * 2
