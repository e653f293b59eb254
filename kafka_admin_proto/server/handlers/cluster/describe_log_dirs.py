"""DescribeLogDirs: the log directories of a node and their replicas (KIP-113).

Versions: 1 a throttle time, 2 flexible, 3 an error of its own, 4 sizes of the disk (KIP-827),
5 whether the directory takes no new replicas (KIP-1066). The disk is not examined,
so its sizes are -1.
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeLogDirsRequest
from kafka_admin_proto.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE


@handler(of_broker=True, needs=Gate(DESCRIBE, "none"), kept=False)
def handle(state: View, request: DescribeLogDirsRequest, caller: Caller) -> Answer:
    """List the replicas of this node: the requested ones, or all."""
    if request.topics is None:
        wanted = [(each, sorted(each.partitions)) for each in state.cluster.topics.values()]
    else:
        named: dict[str, dict[int, None]] = {}  # a partition counts once
        for each in request.topics:
            named.setdefault(each.topic, {}).update(dict.fromkeys(each.partitions))
        wanted = [
            (topic, list(numbers))
            for name, numbers in named.items()
            if (topic := state.topic(name)) is not None
        ]
    topics, partitions = [], state.controller_state.partitions
    for topic, numbers in wanted:
        rows = [
            DescribeLogDirsPartition(each, partitions.size_bytes(topic.id, each))
            for each in numbers
            if each in topic.partitions and caller.node_id in topic.partitions[each].replicas
        ]
        if rows:
            topics.append(DescribeLogDirsTopic(topic.name, rows))
    folder = state.static[caller.node_id].get("log.dirs", "")
    return Answer(DescribeLogDirsResponse(results=[DescribeLogDirsResult(0, folder, topics)]))
