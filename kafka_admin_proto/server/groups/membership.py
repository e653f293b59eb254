"""SyncGroup, Heartbeat and LeaveGroup: the life of a member between two rebalances."""

from __future__ import annotations

from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.leave_group_response import MemberResponse
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequest
from kafka_admin_proto.messages.sync_group_response import SyncGroupResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.groups.rebalance import (
    answer_sync,
    expect_heartbeat,
    fail_assignment,
    prepare_or_complete,
    remove_member,
    remove_pending,
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


def failed_sync(code: int) -> SyncGroupResponse:
    """The answer with an error."""
    return SyncGroupResponse(error_code=code)


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
) -> None:
    """A member is alive. Raises ApiFailure, also to let it join again."""
    group = _known(shard, name)
    group.check_member(member_id, instance_id)
    if generation != group.generation:
        raise ApiFailure(codes.ILLEGAL_GENERATION)
    if group.state == "Empty":
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    expect_heartbeat(shard, group, member_id)
    if group.state == "PreparingRebalance":
        raise ApiFailure(codes.REBALANCE_IN_PROGRESS)


def leave(shard: Shard, name: str, leaving: list[MemberIdentity]) -> list[MemberResponse]:
    """Remove members; a static one also by its instance id alone, as an administrator does."""
    group = shard.groups.get(name)
    rows = []
    for each in leaving:
        row = MemberResponse(each.member_id, each.group_instance_id)
        rows.append(row)
        try:
            if group is None:
                raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
            _leave(shard, group, each)
        except ApiFailure as failure:
            row.error_code = failure.code
    return rows


def _leave(shard: Shard, group: Group, leaving: MemberIdentity) -> None:
    member_id, instance_id = leaving.member_id, leaving.group_instance_id
    if not member_id:
        known = None if instance_id is None else group.static.get(instance_id)
        if known is None:
            raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
        remove_member(shard, group, known)
    elif member_id in group.pending_joins:
        remove_pending(shard, group, member_id)
    else:
        group.check_member(member_id, instance_id)
        remove_member(shard, group, member_id)


def _known(shard: Shard, name: str) -> Group:
    """The group of a name. Raises ApiFailure."""
    group = shard.groups.get(name)
    if group is None:
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    return group
