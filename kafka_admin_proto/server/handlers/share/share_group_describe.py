"""ShareGroupDescribe: the state and the members of share groups (KIP-932)."""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import ShareGroupDescribeRequest
from kafka_admin_proto.messages.share_group_describe_response import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import NOT_COORDINATING
from kafka_admin_proto.server.groups.descriptions import described_groups
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.share.group import ShareGroup
from kafka_admin_proto.server.groups.share.members import ShareMember
from kafka_admin_proto.server.java import set_order
from kafka_admin_proto.server.share.checks import check_share_version

_ASSIGNOR = "simple"


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ShareGroupDescribeRequest, caller: Caller) -> Answer:
    rows = described_groups(
        state, caller, request,
        check=partial(check_share_version, state),
        describe=lambda shard, name: _described(shard, shard.share_group(name)),
        topics=_topics,
        failed=_failed,
    )  # fmt: skip
    return Answer(ShareGroupDescribeResponse(groups=rows))


def _failed(code: int, message: str | None, name: str) -> DescribedGroup:
    return DescribedGroup(code, message or NOT_COORDINATING.get(code), name)


def _described(shard: Shard, group: ShareGroup) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.name,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=_ASSIGNOR,
        members=[
            Member(
                each.id,
                each.rack_id,
                each.epoch,
                each.client_id,
                each.client_host,
                set_order(each.topics),
                _assignment(shard, each),
            )
            for each in group.members.values()
        ],
    )


def _assignment(shard: Shard, member: ShareMember) -> Assignment:
    """Partitions by topic; those of topics that are no more are left out."""
    return Assignment(
        [
            TopicPartitions(topic_id, name, list(numbers))
            for topic_id, numbers in member.assigned.items()
            if (name := shard.topics.name_of(topic_id)) is not None
        ]
    )


def _topics(row: DescribedGroup) -> set[str]:
    return {each.topic_name for one in row.members for each in one.assignment.topic_partitions}
