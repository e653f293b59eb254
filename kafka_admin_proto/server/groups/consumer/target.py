"""What all members of a group shall have: the target of an epoch (``TargetAssignmentBuilder``)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from kafka_admin_proto.server.groups.consumer.assignors.model import (
    Assign,
    Subscriber,
    Subscribers,
)
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.records import target_epoch_record, target_record
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.modern import Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord


def last_target(group: ConsumerGroup, member: ConsumerMember) -> Target:
    """What a member shall have by the last target; a static one what the one before it had."""
    member_id: str | None = member.id
    if member.instance_id is not None:
        member_id = group.static.get(member.instance_id)
    return group.target.get(member_id or "", {})


def new_target(
    group: ConsumerGroup,
    members: Mapping[str, ConsumerMember],
    topics: KnownTopics,
    epoch: int,
    now_ms: int,
    assign: Assign,
    *,
    are_equal: bool,
) -> tuple[dict[str, dict[UUID, list[int]]], list[CoordinatorRecord]]:
    """What these members shall have from an epoch on, and its records."""
    known = {name: _known_target(group, member) for name, member in members.items()}
    subscribers = {}
    for name, member in members.items():
        names = group.topics_of(member)
        subscribers[name] = Subscriber(
            member.instance_id, len(names), topics.ids(names), known[name] or {}
        )
    owners = {
        (topic, number): name
        for name, target in group.target.items()
        for topic, numbers in target.items()
        for number in numbers
    }
    counts = topics.counts({each for member in subscribers.values() for each in member.topics})
    targets = assign(Subscribers(subscribers, are_equal, counts, owners))
    records = []
    for member_id in subscribers:
        before, after = known[member_id], targets.get(member_id, {})
        if before is None or _sets(before) != _sets(after):
            records.append(target_record(group.name, member_id, after))
    records.append(target_epoch_record(group.name, epoch, now_ms))
    return targets, records


def _known_target(group: ConsumerGroup, member: ConsumerMember) -> Target | None:
    """What a member was to have; one that replaces a static member has got that one's target.

    Its own of before, if it had another instance id, owns its partitions until the next target.
    """
    return group.target.get(group.replaced_by(member), group.target.get(member.id))


def _sets(target: Target) -> dict[UUID, frozenset[int]]:
    return {topic: frozenset(numbers) for topic, numbers in target.items() if numbers}
