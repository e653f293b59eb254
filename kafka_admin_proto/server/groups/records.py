"""Groups and offsets as records of ``__consumer_offsets`` (``GroupCoordinatorRecordHelpers``)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import msgspec

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafka_admin_proto.records.segments.known_topics import write_known_record
from kafka_admin_proto.server.groups.group import Group, Member
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

#: A record's key, its value (None for a tombstone) and the value's version.
CoordinatorRecord = tuple[Message, Message | None, int]

_GROUP_VERSION = 3
#: Versions of a committed offset: one that expires by itself, the usual one, one with a topic id.
_EXPIRING, _USUAL, _WITH_ID = 1, 3, 4


class CommittedOffset(msgspec.Struct, frozen=True):
    """A committed offset; times are milliseconds since 1970, ``expires_ms`` only if it has one.

    ``record_offset`` is that of its record; the offset of a transaction is older than one with a
    record behind it.
    """

    offset: int
    leader_epoch: int
    metadata: str
    committed_ms: int
    expires_ms: int | None = None
    topic_id: UUID = ZERO_TOPIC_ID
    record_offset: int = -1


def offset_record(
    group: str, topic: str, partition: int, committed: CommittedOffset | None
) -> CoordinatorRecord:
    """The record of a committed offset, or the tombstone of one."""
    key = m.OffsetCommitKey(group, topic, partition)
    if committed is None:
        return key, None, 0
    value = m.OffsetCommitValue(
        committed.offset,
        committed.leader_epoch,
        committed.metadata,
        committed.committed_ms,
        -1 if committed.expires_ms is None else committed.expires_ms,
        committed.topic_id,
    )
    version = _USUAL if committed.topic_id == ZERO_TOPIC_ID else _WITH_ID
    return key, value, version if committed.expires_ms is None else _EXPIRING


def committed_offset(value: m.OffsetCommitValue, record_offset: int) -> CommittedOffset:
    """The offset of a record."""
    return CommittedOffset(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        None if value.expire_timestamp < 0 else value.expire_timestamp,
        value.topic_id,
        record_offset,
    )


def group_record(group: Group, assignments: Mapping[str, bytes] | None = None) -> CoordinatorRecord:
    """The record of a group with its members and these assignments, their own by default."""
    members = [
        MemberMetadata(
            each.id,
            each.instance_id,
            each.client_id,
            each.client_host,
            each.rebalance_timeout_ms,
            each.session_timeout_ms,
            each.metadata(group.protocol),
            each.assignment if assignments is None else assignments.get(each.id, b""),
        )
        for each in group.members.values()
    ]
    value = GroupMetadataValue(
        group.protocol_type or "",
        group.generation,
        group.protocol,
        group.leader,
        group.state_since_ms,
        members,
    )
    return m.GroupMetadataKey(group.name), value, _GROUP_VERSION


def empty_group_record(group: Group) -> CoordinatorRecord:
    """The record of a group that nobody has joined yet."""
    value = GroupMetadataValue("", 0, None, None, group.state_since_ms, [])
    return m.GroupMetadataKey(group.name), value, _GROUP_VERSION


def group_tombstone(name: str) -> CoordinatorRecord:
    """The record of a group that is no more."""
    return m.GroupMetadataKey(name), None, 0


def group_of(name: str, value: GroupMetadataValue, now_ms: int) -> Group:
    """The group of a record."""
    group = Group(name, now_ms)
    protocol = value.protocol or ""
    for stored in value.members:
        rebalance_ms = stored.rebalance_timeout
        member = Member(
            stored.member_id,
            stored.group_instance_id,
            stored.client_id,
            stored.client_host,
            stored.session_timeout if rebalance_ms == -1 else rebalance_ms,
            stored.session_timeout,
            [(protocol, stored.subscription)],
            stored.assignment,
        )
        group.add(member, value.protocol_type)
    group.state = "Stable" if group.members else "Empty"
    group.previous_state = group.state
    group.state_since_ms = value.current_state_timestamp
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol = value.protocol
    if value.leader in group.members:
        group.leader = value.leader
    group.topics = group.subscribed_topics()
    return group


def written(record: CoordinatorRecord) -> tuple[bytes, bytes | None]:
    """The key and value of a record as bytes."""
    key, value, version = record
    return write_known_record(key, value, version)
