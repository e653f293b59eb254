"""The end of members: they leave, their sessions end, or they do not give back in time."""

from __future__ import annotations

from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.groups.consumer.timers import (
    cancel_member,
    revocation_key,
    session_key,
)
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import StreamsMember
from kafka_admin_proto.server.groups.streams.records import (
    member_tombstones,
    target_epoch_record,
)


def expect_heartbeat(shard: Shard, name: str, member_id: str) -> None:
    """Let a member's session begin anew."""

    key = session_key(name, member_id)

    def expired(then: Then) -> None:
        group = shard.streams_groups.get(name)
        if group is not None and member_id in group.members:
            remove_member(shard, group, group.members[member_id], then)

    session_ms = shard.limits.of_group(name, "streams").session_ms
    shard.later(key, session_ms, shard.retried(key, expired))


def expect_revocation(shard: Shard, name: str, member: StreamsMember) -> None:
    """Remove a member that does not give its tasks back in time."""

    key = revocation_key(name, member.id)

    def expired(then: Then) -> None:
        group = shard.streams_groups.get(name)
        now = None if group is None else group.members.get(member.id)
        if group is not None and now is not None and now.epoch == member.epoch:
            remove_member(shard, group, now, then)

    shard.later(key, member.rebalance_timeout_ms, shard.retried(key, expired))


def remove_member(shard: Shard, group: StreamsGroup, member: StreamsMember, then: Then) -> None:
    """Remove a member; ``then`` gets 0 once that is replicated, or an error code."""
    name = group.name
    records = [*member_tombstones(name, member.id), group.next_epoch_record()]
    if len(group.members) == 1:  # who comes next is assigned to at once
        records.append(target_epoch_record(name, group.epoch + 1, 0))
    cancel_member(shard, name, member.id)
    shard.append(records, then)
