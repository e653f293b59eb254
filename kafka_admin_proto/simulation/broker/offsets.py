"""ListOffsets and OffsetForLeaderEpoch: by topic name as shipped, by topic id as in the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from kafka_admin_proto.messages.kip_516 import ListOffsetsRequest as ListByIdRequest
from kafka_admin_proto.messages.kip_516 import ListOffsetsResponse as ListByIdResponse
from kafka_admin_proto.messages.kip_516 import OffsetForLeaderEpochRequest as EpochsByIdRequest
from kafka_admin_proto.messages.kip_516 import OffsetForLeaderEpochResponse as EpochsByIdResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.log import UNDEFINED
from kafka_admin_proto.values import Message

#: Timestamps that stand for an end of the log.
LATEST, EARLIEST = -1, -2
#: Replica ids of a ListOffsets that is no broker's: a consumer, and one that any replica answers.
_CONSUMER, _DEBUGGING = -1, -2

#: Request → the classes of its response, and of the response's topics and partitions.
_ROWS: dict[type[Message], tuple[Any, Any, Any]] = {
    ListOffsetsRequest: (
        ListOffsetsResponse,
        ListOffsetsResponse.ListOffsetsTopicResponse,
        ListOffsetsResponse.ListOffsetsPartitionResponse,
    ),
    ListByIdRequest: (ListByIdResponse, ListByIdResponse.Topic, ListByIdResponse.Partition),
    OffsetForLeaderEpochRequest: (
        OffsetForLeaderEpochResponse,
        OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult,
        OffsetForLeaderEpochResponse.EpochEndOffset,
    ),
    EpochsByIdRequest: (EpochsByIdResponse, EpochsByIdResponse.Topic, EpochsByIdResponse.Partition),
}


def list_offsets(broker: BrokerState, body: ListOffsetsRequest | ListByIdRequest) -> Message:
    """Offsets of partitions. By id, a stale replica does not answer for a new topic of its name."""

    def row(asked: Any, replica: Replica | int, make: Any) -> Any:
        code, offset, epoch = _offset(replica, asked, body.replica_id)
        return make(
            partition_index=asked.partition_index, error_code=code, timestamp=UNDEFINED,
            offset=offset, leader_epoch=epoch,
        )  # fmt: skip

    return _answer(broker, body, row, "partition_index")


def offset_for_leader_epoch(
    broker: BrokerState, body: OffsetForLeaderEpochRequest | EpochsByIdRequest
) -> Message:
    def row(asked: Any, replica: Replica | int, make: Any) -> Any:
        code, epoch, end = _end(replica, asked)
        return make(code, asked.partition, epoch, end)

    return _answer(broker, body, row, "partition")


def _answer(
    broker: BrokerState, body: Any, row: Callable[[Any, Replica | int, Any], Any], number: str
) -> Message:
    """The response, with the ``row`` of each partition, whose field ``number`` says which it is."""
    response_class, topic_row, partition_row = _ROWS[type(body)]
    topics = []
    for topic in body.topics:
        key = _name_or_id(topic)
        rows = []
        for asked in topic.partitions:
            index = getattr(asked, number)
            by_id = isinstance(key, UUID)
            replica = broker.hosted_by_id(key, index) if by_id else broker.hosted((key, index))
            rows.append(row(asked, replica, partition_row))
        topics.append(topic_row(key, rows))
    response: Message = response_class(topics=topics)
    return response


def _name_or_id(topic: Any) -> Any:
    """The key of a topic in a request: an id in the text's versions, a name in shipped ones."""
    for key in ("topic_id", "name", "topic"):
        if hasattr(topic, key):
            return getattr(topic, key)
    raise TypeError(f"{type(topic).__name__} names no topic")


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
        return codes.UNSUPPORTED_VERSION, UNDEFINED, UNDEFINED
    if replica_id != _CONSUMER:
        return 0, log.end_offset, replica.leader_epoch
    if replica.is_leader and replica.epoch_start > log.high_watermark:
        return codes.OFFSET_NOT_AVAILABLE, UNDEFINED, UNDEFINED
    return 0, log.high_watermark, replica.leader_epoch


def _end(replica: Replica | int, asked: Any) -> tuple[int, int, int]:
    """Error code, leader epoch and end offset."""
    if isinstance(replica, int):
        return replica, UNDEFINED, UNDEFINED
    log = replica.log_or_error(asked.current_leader_epoch, leader_only=True)
    if isinstance(log, int):
        return log, UNDEFINED, UNDEFINED
    return (0, *log.end_of_epoch(asked.leader_epoch))
