"""Rebalances of the classic protocol: members join again, then the leader assigns.

As Kafka's ``GroupMetadataManager``: who has not joined when the time is over is removed.
"""

from __future__ import annotations

from collections.abc import Hashable

from kafka_admin_proto.messages import JoinGroupResponse, SyncGroupResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.shard import Then, unheard
from kafka_admin_proto.server.groups.group import Group, Member
from kafka_admin_proto.server.groups.records import group_record
from kafka_admin_proto.server.groups.shard import Shard


def heartbeat_key(group: Group, member_id: str) -> Hashable:
    """The key of the timer of a member's session."""
    return "heartbeat", group.name, member_id


def _join_key(group: Group) -> Hashable:
    return "join", group.name


def _sync_key(group: Group) -> Hashable:
    return "sync", group.name


# Sessions.


def expect_heartbeat(
    shard: Shard, group: Group, member_id: str, timeout_ms: int | None = None
) -> None:
    """Let a member's session begin anew, of ``timeout_ms`` instead of its own."""
    if timeout_ms is None:
        timeout_ms = group.members[member_id].session_timeout_ms
    shard.later(
        heartbeat_key(group, member_id), timeout_ms, lambda: _expire(shard, group, member_id)
    )


def _expire(shard: Shard, group: Group, member_id: str) -> None:
    """A member's session is over, or the time in which a client joins with its new id.

    Kafka 4 then begins even a first generation whose delay is not over, if nobody is missing.
    """
    member = group.members.get(member_id)
    if member is None and member_id not in group.pending_joins:
        return
    if member is not None and member.keeps_alive:
        return
    remove(shard, group, member_id)
    if member is not None and group.state in ("Stable", "CompletingRebalance"):
        prepare(shard, group)
    else:
        complete_join_if_all(shard, group, even_first=shard.limits.release >= (4,))


def remove(shard: Shard, group: Group, member_id: str) -> None:
    """Remove a member, or an id with which no client has joined.

    A client whose JoinGroup waits hears that it is no member, so that it joins anew.
    """
    shard.cancel(heartbeat_key(group, member_id))
    member = group.members.get(member_id)
    if member is not None:
        group.answer_join(member, JoinGroupResponse(error_code=codes.UNKNOWN_MEMBER_ID))
    group.remove(member_id)


def cancel_timers(shard: Shard, group: Group) -> None:
    """End all timers of a group that becomes another one."""
    shard.cancel(_join_key(group))
    shard.cancel(_sync_key(group))
    for each in (*group.members, *group.pending_joins):
        shard.cancel(heartbeat_key(group, each))


# Joining.


def prepare_or_complete(shard: Shard, group: Group, emptied: Then = unheard) -> None:
    """Begin a rebalance, or complete the one that is under way if all have joined.

    ``emptied`` is called as in `complete_join`.
    """
    if group.state in ("Stable", "CompletingRebalance", "Empty"):
        prepare(shard, group, emptied)
    else:
        complete_join_if_all(shard, group, emptied=emptied)


def prepare(shard: Shard, group: Group, emptied: Then = unheard) -> None:
    """Begin a rebalance; the first one of a group waits for more members."""
    if group.state == "CompletingRebalance":
        fail_assignment(shard, group, codes.REBALANCE_IN_PROGRESS)
    shard.cancel(_sync_key(group))
    is_first = group.state == "Empty"
    group.go("PreparingRebalance", shard.now_ms)
    if is_first:
        delay_ms = shard.limits.initial_delay_ms
        remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        _wait_for_first(shard, group, delay_ms, remaining_ms)
    elif group.all_joined:
        complete_join(shard, group, emptied)
    else:
        _wait_for_joins(shard, group)


def _wait_for_first(shard: Shard, group: Group, delay_ms: int, remaining_ms: int) -> None:
    """Wait for more members, and once more if one has come meanwhile."""

    def due() -> None:
        if group.has_new_member and remaining_ms != 0:
            group.has_new_member = False
            next_ms = min(shard.limits.initial_delay_ms, remaining_ms)
            _wait_for_first(shard, group, next_ms, max(remaining_ms - delay_ms, 0))
        else:
            complete_join(shard, group)

    shard.later(_join_key(group), delay_ms, due)


def _wait_for_joins(shard: Shard, group: Group) -> None:
    timeout_ms = group.rebalance_timeout_ms
    shard.later(_join_key(group), timeout_ms, lambda: complete_join(shard, group))


def complete_join_if_all(
    shard: Shard, group: Group, *, even_first: bool = False, emptied: Then = unheard
) -> None:
    """Begin the next generation if nobody is missing; the first one has its delay."""
    may = even_first or group.previous_state != "Empty"
    if group.state == "PreparingRebalance" and group.all_joined and may:
        complete_join(shard, group, emptied)


def complete_join(shard: Shard, group: Group, emptied: Then = unheard) -> None:
    """Begin the next generation with the members that have joined, and those that are static.

    ``emptied`` gets 0 once the log has that the group has no members left, or an error code.
    """
    shard.cancel(_join_key(group))
    for each in list(group.members.values()):
        if each.join is None and each.instance_id is None:
            shard.cancel(heartbeat_key(group, each.id))
            group.remove(each.id)
    if group.state == "Dead":
        return
    if not group.elect_leader() and group.members:
        _wait_for_joins(shard, group)
        return
    group.begin_generation(shard.now_ms)
    if group.state == "Empty":
        shard.append([group_record(group)], emptied)
        return
    for member in list(group.members.values()):
        group.answer_join(member, group.joined(member.id))
        expect_heartbeat(shard, group, member.id)
        member.is_new = False
        group.pending_syncs.add(member.id)
    generation = group.generation
    shard.later(
        _sync_key(group),
        group.rebalance_timeout_ms,
        lambda: _expire_syncs(shard, group, generation),
    )


# Assignments.


def _expire_syncs(shard: Shard, group: Group, generation: int) -> None:
    """Remove the members that have not asked for their assignments in time."""
    if generation != group.generation or group.state not in ("CompletingRebalance", "Stable"):
        return
    if group.pending_syncs:
        for each in list(group.pending_syncs):
            shard.cancel(heartbeat_key(group, each))
            group.remove(each)
        prepare(shard, group)


def sync_arrived(shard: Shard, group: Group, member: Member) -> None:
    """A member has asked for its assignment."""
    group.pending_syncs.discard(member.id)
    if not group.pending_syncs:
        shard.cancel(_sync_key(group))


def fail_assignment(shard: Shard, group: Group, code: int) -> None:
    """Nobody gets an assignment of this generation."""
    for each in group.members.values():
        each.assignment = b""
        answer_sync(shard, group, each, code)


def answer_sync(shard: Shard, group: Group, member: Member, code: int = 0) -> None:
    """Answer a member that waits for its assignment; its session begins anew."""
    response = SyncGroupResponse(error_code=code) if code else group.synced(member)
    if group.answer_sync(member, response):
        expect_heartbeat(shard, group, member.id)
