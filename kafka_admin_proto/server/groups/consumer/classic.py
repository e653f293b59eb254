"""Members of the classic protocol in groups of the consumer protocol.

The coordinator assigns to them too: JoinGroup is their heartbeat with a subscription, SyncGroup
asks what they have, and Heartbeat says when to join again.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial

import msgspec

from kafka_admin_proto import messages as m
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages.consumer_group_heartbeat_request import TopicPartitions
from kafka_admin_proto.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
)
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.leave_group_response import LeaveGroupResponse, MemberResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.consumer_protocol import (
    CONSUMER,
    SUBSCRIPTION,
    codec_of,
    read_subscription,
)
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.change import Change, Subscription, last_target
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.heartbeat import (
    check_size,
    new_member_id,
    replace_static,
)
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.migration import (
    assignment_bytes,
    downgrade,
    downgrades,
)
from kafka_admin_proto.server.groups.consumer.regexes import resolve
from kafka_admin_proto.server.groups.consumer.removal import remove_members
from kafka_admin_proto.server.groups.joining import Joining
from kafka_admin_proto.server.groups.modern import UNRELEASED, UNREVOKED
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.timers import expect_heartbeat, expiry, join_key, sync_key

_KNOWN_IDS = 4


def join_consumers(shard: Shard, group: ConsumerGroup, joining: Joining) -> None:
    """Let a member join or join again; it is answered when replicas have what it has.

    Raises ApiFailure.
    """
    request = joining.request
    if shard.limits.migration == "disabled":
        raise ApiFailure(codes.INCONSISTENT_GROUP_PROTOCOL)
    is_unknown = not request.member_id
    member_id = request.member_id or new_member_id()
    check_size(shard, group, member_id, request.group_instance_id)
    _check_protocols(group, joining)
    instance_id = request.group_instance_id
    if is_unknown and instance_id is None and joining.version >= _KNOWN_IDS:
        joining.refuse(codes.MEMBER_ID_REQUIRED, member_id)
        return
    records: list[CoordinatorRecord] = []
    replaced = group.static_member(instance_id)
    if instance_id is None:
        member = group.members.get(member_id) or ConsumerMember(member_id)
    elif not is_unknown:
        member = group.checked_static(instance_id, member_id)
    elif replaced is None:
        member = ConsumerMember(member_id)
    else:
        member = replace_static(group, replaced, member_id, records)
    try:
        subscription = read_subscription(joining.protocols[0][1])
    except DecodeError:
        is_named = shard.limits.release >= (4, 4)
        code = codes.INCONSISTENT_GROUP_PROTOCOL if is_named else codes.UNKNOWN_SERVER_ERROR
        raise ApiFailure(code) from None
    updated = _subscribed(member, joining, subscription)
    change = Change(shard, group, records)
    is_changed = change.subscribe(member, updated) != Subscription.SAME
    owned = _owned(shard, subscription)
    if (
        replaced is not None
        and replaced.classic is None
        and downgrades(shard, group, {replaced.id}, joining=1)
    ):
        epoch, _ = change.next_epoch(member, updated, bumps=is_changed)
        rebalances = group.target_epoch < epoch
        if not rebalances:
            target = last_target(group, updated)
            updated = change.reconcile(
                updated, group.target_epoch, target, owned, is_changed=is_changed
            )
        after = deepcopy(group)
        after.apply_all(records)
        after.epoch = group.epoch  # Kafka makes the generation of the epoch before the records
        then = partial(_joined, shard, group, joining, updated, is_downgraded=True)
        downgrade(shard, after, (), then, records, rebalances=rebalances)
        return
    updated = change.assign(member, updated, owned, bumps=is_changed, is_changed=is_changed)
    shard.append(records, partial(_joined, shard, group, joining, updated, is_downgraded=False))
    resolve(shard, group.name, change.unresolved, joining.allowed)


def _joined(
    shard: Shard,
    group: ConsumerGroup,
    joining: Joining,
    member: ConsumerMember,
    code: int,
    *,
    is_downgraded: bool,
) -> None:
    """What a member has is replicated, or the log has failed."""
    request = joining.request
    if code:
        joining.refuse(code)
        return
    name = group.name
    shard.cancel(join_key(name, member.id))
    if not is_downgraded:
        expect_heartbeat(shard, group, member.id, request.session_timeout_ms)
        timeout_ms = joining.rebalance_timeout_ms
        shard.later(sync_key(name, member.id), timeout_ms, expiry(shard, group, member.id))
    joining.reply.send(
        m.JoinGroupResponse(
            member_id=member.id,
            generation_id=member.epoch,
            protocol_type=CONSUMER,
            protocol_name=joining.protocols[0][0],
        )
    )


def _check_protocols(group: ConsumerGroup, joining: Joining) -> None:
    """Raises ApiFailure unless all classic members know one of the member's protocols."""
    known = [each.classic for each in group.members.values() if each.classic is not None]
    names = {name for name, _ in joining.protocols}
    common = any(
        all(any(one.name == name for one in each.supported_protocols) for each in known)
        for name in names
    )
    if joining.request.protocol_type != CONSUMER or not common:
        raise ApiFailure(codes.INCONSISTENT_GROUP_PROTOCOL)


def _subscribed(
    member: ConsumerMember, joining: Joining, subscription: m.ConsumerProtocolSubscription
) -> ConsumerMember:
    request = joining.request
    return msgspec.structs.replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms
        if request.rebalance_timeout_ms != -1
        else member.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        regex="",
        client_id=joining.client_id,
        client_host=joining.client_host,
        classic=ClassicMemberMetadata(
            request.session_timeout_ms, [ClassicProtocol(*each) for each in joining.protocols]
        ),
    )


def _owned(shard: Shard, subscription: m.ConsumerProtocolSubscription) -> list[TopicPartitions]:
    """What a member says that it has."""
    owned = []
    for each in subscription.owned_partitions:
        topic = shard.topics.find(each.topic)
        if topic is not None:
            owned.append(TopicPartitions(topic.id, each.partitions))
    return owned


def sync_consumers(
    shard: Shard, group: ConsumerGroup, request: m.SyncGroupRequest, reply: Reply
) -> None:
    """Answer with what a member has, as far as replicas have it. Raises ApiFailure."""
    member, classic = _classic_member(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    protocol = classic.supported_protocols[0]
    if request.protocol_type not in (None, CONSUMER) or request.protocol_name not in (
        None,
        protocol.name,
    ):
        raise ApiFailure(codes.INCONSISTENT_GROUP_PROTOCOL)
    if group.target_epoch > member.epoch and member.state != UNREVOKED:
        _expect_join(shard, group, member)
        raise ApiFailure(codes.REBALANCE_IN_PROGRESS)
    assigned = {topic: list(numbers) for topic, numbers in member.assigned.items()}
    version = codec_of(protocol.metadata, SUBSCRIPTION).version

    def confirmed(code: int) -> None:
        if code:
            reply.send(m.SyncGroupResponse(error_code=code))
            return
        shard.cancel(sync_key(group.name, member.id))
        expect_heartbeat(shard, group, member.id, classic.session_timeout_ms)
        reply.send(
            m.SyncGroupResponse(
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignment=assignment_bytes(assigned, shard.topics, version),
            )
        )

    shard.append([], confirmed)


def heartbeat_consumers(
    shard: Shard, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> int:
    """A member is alive; returns the code that lets it join again, or 0. Raises ApiFailure."""
    member, classic = _classic_member(group, member_id, instance_id, generation)
    expect_heartbeat(shard, group, member.id, classic.session_timeout_ms)
    if (
        member.epoch < group.target_epoch
        or member.state == UNREVOKED
        or (member.state == UNRELEASED and not group.awaits_release(member))
    ):
        _expect_join(shard, group, member)
        return codes.REBALANCE_IN_PROGRESS
    return codes.NONE


def _expect_join(shard: Shard, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Remove a member that does not join again in time, since it was first asked to."""
    expire = expiry(shard, group, member.id)
    shard.later_once(join_key(group.name, member.id), member.rebalance_timeout_ms, expire)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> tuple[ConsumerMember, ClassicMemberMetadata]:
    """The member of these ids, which uses the classic protocol. Raises ApiFailure."""
    member = group.checked_member(member_id, instance_id)
    if member.classic is None:
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    if generation != member.epoch:
        raise ApiFailure(codes.ILLEGAL_GENERATION)
    return member, member.classic


def leave_consumers(
    shard: Shard, group: ConsumerGroup, leaving: list[MemberIdentity], reply: Reply
) -> None:
    """Remove members of any protocol; static ones also by their instance ids alone."""
    rows = []
    gone: dict[str, ConsumerMember] = {}
    for identity in leaving:
        row = MemberResponse(identity.member_id, identity.group_instance_id)
        rows.append(row)
        try:
            if identity.group_instance_id is None:
                member = group.member(identity.member_id)
            else:
                known = group.static_member(identity.group_instance_id)
                wanted = identity.member_id or ("" if known is None else known.id)
                member = group.checked_static(identity.group_instance_id, wanted)
            gone[member.id] = member
        except ApiFailure as failure:
            row.error_code = failure.code

    def removed(code: int) -> None:
        reply.send(LeaveGroupResponse(error_code=code, members=[] if code else rows))

    remove_members(shard, group, list(gone.values()), removed)
