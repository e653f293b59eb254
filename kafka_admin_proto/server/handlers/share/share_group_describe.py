"""ShareGroupDescribe: the state and the members of share groups (KIP-932)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafka_admin_proto.messages.share_group_describe_response import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import set_order
from kafka_admin_proto.server.repeats import Repeats
from kafka_admin_proto.server.security.authorizer.access import (
    allowed_topics,
    check_group,
    group_operations,
)
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.share.checks import check_share_version

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.groups.shard import Shard
    from kafka_admin_proto.server.groups.share.group import ShareGroup
    from kafka_admin_proto.server.groups.share.members import ShareMember

_ASSIGNOR = "simple"
_HIDDEN = "The group has described topic(s) that the client is not authorized to describe."


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ShareGroupDescribeRequest, caller: Caller) -> Answer:
    """Describe each group that the caller may describe, with all its topics."""
    rows = []
    repeats = Repeats("members and partitions of groups")
    for name in request.group_ids:
        try:
            check_share_version(state)
            check_group(state, caller, DESCRIBE, name)
            repeats.describe(name)
            if not name:
                raise ApiFailure(codes.INVALID_GROUP_ID)
            shard = state.controller_state.coordinators.shard(state, caller, name)
            row = _described(shard, shard.share_group(name))
        except ApiFailure as failure:
            rows.append(DescribedGroup(failure.code, failure.message, name))
            continue
        repeats.described(name, sum(map(_size, row.members)))
        topics = {
            each.topic_name for one in row.members for each in one.assignment.topic_partitions
        }
        if len(allowed_topics(state, caller, DESCRIBE, topics)) < len(topics):
            row = DescribedGroup(codes.TOPIC_AUTHORIZATION_FAILED, _HIDDEN, name)
        elif request.include_authorized_operations:
            row.authorized_operations = group_operations(state, caller, name)
        rows.append(row)
    return Answer(ShareGroupDescribeResponse(groups=rows))


def _size(member: Member) -> int:
    """How many rows a member counts for."""
    numbers = sum(len(each.partitions) for each in member.assignment.topic_partitions)
    return 1 + len(member.subscribed_topic_names) + numbers


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
