"""AssignReplicasToDirs: a broker says in which of its directories replicas are (KIP-858).

Versions: 0.
"""

from __future__ import annotations

from kafka_admin_proto.messages import AssignReplicasToDirsRequest
from kafka_admin_proto.messages.assign_replicas_to_dirs_response import (
    AssignReplicasToDirsResponse,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.replicas import without_replica
from kafka_admin_proto.server.quorum.broker_states import check_epoch
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import is_online
from kafka_admin_proto.server.topics.partition_changes import change_partition
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: AssignReplicasToDirsRequest, caller: Caller) -> Answer:
    """Note the directory of each replica; what is in one that is offline leaves the ISR.

    STALE_BROKER_EPOCH for another incarnation of the broker.
    """
    broker = request.broker_id
    check_epoch(state, broker, request.broker_epoch)
    response = AssignReplicasToDirsResponse()
    records: list[Message] = []
    offline: dict[tuple[str, int], Topic] = {}
    for directory in request.directories:
        topics = []
        for asked in directory.topics:
            topic = state.topic_by_id(asked.topic_id)
            rows = []
            for each in asked.partitions:
                number = each.partition_index
                code = _refused(topic, number, broker)
                rows.append(PartitionData(number, code))
                if topic is None or code:
                    continue
                record = change_partition(state, topic.id, number, directory=(broker, directory.id))
                records += [] if record is None else [record]
                if not is_online(state, broker, directory.id):
                    offline[topic.name, number] = topic
            topics.append(TopicData(asked.topic_id, rows))
        response.directories.append(DirectoryData(directory.id, topics))
    for (_, number), topic in offline.items():
        records += without_replica(state, topic, number, broker)
    return Answer(response, records)


def _refused(topic: Topic | None, number: int, broker: int) -> int:
    """The error code of a replica that the broker does not have, or 0."""
    if topic is None:
        return codes.UNKNOWN_TOPIC_ID
    partition = topic.partitions.get(number)
    if partition is None:
        return codes.UNKNOWN_TOPIC_OR_PARTITION
    return 0 if broker in partition.replicas else codes.NOT_LEADER_OR_FOLLOWER
