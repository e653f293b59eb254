"""DeleteRecords: the records of a partition before an offset (KIP-107).

Versions: 2 flexible.
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_admin_proto.messages import DeleteRecordsRequest
from kafka_admin_proto.messages.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication.leaders import Hosted, hosted
from kafka_admin_proto.server.replication.pending import Pending, PendingRows
from kafka_admin_proto.server.security.authorizer.access import allowed_topics
from kafka_admin_proto.server.security.authorizer.rules import DELETE
from kafka_admin_proto.server.topics.names import INTERNAL

_HIGH_WATERMARK = -1


@handler(of_broker=True, needs=None, kept=False, at_once=True)
def handle(state: View, request: DeleteRecordsRequest, caller: Caller) -> Answer:
    """Delete in each partition, and wait for the live replicas."""
    allowed = allowed_topics(state, caller, DELETE, [each.name for each in request.topics])
    response = DeleteRecordsResponse()
    pending = PendingRows[DeleteRecordsPartitionResult]()
    for wanted in request.topics:
        topic = state.topic(wanted.name)
        rows: list[DeleteRecordsPartitionResult] = []
        for part in wanted.partitions:
            row = DeleteRecordsPartitionResult(part.partition_index, low_watermark=-1)
            rows.append(row)
            try:
                if wanted.name not in allowed:
                    raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
                replica, offset = _deleted(state, caller, topic, part.partition_index, part.offset)
            except ApiFailure as failure:
                row.error_code = failure.code
            else:
                pending.add(row, replica, offset)
        response.topics.append(DeleteRecordsTopicResult(wanted.name, rows))
    alive = {each.id for each in state.live_brokers()}
    pending.decide(pending.keys, lambda each: _is_decided(each, alive))
    if not pending:
        return Answer(response)

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        alive = {each.id for each in view.live_brokers()}
        keys = pending.keys if is_over or None in changed else changed
        pending.decide(keys, lambda each: _is_decided(each, alive, is_over=is_over))
        return not pending

    keys = [None, *pending.keys]
    return Answer(response, wait=Wait(max(0, request.timeout_ms), keys, complete))


def _deleted(
    state: View, caller: Caller, topic: Topic | None, number: int, offset: int
) -> tuple[Hosted, int]:
    """Delete on the leader; the first offset that is left. Raises ApiFailure."""
    if topic is not None and topic.name in INTERNAL:
        raise ApiFailure(codes.INVALID_TOPIC_EXCEPTION)
    replica = hosted(state, caller, topic, number)
    log = replica.replicas.log
    if "delete" not in log.settings.cleanup_policy:
        raise ApiFailure(codes.POLICY_VIOLATION)
    wanted = log.high_watermark if offset == _HIGH_WATERMARK else offset
    if not 0 <= wanted <= log.high_watermark:
        raise ApiFailure(codes.OFFSET_OUT_OF_RANGE)
    replica.replicas.delete_before(wanted)
    return replica, wanted


def _is_decided(
    pending: Pending[DeleteRecordsPartitionResult], alive: Collection[int], *, is_over: bool = False
) -> bool:
    """Whether all replicas on live brokers begin behind the records; an error at the end."""
    row = pending.row
    row.low_watermark = pending.replica.replicas.low_watermark(alive)
    if is_over and row.low_watermark < pending.offset:
        row.error_code = codes.REQUEST_TIMED_OUT
    return is_over or row.low_watermark >= pending.offset
