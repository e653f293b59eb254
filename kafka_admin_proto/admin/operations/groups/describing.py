"""Groups of each type, described in one shape.

A coordinator is asked about groups as classic ones first, then as consumer, share and streams
groups those of which it says that they are not: nobody has to name the type of a group, and no
listing of all groups is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.authorized_operations import operation_names
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import Failure, answer_of, failure
from kafka_admin_proto.admin.operations.common.topic_partitions import (
    TopicPartitions,
    topic_partitions,
)
from kafka_admin_proto.admin.operations.groups import streams
from kafka_admin_proto.admin.operations.groups.model import GroupDescription, GroupMember
from kafka_admin_proto.errors import DecodeError, UnsupportedVersionError
from kafka_admin_proto.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerProtocolSubscription,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    consumer_group_describe_response,
    describe_groups_response,
    share_group_describe_response,
)
from kafka_admin_proto.protocol import consumer_protocol
from kafka_admin_proto.protocol.consumer_protocol import CONSUMER
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

#: Errors with which a coordinator says that a group is not of the type that was asked for.
_NOT_OF_THIS_TYPE = frozenset({"GROUP_ID_NOT_FOUND", "UNSUPPORTED_VERSION"})
#: Of a classic group that does not exist, before version 6 has an error for it.
_DEAD = "Dead"
#: The first version of DescribeGroups that can ask for authorized operations.
_WITH_OPERATIONS = VersionRange.parse("3+")

_CLASSIC_MEMBER = 0


class _Type(NamedTuple):
    """A type of groups that is not the classic one."""

    name: str
    request: Callable[[list[str], bool], Message]
    response: type[Any]
    read_member: Callable[[Any], GroupMember]


class DescribeGroups(Caller):
    """DescribeGroups, and its likes for each type of groups."""

    async def describe_groups(
        self,
        groups: Iterable[str],
        *,
        authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> list[GroupDescription]:
        """Groups of any type (classic, consumer, share, streams), in order, each id once.

        A group that does not exist has the error GROUP_ID_NOT_FOUND, from brokers before 4.0 the
        state "Dead" instead.
        """

        async def ask(broker: int, mine: list[str], seconds: float) -> dict[str, GroupDescription]:
            described = dict(await _classic(self, broker, mine, authorized_operations, seconds))
            for type_ in _TYPES:
                others = [
                    group for group in mine if _may_be_of_another_type(answer_of(group, described))
                ]
                if not others:
                    break
                try:
                    more = await _described(
                        self, type_, broker, others, authorized_operations, seconds
                    )
                except UnsupportedVersionError:
                    continue  # the broker has no groups of that type
                described.update(
                    {
                        id_: group
                        for id_, group in more.items()
                        if group.error not in _NOT_OF_THIS_TYPE
                    }
                )
            return described

        def failed(group: str, why: Failure) -> GroupDescription:
            return GroupDescription(group, **why)

        return await ask_coordinators(
            self, list(groups), KeyType.GROUP, ask, failed, timeout=timeout
        )


def _may_be_of_another_type(group: GroupDescription) -> bool:
    return group.error in _NOT_OF_THIS_TYPE or (group.error is None and group.state == _DEAD)


async def _classic(
    caller: Caller, broker: int, groups: list[str], authorized_operations: bool, timeout: float
) -> Mapping[str, GroupDescription]:
    reply = await caller.call_owner(
        DescribeGroupsRequest(groups, authorized_operations),
        DescribeGroupsResponse,
        to=broker,
        timeout=timeout,
        versions=_WITH_OPERATIONS if authorized_operations else None,
    )
    described = {}
    for group in reply.body.groups:
        if group.error_code:
            why = failure(group.error_code, group.error_message)
            described[group.group_id] = GroupDescription(group.group_id, **why)
            continue
        described[group.group_id] = GroupDescription(
            group.group_id,
            type="classic",
            state=group.group_state,
            protocol_type=group.protocol_type,
            protocol=group.protocol_data,
            coordinator=broker,
            members=_by_id(_classic_member(each, group.protocol_type) for each in group.members),
            authorized_operations=operation_names(group.authorized_operations),
        )
    return described


def _classic_member(
    member: describe_groups_response.DescribedGroupMember, protocol_type: str
) -> GroupMember:
    metadata, data = bytes(member.member_metadata), bytes(member.member_assignment)
    subscription = assignment = None
    if protocol_type == CONSUMER:
        subscription = read_subscription(metadata)
        assignment = read_assignment(data)
    return GroupMember(
        member.member_id,
        member.client_id,
        member.client_host,
        instance_id=member.group_instance_id,
        rack=None if subscription is None else subscription.rack_id,
        subscribed_topics=None if subscription is None else sorted(subscription.topics),
        assignment=assignment,
        raw_metadata=metadata if subscription is None and metadata else None,
        raw_assignment=data if assignment is None else None,
    )


def _consumer_member(member: consumer_group_describe_response.Member) -> GroupMember:
    return GroupMember(
        member.member_id,
        member.client_id,
        member.client_host,
        instance_id=member.instance_id,
        rack=member.rack_id,
        epoch=member.member_epoch,
        subscribed_topics=sorted(member.subscribed_topic_names),
        subscribed_regex=member.subscribed_topic_regex or None,
        assignment=_assigned(member.assignment),
        target_assignment=_assigned(member.target_assignment),
        upgraded=None if member.member_type < 0 else member.member_type != _CLASSIC_MEMBER,
    )


def _share_member(member: share_group_describe_response.Member) -> GroupMember:
    return GroupMember(
        member.member_id,
        member.client_id,
        member.client_host,
        rack=member.rack_id,
        epoch=member.member_epoch,
        subscribed_topics=sorted(member.subscribed_topic_names),
        assignment=_assigned(member.assignment),
    )


#: Types of groups, with the messages that describe them.
_TYPES = (
    _Type(
        "consumer", ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, _consumer_member
    ),
    _Type("share", ShareGroupDescribeRequest, ShareGroupDescribeResponse, _share_member),
    _Type(
        "streams", StreamsGroupDescribeRequest, StreamsGroupDescribeResponse, streams.read_member
    ),
)


async def _described(
    caller: Caller,
    type_: _Type,
    broker: int,
    groups: list[str],
    authorized_operations: bool,
    timeout: float,
) -> dict[str, GroupDescription]:
    """The groups as ones of that type, each with an error where it is of another one."""
    request = type_.request(groups, authorized_operations)
    reply = await caller.call_owner(request, type_.response, to=broker, timeout=timeout)
    described = {}
    for group in reply.body.groups:
        if group.error_code:
            why = failure(group.error_code, group.error_message)
            described[group.group_id] = GroupDescription(group.group_id, **why)
            continue
        described[group.group_id] = GroupDescription(
            group.group_id,
            type=type_.name,
            state=group.group_state,
            protocol_type=type_.name,
            protocol=group.assignor_name,
            coordinator=broker,
            epoch=group.group_epoch,
            assignment_epoch=group.assignment_epoch,
            members=_by_id(map(type_.read_member, group.members)),
            topology=streams.read_topology(getattr(group, "topology", None)),
            authorized_operations=operation_names(group.authorized_operations),
        )
    return described


def _assigned(
    assignment: consumer_group_describe_response.Assignment
    | share_group_describe_response.Assignment,
) -> list[TopicPartitions]:
    pairs = [(each.topic_name, each.partitions) for each in assignment.topic_partitions]
    return topic_partitions(pairs)


def _by_id(members: Iterable[GroupMember]) -> list[GroupMember]:
    return sorted(members, key=lambda member: member.member_id)


def read_assignment(data: bytes) -> list[TopicPartitions] | None:
    """The partitions of a ConsumerProtocolAssignment, sorted; None where the bytes are none.

    No bytes at all are an empty assignment: that of a member while its group rebalances.
    """
    if not data:
        return []
    try:
        read = consumer_protocol.read_assignment(data)
    except DecodeError:
        return None
    return topic_partitions((each.topic, each.partitions) for each in read.assigned_partitions)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription | None:
    """A ConsumerProtocolSubscription; None where the bytes are none."""
    try:
        return consumer_protocol.read_subscription(data)
    except DecodeError:
        return None
