"""Partitions of topics, as requests and results group them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

#: A topic's name and a partition of it.
Partition = tuple[str, int]


class TopicPartitions(msgspec.Struct, frozen=True):
    """Partitions of a topic, ascending."""

    topic: str
    partitions: Sequence[int]


def by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    """Partitions by topic, in the order in which they come, each once."""
    found: dict[str, dict[int, None]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, {})[partition] = None
    return {topic: list(own) for topic, own in found.items()}


def topic_partitions(pairs: Iterable[tuple[str, Iterable[int]]]) -> list[TopicPartitions]:
    """Partitions by topic, sorted, a topic that comes twice put together."""
    found: dict[str, set[int]] = {}
    for topic, partitions in pairs:
        found.setdefault(topic, set()).update(partitions)
    return [TopicPartitions(topic, sorted(found[topic])) for topic in sorted(found)]
