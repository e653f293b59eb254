"""Requests that only the leader of a partition answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.item_results import R
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names
from kafka_admin_proto.admin.operations.common.routing import ask_brokers
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol import codes


async def ask_leaders(
    caller: Caller,
    partitions: Sequence[Partition],
    ask: Callable[[int, list[Partition], float], Awaitable[Mapping[Partition, R]]],
    failed: Callable[[Partition, Failure], R],
    *,
    timeout: float | None,
) -> list[R]:
    """The results of all partitions, in order, each from its leader; see ``ask_brokers``.

    A partition without a leader has LEADER_NOT_AVAILABLE when the time is over.
    """

    async def find(pending: list[Partition], seconds: float) -> Mapping[Partition, int | Failure]:
        names = {topic for topic, _ in pending}
        topics = await metadata_of_names(caller, names, timeout=seconds)
        return {each: _leader(topics.get(each[0]), each[1]) for each in pending}

    return await ask_brokers(caller, partitions, find, ask, failed, timeout=timeout)


def _leader(topic: MetadataResponseTopic | None, partition: int) -> int | Failure:
    if topic is None:
        return failure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.error_code:
        return failure(topic.error_code)
    rows = [each for each in topic.partitions if each.partition_index == partition]
    if not rows:
        return failure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    if rows[0].leader_id < 0:
        return failure(rows[0].error_code or codes.LEADER_NOT_AVAILABLE)
    return rows[0].leader_id
