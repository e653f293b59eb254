"""Producing records: batches to the leaders of their partitions, each record once."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import BrokerError, InstructionError
from kafka_admin_proto.admin.operations.common.failures import (
    NONE,
    Failure,
    failure,
    failure_of,
    raise_failure,
)
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names
from kafka_admin_proto.admin.operations.common.routing import ask_leaders
from kafka_admin_proto.admin.operations.common.timeouts import wire_timeout_ms
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import EncodeError, KafkaAdminProtoError
from kafka_admin_proto.messages import InitProducerIdRequest, InitProducerIdResponse, ProduceRequest
from kafka_admin_proto.messages.produce_response import PartitionProduceResponse, ProduceResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.records.batches.model import COMPRESSIONS, CompressionName
from kafka_admin_proto.records.partitioner import partition_of_key
from kafka_admin_proto.schema.versions import VersionRange

#: The versions of Produce that take batches of magic 2 and name topics, which all brokers have.
_VERSIONS = VersionRange(3, 12)
_ALL_IN_SYNC = -1
_TRANSACTION_MS = 60_000
#: Bytes of records in a batch: brokers take batches of 1 MiB by default (message.max.bytes).
_BATCH_BYTES = 900_000
#: What a record takes at most beside its key, value and headers, and each header beside its own.
_RECORD_BYTES, _HEADER_BYTES = 36, 10
#: Batches that a broker had already: an earlier attempt's answer was lost.
_HAD = codes.DUPLICATE_SEQUENCE_NUMBER


class NewRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record to produce.

    Without a ``partition`` the key's hash chooses one, as Kafka's Java client does; records without
    a key go to one partition together. ``timestamp_ms`` is since 1970, and now where it is None.
    """

    value: bytes | None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class ProducedRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Records of a partition that were produced together.

    ``offset`` is that of the first one; None if they were refused, or if an earlier attempt had
    written them and the broker has forgotten where. ``timestamp_ms`` is the broker's, where the
    topic has the times of appending.
    """

    topic: str
    partition: int
    records: int
    offset: int | None = None
    timestamp_ms: int | None = None
    error: str | None = None
    message: str | None = None


class _Producer(msgspec.Struct, frozen=True):
    id: int
    epoch: int


class ProduceOperations(Caller):
    """InitProducerId and Produce."""

    async def produce(
        self,
        topic: str,
        records: Iterable[NewRecord],
        *,
        compression: CompressionName = "none",
        timeout: float | None = None,
    ) -> list[ProducedRecords]:
        """Write records to a topic, in order within a partition; a result for each batch.

        All replicas in sync have the records of a result without ``error``. The producer is
        idempotent, so that an attempt whose answer is lost writes nothing twice. Behind a batch
        that is refused no other of its partition is sent; they have its error. What ends the call
        after a batch was answered, as the end of its time does or a record that cannot be written,
        is the error of all others.

        Raises InstructionError for a partition that the topic does not have, or for a record that
        cannot be written, and BrokerError where the topic has no metadata or the client may not
        produce.
        """
        deadline = call_deadline(self, timeout)
        if compression not in COMPRESSIONS:
            names = ", ".join(COMPRESSIONS)
            raise InstructionError(f"compression {compression!r}: expected one of {names}")
        given = list(records)
        if not given:
            return []
        count = await self._count_partitions(topic, deadline)
        waiting = {
            (topic, number): list(_batches(own))
            for number, own in _by_partition(topic, given, count).items()
        }
        producer = await self._new_producer(deadline)
        results: list[ProducedRecords] = []
        sequences = dict.fromkeys(waiting, 0)
        while waiting:
            batches = {partition: own[0] for partition, own in waiting.items()}
            try:
                data = {
                    partition: _encoded(own, compression, producer, sequences[partition])
                    for partition, own in batches.items()
                }
                found = await self._produce_batches(batches, data, deadline)
            except KafkaAdminProtoError as error:
                if not results:
                    raise
                found = [_unsent(each, own, error) for each, own in batches.items()]
            for result in found:
                results.append(result)
                partition = result.topic, result.partition
                sequences[partition] += result.records
                left = waiting[partition][1:]
                if result.error is not None:
                    results += [msgspec.structs.replace(result, records=len(each)) for each in left]
                if not left or result.error is not None:
                    del waiting[partition]
                else:
                    waiting[partition] = left
        return results

    async def _count_partitions(self, topic: str, deadline: Deadline) -> int:
        described = (await metadata_of_names(self, [topic], timeout=deadline.left)).get(topic)
        code = codes.UNKNOWN_TOPIC_OR_PARTITION if described is None else described.error_code
        if described is None or code:
            raise BrokerError(code, about={"topic": topic})
        return len(described.partitions)

    async def _new_producer(self, deadline: Deadline) -> _Producer:
        request = InitProducerIdRequest(
            transactional_id=None, transaction_timeout_ms=_TRANSACTION_MS
        )
        reply = await self.call(
            request, InitProducerIdResponse, to=Target.ANY, timeout=deadline.left
        )
        raise_failure(reply.body.error_code, context="InitProducerId")
        return _Producer(reply.body.producer_id, reply.body.producer_epoch)

    async def _produce_batches(
        self,
        batches: Mapping[Partition, Sequence[NewRecord]],
        data: Mapping[Partition, bytes],
        deadline: Deadline,
    ) -> list[ProducedRecords]:
        def result(partition: Partition, why: Failure, **more: int | None) -> ProducedRecords:
            return ProducedRecords(
                topic=partition[0],
                partition=partition[1],
                records=len(batches[partition]),
                **why,
                **more,
            )

        async def ask(
            broker: int, partitions: list[Partition], left: float
        ) -> dict[Partition, ProducedRecords]:
            request = ProduceRequest(
                acks=_ALL_IN_SYNC,
                timeout_ms=wire_timeout_ms(left),
                topic_data=[
                    ProduceRequest.TopicProduceData(
                        name=topic,
                        partition_data=[
                            ProduceRequest.PartitionProduceData(
                                index=number, records=data[topic, number]
                            )
                            for number in numbers
                        ],
                    )
                    for topic, numbers in by_topic(partitions).items()
                ],
            )
            reply = await self.call_owner(
                request, ProduceResponse, to=broker, timeout=left, versions=_VERSIONS
            )
            produced = {}
            for answered in reply.body.responses:
                for row in answered.partition_responses:
                    partition = answered.name, row.index
                    produced[partition] = result(
                        partition,
                        _failure(row),
                        offset=row.base_offset if row.base_offset >= 0 else None,
                        timestamp_ms=row.log_append_time_ms
                        if row.log_append_time_ms >= 0
                        else None,
                    )
            return produced

        return await ask_leaders(self, list(batches), ask, result, timeout=deadline.left)


def _unsent(
    partition: Partition, records: Sequence[NewRecord], error: KafkaAdminProtoError
) -> ProducedRecords:
    return ProducedRecords(
        topic=partition[0], partition=partition[1], records=len(records), **failure_of(error)
    )


def _failure(answered: PartitionProduceResponse) -> Failure:
    if answered.error_code == _HAD:
        return NONE
    texts = [each.batch_index_error_message for each in answered.record_errors]
    return failure(answered.error_code, "; ".join(filter(None, texts)) or answered.error_message)


def _by_partition(
    topic: str, records: Sequence[NewRecord], count: int
) -> dict[int, list[NewRecord]]:
    """Records by partition, in their order. Raises InstructionError for one that is not there."""
    without_key = random.randrange(count)
    by_partition: dict[int, list[NewRecord]] = {}
    for record in records:
        number = record.partition
        if number is None:
            number = without_key if record.key is None else partition_of_key(record.key, count)
        elif not 0 <= number < count:
            raise InstructionError(
                f"topic {topic!r} has no partition {number!r}; its partitions are 0 to {count - 1}"
            )
        by_partition.setdefault(number, []).append(record)
    return by_partition


def _batches(records: Sequence[NewRecord]) -> Iterator[list[NewRecord]]:
    """The records of a partition in pieces that brokers take; a larger record is alone."""
    piece: list[NewRecord] = []
    size = 0
    for record in records:
        own = _RECORD_BYTES + len(record.key or b"") + len(record.value or b"")
        own += sum(
            _HEADER_BYTES + 3 * len(name) + len(value or b"") for name, value in record.headers
        )
        if piece and size + own > _BATCH_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(record)
        size += own
    yield piece


def _encoded(
    records: Sequence[NewRecord], compression: CompressionName, producer: _Producer, sequence: int
) -> bytes:
    now_ms = int(time.time() * 1000)
    batch = Batch.of(
        [
            Record(
                index,
                now_ms if each.timestamp_ms is None else each.timestamp_ms,
                each.key,
                each.value,
                tuple(each.headers),
            )
            for index, each in enumerate(records)
        ],
        compression=compression,
    )
    batch.producer_id, batch.producer_epoch = producer.id, producer.epoch
    batch.base_sequence = sequence
    try:
        return write_batch(batch)
    except EncodeError as error:
        raise InstructionError(f"a record that no batch can have: {error}") from error
