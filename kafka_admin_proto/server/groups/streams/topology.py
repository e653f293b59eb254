"""The topology of a streams group, and its topics (``InternalTopicManager`` and its like in Kafka).

The coordinator decides how many partitions topics between subtopologies, and those of their states,
have: as many as what they are made of. It says so where topics are missing or do not fit.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.messages.streams_group_heartbeat_request import TopicInfo as AskedTopic
from kafka_admin_proto.messages.streams_group_heartbeat_request import Topology as AskedTopology
from kafka_admin_proto.messages.streams_group_topology_value import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import copied_table, hash_order
from kafka_admin_proto.server.topics.names import is_valid

#: Codes of statuses (``StreamsGroupHeartbeatResponse.Status``).
STALE_TOPOLOGY, MISSING_SOURCES, WRONG_PARTITIONS, MISSING_INTERNALS = 0, 1, 2, 3
SHUTDOWN, DELAYED, MISSING_TAGS = 4, 5, 6
_MOST_NAMED = 3
#: The number of partitions of a topic, None if it is not there.
Count = Callable[[str], int | None]


class InternalTopic(msgspec.Struct, frozen=True):
    """A topic that the application needs; a ``factor`` of 0 is that of the broker."""

    name: str
    partitions: int
    factor: int
    configs: Mapping[str, str]


class ReadySubtopology(msgspec.Struct, frozen=True):
    """A subtopology with the number of its tasks, and internal topics with their partitions."""

    tasks: int
    sources: list[str]
    sinks: list[str]
    repartition: list[InternalTopic]
    changelogs: list[InternalTopic]

    @property
    def inputs(self) -> list[str]:
        """The topics that its tasks read, in the order of Kafka's table, a copy of the sources'."""
        table = copied_table(len({*self.sources}))
        return hash_order((*self.sources, *(each.name for each in self.repartition)), table)


class Configured(msgspec.Struct, frozen=True):
    """A topology beside the topics that there are; its subtopologies are known if these fit.

    ``problem`` is the code of a status and its text, None once every topic is there.
    """

    subtopologies: Mapping[str, ReadySubtopology] | None = None
    missing: Mapping[str, InternalTopic] = {}
    problem: tuple[int, str] | None = None


class _Unfit(Exception):
    """A status, and its text."""


def unexpected() -> ApiFailure:
    """The failure of a request that Kafka's code does not expect, and throws an exception for."""
    return ApiFailure(codes.UNKNOWN_SERVER_ERROR)


def topology_value(asked: AskedTopology) -> StreamsGroupTopologyValue:
    """The record of the topology that a member brings. Raises ApiFailure."""
    ids = {each.subtopology_id for each in asked.subtopologies}
    if asked.epoch < 0 or len(ids) < len(asked.subtopologies):
        raise unexpected()
    return StreamsGroupTopologyValue(
        asked.epoch,
        [
            Subtopology(
                each.subtopology_id,
                each.source_topics,
                each.source_topic_regex,
                _topics(each.state_changelog_topics),
                each.repartition_sink_topics,
                _topics(each.repartition_source_topics),
                [
                    CopartitionGroup(
                        one.source_topics, one.source_topic_regex, one.repartition_source_topics
                    )
                    for one in each.copartition_groups
                ],
            )
            for each in asked.subtopologies
        ],
    )


def _topics(rows: Iterable[AskedTopic]) -> list[TopicInfo]:
    return [
        TopicInfo(
            each.name,
            each.partitions,
            each.replication_factor,
            [TopicConfig(one.key, one.value) for one in each.topic_configs],
        )
        for each in rows
    ]


def is_same(one: StreamsGroupTopologyValue, other: StreamsGroupTopologyValue) -> bool:
    """Whether two topologies have the same epoch and, in any order, the same subtopologies."""
    first, second = (
        {each.subtopology_id: each for each in value.subtopologies} for value in (one, other)
    )
    return one.epoch == other.epoch and first == second


def inputs_of(subtopology: Subtopology) -> list[str]:
    """The topics that the tasks of a subtopology read."""
    return [
        *subtopology.source_topics,
        *(each.name for each in subtopology.repartition_source_topics),
    ]


def required_topics(subtopologies: Iterable[Subtopology]) -> list[str]:
    """The topics that the application reads, and those of its states, each once."""
    names = (
        name
        for each in subtopologies
        for name in (*inputs_of(each), *(one.name for one in each.state_changelog_topics))
    )
    return list(dict.fromkeys(names))


def configure(topology: StreamsGroupTopologyValue, count: Count) -> Configured:
    """A topology beside the topics that there are. Raises ApiFailure for one that cannot be."""
    by_id = {each.subtopology_id: each for each in topology.subtopologies}
    subtopologies = [by_id[each] for each in hash_order(by_id)]
    copartitioned = [names for each in subtopologies for names in _copartitioned(each)]
    try:
        return _configured(subtopologies, copartitioned, count)
    except _Unfit as unfit:
        code, text = unfit.args
        return Configured(problem=(code, text))


def _configured(
    subtopologies: Sequence[Subtopology], copartitioned: Iterable[list[str]], count: Count
) -> Configured:
    sources = {name for each in subtopologies for name in each.source_topics}
    missing = sorted(name for name in sources if count(name) is None)
    if missing:
        raise _Unfit(MISSING_SOURCES, f"Source topics {_summary(missing)} are missing.")
    decided: dict[str, int] = {}

    def known(name: str) -> int | None:
        found = count(name)
        return decided.get(name) if found is None else found

    decided.update(_repartition(subtopologies, known))
    internal = [one for each in subtopologies for one in each.repartition_source_topics]
    fixed = {each.name: _partitions(known, each.name) for each in internal if each.partitions}
    flexible = {each.name for each in internal if not each.partitions}
    for names in copartitioned:
        decided.update(_enforced(names, fixed, flexible, known))
    changelogs = {}
    for each in subtopologies:
        inputs = [_partitions(known, name) for name in inputs_of(each)]
        if not inputs:
            text = f"No source topics found for subtopology {each.subtopology_id}"
            raise ApiFailure(codes.STREAMS_INVALID_TOPOLOGY, text)
        changelogs.update({one.name: max(inputs) for one in each.state_changelog_topics})
    decided.update(changelogs)
    ready = {
        each.subtopology_id: ReadySubtopology(
            max(_partitions(known, name) for name in inputs_of(each)),
            each.source_topics,
            each.repartition_sink_topics,
            _internal(each.repartition_source_topics, decided),
            _internal(each.state_changelog_topics, decided),
        )
        for each in sorted(subtopologies, key=lambda each: each.subtopology_id)
    }
    if any(each.tasks <= 0 for each in ready.values()):
        raise unexpected()
    topics = {
        one.name: one for each in ready.values() for one in (*each.repartition, *each.changelogs)
    }
    wanted = {name: topics[name] for name in hash_order(topics)}
    for name in hash_order(required_topics(subtopologies)):
        found = count(name)
        if found is None:
            continue
        topic = wanted.pop(name, None)
        if topic is not None and topic.partitions != found:
            raise _Unfit(
                WRONG_PARTITIONS,
                f"Existing topic {name} has different number of partitions: expected "
                f"{topic.partitions}, found {found}",
            )
    problem = (MISSING_INTERNALS, f"Internal topics are missing: {_summary(wanted)}")
    return Configured(ready, wanted, problem if wanted else None)


def _copartitioned(subtopology: Subtopology) -> list[list[str]]:
    """The names of topics that are to have the same number of partitions."""
    repartition = [each.name for each in subtopology.repartition_source_topics]
    groups = []
    for each in subtopology.copartition_groups:
        names = []
        for numbers, of in (
            (each.source_topics, subtopology.source_topics),
            (each.repartition_source_topics, repartition),
        ):
            if not all(0 <= number < len(of) for number in numbers):
                raise unexpected()
            names += [of[number] for number in numbers]
        groups.append(names)
    return groups


def _partitions(known: Count, name: str) -> int:
    found = known(name)
    if found is None:
        raise unexpected()
    return found


def _repartition(subtopologies: Sequence[Subtopology], known: Count) -> dict[str, int]:
    """The partitions of topics between subtopologies (``RepartitionTopics``).

    Kafka goes through all subtopologies again and again, and gives sinks the most partitions of
    the inputs that are known by then. Here a subtopology has its turn, of a round and its place in
    it, once the first of its inputs is known.
    """
    counts: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    for place, each in enumerate(subtopologies):
        for one in each.repartition_source_topics:
            readers.setdefault(one.name, []).append(place)
            if one.partitions:
                counts[one.name] = one.partitions
    turns = {
        place: 0
        for place, each in enumerate(subtopologies)
        if each.source_topics or any(one.name in counts for one in each.repartition_source_topics)
    }
    waiting = [(0, place) for place in turns]
    while waiting:
        turn, place = heapq.heappop(waiting)
        each = subtopologies[place]
        new = [name for name in dict.fromkeys(each.repartition_sink_topics) if name not in counts]
        if not new:
            continue
        found = [counts.get(one.name) for one in each.repartition_source_topics]
        found += [known(name) for name in each.source_topics]
        counts.update(dict.fromkeys(new, max(number for number in found if number is not None)))
        for reader in (reader for name in new for reader in readers.get(name, ())):
            if reader not in turns:
                turns[reader] = turn + (reader < place)
                heapq.heappush(waiting, (turns[reader], reader))
    if any(name not in counts for each in subtopologies for name in each.repartition_sink_topics):
        raise ApiFailure(
            codes.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics. There may be "
            "loops in the topology that cannot be resolved.",
        )
    if any(name not in counts for name in readers):
        raise ApiFailure(
            codes.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics, because a "
            "repartition source topic is never used as a sink topic.",
        )
    return counts


def _enforced(
    names: list[str], fixed: Mapping[str, int], flexible: Collection[str], known: Count
) -> dict[str, int]:
    """The partitions of topics that are to have the same (``CopartitionedTopicsEnforcer``)."""
    if not names:
        return {}
    internal = {
        name: _partitions(known, name) for name in names if name in fixed or name in flexible
    }
    others = {name: _partitions(known, name) for name in names if name not in internal}
    if others:
        wanted = _same(others.values(), others)
    elif fixed:
        wanted = _same(fixed.values(), internal)
    else:
        wanted = max(internal.values())
    for name in hash_order(internal):
        if name in fixed and internal[name] != wanted:
            raise _Unfit(
                WRONG_PARTITIONS,
                f"Number of partitions [{internal[name]}] of repartition topic [{name}] doesn't "
                f"match number of partitions [{wanted}] of the source topic.",
            )
    return dict.fromkeys(internal, wanted)


def _same(numbers: Collection[int], topics: Mapping[str, int]) -> int:
    if len(set(numbers)) > 1:
        shown = ", ".join(f"{name}={topics[name]}" for name in sorted(topics))
        raise _Unfit(
            WRONG_PARTITIONS,
            f"Following topics do not have the same number of partitions: [{{{shown}}}]",
        )
    return next(iter(numbers))


def _internal(rows: Iterable[TopicInfo], decided: Mapping[str, int]) -> list[InternalTopic]:
    found: dict[str, InternalTopic] = {}
    for each in rows:
        configs = {one.key: one.value for one in each.topic_configs}
        partitions = each.partitions or decided.get(each.name, 0)
        is_repeated = each.name in found or len(configs) < len(each.topic_configs)
        if is_repeated or partitions < 1 or not is_valid(each.name):
            raise unexpected()
        found[each.name] = InternalTopic(each.name, partitions, each.replication_factor, configs)
    return list(found.values())


def _summary(names: Collection[str]) -> str:
    shown = ", ".join([*names][:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} additional topics" if more > 0 else shown
