"""WriteTxnMarkers: coordinators end transactions in the logs of partitions (KIP-98).

Admin clients end with it those that hang, whose coordinator does not know them any more (KIP-664).

Versions: 1 flexible, 2 the version of transactions (KIP-1228).
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_admin_proto.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WriteTxnMarkersRequest,
)
from kafka_admin_proto.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication.leaders import hosted
from kafka_admin_proto.server.replication.pending import Pending, PendingRows
from kafka_admin_proto.server.security.authorizer.access import allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import ALTER, CLUSTER_ACTION
from kafka_admin_proto.server.transactions.markers import Marker, write_marker


@handler(of_broker=True, needs=None, kept=False, at_once=True)
def handle(state: View, request: WriteTxnMarkersRequest, caller: Caller) -> Answer:
    """Write each marker; answer when replicas have them."""
    if not any(allows_on_cluster(state, caller, each) for each in (CLUSTER_ACTION, ALTER)):
        raise ApiFailure(codes.CLUSTER_AUTHORIZATION_FAILED)
    response = WriteTxnMarkersResponse()
    pending = PendingRows[WritableTxnMarkerPartitionResult]()
    for marker in request.markers:
        result = WritableTxnMarkerResult(marker.producer_id)
        response.markers.append(result)
        for wanted in marker.topics:
            rows: list[WritableTxnMarkerPartitionResult] = []
            result.topics.append(WritableTxnMarkerTopicResult(wanted.name, rows))
            for number in wanted.partition_indexes:
                row = WritableTxnMarkerPartitionResult(number)
                rows.append(row)
                try:
                    replica = hosted(state, caller, state.topic(wanted.name), number)
                    end = write_marker(
                        state.controller_state, replica.topic, number, _marker(marker)
                    )
                except ApiFailure as failure:
                    row.error_code = failure.code
                else:
                    if replica.replicas.log.high_watermark < end:
                        pending.add(row, replica, end)
    if not pending:
        return Answer(response)

    def is_decided(
        waiting: Pending[WritableTxnMarkerPartitionResult], view: View, *, is_over: bool
    ) -> bool:
        replica = waiting.replica
        try:
            topic = view.topic_by_id(replica.topic.id)
            log = hosted(view, caller, topic, replica.number).replicas.log
        except ApiFailure as failure:
            waiting.row.error_code = failure.code
            return True
        if log.high_watermark < waiting.offset and is_over:
            waiting.row.error_code = codes.REQUEST_TIMED_OUT
        return is_over or log.high_watermark >= waiting.offset

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        keys = pending.keys if is_over else changed
        pending.decide(keys, lambda each: is_decided(each, view, is_over=is_over))
        return not pending

    timeout_ms = state.broker_value("request.timeout.ms", caller.node_id)
    return Answer(response, wait=Wait(timeout_ms, pending.keys, complete))


def _marker(row: WritableTxnMarker) -> Marker:
    return Marker(
        row.producer_id,
        row.producer_epoch,
        row.transaction_result,
        row.coordinator_epoch,
        row.transaction_version,
    )
