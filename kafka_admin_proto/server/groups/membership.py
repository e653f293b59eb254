"""SyncGroup, Heartbeat and LeaveGroup: the life of a member between two rebalances."""

from __future__ import annotations

from kafka_admin_proto.messages import SyncGroupRequest
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.leave_group_response import LeaveGroupResponse, MemberResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.groups.rebalance import (
    answer_sync,
    complete_join_if_all,
    expect_heartbeat,
    fail_assignment,
    prepare_or_complete,
    remove,
    sync_arrived,
)
from kafka_admin_proto.server.groups.records import group_record
from kafka_admin_proto.server.groups.shard import Shard


def sync(shard: Shard, request: SyncGroupRequest, reply: Reply) -> None:
    """Give a member its assignment, which the group's leader sends.

    Raises ApiFailure for a member that does not belong to this generation.
    """
    group = _known(shard, request.group_id)
    member = group.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise ApiFailure(codes.ILLEGAL_GENERATION)
    if request.protocol_type not in (None, group.protocol_type) or request.protocol_name not in (
        None,
        group.protocol,
    ):
        raise ApiFailure(codes.INCONSISTENT_GROUP_PROTOCOL)
    if group.state == "Empty":
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    if group.state == "PreparingRebalance":
        raise ApiFailure(codes.REBALANCE_IN_PROGRESS)
    if group.state == "Stable":
        sync_arrived(shard, group, member)
        reply.send(group.synced(member))
        return
    member.sync = reply
    sync_arrived(shard, group, member)
    if group.leader == member.id:
        _assign(shard, group, {each.member_id: each.assignment for each in request.assignments})


def _assign(shard: Shard, group: Group, assignments: dict[str, bytes]) -> None:
    """Store the assignments of a generation, and give them to the members then."""
    generation = group.generation

    def stored(code: int) -> None:
        if group.state != "CompletingRebalance" or group.generation != generation:
            return  # a member has come meanwhile
        if code:
            fail_assignment(shard, group, code)
            prepare_or_complete(shard, group)
            return
        for each in group.members.values():
            each.assignment = assignments.get(each.id, b"")
        for each in group.members.values():
            answer_sync(shard, group, each)
        group.go("Stable", shard.now_ms)

    shard.append([group_record(group, assignments)], stored)


def heartbeat(
    shard: Shard, name: str, member_id: str, instance_id: str | None, generation: int
) -> int:
    """A member is alive; returns the code that lets it join again, or 0. Raises ApiFailure."""
    group = _known(shard, name)
    group.check_member(member_id, instance_id)
    if generation != group.generation:
        raise ApiFailure(codes.ILLEGAL_GENERATION)
    if group.state == "Empty":
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    expect_heartbeat(shard, group, member_id)
    return codes.REBALANCE_IN_PROGRESS if group.state == "PreparingRebalance" else codes.NONE


def leave(shard: Shard, name: str, leaving: list[MemberIdentity], reply: Reply) -> None:
    """Remove members; a static one also by its instance id alone, as an administrator does.

    Since Kafka 4 the others join again once all who leave are gone, also those who had only been
    given an id; before, as soon as the first of them is.
    """
    group = shard.groups.get(name)
    rows = []
    has_left = False
    for identity in leaving:
        row = MemberResponse(identity.member_id, identity.group_instance_id)
        rows.append(row)
        try:
            if group is None:
                raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
            member_id = _leaving(group, identity)
        except ApiFailure as failure:
            row.error_code = failure.code
            continue
        is_member = member_id in group.members
        remove(shard, group, member_id)
        if shard.limits.release >= (4,):
            has_left = True
        elif is_member:
            prepare_or_complete(shard, group)
        else:
            complete_join_if_all(shard, group)

    def stored(code: int) -> None:
        reply.send(LeaveGroupResponse(error_code=code, members=[] if code else rows))

    if has_left and group is not None and group.state != "Empty":
        prepare_or_complete(shard, group, stored)
    shard.append([], stored)  # of two answers the first one counts


def _leaving(group: Group, leaving: MemberIdentity) -> str:
    """The id of a member that leaves, or of a client that has not joined. Raises ApiFailure."""
    member_id, instance_id = leaving.member_id, leaving.group_instance_id
    if not member_id:
        known = None if instance_id is None else group.static.get(instance_id)
        if known is None:
            raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
        return known
    if member_id not in group.pending_joins:
        group.check_member(member_id, instance_id)
    return member_id


def _known(shard: Shard, name: str) -> Group:
    """The group of a name. Raises ApiFailure."""
    group = shard.groups.get(name)
    if group is None:
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    return group
