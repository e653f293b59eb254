"""ShareGroupHeartbeat: members come, hear what they get, and leave."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.messages import ShareGroupHeartbeatRequest
from kafka_admin_proto.messages.share_group_heartbeat_response import (
    Assignment,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.modern import LEAVES, Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.share.assignor import assign_shares
from kafka_admin_proto.server.groups.share.group import ShareGroup, subscribed
from kafka_admin_proto.server.groups.share.initializing import (
    initialize,
    initializing_record,
    new_partitions,
    starts_of,
)
from kafka_admin_proto.server.groups.share.members import ShareMember
from kafka_admin_proto.server.groups.share.records import (
    assignment_record,
    epoch_record,
    member_record,
    target_record,
)
from kafka_admin_proto.server.groups.timers import expect_heartbeat, session_key

if TYPE_CHECKING:
    from kafka_admin_proto.server.share.coordinators import ShareCoordinators

_ABANDON = "The member must abandon all its partitions and rejoin."


class Beat(msgspec.Struct, frozen=True):
    """A heartbeat, and who sent it; ``client_host`` as Java writes it ("/127.0.0.1")."""

    request: ShareGroupHeartbeatRequest
    client_id: str
    client_host: str


def heartbeat(shard: Shard, beat: Beat, reply: Reply, states: ShareCoordinators) -> bool:
    """Let a member join, stay or leave; the reply is sent when replicas have what changed.

    Whether ``states`` is asked for a state of partitions that have none yet, a moment later.
    Raises ApiFailure.
    """
    request = beat.request
    name = request.group_id
    if request.member_epoch == LEAVES:
        group = shard.share_group(name)
        member = group.member(request.member_id)
        response = ShareGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch
        )
        remove_member(shard, group, member, reply.once_stored(response))
        return False
    group = _find_or_make(shard, name, joins=request.member_epoch == 0)
    member = _member(shard, group, request)
    updated = msgspec.structs.replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        topics=member.topics
        if request.subscribed_topic_names is None
        else frozenset(request.subscribed_topic_names),
        client_id=beat.client_id,
        client_host=beat.client_host,
    )
    records = [] if updated == member else [member_record(name, updated)]
    bumps = updated.topics != member.topics or (
        group.target_epoch >= group.epoch and group.has_new_partitions
    )
    topics = subscribed({**group.members, member.id: updated}.values())
    epoch = group.epoch
    if bumps or group.is_outdated:
        metadata_hash = shard.topics.hash(topics)
        group.is_outdated = False
        if bumps := bumps or metadata_hash != group.metadata_hash:
            epoch += 1
            records.append(epoch_record(name, epoch, metadata_hash))
    target_epoch, target = _target(shard, group, updated, epoch, records)
    updated = _reconciled(shard, updated, target_epoch, target, is_changed=bumps)
    if (updated.epoch, updated.assigned) != (member.epoch, member.assigned):
        records.append(assignment_record(name, updated))
    expect_heartbeat(shard, group, member.id)
    new = new_partitions(shard, group, topics)
    if new:
        records.append(initializing_record(group, new))
        later = partial(initialize, states, shard, name, epoch, starts_of(group, new))
        shard.later(object(), 0, later)
    response = ShareGroupHeartbeatResponse(
        member_id=member.id,
        member_epoch=updated.epoch,
        heartbeat_interval_ms=shard.limits.of_group(name, "share").heartbeat_ms,
    )
    if (
        request.member_epoch == 0
        or request.subscribed_topic_names is not None
        or updated.assigned != member.assigned
    ):
        response.assignment = Assignment(
            [TopicPartitions(topic, list(each)) for topic, each in updated.assigned.items()]
        )
    shard.append(records, reply.once_stored(response))
    return bool(new)


def _find_or_make(shard: Shard, name: str, *, joins: bool) -> ShareGroup:
    """The group of a name, new for a member that joins. Raises ApiFailure."""
    if not joins and not shard.has_group(name):
        raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Share group {name} not found.")
    return shard.share_group_or_new(name)


def _member(shard: Shard, group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareMember:
    """The member of a heartbeat, new if it joins.

    Raises ApiFailure, also for an epoch that is neither the member's nor the one before.
    """
    most, member_id, epoch = shard.limits.max_shares, request.member_id, request.member_epoch
    if len(group.members) >= most and member_id not in group.members:
        text = f"The share group has reached its maximum capacity of {most} members."
        raise ApiFailure(codes.GROUP_MAX_SIZE_REACHED, text)
    if epoch == 0:
        return group.members.get(member_id) or ShareMember(member_id)
    member = group.member(member_id)
    if epoch > member.epoch:
        text = (
            f"The share group member has a greater member epoch ({epoch}) than the one known by "
            f"the group coordinator ({member.epoch}). {_ABANDON}"
        )
        raise ApiFailure(codes.FENCED_MEMBER_EPOCH, text)
    if epoch not in (member.epoch, member.previous_epoch):
        text = (
            f"The share group member has a smaller member epoch ({epoch}) than the one known by "
            f"the group coordinator ({member.epoch}), and it does not match the previous member "
            f"epoch ({member.previous_epoch}). {_ABANDON}"
        )
        raise ApiFailure(codes.FENCED_MEMBER_EPOCH, text)
    return member


def _target(
    shard: Shard,
    group: ShareGroup,
    member: ShareMember,
    epoch: int,
    records: list[CoordinatorRecord],
) -> tuple[int, Target]:
    """The epoch of the target, which may be a new one, and what the member shall have."""
    interval_ms = shard.limits.of_group(group.name, "share").assignment_interval_ms
    if group.target_epoch >= epoch or (
        group.target_ms and shard.now_ms < group.target_ms + interval_ms
    ):
        return group.target_epoch, group.target.get(member.id, {})
    members = {**group.members, member.id: member}
    targets = assign_shares(
        {name: shard.topics.ids(each.topics) for name, each in members.items()},
        group.target,
        {topic: each.partitions for topic, each in group.partitions.initialized.items()},
        are_equal=len({each.topics for each in members.values()}) == 1,
    )
    for member_id, partitions in targets.items():
        if group.target.get(member_id) != partitions:
            records.append(target_record(group.name, member_id, partitions))
    records.append(group.target_epoch_record(epoch, shard.now_ms))
    return epoch, targets[member.id]


def _reconciled(
    shard: Shard, member: ShareMember, target_epoch: int, target: Target, *, is_changed: bool
) -> ShareMember:
    """The member with what it shall have: partitions are shared, so nobody gives any back first."""
    if target_epoch == member.epoch and not is_changed:
        return member
    topics = set(shard.topics.ids(member.topics))
    assigned = {topic: numbers for topic, numbers in target.items() if topic in topics}
    if target_epoch == member.epoch:
        return msgspec.structs.replace(member, assigned=assigned)
    return msgspec.structs.replace(
        member, epoch=target_epoch, previous_epoch=member.epoch, assigned=assigned
    )


def remove_member(shard: Shard, group: ShareGroup, member: ShareMember, then: Then) -> None:
    """Remove a member; ``then`` gets 0 once that is replicated, or an error code."""
    left = [each for each in group.members.values() if each.id != member.id]
    epoch = group.epoch + 1
    records = group.member_tombstones(member.id)
    records.append(epoch_record(group.name, epoch, shard.topics.hash(subscribed(left))))
    if not left and shard.limits.release >= (4, 4):  # who comes next is assigned to at once
        records.append(group.target_epoch_record(epoch, 0))
    shard.cancel(session_key(group.name, member.id))
    shard.append(records, then)
