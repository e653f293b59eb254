"""What a member has next, on its way to what it shall have (``CurrentAssignmentBuilder``).

A member gives back first what it shall not have any more. Then it goes to the epoch of the target,
and gets what nobody else has.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from kafka_admin_proto.messages.consumer_group_heartbeat_request import TopicPartitions
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember, Epochs
from kafka_admin_proto.server.groups.modern import (
    STABLE,
    UNKNOWN,
    UNRELEASED,
    UNREVOKED,
    Target,
    check_known,
    moved,
)

#: What a member says that it has; None if it has not changed.
Owned = Sequence[TopicPartitions] | None


class Reconciliation(msgspec.Struct, frozen=True):
    """The target of a member, its topics by id, and whether it subscribes others than before."""

    group: ConsumerGroup
    target_epoch: int
    target: Target
    topics: frozenset[UUID]
    is_changed: bool
    owned: Owned

    def next(self, member: ConsumerMember) -> ConsumerMember:
        """The member with what it has next. Raises ApiFailure."""
        if member.state == STABLE:
            if member.epoch != self.target_epoch:
                return self._advanced(member, member.epoch)
            return self._narrowed(member) if self.is_changed else member
        if member.state == UNREVOKED and self._owns(member.revoked):
            return self._narrowed(member) if self.is_changed else member
        if member.state in (UNREVOKED, UNRELEASED):
            return self._advanced(member, member.epoch)
        if member.state == UNKNOWN:
            check_known("consumer", self.owned is not None and not self.owned, "partitions")
            return self._advanced(member, self.target_epoch)
        return member

    def _owns(self, revoked: Epochs) -> bool:
        """Whether the member may still have one of these partitions."""
        return self.owned is None or any(
            number in revoked.get(each.topic_id, ())
            for each in self.owned
            for number in each.partitions
        )

    def _narrowed(self, member: ConsumerMember) -> ConsumerMember:
        """Take the partitions of topics that the member subscribes no more."""
        gone = {topic: each for topic, each in member.assigned.items() if topic not in self.topics}
        if not gone:
            return member
        assigned = {topic: each for topic, each in member.assigned.items() if topic in self.topics}
        revoked = dict(member.revoked)
        for topic, each in gone.items():
            revoked[topic] = {**revoked.get(topic, {}), **each}
        if self._owns(revoked):
            return moved(member, UNREVOKED, member.epoch, assigned, revoked)
        return moved(member, member.state, member.epoch, assigned, member.revoked)

    def _advanced(self, member: ConsumerMember, epoch: int) -> ConsumerMember:
        assigned: dict[UUID, dict[int, int]] = {}
        revoked: dict[UUID, dict[int, int]] = {}
        added: dict[UUID, list[int]] = {}
        has_unreleased = False
        for topic in dict.fromkeys([*self.target, *member.assigned]):
            wanted = set(self.target.get(topic, ())) if topic in self.topics else set()
            had = member.assigned.get(topic, {})
            kept = {number: since for number, since in had.items() if number in wanted}
            lost = {number: since for number, since in had.items() if number not in wanted}
            missing = sorted(wanted.difference(kept))
            own = member.revoked.get(topic, ())
            free = [each for each in missing if each in own or not self.group.is_owned(topic, each)]
            has_unreleased |= len(free) < len(missing)
            for topics, numbers in ((assigned, kept), (revoked, lost)):
                if numbers:
                    topics[topic] = numbers
            if free:
                added[topic] = free
        if revoked and self._owns(revoked):
            return moved(member, UNREVOKED, epoch, assigned, revoked)
        for topic, numbers_added in added.items():
            assigned.setdefault(topic, {}).update(dict.fromkeys(numbers_added, self.target_epoch))
        state = UNRELEASED if has_unreleased else STABLE
        # The epoch that the member had may be the target's already, if it waits in this one.
        return moved(member, state, self.target_epoch, assigned, {})
