"""AlterPartitionReassignments: begins or cancels reassignments of partitions (KIP-455).

Versions: 1 whether the replication factor may change (KIP-860).
"""

from __future__ import annotations

from kafka_admin_proto.messages import AlterPartitionReassignmentsRequest, PartitionChangeRecord
from kafka_admin_proto.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import is_reassigning
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import check_replicas
from kafka_admin_proto.server.topics.names import shortened
from kafka_admin_proto.server.topics.partition_changes import (
    Election,
    change_partition,
    unclean_allowed,
)
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=Gate(ALTER, "operation"), kept=False)
def handle(state: State, request: AlterPartitionReassignmentsRequest, caller: Caller) -> Answer:
    """Reassign each partition separately; with a timeout of 0 or less nothing changes."""
    if not request.topics:  # Kafka's controller leaves the message at its default, which is no null
        return Answer(AlterPartitionReassignmentsResponse(), [])
    response = AlterPartitionReassignmentsResponse(error_message=None)
    records: list[Message] = []
    late = request.timeout_ms <= 0
    if late:
        response.error_code = codes.REQUEST_TIMED_OUT
    elif caller.version >= 1:
        response.allow_replication_factor_change = request.allow_replication_factor_change
    for topic in request.topics:
        rows = []
        for part in topic.partitions:
            code, text = codes.REQUEST_TIMED_OUT if late else 0, None
            try:
                if not late:
                    record = _reassigned(state, topic.name, part.partition_index, part.replicas,
                                         request.allow_replication_factor_change)  # fmt: skip
                    records += [record] if record is not None else []
            except ApiFailure as failure:
                code, text = failure.code, failure.message
            rows.append(ReassignablePartitionResponse(part.partition_index, code, text))
        response.responses.append(ReassignableTopicResponse(topic.name, rows))
    return Answer(response, records)


def _reassigned(
    state: State, name: str, number: int, replicas: list[int] | None, factor_may_change: bool
) -> PartitionChangeRecord | None:
    topic = state.topic(name)
    if topic is None:
        text = f"Unable to find a topic named {shortened(name)}."
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION, text)
    partition = topic.partitions.get(number)
    if partition is None:
        text = f"Unable to find partition {name}:{number}."
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION, text)
    if replicas is None:
        return _cancelled(state, topic, number)
    check_replicas(state, replicas, None)
    current = [each for each in partition.replicas if each not in partition.adding_replicas]
    if not factor_may_change and len(replicas) != len(current):
        text = f"The replication factor is changed from {len(current)} to {len(replicas)}"
        raise ApiFailure(codes.INVALID_REPLICATION_FACTOR, text)
    return moved(state, topic, number, replicas)


def moved(
    state: State, topic: Topic, number: int, replicas: list[int]
) -> PartitionChangeRecord | None:
    """The record that begins a reassignment to these replicas; None if nothing changes."""
    partition = topic.partitions[number]
    removing = sorted({*partition.replicas} - {*replicas})
    adding = sorted({*replicas} - {*partition.replicas})
    return change_partition(
        state,
        topic.id,
        number,
        replicas=[*replicas, *removing],
        removing=removing or None,
        adding=adding or None,
    )


def _cancelled(state: State, topic: Topic, number: int) -> PartitionChangeRecord | None:
    partition = topic.partitions[number]
    if not is_reassigning(partition):
        raise ApiFailure(codes.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = [each for each in partition.replicas if each not in partition.adding_replicas]
    in_sync = [each for each in partition.isr if each not in partition.adding_replicas]
    unclean = unclean_allowed(state, topic.name)
    if not in_sync:
        if not unclean:
            raise ApiFailure(
                codes.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {topic.name}:{number} because it would "
                "require an unclean leader election.",
            )
        in_sync = replicas[:1]
    return change_partition(
        state,
        topic.id,
        number,
        in_sync=in_sync,
        replicas=replicas,
        removing=[],
        adding=[],
        election=Election.UNCLEAN if unclean else Election.ONLINE,
    )
