"""What members of drawn groups shall have is what Kafka's own coordinator gives them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import cast
from uuid import UUID

import pytest

from kafka_admin_proto.messages.consumer_group_regular_expression_value import (
    ConsumerGroupRegularExpressionValue,
)
from kafka_admin_proto.server.groups.consumer.assignors import ASSIGNORS
from kafka_admin_proto.server.groups.consumer.change import new_target
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup, subscriptions_are_equal
from kafka_admin_proto.server.groups.consumer.heartbeat import replace_static
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.records import (
    assignment_record,
    member_record,
    regex_record,
)
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.java import uuid_order
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

_TOOL = Path(__file__).parents[2] / "java" / "GroupTargets.java"
_SEED = 11
_ROUNDS = 12
#: A group in which the number of topics that are missing decides an order.
_MISSING_SEED = 2427
#: Groups beside Kafka's; more of them by hand.
_GROUPS = int(os.environ.get("KAFKA_ADMIN_PROTO_GROUPS") or draws(240))
_REGEXES = ("a.*", "b.*")
_NO_TOPICS = ConsumerGroupRegularExpressionValue([])


class _Topics:
    """Topics of the cluster; those without partitions are not there."""

    def __init__(self) -> None:
        self.there: dict[str, tuple[UUID, int]] = {}

    def ids(self, names: Iterable[str]) -> list[UUID]:
        return [self.there[each][0] for each in names if each in self.there]

    def counts(self, ids: Iterable[UUID]) -> dict[UUID, int]:
        known = dict(self.there.values())
        return {each: known[each] for each in ids}


class _Drawn:
    """A group whose members come, change, and go; ``lines`` tell Kafka's the same."""

    def __init__(self, seed: int) -> None:
        self._random = random = Random(seed)
        size = random.choice((1, 2, 3, 5, 12))
        self._names = [f"{random.choice('ab')}{random.randrange(10**4)}" for _ in range(size)]
        self._missing = [f"{each}-missing" for each in self._names]
        self._is_equal = random.random() < 0.5
        self._has_regexes = random.random() < 0.3
        self._assignors = random.choice(((None,), (None, "range", "uniform")))
        self._shared = random.sample(self._names, random.randint(1, size))
        self._ids = [f"{random.choice('aAzZ_-')}{random.getrandbits(60):x}" for _ in range(60)]
        self._ids += [f"m{each}" for each in range(20)]
        self._topics = _Topics()
        self.group = ConsumerGroup("group")
        self.lines = ["group"]
        for each in self._names:
            self._make_topic(each, random.choice((1, 2, 3, 7, 40)))
        if self._has_regexes:
            for regex in _REGEXES:
                self._resolve(regex, [each for each in self._names if each[0] == regex[0]])

    def _resolve(self, regex: str, names: list[str]) -> None:
        value = ConsumerGroupRegularExpressionValue(sorted(names))
        self.group.apply_all([regex_record("group", regex, value)])
        self.lines.append(f"regex {regex} {','.join(sorted(names)) or '-'}")

    def _make_topic(self, name: str, count: int) -> None:
        topic_id = self._topics.there[name][0] if name in self._topics.there else self._new_id()
        self._topics.there[name] = topic_id, count
        self.lines.append(f"topic {topic_id_to_text(topic_id)} {name} {count}")

    def subscribed(self) -> set[tuple[UUID, int]]:
        """The partitions of all topics that members subscribe."""
        names = {each for one in self.group.members.values() for each in self.group.topics_of(one)}
        there = [self._topics.there[each] for each in names if each in self._topics.there]
        return {(topic_id, number) for topic_id, count in there for number in range(count)}

    def _new_id(self) -> UUID:
        """An id with a place of its own in Java's tables: of two in one place chance decides."""
        used = [topic_id for topic_id, _ in self._topics.there.values()]
        while True:
            found = UUID(int=self._random.getrandbits(128))
            if uuid_order((found, *used)) == uuid_order((*used, found)):
                return found

    def round(self, *, refreshes: bool = True) -> str:
        """Let some members come and go, and the last one of them change the target.

        With ``refreshes`` it is for another reason at times: the kind of the subscriptions is then
        what it was before the change, as in Kafka.
        """
        random, group = self._random, self.group
        for _ in range(random.choice((0, 0, 1, 3, 12))):
            if group.members and random.random() < 0.4:
                gone = random.choice(list(group.members))
                group.apply_all(group.member_tombstones(gone))
                self.lines.append(f"remove {gone}")
            else:
                _, _, member = self._updated()
                if member.instance_id is None or member.instance_id not in group.static:
                    group.apply_all(_put(member))
                    self.lines.append(self._line("put", member))
        if random.random() < 0.3:
            name = random.choice(self._names)
            self._make_topic(name, self._topics.there[name][1] + 1)
        if self._has_regexes and random.random() < 0.3:
            self._resolve(random.choice(_REGEXES), self._names[: random.randrange(3)])
        records, before, member = self._updated()
        is_old = refreshes and bool(group.members) and random.random() < 0.3
        self.lines.append(self._line("refresh" if is_old else "assign", member))
        return self._assign(records, before, member, is_old=is_old)

    def _updated(self) -> tuple[list[CoordinatorRecord], ConsumerMember, ConsumerMember]:
        """The records before a member joins or changes, the member then, and what it becomes."""
        random, group = self._random, self.group
        member_id = random.choice(self._ids)
        records: list[CoordinatorRecord] = []
        before = group.members.get(member_id)
        if before is None:
            before = ConsumerMember(member_id)
            instance = f"i{random.randrange(20)}" if random.random() < 0.3 else None
            known = group.static_member(instance)
            if known is not None:
                before = replace_static(group, known, member_id, records)
            elif instance is not None:
                before = ConsumerMember(member_id, instance_id=instance)
        topics = self._shared
        if not self._is_equal:
            topics = random.sample(self._names, random.randint(0, len(self._names)))
            if random.random() < 0.2:
                topics = topics + random.sample(self._missing, 1)
        regex = random.choice((*_REGEXES, "")) if self._has_regexes else ""
        if regex and random.random() < 0.7:
            topics = []
        member = ConsumerMember(
            member_id, instance_id=before.instance_id, topics=frozenset(topics), regex=regex,
            assignor=random.choice(self._assignors),
        )  # fmt: skip
        return records, before, member

    def _line(self, word: str, member: ConsumerMember) -> str:
        topics = ",".join(sorted(member.topics)) or "-"
        return (
            f"{word} {member.id} {member.instance_id or '-'} {member.assignor or '-'} "
            f"{member.regex or '-'} {topics}"
        )

    def _assign(
        self,
        records: list[CoordinatorRecord],
        before: ConsumerMember,
        member: ConsumerMember,
        *,
        is_old: bool,
    ) -> str:
        group = self.group
        members = group.with_member(member)
        are_equal = (
            group.has_equal_subscriptions
            if is_old
            else subscriptions_are_equal(list(members.values()), group.regexes_with(before, member))
        )
        old = group.preferred_assignor("uniform")
        name = group.preferred_assignor("uniform", before, member)
        topics = cast(KnownTopics, self._topics)
        found, target = new_target(
            group, members, topics, 1, 0, ASSIGNORS[name], are_equal=are_equal
        )
        group.apply_all([*records, *_put(member), *target])
        kind = "HOMOGENEOUS" if are_equal else "HETEROGENEOUS"
        texts = {each: _text(partitions) for each, partitions in found.items()}
        return " ".join(
            [old, name, kind, *(f"{each}:{texts[each]}" for each in sorted(texts) if texts[each])]
        )


def _put(member: ConsumerMember) -> list[CoordinatorRecord]:
    return [member_record("group", member), assignment_record("group", member)]


def _text(partitions: Mapping[UUID, Sequence[int]]) -> str:
    rows = {
        topic_id_to_text(topic): "+".join(map(str, sorted(numbers)))
        for topic, numbers in partitions.items()
        if numbers
    }
    return ",".join(f"{topic}={rows[topic]}" for topic in sorted(rows))


@pytest.mark.exhaustive
def test_as_kafkas_own_classes() -> None:
    with contextlib.closing(JavaTool(_TOOL, fetch_runtime(NEWEST))) as tool:
        for seed in (_MISSING_SEED, *range(_SEED, _SEED + _GROUPS)):
            group = _Drawn(seed)
            ours = [group.round() for _ in range(_ROUNDS)]
            theirs = [each for each in tool.ask(group.lines) if each]
            assert ours == theirs, f"seed {seed}"


@pytest.mark.exhaustive
def test_each_partition_has_one_owner() -> None:
    for seed in range(100):
        group = _Drawn(seed)
        for _ in range(_ROUNDS):
            group.round(refreshes=False)
            found = [
                (topic, number)
                for each in group.group.target.values()
                for topic, numbers in each.items()
                for number in numbers
            ]
            assert len(found) == len(set(found))
            assert set(found) == group.subscribed()


def test_many_regular_expressions_are_loaded_and_forgotten_in_little_time() -> None:
    """A copy of all for each of them took seconds, in which the server answers nobody."""
    group = ConsumerGroup("group")
    names = [f"topic-{number}" for number in range(8000)]
    began = time.process_time()
    group.apply_all(regex_record("group", each, _NO_TOPICS) for each in names)
    assert len(group.regexes) == len(names)
    group.apply_all(regex_record("group", each, None) for each in names)
    assert group.regexes == {}
    assert time.process_time() - began < 1
