"""The end of members: they leave, their sessions end, or they do not give back in time."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup, subscribed
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.migration import downgrade, downgrades
from kafka_admin_proto.server.groups.consumer.records import (
    epoch_record,
    regex_record,
)
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.timers import cancel_member


def remove_member(shard: Shard, group: ConsumerGroup, member: ConsumerMember, then: Then) -> None:
    """Remove a member; ``then`` gets 0 once that is replicated, or an error code."""
    remove_members(shard, group, [member], then)


def remove_members(
    shard: Shard,
    group: ConsumerGroup,
    members: Sequence[ConsumerMember],
    then: Then,
) -> None:
    """Remove members; a group whose others use the classic protocol becomes a classic one.

    ``then`` gets 0 once that is replicated, or an error code.
    """
    if not members:
        then(0)
        return
    gone = {each.id for each in members}
    if downgrades(shard, group, gone):
        downgrade(shard, group, gone, then)
        return
    name = group.name
    records = [record for each in members for record in group.member_tombstones(each.id)]
    left = [each for each in group.members.values() if each.id not in gone]
    used = {each.regex for each in left}
    lost = {each.regex: None for each in members if each.regex and each.regex not in used}
    records += [regex_record(name, each, None) for each in lost if each]
    regexes = {regex: each for regex, each in group.regexes.items() if regex not in lost}
    metadata_hash = shard.topics.hash(subscribed(left, regexes))
    records.append(epoch_record(name, group.epoch + 1, metadata_hash))
    if not left and shard.limits.release >= (4, 4):  # who comes next is assigned to at once
        records.append(group.target_epoch_record(group.epoch + 1, 0))
    for each in members:
        cancel_member(shard, name, each.id)
    shard.append(records, then)
