"""AlterReplicaLogDirs: replicas of a node move to another of its log directories (KIP-113).

Versions: 1 another kind of throttling, 2 flexible. A node has one directory here, in which all its
replicas are already: nothing ever moves.
"""

from __future__ import annotations

from kafka_admin_proto.messages import AlterReplicaLogDirsRequest
from kafka_admin_proto.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.security.authorizer.rules import ALTER

#: The folder of a replica that moves is TOPIC-NUMBER.32 DIGITS-future, and has 255 characters at
#: most (``LocalLog.logFutureDirName``).
_LONGEST_FOLDER, _SUFFIX_CHARACTERS = 255, len(".") + 32 + len("-future")


@handler(of_broker=True, needs=Gate(ALTER, "code"), kept=False)
def handle(state: View, request: AlterReplicaLogDirsRequest, caller: Caller) -> Answer:
    """Say for each partition whether it may be in the named directory."""
    by_topic: dict[str, dict[int, int]] = {}  # as in Kafka the last directory of a partition counts
    here = state.static[caller.node_id].get("log.dirs", "")
    for directory in request.dirs:
        for topic in directory.topics:
            rows = by_topic.setdefault(topic.name, {})
            for number in topic.partitions:
                rows[number] = _code(state, caller, topic.name, number, directory.path == here)
    return Answer(
        AlterReplicaLogDirsResponse(
            results=[
                AlterReplicaLogDirTopicResult(
                    name, [AlterReplicaLogDirPartitionResult(*each) for each in rows.items()]
                )
                for name, rows in by_topic.items()
            ]
        )
    )


def _code(state: View, caller: Caller, name: str, number: int, is_here: bool) -> int:
    if len(f"{name}-{number}") + _SUFFIX_CHARACTERS > _LONGEST_FOLDER:
        return codes.INVALID_TOPIC_EXCEPTION
    if not is_here:
        return codes.LOG_DIR_NOT_FOUND
    topic = state.topic(name)
    partition = None if topic is None else topic.partitions.get(number)
    if partition is None:
        return codes.UNKNOWN_TOPIC_OR_PARTITION
    return 0 if caller.node_id in partition.replicas else codes.REPLICA_NOT_AVAILABLE
