"""A group of the consumer protocol (``ConsumerGroup`` in Kafka): only its records change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.modern import GroupWithInstances, Kind, Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.java import set_order, timeline_order


class ConsumerGroup(GroupWithInstances[ConsumerMember, Target]):
    """The state of a group, with what its members subscribe and have."""

    kind: ClassVar[Kind] = "consumer"
    target_epoch_value: ClassVar[type[Any]] = m.ConsumerGroupTargetAssignmentMetadataValue
    keys: ClassVar[tuple[type[Any], ...]] = (
        m.ConsumerGroupMetadataKey,
        m.ConsumerGroupTargetAssignmentMetadataKey,
        m.ConsumerGroupMemberMetadataKey,
        m.ConsumerGroupCurrentMemberAssignmentKey,
        m.ConsumerGroupTargetAssignmentMemberKey,
        m.ConsumerGroupPartitionMetadataKey,
        m.ConsumerGroupRegularExpressionKey,
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        #: How many members prefer each assignor; each heartbeat asks for it.
        self._assignors: Counter[str | None] = Counter()
        #: The topics of each regular expression that members subscribe.
        self.regexes: dict[str, m.ConsumerGroupRegularExpressionValue] = {}
        #: Those of regular expressions that have changed since a member changed or left, None for
        #: new ones: a copy of all for each change would take long where they are thousands.
        self._regexes_before: dict[str, m.ConsumerGroupRegularExpressionValue | None] = {}
        self._owned: dict[tuple[UUID, int], str] = {}

    # Replay.

    def apply(self, key: Any, value: Any, now_ms: int = 0) -> None:
        super().apply(key, value, now_ms)
        match key, value:
            case m.ConsumerGroupRegularExpressionKey(), m.ConsumerGroupRegularExpressionValue():
                before = self.regexes.get(key.regular_expression)
                self._regexes_before.setdefault(key.regular_expression, before)
                self.regexes[key.regular_expression] = value
            case m.ConsumerGroupRegularExpressionKey(), None:
                before = self.regexes.pop(key.regular_expression, None)
                self._regexes_before.setdefault(key.regular_expression, before)

    def apply_all(self, records: Iterable[CoordinatorRecord]) -> None:
        """Apply records that are about this group."""
        for key, value, _ in records:
            self.apply(key, value)

    def _member(self, member_id: str) -> ConsumerMember:
        return self.members.get(member_id) or ConsumerMember(member_id)

    def _target_of(self, value: m.ConsumerGroupTargetAssignmentMemberValue) -> Target:
        return {each.topic_id: each.partitions for each in value.topic_partitions}

    def _put(self, member: ConsumerMember) -> None:
        before = self.members.get(member.id)
        self._release(member.id)
        if before is not None:
            self._assignors[before.assignor] -= 1
        self._assignors[member.assignor] += 1
        self._keep(member)
        self._regexes_before.clear()
        for place in _places(member):
            self._owned[place] = member.id

    def _release(self, member_id: str) -> None:
        member = self.members.get(member_id)
        for place in () if member is None else _places(member):
            if self._owned.get(place) == member_id:
                del self._owned[place]

    def _remove(self, member_id: str) -> None:
        self._release(member_id)
        member = self.members.pop(member_id, None)
        self._forget_instance(member)
        if member is not None:
            self._assignors[member.assignor] -= 1
        self._regexes_before.clear()

    # Members.

    def counted_with(self, member: ConsumerMember) -> list[ConsumerMember]:
        """The members whose topics Kafka counts once one is changed or added.

        One that comes with the instance id of another one takes that one's place, and is counted
        as it was before as well.
        """
        replaced = self.replaced_by(member)
        return [*(each for name, each in self.members.items() if name != replaced), member]

    def is_owned(self, topic_id: UUID, number: int) -> bool:
        """Whether a member has a partition, or has not given it back yet."""
        return (topic_id, number) in self._owned

    def awaits_release(self, member: ConsumerMember) -> bool:
        """Whether a partition that a member shall have is still another one's."""
        return any(
            number not in member.assigned.get(topic_id, ()) and self.is_owned(topic_id, number)
            for topic_id, numbers in self.target.get(member.id, {}).items()
            for number in numbers
        )

    def preferred_assignor(
        self,
        default: str,
        before: ConsumerMember | None = None,
        after: ConsumerMember | None = None,
    ) -> str:
        """The assignor that most members prefer, once one of them has changed.

        Of several it is the first one in Kafka's table, where one that only the changed member
        prefers is put in front, also if that one has preferred it before.
        """
        counts = Counter({
            name: count for name, count in self._assignors.items() if name is not None and count
        })  # fmt: skip
        names = timeline_order(counts, len(counts))
        if before is not None and before.assignor is not None:
            counts[before.assignor] -= 1
        if after is not None and after.assignor is not None:
            if not counts[after.assignor]:
                names.insert(0, after.assignor)
            counts[after.assignor] += 1
        return max(
            (each for each in names if counts[each]), key=counts.__getitem__, default=default
        )

    # Subscriptions.

    def topics_of(self, member: ConsumerMember) -> list[str]:
        """The topics that a member subscribes by name or by a regular expression.

        In the order of Kafka's sets, of which the larger one is the first.
        """
        by_name, regex = set_order(member.topics), self.regexes.get(member.regex or "")
        by_regex = [] if regex is None else set_order(regex.topics)
        larger_first = sorted((by_regex, by_name), key=len, reverse=True)
        return list(dict.fromkeys(larger_first[0] + larger_first[1]))

    @property
    def subscribed_topics(self) -> set[str]:
        """The topics that any member subscribes."""
        return subscribed(self.members.values(), self.regexes)

    def regexes_with(
        self, before: ConsumerMember, after: ConsumerMember
    ) -> dict[str, m.ConsumerGroupRegularExpressionValue]:
        """The regular expressions once a member changes, without one that it alone had before."""
        old = before.regex
        if not old or old == after.regex or self.regex_count(old) != 1:
            return self.regexes
        return {name: each for name, each in self.regexes.items() if name != old}

    @property
    def has_equal_subscriptions(self) -> bool:
        """Whether Kafka takes the members' subscriptions for equal.

        It finds that when a member changes or leaves, and not when the topics of a regular
        expression are found or forgotten.
        """
        members, regexes = list(self.members.values()), self.regexes
        if self._regexes_before:
            then = {**regexes, **self._regexes_before}
            regexes = {name: each for name, each in then.items() if each is not None}
        return subscriptions_are_equal(members, regexes)

    def is_subscribed(self, topic: str) -> bool:
        """Whether a member subscribes a topic."""
        return topic in self.subscribed_topics

    def regex_count(self, regex: str) -> int:
        """The number of members that subscribe a regular expression."""
        return sum(each.regex == regex for each in self.members.values())

    # The end.

    def tombstones(self) -> list[CoordinatorRecord]:
        """The records that end the group with its members, by kind, as Kafka orders them."""
        name = self.name
        group, target_epoch, member, assignment, target, partitions, regex = self.keys
        return [
            *((assignment(name, each), None, 0) for each in self.members),
            *((target(name, each), None, 0) for each in self.members),
            (target_epoch(name), None, 0),
            *((member(name, each), None, 0) for each in self.members),
            *((regex(name, each), None, 0) for each in self.regexes),
            (partitions(name), None, 0),
            (group(name), None, 0),
        ]


def _places(member: ConsumerMember) -> Iterator[tuple[UUID, int]]:
    """The partitions that a member has or gives back."""
    for epochs in (member.assigned, member.revoked):
        for topic_id, numbers in epochs.items():
            for number in numbers:
                yield topic_id, number


def subscribed(
    members: Iterable[ConsumerMember],
    regexes: Mapping[str, m.ConsumerGroupRegularExpressionValue],
) -> set[str]:
    """The topics of members' names, and of all regular expressions."""
    names = {topic for each in members for topic in each.topics}
    return names.union(*(each.topics for each in regexes.values()))


def subscriptions_are_equal(
    members: Sequence[ConsumerMember],
    regexes: Mapping[str, m.ConsumerGroupRegularExpressionValue],
) -> bool:
    """Whether Kafka takes the members' subscriptions for equal, by counting them."""
    by_name = Counter(topic for each in members for topic in each.topics)
    by_regex = Counter(topic for each in regexes.values() for topic in each.topics)
    expressions = Counter(each.regex for each in members if each.regex)
    if not expressions:
        return all(by_name[each] == len(members) for each in by_name.keys() | by_regex.keys())
    if len(expressions) > 1 or expressions.total() != len(members):
        return False
    return not by_name and all(each == 1 for each in by_regex.values())
