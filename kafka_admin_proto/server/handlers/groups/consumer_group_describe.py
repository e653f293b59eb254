"""ConsumerGroupDescribe: the state and the members of groups of KIP-848's protocol.

Versions: 1 the protocol of each member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from uuid import UUID

from kafka_admin_proto.messages import ConsumerGroupDescribeRequest
from kafka_admin_proto.messages.consumer_group_describe_response import (
    Assignment,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.descriptions import described_groups
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.handlers.groups.consumer_group_heartbeat import check_protocol

_CLASSIC, _CONSUMER = 0, 1


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ConsumerGroupDescribeRequest, caller: Caller) -> Answer:
    """Describe each group that the caller may describe, with all its topics."""
    rows = described_groups(
        state, caller, request,
        check=partial(check_protocol, state, caller),
        describe=lambda shard, name: _described(shard, shard.consumer_group(name)),
        topics=lambda row: set(_topics(row)),
        failed=DescribedGroup,
    )  # fmt: skip
    return Answer(ConsumerGroupDescribeResponse(groups=rows))


def _described(shard: Shard, group: ConsumerGroup) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.name,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.preferred_assignor(shard.limits.assignors[0]),
        members=[
            Member(
                member_id=each.id,
                instance_id=each.instance_id,
                rack_id=each.rack_id,
                member_epoch=each.epoch,
                client_id=each.client_id,
                client_host=each.client_host,
                subscribed_topic_names=sorted(each.topics),
                subscribed_topic_regex=each.regex,
                assignment=_assignment(shard, each.assigned, each.revoked),
                target_assignment=_assignment(shard, group.target.get(each.id, {})),
                member_type=_CONSUMER if each.classic is None else _CLASSIC,
            )
            for each in group.members.values()
        ],
    )


def _assignment(shard: Shard, *parts: Mapping[UUID, Iterable[int]]) -> Assignment:
    """Partitions by topic; those of topics that are no more are left out."""
    found: dict[UUID, list[int]] = {}
    for part in parts:
        for topic_id, numbers in part.items():
            found.setdefault(topic_id, []).extend(numbers)
    return Assignment(
        [
            TopicPartitions(topic_id, name, numbers)
            for topic_id, numbers in found.items()
            if (name := shard.topics.name_of(topic_id)) is not None
        ]
    )


def _topics(row: DescribedGroup) -> Iterator[str]:
    """The names of all topics in a row."""
    for each in row.members:
        yield from each.subscribed_topic_names
        for part in (each.assignment, each.target_assignment):
            yield from (one.topic_name for one in part.topic_partitions)
