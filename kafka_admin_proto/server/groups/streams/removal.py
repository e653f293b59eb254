"""The end of members: they leave, their sessions end, or they do not give back in time."""

from __future__ import annotations

from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import StreamsMember
from kafka_admin_proto.server.groups.timers import cancel_member


def remove_member(shard: Shard, group: StreamsGroup, member: StreamsMember, then: Then) -> None:
    """Remove a member; ``then`` gets 0 once that is replicated, or an error code."""
    name = group.name
    records = [*group.member_tombstones(member.id), group.next_epoch_record()]
    if len(group.members) == 1:  # who comes next is assigned to at once
        records.append(group.target_epoch_record(group.epoch + 1, 0))
    cancel_member(shard, name, member.id)
    shard.append(records, then)
