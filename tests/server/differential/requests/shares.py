"""Requests of share groups, drawn for both clusters: members, their records, offsets and configs.

Who coordinates a group is known, since the coordinators' topics are created with their leaders.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from kafka_admin_proto.messages import (
    AlterShareGroupOffsetsRequest,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    DeleteGroupsRequest,
    DeleteShareGroupOffsetsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeShareGroupOffsetsRequest,
    IncrementalAlterConfigsRequest,
    OffsetCommitRequest,
    ShareGroupDescribeRequest,
    ShareGroupHeartbeatRequest,
)
from kafka_admin_proto.messages import alter_share_group_offsets_request as alter
from kafka_admin_proto.messages import delete_share_group_offsets_request as delete
from kafka_admin_proto.messages import describe_share_group_offsets_request as describe
from kafka_admin_proto.messages import offset_commit_request as commit
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.server.coordination.routing import partition_of
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE
from kafka_admin_proto.values import Message
from tests.server.differential.requests import records
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Ids, Step
from tests.server.differential.requests.shared_records import (
    ABSENT,
    BRIEF,
    BRIEF_LOCK_MS,
    CLASSIC,
    CONSUMER,
    GROUPS,
    PARTITIONS,
    TOPICS,
    first_fetch,
    group_name,
    partition_number,
    produce,
    share_acknowledge,
    share_fetch,
    topic_name,
)

#: Locks and sessions outlive a run, but for the locks of one group; assignments are made at once.
PROPERTIES = {
    "group.share.min.record.lock.duration.ms": str(BRIEF_LOCK_MS),
    "group.share.assignment.interval.ms": "0",
    "group.share.max.record.lock.duration.ms": "3600000",
    "group.share.record.lock.duration.ms": "3600000",
    "group.share.max.session.timeout.ms": "3600000",
    "group.share.session.timeout.ms": "3600000",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.max.session.timeout.ms": "3600000",
    "group.consumer.session.timeout.ms": "3600000",
}
_MEMBERS = ("m", "n")
_GROUP_CONFIGS = {
    "share.delivery.count.limit": ["2", "2", "3", "5", "10"],
    "share.isolation.level": ["read_committed", "read_uncommitted"],
    "share.renew.acknowledge.enable": ["false", "true"],
    "share.auto.offset.reset": ["earliest", "latest"],
}
_GROUP_RESOURCE = 32


def first_topics(draws: Draws) -> Step:
    """Topics whose leaders are known, those of the coordinators too."""
    step = records.first_topics(draws)
    assert step.make is not None
    request = step.make(Ids({}, {}))
    assert isinstance(request, CreateTopicsRequest)
    plain = request.topics[0]
    request.topics += [
        msgspec.structs.replace(plain, name=each) for each in (CONSUMER_OFFSETS, SHARE_GROUP_STATE)
    ]
    return Step(step.node, step.version, lambda _: request)


def _coordinator(draws: Draws, group: str) -> int:
    """The index of the node that coordinates a group, or seldom of any."""
    if draws.rarely(12):
        return draws.node()
    return partition_of(group, PARTITIONS)


def heartbeat(draws: Draws) -> Step:
    """A member comes, stays or leaves; epochs are its own, or wrong."""
    group, member = group_name(draws), draws.one([*_MEMBERS, *_MEMBERS, *_MEMBERS, "", "x" * 37])
    topics = draws.one([["a"], ["a"], ["a", "compacted"], [topic_name(draws)], ["a"], None, []])
    epoch = draws.one([0, 0, None, None, None, None, None, -1, -1, -2, 7])
    ahead = draws.one([0, 0, 0, 0, 0, -1, 1])
    rack = draws.one([None, None, "r", ""]) if draws.rarely(5) else None

    def make(ids: Ids) -> Message:
        own = ids.members.epoch(group, member) + ahead if epoch is None else epoch
        return ShareGroupHeartbeatRequest(group, member, own, rack, topics)

    return Step(_coordinator(draws, group), draws.version(76), make)


def share_group_describe(draws: Draws) -> Step:
    """Groups of all types, at one coordinator."""
    groups = [group_name(draws) for _ in range(draws.one([1, 1, 2, 3, 0]))]
    request = ShareGroupDescribeRequest(groups, draws.rarely(2))
    node = _coordinator(draws, groups[0] if groups else "")
    return Step(node, draws.version(77), lambda _: request)


def describe_offsets(draws: Draws) -> Step:
    """Where groups begin, in all partitions or in some."""
    rows = [
        describe.DescribeShareGroupOffsetsRequestGroup(group_name(draws), draws.one([None, topics]))
        for topics in [_described(draws) for _ in range(draws.one([1, 1, 2, 0]))]
    ]
    node = _coordinator(draws, rows[0].group_id if rows else "")
    request = DescribeShareGroupOffsetsRequest(rows)
    return Step(node, draws.version(90), lambda _: request)


def _described(draws: Draws) -> list[describe.DescribeShareGroupOffsetsRequestTopic]:
    return [
        describe.DescribeShareGroupOffsetsRequestTopic(
            topic_name(draws), [partition_number(draws) for _ in range(draws.one([1, 2, 0]))]
        )
        for _ in range(draws.one([1, 1, 2, 0]))
    ]


def alter_offsets(draws: Draws) -> Step:
    """Where a group without members begins anew; of a new group all that it has."""
    group = group_name(draws)
    names = dict.fromkeys(topic_name(draws) for _ in range(draws.one([1, 1, 2, 3, 0])))
    topics = [
        alter.AlterShareGroupOffsetsRequestTopic(
            name,
            [
                alter.AlterShareGroupOffsetsRequestPartition(
                    number, draws.one([0, 0, 0, 0, 1, 2, 5, -1, -2, 1000])
                )
                for number in dict.fromkeys(
                    partition_number(draws) for _ in range(draws.one([1, 3, 5, 0]))
                )
            ],
        )
        for name in names
    ]
    request = AlterShareGroupOffsetsRequest(group, topics)
    return Step(_coordinator(draws, group), draws.version(91), lambda _: request)


def begin_anew(draws: Draws, group: str | None = None) -> Step:
    """Read all partitions of a group from a place in them, the first one above all."""
    start = 0 if group else draws.one([0, 0, 0, 1])
    group = group or draws.one([*GROUPS, BRIEF])
    rows = [alter.AlterShareGroupOffsetsRequestPartition(each, start) for each in range(3)]
    request = AlterShareGroupOffsetsRequest(
        group, [alter.AlterShareGroupOffsetsRequestTopic(each, rows) for each in TOPICS]
    )
    return Step(partition_of(group, PARTITIONS), 0, lambda _: request)


def brief_configs(draws: Draws) -> Step:
    """Locks that end soon, of a group whose records soon come for the last time."""
    limits = {
        "share.record.lock.duration.ms": str(BRIEF_LOCK_MS),
        "share.delivery.count.limit": draws.one(["2", "3", "5"]),
    }
    return _altered(draws, BRIEF, limits)


def group_config(draws: Draws) -> Step:
    """What a group's members may do."""
    name = draws.one(list(_GROUP_CONFIGS))
    return _altered(draws, draws.one(GROUPS), {name: draws.one(_GROUP_CONFIGS[name])})


def _altered(draws: Draws, group: str, configs: dict[str, str]) -> Step:
    rows = [AlterableConfig(name, 0, value) for name, value in configs.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(_GROUP_RESOURCE, group, rows)])
    return Step(draws.node(), 1, lambda _: request)


def delete_offsets(draws: Draws) -> Step:
    """Topics that a group without members forgets."""
    group = group_name(draws)
    names = dict.fromkeys(topic_name(draws) for _ in range(draws.one([1, 1, 2, 0])))
    request = DeleteShareGroupOffsetsRequest(
        group, [delete.DeleteShareGroupOffsetsRequestTopic(each) for each in names]
    )
    return Step(_coordinator(draws, group), draws.version(92), lambda _: request)


def delete_groups(draws: Draws) -> Step:
    """Groups that are no more, if they have no members."""
    groups = list(dict.fromkeys(group_name(draws) for _ in range(draws.one([1, 1, 2]))))
    request = DeleteGroupsRequest(groups)
    return Step(_coordinator(draws, groups[0]), 2, lambda _: request)


def delete_topic(draws: Draws) -> Step:
    """A topic with records, which sessions still have; seldom both clusters have it again."""
    request = DeleteTopicsRequest(topic_names=[draws.one(TOPICS)], timeout_ms=TIMEOUT_MS)
    return Step(draws.node(), 5, lambda _: request)


def other_group(draws: Draws) -> Step:
    """A group of another type: one with offsets alone, or a member of a consumer group."""
    group = draws.one([CLASSIC, CONSUMER])
    request: Message
    if group == CLASSIC:
        row = commit.OffsetCommitRequestPartition(0, 0, committed_metadata="")
        topic = commit.OffsetCommitRequestTopic("a", partitions=[row])
        request, version = OffsetCommitRequest(group, topics=[topic]), 8
    else:
        request = ConsumerGroupHeartbeatRequest(
            group, "c", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["a"],
            topic_partitions=[],
        )  # fmt: skip
        version = 1
    return Step(partition_of(group, PARTITIONS), version, lambda _: request)


#: What each run begins with: groups that read from the first record on, and records.
FIRST: tuple[Callable[[Draws], Step], ...] = (
    first_topics,
    brief_configs,
    *[partial(begin_anew, group=each) for each in (*GROUPS, BRIEF)],
    partial(produce, everywhere=True),
    *[partial(first_fetch, group=each) for each in GROUPS],
)
#: What draws a step, as often as it is drawn.
REQUESTS = (
    *[produce] * 14,
    *[share_fetch] * 36,
    *[share_acknowledge] * 32,
    *[heartbeat] * 5,
    *[begin_anew] * 4,
    *[alter_offsets] * 3,
    *[group_config] * 3,
    *[share_group_describe] * 2,
    *[describe_offsets] * 2,
    *[delete_offsets] * 2,
    *[delete_groups] * 1,
    *[other_group] * 2,
    delete_topic,
    first_topics,
)


def questions() -> list[tuple[Message, int]]:
    """Each group, its offsets and configs: until both clusters say the same, neither is done."""
    groups = [*GROUPS, BRIEF, CLASSIC, CONSUMER, ABSENT]
    rows = [describe.DescribeShareGroupOffsetsRequestGroup(each, None) for each in groups]
    configs = [DescribeConfigsResource(_GROUP_RESOURCE, BRIEF, None)]
    return [
        (ShareGroupDescribeRequest(groups), 1),
        (DescribeShareGroupOffsetsRequest(rows), 1),
        (DescribeConfigsRequest(configs), 4),
    ]
