"""Produce by name and by id: few records, so that a stale read can be seen."""

from __future__ import annotations

from kafka_admin_proto.messages import ProduceRequest
from kafka_admin_proto.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker.replica import ANY_EPOCH, Replica
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.logs import Partition
from kafka_admin_proto.values import Message


def produce(broker: BrokerState, body: ProduceRequest) -> Message | None:
    """Append what clients write; answered when the leader has it. None where acks is 0."""
    answer = ProduceResponse()
    for topic in body.topic_data:
        row = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        for partition in topic.partition_data:
            if topic.topic_id == ZERO_UUID:
                replica = _by_name(broker, (topic.name, partition.index))
            else:
                replica = broker.hosted_by_id(topic.topic_id, partition.index)
            appended = _append(replica, partition.index, partition.records or b"")
            row.partition_responses.append(appended)
        answer.responses.append(row)
    return answer if body.acks else None


def _by_name(broker: BrokerState, partition: Partition) -> Replica | int:
    if partition not in broker.metadata:
        return codes.UNKNOWN_TOPIC_OR_PARTITION
    return broker.hosted(partition)


def _append(replica: Replica | int, index: int, records: bytes) -> PartitionProduceResponse:
    if isinstance(replica, int):
        return _error(index, replica)
    log = replica.log_or_error(ANY_EPOCH, leader_only=True)
    if isinstance(log, int):
        return _error(index, log)
    offset = log.append(records, replica.leader_epoch)
    replica.advance()
    return PartitionProduceResponse(index=index, base_offset=offset, log_start_offset=0)


def _error(index: int, code: int) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=code, base_offset=-1)
