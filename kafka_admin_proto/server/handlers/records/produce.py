"""Produce: batches of records that the leaders of partitions append.

Versions: 0 to 2 message sets, 2 the time of the append, 3 one batch of magic 2 and transactional
ids, 5 the log's first offset, 7 zstd, 8 record errors and messages (KIP-467), 9 flexible, 10 the
leader for clients of others (KIP-951), 13 topic ids (KIP-516).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from kafka_admin_proto.messages import ProduceRequest
from kafka_admin_proto.messages.produce_response import (
    BatchIndexAndErrorMessage,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.layout import (
    ATTRIBUTES_AT,
    BATCH_HEADER,
    COMPRESSION,
    MAGIC_AT,
    TRANSACTIONAL,
)
from kafka_admin_proto.records.batches.model import COMPRESSIONS
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.partitions.headers import split_batches
from kafka_admin_proto.server.partitions.validation import check_produced
from kafka_admin_proto.server.quotas.byte_rates import client_bytes
from kafka_admin_proto.server.replication.leaders import Hosted, LeaderHints, hosted, topic_of
from kafka_admin_proto.server.replication.pending import Pending, PendingRows
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, allows
from kafka_admin_proto.server.security.authorizer.rules import TRANSACTIONAL_ID, WRITE
from kafka_admin_proto.server.topics.names import INTERNAL
from kafka_admin_proto.server.transactions.verification import Support, verify

_ALL = -1
_ACKS = (_ALL, 0, 1)
#: Clients of this id may write to Kafka's own topics.
_ADMIN_CLIENT = "__admin_client"
_MAGIC = 2
#: The first versions with one batch, with zstd, with hints to leaders and with topic ids.
_ONE_BATCH, _ZSTD, _HINTS, _TOPIC_IDS = 3, 7, 10, 13
#: The first versions of clients that know TRANSACTION_ABORTABLE, and that leave it to the leader to
#: make the partition part of the transaction (KIP-890).
_ABORTABLE, _IMPLICIT = 11, 12
#: Failures of the coordinator of transactions that the client hears of as another one.
_UNVERIFIED = (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR)
#: Failures behind which a client does not learn the first offset of the log.
_WITHOUT_START = (
    codes.UNKNOWN_TOPIC_OR_PARTITION, codes.NOT_LEADER_OR_FOLLOWER, codes.MESSAGE_TOO_LARGE,
    codes.RECORD_LIST_TOO_LARGE, codes.CORRUPT_MESSAGE, codes.UNKNOWN_TOPIC_ID,
)  # fmt: skip


@handler(of_broker=True, needs=None, kept=False, at_once=True)
def handle(state: View, request: ProduceRequest, caller: Caller) -> Answer:
    """Append the batches of each partition; with acks of -1 wait for the replicas in sync."""
    response = ProduceResponse()
    hints = LeaderHints(state, caller)
    pending = PendingRows[PartitionProduceResponse]()
    asked: dict[tuple[str, UUID], dict[int, bytes | None]] = {}  # a partition counts once
    of_transaction = False
    for topic_data in request.topic_data:
        parts = asked.setdefault((topic_data.name, topic_data.topic_id), {})
        for part in topic_data.partition_data:
            parts[part.index] = part.records
            # As in Kafka a first batch whose size or magic is impossible fails the whole request.
            if part.records is not None and _is_transactional(part.records):
                of_transaction = True
    if of_transaction:
        _check_transactional_id(state, request, caller)
    size = 0
    topics: list[Topic | None] = []
    names: list[str] = []
    for key, parts in asked.items():
        topic = topic_of(state, *key)
        topics.append(topic)
        names.append(key[0] if topic is None else topic.name)
        for data in parts.values():
            size += len(data or b"")
    budget = DecompressionBudget(size)
    allowed = allowed_topics(state, caller, WRITE, names)
    for name, topic, parts in zip(names, topics, asked.values(), strict=True):
        if name in allowed:
            _check_whole(topic, parts, caller.version)
    for name, topic, (key, parts) in zip(names, topics, asked.items(), strict=True):
        rows: list[PartitionProduceResponse] = []
        response.responses.append(TopicProduceResponse(*key, rows))
        for number, data in parts.items():
            row = PartitionProduceResponse(number, base_offset=-1)
            rows.append(row)
            try:
                if topic is None and caller.version >= _TOPIC_IDS:
                    raise ApiFailure(codes.UNKNOWN_TOPIC_ID)
                if name not in allowed:
                    raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
                if topic is None or number not in topic.partitions:
                    raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
                assert data is not None, "such a request has failed"
                check_produced(data, caller.version)
                if request.acks not in _ACKS:
                    raise ApiFailure(codes.INVALID_REQUIRED_ACKS)
                if name in INTERNAL and caller.client_id != _ADMIN_CLIENT:
                    raise ApiFailure(codes.INVALID_TOPIC_EXCEPTION)
                replica = hosted(state, caller, topic, number)
                if of_transaction and _is_transactional(data):
                    _verify(state, request, replica, row, data, caller.version)
                required_offset = _appended(state, request, replica, row, data, budget)
                if required_offset is not None:
                    pending.add(row, replica, required_offset)
            except ApiFailure as failure:
                row.error_code = failure.code
                if failure.code == codes.NOT_LEADER_OR_FOLLOWER and caller.version >= _HINTS:
                    hints.add(row, topic, number)
    response.node_endpoints = hints.endpoints(NodeEndpoint)
    if not pending:
        _throttle(state, caller, response)
        return Answer(response)

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        """Decide the partitions that can be; at the end of the time all of them."""
        keys = pending.keys if is_over else changed
        pending.decide(keys, lambda each: _is_decided(view, caller, each, is_over))
        if not pending:
            _throttle(view, caller, response)
        return not pending

    return Answer(response, wait=Wait(max(0, request.timeout_ms), pending.keys, complete))


def _throttle(view: View, caller: Caller, response: ProduceResponse) -> None:
    """Count the request for its client's quota, as Kafka does when it answers."""
    quota = client_bytes(view, caller, "producer_byte_rate")
    if quota is not None:
        response.throttle_time_ms = quota.throttle_ms(caller.request_bytes)


def _check_transactional_id(state: View, request: ProduceRequest, caller: Caller) -> None:
    """Raises ApiFailure if the caller may not write records of its transaction."""
    name = request.transactional_id
    if name is None or not allows(state, caller, WRITE, TRANSACTIONAL_ID, name):
        raise ApiFailure(codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def _is_transactional(data: bytes) -> bool:
    """Whether the first batch belongs to a transaction. Raises ApiFailure for no batch."""
    first = next(split_batches(data), None)
    return (
        first is not None
        and first[MAGIC_AT] == _MAGIC
        and bool(first[ATTRIBUTES_AT + 1] & TRANSACTIONAL)
    )


def _check_whole(topic: Topic | None, parts: Mapping[int, bytes | None], version: int) -> None:
    """Raises ApiFailure for records of an existing partition that fail the whole request.

    Kafka looks at all of them before it appends any.
    """
    for number, data in parts.items():
        if topic is None or number not in topic.partitions:
            continue
        if data is None:  # Kafka's own code fails there, and makes no answer either
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        if version < _ONE_BATCH:
            for _ in split_batches(data):
                pass
        elif version < _ZSTD:
            first = next(split_batches(data), None)
            # Kafka asks whether it is zstd, and fails at a codec that it does not know.
            if first is not None and first[ATTRIBUTES_AT + 1] & COMPRESSION >= len(COMPRESSIONS):
                raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)


def _appended(
    state: View,
    request: ProduceRequest,
    replica: Hosted,
    row: PartitionProduceResponse,
    data: bytes,
    budget: DecompressionBudget,
) -> int | None:
    """Append a partition's batches. Raises ApiFailure.

    Returns the high watermark that has to be waited for, None if there is none.
    """
    replicas, log = replica.replicas, replica.replicas.log
    try:
        if request.acks == _ALL and replicas.in_sync < replicas.min_isr:
            raise ApiFailure(codes.NOT_ENOUGH_REPLICAS)
        clock = state.controller_state.clock
        epoch = replica.partition.leader_epoch
        appended = replicas.append(data, leader_epoch=epoch, now_ms=clock.now_ms(), budget=budget)
    except ApiFailure as failure:
        if failure.code not in _WITHOUT_START:
            row.log_start_offset = log.start_offset
        if isinstance(failure, RecordsRefused) and failure.record_errors:
            row.record_errors = [BatchIndexAndErrorMessage(*each) for each in failure.record_errors]
            row.error_message = failure.message
        raise
    row.base_offset, row.log_start_offset = appended.base_offset, appended.start_offset
    row.log_append_time_ms = appended.log_append_time_ms
    if request.acks != _ALL or log.high_watermark > appended.last_offset:
        return None
    return appended.last_offset + 1


def _verify(
    state: View,
    request: ProduceRequest,
    replica: Hosted,
    row: PartitionProduceResponse,
    data: bytes,
    version: int,
) -> None:
    """Raises ApiFailure for records of a transaction that the partition does not belong to."""
    if len(data) < BATCH_HEADER.size:  # the log refuses it
        return
    header = BatchHeader.of(data)
    if not header.has_producer_id:
        return
    support = Support.IMPLICIT if version >= _IMPLICIT else Support.NONE
    if version == _ABORTABLE:
        support = Support.ABORTABLE
    try:
        verify(
            state, request.transactional_id or "", (header.producer_id, header.producer_epoch),
            (replica.topic.name, replica.number), replica.replicas.log, support,
        )  # fmt: skip
    except ApiFailure as failure:
        if failure.code == codes.INVALID_TXN_STATE:
            row.error_message = "Partition was not added to the transaction"
        concurrent = failure.code == codes.CONCURRENT_TRANSACTIONS and version < _IMPLICIT
        if concurrent or failure.code in _UNVERIFIED:
            raise ApiFailure(codes.NOT_ENOUGH_REPLICAS) from None
        raise


def _is_decided(
    view: View, caller: Caller, pending: Pending[PartitionProduceResponse], is_over: bool
) -> bool:
    """Whether all replicas in sync have the records, or never will; the row has the error then."""
    row, replica, required_offset = pending
    try:
        replicas = hosted(view, caller, view.topic_by_id(replica.topic.id), replica.number).replicas
    except ApiFailure as failure:
        row.error_code = failure.code
        return True
    if replicas.log.high_watermark >= required_offset:
        if replicas.in_sync < replicas.min_isr:
            row.error_code = codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return True
    if is_over:
        row.error_code = codes.REQUEST_TIMED_OUT
    return is_over
