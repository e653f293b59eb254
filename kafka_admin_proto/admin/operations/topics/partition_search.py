"""The partitions of topics, for operations that take partitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.topics.descriptions import (
    DescribeTopics,
    ListedTopic,
    TopicDescription,
)


class FoundPartitions(msgspec.Struct, frozen=True, kw_only=True):
    """(topic, partition) pairs, each once: of the topics that were named, then of those matched.

    ``failed`` are the topics named that could not be described, each with its error; ``matched``
    those that were found without a name.
    """

    partitions: Sequence[Partition] = ()
    failed: Sequence[TopicDescription] = ()
    matched: Sequence[ListedTopic] = ()


class FindPartitions(DescribeTopics):
    """Metadata and DescribeTopicPartitions."""

    async def find_partitions(
        self,
        names: Iterable[str] = (),
        *,
        pattern: str | None = None,
        include_internal: bool = True,
        timeout: float | None = None,
    ) -> FoundPartitions:
        """The partitions of topics by name, and of all that match a pattern; of all without either.

        ``pattern`` and ``include_internal`` are those of ``list_topics``. Raises InstructionError
        for a pattern that is none.
        """
        deadline = call_deadline(self, timeout)
        wanted = list(dict.fromkeys(names))
        described = await self.describe_topics(wanted, timeout=deadline.left) if wanted else []
        matched = []
        if pattern is not None or not wanted:
            matched = await self.list_topics(
                pattern=pattern, include_internal=include_internal, timeout=deadline.left
            )
        partitions = [
            (t.name or "", p.partition) for t in described if not t.error for p in t.partitions
        ]
        partitions += [(each.name, number) for each in matched for number in range(each.partitions)]
        failed = [each for each in described if each.error is not None]
        return FoundPartitions(
            partitions=list(dict.fromkeys(partitions)), failed=failed, matched=matched
        )
