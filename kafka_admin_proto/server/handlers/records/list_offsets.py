"""ListOffsets: the offsets of times, and the first and last one of a log.

Versions: 0 offsets where segments begin, 1 one offset with its time, 2 isolation levels, 4 leader
epochs, 6 flexible, 7 the latest time (KIP-734), 8 to 11 the borders of remote storage, which is
never used here.
"""

from __future__ import annotations

from collections import Counter

from kafka_admin_proto.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
)
from kafka_admin_proto.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.segments import FoundOffset, offsets_before
from kafka_admin_proto.server.replication.leaders import NO_EPOCH, hosted
from kafka_admin_proto.server.security.authorizer.access import allowed_topics
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE

_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED, _PENDING_UPLOAD = range(
    -1, -7, -1
)
#: Special timestamps, and the first version with them.
_SINCE = {
    _LATEST: 0, _EARLIEST: 0, _MAX_TIMESTAMP: 7, _EARLIEST_LOCAL: 8, _LATEST_TIERED: 9,
    _PENDING_UPLOAD: 11,
}  # fmt: skip
#: Without remote storage no offset is in it, or waits to be.
_NOT_REMOTE = FoundOffset(-1, -1, -1)
_READ_COMMITTED = 1
#: The first versions with leader epochs and with OFFSET_NOT_AVAILABLE (KIP-207).
_EPOCHS, _NOT_AVAILABLE = 4, 5
#: Replica ids of clients, and of those that may ask any replica.
_CLIENT, _DEBUGGER = -1, -2


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ListOffsetsRequest, caller: Caller) -> Answer:
    """Look up each partition."""
    allowed = allowed_topics(state, caller, DESCRIBE, [each.name for each in request.topics])
    counts = Counter(
        (each.name, part.partition_index) for each in request.topics for part in each.partitions
    )
    response = ListOffsetsResponse()
    items: dict[str, ListOffsetsTopicResponse] = {}
    seen: set[tuple[str, int]] = set()
    for wanted in request.topics:
        topic = state.topic(wanted.name)
        item = ListOffsetsTopicResponse(wanted.name)
        # Since 4.0 a partition that is asked for twice is answered once.
        is_merged = wanted.name in allowed and state.release >= (4,)
        if is_merged and wanted.name in items:
            item = items[wanted.name]
        else:
            items[wanted.name] = item
            response.topics.append(item)
        for part in wanted.partitions:
            row = ListOffsetsPartitionResponse(part.partition_index)
            if is_merged and (wanted.name, part.partition_index) in seen:
                continue
            seen.add((wanted.name, part.partition_index))
            item.partitions.append(row)
            try:
                if wanted.name not in allowed:
                    raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
                if counts[wanted.name, part.partition_index] > 1 and caller.version > 0:
                    raise ApiFailure(codes.INVALID_REQUEST)
                if part.timestamp < 0 and caller.version < _SINCE.get(part.timestamp, 1 << 15):
                    raise ApiFailure(codes.UNSUPPORTED_VERSION)
                if caller.version == 0:
                    row.old_style_offsets = _old_offsets(state, caller, request, topic, part)
                    continue
                position = _found(state, caller, request, topic, part)
            except ApiFailure as failure:
                row.error_code = failure.code
                continue
            if position is not None:
                row.offset, row.timestamp = position.offset, position.timestamp
                row.leader_epoch = position.leader_epoch if caller.version >= _EPOCHS else -1
    return Answer(response)


def _old_offsets(
    state: View,
    caller: Caller,
    request: ListOffsetsRequest,
    topic: Topic | None,
    part: ListOffsetsPartition,
) -> list[int]:
    """Where segments begin, the last first, and the end of the log. Raises ApiFailure."""
    replica = hosted(
        state, caller, topic, part.partition_index, leader_only=request.replica_id != _DEBUGGER
    )
    log, most = replica.replicas.log, part.max_num_offsets
    if most < 0:  # Kafka's own code fails there
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    now_ms = state.controller_state.clock.now_ms()
    offsets = offsets_before(log.segments, log.start_offset, part.timestamp, most, now_ms)
    if request.replica_id != _CLIENT or not offsets or offsets[0] <= log.high_watermark:
        return offsets
    return [log.high_watermark, *[each for each in offsets if each <= log.high_watermark]]


def _found(
    state: View,
    caller: Caller,
    request: ListOffsetsRequest,
    topic: Topic | None,
    part: ListOffsetsPartition,
) -> FoundOffset | None:
    """The offset that is asked for of a partition, None if no record has it. Raises ApiFailure."""
    replica = hosted(
        state, caller, topic, part.partition_index,
        epoch=part.current_leader_epoch, leader_only=request.replica_id != _DEBUGGER,
    )  # fmt: skip
    log, timestamp = replica.replicas.log, part.timestamp
    up_to = log.end_offset
    if request.replica_id == _CLIENT:
        is_committed = request.isolation_level == _READ_COMMITTED
        up_to = log.last_stable_offset if is_committed else log.high_watermark
    if timestamp in (_EARLIEST, _EARLIEST_LOCAL):
        # A follower hears of an epoch with its first records.
        is_unheard = replica.partition.leader != caller.node_id and log.end_offset == 0
        epoch = NO_EPOCH if is_unheard else log.epochs.at(log.start_offset)
        return FoundOffset(log.start_offset, -1, epoch)
    if timestamp in (_LATEST_TIERED, _PENDING_UPLOAD):
        return _NOT_REMOTE
    if timestamp == _LATEST:
        position: FoundOffset | None = FoundOffset(up_to, -1, replica.partition.leader_epoch)
    elif timestamp == _MAX_TIMESTAMP:
        position = log.offset_of_max_timestamp()
    else:
        position = log.offset_for_time(timestamp, up_to=log.end_offset)
    if position is None or position.offset < up_to:
        return position
    if request.replica_id == _CLIENT and log.epochs.start_of_latest > log.high_watermark:
        # The leader is new, and does not know yet what is replicated.
        is_named = caller.version >= _NOT_AVAILABLE
        raise ApiFailure(codes.OFFSET_NOT_AVAILABLE if is_named else codes.LEADER_NOT_AVAILABLE)
    return position if timestamp == _LATEST else None
