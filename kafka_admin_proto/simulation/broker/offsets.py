"""ListOffsets and OffsetForLeaderEpoch, by name as shipped and by id as the text has them."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.messages.kip_516 import (
    ListOffsetsRequest as ListByIdRequest,
)
from kafka_admin_proto.messages.kip_516 import (
    ListOffsetsResponse as ListByIdResponse,
)
from kafka_admin_proto.messages.kip_516 import (
    OffsetForLeaderEpochRequest as EpochsByIdRequest,
)
from kafka_admin_proto.messages.kip_516 import (
    OffsetForLeaderEpochResponse as EpochsByIdResponse,
)
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsRequest
from kafka_admin_proto.messages.list_offsets_response import ListOffsetsResponse
from kafka_admin_proto.messages.offset_for_leader_epoch_request import OffsetForLeaderEpochRequest
from kafka_admin_proto.messages.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.log import UNDEFINED
from kafka_admin_proto.values import Message

OFFSET_NOT_AVAILABLE = 78
UNSUPPORTED_VERSION = 35
#: Timestamps that stand for an end of the log.
LATEST, EARLIEST = -1, -2
#: Replica ids of a ListOffsets that is no broker's: a consumer, and one that any replica answers.
_CONSUMER, _DEBUGGING = -1, -2


def list_offsets(broker: BrokerState, body: ListOffsetsRequest) -> Message:
    """Offsets by name."""
    answer = ListOffsetsResponse()
    for topic in body.topics:
        row = ListOffsetsResponse.ListOffsetsTopicResponse(topic.name)
        for each in topic.partitions:
            replica = broker.hosted((topic.name, each.partition_index))
            code, offset, epoch = _offset(replica, each, body.replica_id)
            row.partitions.append(
                ListOffsetsResponse.ListOffsetsPartitionResponse(
                    partition_index=each.partition_index,
                    error_code=code,
                    offset=offset,
                    leader_epoch=epoch,
                )
            )
        answer.topics.append(row)
    return answer


def list_offsets_by_id(broker: BrokerState, body: ListByIdRequest) -> Message:
    """Offsets by id: a stale replica does not answer for the topic that has its name now."""
    answer = ListByIdResponse()
    for topic in body.topics:
        row = ListByIdResponse.Topic(topic.topic_id)
        for each in topic.partitions:
            replica = broker.hosted_by_id(topic.topic_id, each.partition_index)
            code, offset, epoch = _offset(replica, each, body.replica_id)
            row.partitions.append(
                ListByIdResponse.Partition(each.partition_index, code, UNDEFINED, offset, epoch)
            )
        answer.topics.append(row)
    return answer


def offset_for_leader_epoch(broker: BrokerState, body: OffsetForLeaderEpochRequest) -> Message:
    """Ends of leader epochs by name."""
    answer = OffsetForLeaderEpochResponse()
    for topic in body.topics:
        row = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(topic.topic)
        for each in topic.partitions:
            code, epoch, end = _end(broker.hosted((topic.topic, each.partition)), each)
            row.partitions.append(
                OffsetForLeaderEpochResponse.EpochEndOffset(code, each.partition, epoch, end)
            )
        answer.topics.append(row)
    return answer


def offset_for_leader_epoch_by_id(broker: BrokerState, body: EpochsByIdRequest) -> Message:
    """Ends of leader epochs by id."""
    answer = EpochsByIdResponse()
    for topic in body.topics:
        row = EpochsByIdResponse.Topic(topic.topic_id)
        for each in topic.partitions:
            replica = broker.hosted_by_id(topic.topic_id, each.partition)
            code, epoch, end = _end(replica, each)
            row.partitions.append(EpochsByIdResponse.Partition(code, each.partition, epoch, end))
        answer.topics.append(row)
    return answer


def _offset(replica: Replica | int, asked: Any, replica_id: int) -> tuple[int, int, int]:
    """Error code, offset and leader epoch. Of timestamps, the two ends of the log are known."""
    if isinstance(replica, int):
        return replica, UNDEFINED, UNDEFINED
    log = replica.log_or_error(asked.current_leader_epoch, leader_only=replica_id != _DEBUGGING)
    if isinstance(log, int):
        return log, UNDEFINED, UNDEFINED
    if asked.timestamp == EARLIEST:
        epochs = [epoch for epoch, start in log.epochs if start <= 0]
        return 0, 0, epochs[0] if epochs else UNDEFINED
    if asked.timestamp != LATEST:
        return UNSUPPORTED_VERSION, UNDEFINED, UNDEFINED
    if replica_id != _CONSUMER:
        return 0, log.end_offset, replica.leader_epoch
    if replica.is_leader and replica.epoch_start > log.high_watermark:
        return OFFSET_NOT_AVAILABLE, UNDEFINED, UNDEFINED
    return 0, log.high_watermark, replica.leader_epoch


def _end(replica: Replica | int, asked: Any) -> tuple[int, int, int]:
    """Error code, leader epoch and end offset."""
    if isinstance(replica, int):
        return replica, UNDEFINED, UNDEFINED
    log = replica.log_or_error(asked.current_leader_epoch, leader_only=True)
    if isinstance(log, int):
        return log, UNDEFINED, UNDEFINED
    return (0, *log.end_of_epoch(asked.leader_epoch))
