"""What a broker lacks of a change that the controller has taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kafka_admin_proto.counts import counted


class Missing(msgspec.Struct, frozen=True):
    """One thing that a broker did not have as asked when the time was over; it may still come.

    ``text`` is a sentence about it, and ``str`` puts the broker in front. ``partition`` is None
    for the topic as a whole, ``broker`` where it is not known which brokers there are.
    """

    topic: str
    text: str
    partition: int | None = None
    broker: int | None = None

    def __str__(self) -> str:
        return self.text if self.broker is None else f"broker {self.broker}: {self.text}"


def missing_in_partition(topic: str, partition: int, fault: str) -> Missing:
    """A fault of one partition, which the sentence names."""
    return Missing(topic, f"partition {partition} of topic {topic!r} {fault}", partition)


def missing_partitions(
    topic: str, leaders: Mapping[int, int | None] | None, count: int
) -> Iterator[Missing]:
    """The partitions that a broker does not know, or knows without a leader.

    ``leaders`` are those that it knows, by partition; None for a topic that it does not know.
    """
    if leaders is None:
        yield Missing(topic, f"topic {topic!r} is unknown")
        return
    if len(leaders) < count:
        yield Missing(
            topic, f"topic {topic!r} has {len(leaders)} of {counted(count, 'partitions')}"
        )
    for partition, leader in leaders.items():
        if leader is None:
            yield missing_in_partition(topic, partition, "has no leader")
