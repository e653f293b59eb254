"""A change of one member of a group, and what follows from it for the group and its target.

The target of an epoch is what all members shall have (``TargetAssignmentBuilder``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from uuid import UUID

from kafka_admin_proto.server.groups.consumer.assignors import ASSIGNORS
from kafka_admin_proto.server.groups.consumer.assignors.model import (
    Assign,
    Subscriber,
    Subscribers,
)
from kafka_admin_proto.server.groups.consumer.group import (
    ConsumerGroup,
    subscribed,
    subscriptions_are_equal,
)
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.reconcile import Owned, Reconciliation
from kafka_admin_proto.server.groups.consumer.records import (
    assignment_record,
    epoch_record,
    member_record,
    regex_record,
    target_record,
)
from kafka_admin_proto.server.groups.consumer.regexes import compiled, unresolved
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.modern import Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.timers import expect_revocation, revocation_key


class Subscription(Enum):
    """What has changed of a member's subscription."""

    SAME = auto()
    TOPICS = auto()
    #: The regular expression, whose topics are not known yet, or are.
    REGEX = auto()
    RESOLVED = auto()


class Change:
    """The records of a change, which are applied when they are in the log."""

    def __init__(
        self, shard: Shard, group: ConsumerGroup, records: list[CoordinatorRecord]
    ) -> None:
        self._shard = shard
        self._group = group
        self._records = records
        #: The regular expressions whose topics are to be found once the records are applied.
        self.unresolved: set[str] = set()

    def subscribe(self, before: ConsumerMember, after: ConsumerMember) -> Subscription:
        """Note what a member is and subscribes. Raises ApiFailure for a regular expression."""
        if after != before:
            self._records.append(member_record(self._group.name, after))
        change = self._regex_change(before, after)
        self.unresolved = unresolved(self._shard, self._group, before, after)
        if after.topics != before.topics and change != Subscription.RESOLVED:
            return Subscription.TOPICS
        return change

    def _regex_change(self, before: ConsumerMember, after: ConsumerMember) -> Subscription:
        group, old, new = self._group, before.regex, after.regex
        if old == new:
            return Subscription.SAME
        if old and group.regex_count(old) == 1:
            self._records.append(regex_record(group.name, old, None))
        if new:
            if not group.regex_count(new):
                compiled(new)
            elif new in group.regexes:
                return Subscription.RESOLVED
        elif old:
            return Subscription.RESOLVED
        return Subscription.REGEX

    def prefers_another(self, before: ConsumerMember, after: ConsumerMember) -> bool:
        """Whether the group prefers another assignor: since 4.4 this begins its next epoch."""
        limits, group = self._shard.limits, self._group
        if limits.release < (4, 4):
            return False
        default = limits.assignors[0]
        return group.preferred_assignor(default) != group.preferred_assignor(default, before, after)

    def assign(
        self,
        before: ConsumerMember,
        after: ConsumerMember,
        owned: Owned,
        *,
        bumps: bool,
        is_changed: bool,
    ) -> ConsumerMember:
        """The member with what it has now; ``bumps`` begins the next epoch of the group."""
        shard, group = self._shard, self._group
        epoch, are_equal = self.next_epoch(before, after, bumps=bumps)
        target_epoch, target = group.target_epoch, last_target(group, after)
        limits, default = shard.limits.of_group(group.name), shard.limits.assignors[0]
        if group.target_epoch < epoch and (
            not group.target_ms or shard.now_ms >= group.target_ms + limits.assignment_interval_ms
        ):
            if are_equal is None:
                are_equal = group.has_equal_subscriptions
            preferred = group.preferred_assignor(default, before, after)
            # Members whose log is another broker's may prefer one that was configured there.
            assign = ASSIGNORS.get(preferred, ASSIGNORS[default])
            targets, records = new_target(
                group,
                group.with_member(after),
                shard.topics,
                epoch,
                shard.now_ms,
                assign,
                are_equal=are_equal,
            )
            self._records += records
            target_epoch, target = epoch, targets.get(after.id, {})
        return self.reconcile(after, target_epoch, target, owned, is_changed=is_changed)

    def next_epoch(
        self, before: ConsumerMember, after: ConsumerMember, *, bumps: bool
    ) -> tuple[int, bool | None]:
        """(the group's epoch, whether all subscriptions are equal) with the member's change.

        None: as they were before, which takes a look at each member.
        """
        group = self._group
        if not (bumps or group.is_outdated):
            return group.epoch, None
        members = group.counted_with(after)
        regexes = group.regexes_with(before, after)
        metadata_hash = self._shard.topics.hash(subscribed(members, regexes))
        group.is_outdated = False
        are_equal = subscriptions_are_equal(members, regexes)
        if not bumps and metadata_hash == group.metadata_hash:
            return group.epoch, are_equal
        self._records.append(epoch_record(group.name, group.epoch + 1, metadata_hash))
        return group.epoch + 1, are_equal

    def reconcile(
        self,
        member: ConsumerMember,
        target_epoch: int,
        target: Target,
        owned: Owned,
        *,
        is_changed: bool,
    ) -> ConsumerMember:
        """The member with what it has next on the way to a target."""
        shard, group = self._shard, self._group
        if not is_changed and member.is_reconciled_to(target_epoch):
            return member
        topics = frozenset(shard.topics.ids(group.topics_of(member)))
        after = Reconciliation(group, target_epoch, target, topics, is_changed, owned).next(member)
        if after != member:
            self._records.append(assignment_record(group.name, after))
            if after.is_revoking:
                expect_revocation(shard, group, after)
            elif after.classic is None:
                shard.cancel(revocation_key(group.name, after.id))
        return after


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
    records.append(group.target_epoch_record(epoch, now_ms))
    return targets, records


def _known_target(group: ConsumerGroup, member: ConsumerMember) -> Target | None:
    """What a member was to have; one that replaces a static member has got that one's target.

    Its own of before, if it had another instance id, owns its partitions until the next target.
    """
    return group.target.get(group.replaced_by(member), group.target.get(member.id))


def _sets(target: Target) -> dict[UUID, frozenset[int]]:
    return {topic: frozenset(numbers) for topic, numbers in target.items() if numbers}
