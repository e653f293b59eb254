"""ListPartitionReassignments: partitions whose replicas are being moved (KIP-455).

Version 0 is the only one.
"""

from __future__ import annotations

from kafka_admin_proto.messages import ListPartitionReassignmentsRequest
from kafka_admin_proto.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import is_reassigning
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=Gate(DESCRIBE, "operation"), kept=True)
def handle(state: State, request: ListPartitionReassignmentsRequest, caller: Caller) -> Answer:
    """List the reassignments of the named topics, or of all; unknown ones are left out."""
    response = ListPartitionReassignmentsResponse(error_message=None)
    if request.topics is None:
        wanted = [(each, sorted(each.partitions)) for each in state.cluster.topics.values()]
    else:
        wanted = [
            (topic, each.partition_indexes)
            for each in request.topics
            if (topic := state.topic(each.name)) is not None
        ]
    for topic, numbers in wanted:
        rows = []
        for number in numbers:
            partition = topic.partitions.get(number)
            if partition is not None and is_reassigning(partition):
                rows.append(
                    OngoingPartitionReassignment(
                        number,
                        partition.replicas,
                        partition.adding_replicas,
                        partition.removing_replicas,
                    )
                )
        if rows:
            response.topics.append(OngoingTopicReassignment(topic.name, rows))
    return Answer(response)
