"""What a reassignment would do, before it is begun."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.operations.common.failures import Failure, failure_of
from kafka_admin_proto.admin.operations.partitions.json_files import PartitionReplicas
from kafka_admin_proto.admin.operations.partitions.moves import MovePartitions
from kafka_admin_proto.admin.operations.partitions.progress import unknown_partition
from kafka_admin_proto.admin.operations.partitions.reassignment import check_moves
from kafka_admin_proto.admin.operations.topics.descriptions import DescribeTopics


class PlannedMove(msgspec.Struct, frozen=True, kw_only=True):
    """A partition, the brokers that have its replicas and those that would get them.

    ``current`` is None where an ``error`` says why the partition cannot be moved.
    """

    topic: str
    partition: int
    current: Sequence[int] | None
    replicas: Sequence[int]
    error: str | None = None
    message: str | None = None


class PlanReassignments(DescribeTopics, MovePartitions):
    """ListPartitionReassignments and DescribeTopicPartitions."""

    async def plan_reassignment(
        self,
        partitions: Iterable[PartitionReplicas],
        *,
        additional: bool = False,
        timeout: float | None = None,
    ) -> list[PlannedMove]:
        """What ``execute_reassignment`` would move, in order; changes nothing.

        Raises NoSuchBrokerError for a broker that is not live, and AdminError without
        ``additional`` where something moves.
        """
        rows = list(partitions)
        deadline = call_deadline(self, timeout)
        await check_moves(self, rows, additional=additional, timeout=deadline.left)
        names = dict.fromkeys(row.topic for row in rows)
        described = await self.describe_topics(names, timeout=deadline.left)
        topics = {each.name: each for each in described}
        planned = []
        for row in rows:
            topic = topics[row.topic]
            current = {each.partition: each.replicas for each in topic.partitions}
            why = Failure(error=topic.error, message=topic.message)
            if topic.error is None and row.partition not in current:
                why = failure_of(unknown_partition(row.topic, row.partition))
            planned.append(
                PlannedMove(
                    topic=row.topic,
                    partition=row.partition,
                    current=current.get(row.partition),
                    replicas=row.replicas,
                    **why,
                )
            )
        return planned
