"""Groups of every type: Kafka's commands see what we did, and we what they did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.operations.common.topic_partitions import TopicPartitions
from kafka_admin_proto.admin.operations.groups.model import (
    GroupDescription,
    GroupOffset,
    MemberToRemove,
    NewOffset,
)
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from tests.admin.live.helpers.controllers import node_ended
from tests.admin.live.helpers.each_broker import until
from tests.admin.live.helpers.group_members import (
    join_classic,
    join_consumer,
    join_share,
    join_streams,
)
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tools.clusters import Cluster


async def test_groups_of_every_type_in_one_shape(
    kraft_cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]
) -> None:
    topic = unique("read")
    kinds = ("classic", "consumer", "share", "streams")
    groups = {kind: unique(kind) for kind in kinds}
    at = ("--bootstrap-server", kraft_cluster.bootstrap)

    async with AdminClient(kraft_cluster.bootstrap, timeout=40) as admin:
        await admin.create_topics([NewTopic(topic, 2, 1)])
        joins = (join_classic, join_consumer, join_share, join_streams)
        members = await asyncio.gather(
            *(join(admin, groups[kind], topic) for kind, join in zip(kinds, joins, strict=True))
        )
        names = [*groups.values(), "no-such-group"]
        described = await admin.describe_groups(names, authorized_operations=True)
        assert [each.group_id for each in described] == names
        assert [each.type for each in described] == [*kinds, None]
        assert described[-1].error == "GROUP_ID_NOT_FOUND"
        of_kind = dict(zip(kinds, described, strict=False))
        for each, member in zip(described, members, strict=False):
            assert (each.state, each.error) == ("Stable", None)
            assert [found.member_id for found in each.members] == [member]
            assert each.members[0].host == "/127.0.0.1"
            assert each.authorized_operations is not None
            assert "DELETE" in each.authorized_operations
        _check_members(of_kind, topic)
        listing = await admin.list_groups()
        assert not listing.failed
        listed = {each.group_id: each for each in listing.groups}
        for kind in kinds:
            assert listed[groups[kind]].type == kind
            assert listed[groups[kind]].state == "Stable"
            assert listed[groups[kind]].coordinator == of_kind[kind].coordinator
        shares = await admin.list_groups(types=["share"], states=["stable"])
        assert groups["share"] in {each.group_id for each in shares.groups}
        assert {each.type for each in shares.groups} == {"share"}
    seen = kafka_tools.run("GroupsCommand", *at, "--list")
    for kind, group in groups.items():
        assert any(group in line and kind in line.lower() for line in seen.splitlines())
    verbose = ("--members", "--verbose")
    for kind in ("classic", "consumer"):
        text = kafka_tools.run(
            "ConsumerGroupCommand", *at, "--describe", "--group", groups[kind], *verbose
        )
        assert f"{topic}:0,1" in text
    shares_seen = kafka_tools.run(
        "ShareGroupCommand", *at, "--describe", "--group", groups["share"], "--members"
    )
    assert f"{topic}:0,1" in shares_seen


def _check_members(of_kind: dict[str, GroupDescription], topic: str) -> None:
    whole = [TopicPartitions(topic, [0, 1])]
    classic, consumer, share, streams = of_kind.values()
    for each in (classic, consumer, share):
        assert each.members[0].subscribed_topics == [topic]
        assert each.members[0].assignment == whole
        assert each.members[0].rack == "west"
    assert (classic.protocol_type, classic.protocol, classic.epoch) == ("consumer", "range", None)
    assert (consumer.protocol, consumer.members[0].upgraded) == ("uniform", True)
    assert consumer.members[0].target_assignment == whole
    for each in (consumer, share, streams):
        assert each.epoch == each.members[0].epoch
        assert each.assignment_epoch is not None
    (member,) = streams.members
    assert member.streams is not None
    assert [(own.subtopology, own.partitions) for own in member.streams.tasks.active] == [
        ("0", [0, 1])
    ]
    assert streams.topology is not None
    assert streams.topology.subtopologies is not None
    assert [each.source_topics for each in streams.topology.subtopologies] == [[topic]]


async def test_offsets_are_altered_listed_and_deleted(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]
) -> None:
    topic, group, other = unique("offsets"), unique("group"), unique("group")
    at = ("--bootstrap-server", cluster.bootstrap)

    async with AdminClient(cluster.bootstrap, timeout=40) as admin:
        await admin.create_topics([NewTopic(topic, 3, 2)])
        offsets: dict[tuple[str, int], int | NewOffset] = {
            (topic, 0): 5,
            (topic, 1): NewOffset(7, 0, "note"),
            ("no-such-topic", 0): 1,
        }
        altered = await admin.alter_group_offsets(group, offsets)
        assert [(each.topic, each.partition, each.error) for each in altered] == [
            (topic, 0, None),
            (topic, 1, None),
            ("no-such-topic", 0, "UNKNOWN_TOPIC_OR_PARTITION"),
        ]
        await admin.alter_group_offsets(other, {(topic, 2): 9})
        all_of_it, some, none = await admin.list_group_offsets(
            {group: None, other: [(topic, 2), (topic, 0)], "no-such-group": None}
        )
        assert all_of_it.offsets == [
            GroupOffset(topic, 0, 5, None, ""),
            GroupOffset(topic, 1, 7, 0, "note"),
        ]
        assert some.offsets == [GroupOffset(topic, 0, None), GroupOffset(topic, 2, 9, None, "")]
        assert none.offsets == []
        table = kafka_tools.run("ConsumerGroupCommand", *at, "--describe", "--group", group)
        rows = {tuple(line.split()[:4]) for line in table.splitlines()}
        assert {(group, topic, "0", "5"), (group, topic, "1", "7")} <= rows
        kafka_tools.run(
            "ConsumerGroupCommand", *at, "--group", group, "--reset-offsets", "--to-offset",
            "0", "--topic", f"{topic}:1", "--execute",
        )  # fmt: skip
        (reset,) = await admin.list_group_offsets({group: [(topic, 1)]}, require_stable=True)
        assert [each.offset for each in reset.offsets] == [0]
        deleted = await admin.delete_group_offsets(group, [(topic, 1), ("no-such-topic", 0)])
        assert [each.error for each in deleted] == [None, "UNKNOWN_TOPIC_OR_PARTITION"]
        (left,) = await admin.list_group_offsets({group: None})
        assert [each.partition for each in left.offsets] == [0]
        (empty,) = await admin.describe_groups([group])
        assert (empty.type, empty.state, empty.members) == ("classic", "Empty", [])
        results = await admin.delete_groups([group, other, "no-such-group"])
        assert [each.error for each in results] == [None, None, "GROUP_ID_NOT_FOUND"]
        listing = await admin.list_groups()
        assert not {group, other} & {each.group_id for each in listing.groups}
    names = kafka_tools.run("ConsumerGroupCommand", *at, "--list").split()
    assert not {group, other} & set(names)


async def test_members_are_in_the_way_until_they_are_removed(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]
) -> None:
    topic, static, dynamic = unique("members"), unique("static"), unique("dynamic")

    async with AdminClient(cluster.bootstrap, timeout=40) as admin:
        await admin.create_topics([NewTopic(topic, 2, 1)])
        await join_classic(admin, static, topic, instance_id="one")
        member = await join_classic(admin, dynamic, topic)
        described = await admin.describe_groups([static, dynamic])
        assert [each.members[0].instance_id for each in described] == ["one", None]
        assert described[0].members[0].assignment == [TopicPartitions(topic, [0, 1])]
        (altered,) = await admin.alter_group_offsets(static, {(topic, 0): 1})
        assert altered.error == "UNKNOWN_MEMBER_ID"
        (offset,) = await admin.delete_group_offsets(static, [(topic, 0)])
        assert offset.error == "GROUP_SUBSCRIBED_TO_TOPIC"
        (deleted,) = await admin.delete_groups([static])
        assert deleted.error == "NON_EMPTY_GROUP"
        gone = [MemberToRemove("nobody"), MemberToRemove(member)]
        results = await admin.remove_group_members(dynamic, gone, reason="maintenance")
        assert [each.error for each in results] == ["UNKNOWN_MEMBER_ID", None]
        (everyone,) = await admin.remove_group_members(static)
        assert (everyone.instance_id, everyone.error) == ("one", None)
        described = await admin.describe_groups([static, dynamic])
        assert [each.state for each in described] == ["Empty", "Empty"]
        results_of_groups = await admin.delete_groups([static, dynamic])
        assert [each.error for each in results_of_groups] == [None, None]


async def test_a_group_that_is_none_in_a_cluster_with_zookeeper(zookeeper_cluster: Cluster) -> None:
    async with AdminClient(zookeeper_cluster.bootstrap, timeout=40) as admin:
        (dead,) = await admin.describe_groups(["no-such-group"])
        assert (dead.state, dead.error, dead.members) == ("Dead", None, [])


@pytest.mark.parametrize(
    ("cluster", "crash"),
    [("kraft_cluster", True), ("zookeeper_cluster", False)],
    indirect=["cluster"],
)
async def test_the_coordinator_moves(
    cluster: Cluster, unique: Callable[[str], str], crash: bool
) -> None:
    """The broker that coordinates a group ends; its successor answers within the timeout."""
    topic, group = unique("moves"), unique("moves")

    async with AdminClient(cluster.bootstrap, timeout=60) as admin:
        await admin.create_topics([NewTopic(topic, 1, 3)])
        await admin.alter_group_offsets(group, {(topic, 0): 3})
        (before,) = await admin.describe_groups([group])
        assert before.coordinator is not None
        with node_ended(cluster, before.coordinator, crash=crash):
            listing = await admin.list_groups()
            assert {each.broker for each in listing.failed} <= {before.coordinator}

            # A new coordinator answers out of what it knows to be committed: followers of a
            # partition hear of that with a fetch, a moment later.
            async def has_moved() -> bool:
                (after,) = await admin.describe_groups([group])
                (offsets,) = await admin.list_group_offsets({group: None})
                return (
                    after.error is None
                    and after.coordinator not in (None, before.coordinator)
                    and [each.offset for each in offsets.offsets] == [3]
                )

            await until(has_moved, "the successor has the group and its offset")
