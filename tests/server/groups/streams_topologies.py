"""Drawn topologies of streams groups, most of them strange, sent to two clusters at once.

``python -m tests.server.groups.streams_topologies SEED COUNT`` sends some to a real broker.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    Subtopology,
    TopicInfo,
    Topology,
)
from kafka_admin_proto.values import Message
from tests.server.groups.stories import CONFIGS, Side, both
from tests.server.groups.streams_stories import (
    HEARD_S,
    await_names,
    await_topics,
    group_configs,
)
from tools.kafka_releases import NEWEST

_PATIENCE_S = 20.0

#: Topics with their partitions, some of whose names have one place in Java's tables.
_SOURCES = {"a3": 3, "b3": 3, "c5": 5, "d1": 1, "e2": 2}
#: Ids of subtopologies: in order, out of order, many, and of one hash but for the last.
_IDS = (
    ["0", "1", "2", "3"], ["10", "9", "2", "x"], [f"sub-{each}" for each in range(20)],
    ["Aa", "BB", "C#", "z"],
)  # fmt: skip
#: The status of internal topics that are missing.
_MISSING = 3
_CONFIGS = [KeyValue("retention.ms", "-1"), KeyValue("cleanup.policy", "delete")]


class _Drawn:
    """A topology, and the internal topics that are there before, with their partitions."""

    def __init__(self, random: Random, group: str) -> None:
        self._random = random
        self._group = group
        self._between = [f"{group}-r{each}" for each in range(random.randint(0, 4))]
        ids = random.choice(_IDS)
        count = random.choice((1, 1, 2, 3, 3, 4, len(ids)))
        rows = [self._subtopology(each) for each in random.sample(ids, min(count, len(ids)))]
        for topic in (one for each in rows for one in each.repartition_source_topics):
            if random.random() < 0.8:
                random.choice(rows).repartition_sink_topics.append(topic.name)
        self.topology = Topology(random.choice((0, 0, 1, 5)), rows)
        self.there: dict[str, int] = {}
        if random.random() < 0.15:
            self.there = {
                f"{group}-{kind}{random.randint(0, 3)}": random.choice((1, 3, 5)) for kind in "rc"
            }

    def _some(self, names: Any, most: int) -> Any:
        return self._random.sample(names, self._random.randint(0, min(most, len(names))))

    def _rarely(self, usual: Any, odd: Any) -> Any:
        return odd if self._random.random() < 0.04 else usual

    def _subtopology(self, name: str) -> Subtopology:
        random = self._random
        sources = random.sample(list(_SOURCES), random.choice((0, 1, 1, 1, 2, 3)))
        sources += self._rarely([], ["nowhere"]) + self._rarely([], sources[:1])
        between = [
            TopicInfo(
                each, self._rarely(random.choice((0, 0, 0, 0, 0, 3, 3, 5, 2)), -2),
                random.choice((0, 1)), _CONFIGS[: random.choice((0, 0, 1, 2))],
            )
            for each in self._some(self._between, 2)
        ]  # fmt: skip
        between += self._rarely([], between[:1])
        between += self._rarely([], [TopicInfo(random.choice(list(_SOURCES)))])
        changelogs = [
            TopicInfo(f"{self._group}-c{random.randint(0, 5)}", self._rarely(0, 2), 1)
            for _ in range(random.choice((0, 0, 1, 1, 2)))
        ]
        changelogs += self._rarely([], [TopicInfo(random.choice(list(_SOURCES)))])
        copartitioned = [
            CopartitionGroup(
                self._some(range(len(sources)), 9), [],
                self._some(range(len(between)), 9) + self._rarely([], [9]),
            )
            for _ in range(random.choice((0, 0, 0, 1, 1, 2)))
        ]  # fmt: skip
        sinks = self._some(self._between, 9) + self._rarely([], [random.choice(list(_SOURCES))])
        return Subtopology(name, sources, [], changelogs, sinks, between, copartitioned)


def topology_differences(seed: int, count: int, left: str, right: str) -> list[str]:
    """What two clusters (host:port) answer otherwise to the members of groups of one topology."""
    sides = Side(left), Side(right)
    random, found = Random(seed), []
    drawn = {group: _Drawn(random, group) for group in (f"t{number}" for number in range(count))}
    for side in sides:
        side.prepare()
        _create(side, _SOURCES)
        for group, each in drawn.items():
            side.ask(group_configs(group), 1)
            _create(side, each.there)
    time.sleep(HEARD_S)
    missing: dict[str, int] = {}
    for number, (group, each) in enumerate(drawn.items()):
        endpoint = Endpoint("h", 1) if number % 3 == 0 else None
        joins = m.StreamsGroupHeartbeatRequest(
            group, "m", 0, -1, None, None, 300_000, each.topology, [], [], [], "p", endpoint
        )
        answers = [side.ask(joins, 1) for side in sides]
        found += _different(sides, joins, each.there, answers)
        if _is_missing(answers[0]):
            missing[group] = answers[0].member_epoch
    for group in missing:
        for side in sides:
            await_topics(side, drawn[group].topology)
    time.sleep(HEARD_S)
    for group, epoch in missing.items():
        each = drawn[group]
        stays = m.StreamsGroupHeartbeatRequest(
            group, "m", epoch, -1, active_tasks=[], standby_tasks=[], warmup_tasks=[]
        )
        found += _different(sides, stays, each.there, [_with_topics(side, stays) for side in sides])
        describes = m.StreamsGroupDescribeRequest([group])
        answers = [side.ask(describes, 1) for side in sides]
        found += _different(sides, describes, each.topology, answers)
    for side in sides:
        side.close()
    return found


def _create(side: Side, topics: Mapping[str, int]) -> None:
    rows = [CreatableTopic(*each, 1) for each in topics.items()]
    side.ask(m.CreateTopicsRequest(rows, 20_000), 7)
    await_names(side, topics)


def _is_missing(answer: Any) -> bool:
    return [each.status_code for each in answer.status or ()] == [_MISSING]


def _with_topics(side: Side, stays: Message) -> Any:
    """The answer of a coordinator that has heard of the topics, which others have by now."""
    deadline = time.monotonic() + _PATIENCE_S
    while _is_missing(answer := side.ask(stays, 1)) and time.monotonic() < deadline:
        time.sleep(HEARD_S)
    return answer


def _different(
    sides: Sequence[Side], request: Message, of: object, answers: Sequence[Any]
) -> list[str]:
    one, other = (side.seen("m", each) for side, each in zip(sides, answers, strict=True))
    return [] if one == other else [f"{request}\n  {of}\n  {one}\n  {other}"]


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    with both(NEWEST, CONFIGS) as (real, ours):
        found = topology_differences(seed, count, real, ours)
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))
