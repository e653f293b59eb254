"""JoinGroup: members of the classic protocol come, or come again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from kafka_admin_proto.messages import JoinGroupRequest, JoinGroupResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.group import Group, Member, Protocols
from kafka_admin_proto.server.groups.rebalance import (
    cancel_timers,
    complete_join_if_all,
    expect_heartbeat,
    prepare,
    prepare_or_complete,
)
from kafka_admin_proto.server.groups.records import empty_group_record, group_record
from kafka_admin_proto.server.groups.shard import Shard

#: The first versions in which new members get an id first, and static leaders may not assign.
_KNOWN_IDS, _SKIPPED_ASSIGNMENTS = 4, 9
#: How long a new member may wait for its first generation, in which it sends no heartbeats.
_NEW_MEMBER_MS = 300_000


class Joining(msgspec.Struct, frozen=True):
    """A request to join, and who sent it; ``client_host`` as Java writes it ("/127.0.0.1").

    ``allowed`` are those of some topics that it may describe.
    """

    request: JoinGroupRequest
    version: int
    client_id: str
    client_host: str
    allowed: Callable[[Iterable[str]], set[str]]
    reply: Reply

    @property
    def protocols(self) -> Protocols:
        """The protocols of the member."""
        return [(each.name, each.metadata) for each in self.request.protocols]

    @property
    def rebalance_timeout_ms(self) -> int:
        """Version 0 has the timeout of the session alone."""
        asked = self.request
        return asked.session_timeout_ms if self.version == 0 else asked.rebalance_timeout_ms

    def refuse(self, code: int, member_id: str = "") -> None:
        """Answer with an error."""
        self.reply.send(failed_join(code, member_id))


def failed_join(code: int, member_id: str = "") -> JoinGroupResponse:
    """The answer with an error."""
    return JoinGroupResponse(error_code=code, member_id=member_id)


def join(shard: Shard, joining: Joining) -> None:
    """Let a member join; its reply is sent when the group has a new generation."""
    request = joining.request
    group = shard.groups.get(request.group_id)
    is_created = group is None
    if group is None:
        if request.member_id:
            joining.refuse(codes.UNKNOWN_MEMBER_ID, request.member_id)
            return
        group = Group(request.group_id, shard.now_ms)
        if shard.limits.release < (4,):
            shard.groups[group.name] = group
    if not group.accepts(request.member_id, shard.limits.max_size):
        group.remove(request.member_id)
        joining.refuse(codes.GROUP_MAX_SIZE_REACHED)
    elif not group.supports(request.protocol_type, joining.protocols):
        joining.refuse(codes.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    elif not request.member_id:
        _join_new(shard, group, joining)
    else:
        _join_known(shard, group, joining)
    if shard.limits.release < (4,):  # also where a member was refused, and so removed
        complete_join_if_all(shard, group)
    elif is_created:
        _begin(shard, group, joining)


def _begin(shard: Shard, group: Group, joining: Joining) -> None:
    """Since Kafka 4 a group is there once it has a record; else who joins first is refused."""

    def begun(code: int) -> None:
        if code:
            joining.refuse(code)

    shard.append([empty_group_record(group)], begun)
    if group.name in shard.groups:
        shard.groups[group.name] = group
    else:
        cancel_timers(shard, group)


def _join_new(shard: Shard, group: Group, joining: Joining) -> None:
    """A client without an id."""
    request = joining.request
    instance_id = request.group_instance_id
    member_id = group.new_member_id(joining.client_id, instance_id)
    if instance_id is not None and instance_id in group.static:
        _replace_static(shard, group, joining, member_id)
    elif instance_id is None and joining.version >= _KNOWN_IDS:
        group.pending_joins.add(member_id)
        expect_heartbeat(shard, group, member_id, request.session_timeout_ms)
        joining.refuse(codes.MEMBER_ID_REQUIRED, member_id)
    else:
        _add(shard, group, joining, member_id)


def _join_known(shard: Shard, group: Group, joining: Joining) -> None:
    """A client with an id: a pending one, or that of a member."""
    request = joining.request
    member_id = request.member_id
    if member_id in group.pending_joins:
        if request.group_instance_id is None:
            _add(shard, group, joining, member_id)
        else:  # only members without an instance are given an id first
            joining.refuse(codes.UNKNOWN_SERVER_ERROR)
        return
    try:
        member = group.check_member(member_id, request.group_instance_id)
    except ApiFailure as failure:
        joining.refuse(failure.code, member_id)
        return
    changed = member.protocols != joining.protocols
    if (
        group.state == "PreparingRebalance"
        or (group.state == "CompletingRebalance" and changed)
        or (group.state == "Stable" and (changed or group.leader == member_id))
    ):
        _update(group, member, joining)
        prepare_or_complete(shard, group)
    elif group.state in ("CompletingRebalance", "Stable"):  # its last answer was lost, perhaps
        response = group.joined(member_id)
        if group.state == "Stable":
            response.members = []
        joining.reply.send(response)
    else:
        joining.refuse(codes.UNKNOWN_MEMBER_ID, member_id)


def _add(shard: Shard, group: Group, joining: Joining, member_id: str) -> None:
    """Add a member, for which the others join again."""
    request = joining.request
    if group.state == "PreparingRebalance" and group.previous_state == "Empty":
        group.has_new_member = True
    member = Member(
        member_id,
        request.group_instance_id,
        joining.client_id,
        joining.client_host,
        joining.rebalance_timeout_ms,
        request.session_timeout_ms,
        joining.protocols,
        is_new=True,
        join=joining.reply,
    )
    group.add(member, request.protocol_type)
    expect_heartbeat(shard, group, member_id, _NEW_MEMBER_MS)
    prepare_or_complete(shard, group)


def _update(group: Group, member: Member, joining: Joining) -> None:
    group.change_protocols(member, joining.protocols)
    member.rebalance_timeout_ms = joining.rebalance_timeout_ms
    member.session_timeout_ms = joining.request.session_timeout_ms
    member.join = joining.reply


def _replace_static(shard: Shard, group: Group, joining: Joining, member_id: str) -> None:
    """A static member has started again: it gets its assignment without a rebalance (KIP-345)."""
    instance_id = joining.request.group_instance_id
    assert instance_id is not None
    old_leader = group.leader
    old_id = group.static[instance_id]
    member = group.replace_static(instance_id, member_id)
    before = msgspec.structs.replace(member)
    expect_heartbeat(shard, group, member_id)
    _update(group, member, joining)
    if group.state == "CompletingRebalance":  # the leader may assign to the old id by now
        prepare(shard, group)
        return
    if group.state != "Stable" or group.protocol != group.select_protocol():
        prepare_or_complete(shard, group)
        return

    def stored(code: int) -> None:
        if code:
            group.change_protocols(member, before.protocols)
            member.rebalance_timeout_ms = before.rebalance_timeout_ms
            member.session_timeout_ms = before.session_timeout_ms
            member.join = None
            group.replace_static(instance_id, old_id)
            expect_heartbeat(shard, group, old_id)
            response = group.joined("", leader=old_leader)
            response.error_code = code
            joining.reply.send(response)
        elif joining.version >= _SKIPPED_ASSIGNMENTS:
            leads = group.leader == member_id
            group.answer_join(member, group.joined(member_id, skip_assignment=leads))
        else:  # a leader with a new id would assign: it does not learn that it leads
            response = group.joined(member_id, leader=old_leader)
            response.members = []
            group.answer_join(member, response)

    shard.append([group_record(group)], stored)
