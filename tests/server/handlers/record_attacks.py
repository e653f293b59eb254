"""Requests about records that are cheap to send and could be dear to answer."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import (
    delete_records_request,
    fetch_request,
    list_offsets_request,
    offset_for_leader_epoch_request,
    produce_request,
)
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.values import Message
from tests.helpers.profile import EXHAUSTIVE
from tests.server.handlers.samples import TOPICS

#: Rows of a request; the topic has 1,000 partitions.
_ROWS = 100_000 if EXHAUSTIVE else 10_000
#: The topic with many partitions, by the id that the tests give it, since newer versions name none.
_TOPIC: dict[str, Any] = {"topic_id": UUID(int=1)}
_EACH, _ONE = range(_ROWS), [0] * _ROWS


@cache
def _batch(compression: Any, count: int, value: bytes = b"") -> bytes:
    now_ms = int(time.time() * 1000)
    records = [Record(0, now_ms, None, value)] * count
    batch = Batch.of(records, compression=compression)
    batch.last_offset_delta = count - 1
    return write_batch(batch)


def repeated_message(magic: int) -> Message:
    """Produce v0 to 2: compressed sets for 30 partitions, each of one message 100,000 times."""
    now_ms = int(time.time() * 1000) if magic else -1
    inner = write_batch(Batch.of([Record(0, now_ms, None, b"")], magic=magic)) * 100_000
    outer = Batch.of([Record(0, now_ms, None, gzip.compress(inner))], magic=magic)
    message = bytearray(write_batch(outer))
    message[17] = 1  # the attributes: gzip
    message[12:16] = zlib.crc32(message[16:]).to_bytes(4, "big")
    rows = [produce_request.PartitionProduceData(each, bytes(message)) for each in range(30)]
    topic = produce_request.TopicProduceData(TOPICS[0], partition_data=rows)
    return m.ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


def _produced(batch: bytes, partitions: Any) -> Message:
    rows = [produce_request.PartitionProduceData(each, batch) for each in partitions]
    return m.ProduceRequest(
        acks=1,
        timeout_ms=1000,
        topic_data=[produce_request.TopicProduceData(partition_data=rows, **_TOPIC)],
    )


def _bomb(compression: Any, count: int, value: bytes = b"") -> Message:
    return _produced(_batch(compression, count, value), range(0, 300, 3))


def _fetched(partitions: Any, epoch: int) -> Message:
    rows = [
        fetch_request.FetchPartition(partition=each, partition_max_bytes=1 << 20)
        for each in partitions
    ]
    return m.FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=1 << 20,
        session_epoch=epoch,
        topics=[fetch_request.FetchTopic(partitions=rows, **_TOPIC)],
    )


def _listed(partitions: Any, timestamp: int) -> Message:
    rows = [
        list_offsets_request.ListOffsetsPartition(partition_index=each, timestamp=timestamp)
        for each in partitions
    ]
    return m.ListOffsetsRequest(topics=[list_offsets_request.ListOffsetsTopic(TOPICS[0], rows)])


def _deleted(partitions: Any) -> Message:
    rows = [delete_records_request.DeleteRecordsPartition(each, -1) for each in partitions]
    topic = delete_records_request.DeleteRecordsTopic(TOPICS[0], rows)
    return m.DeleteRecordsRequest([topic], 1000)


def _epochs(partitions: Any) -> Message:
    rows = [
        offset_for_leader_epoch_request.OffsetForLeaderPartition(each, leader_epoch=0)
        for each in partitions
    ]
    topic = offset_for_leader_epoch_request.OffsetForLeaderTopic(TOPICS[0], rows)
    return m.OffsetForLeaderEpochRequest(topics=[topic])


#: What takes seconds to write is written when a test asks for it.
RECORD_ATTACKS: dict[str, Message | Callable[[], Message]] = {
    **{
        f"partitions of 100,000 records by {compression} each": partial(_bomb, compression, 100_000)
        for compression in ("gzip", "zstd", "lz4")
    },
    **{
        f"partitions of a record of 15 MB by {compression} each": partial(
            _bomb, compression, 1, bytes(15_000_000)
        )
        for compression in ("gzip", "zstd", "lz4")
    },
    "records of many partitions": _produced(_batch("none", 1), _EACH),
    "records of a partition again and again": _produced(_batch("none", 1), _ONE),
    "no batch for many partitions": _produced(b"", _EACH),
    "a Fetch of many partitions": _fetched(_EACH, -1),
    "a Fetch session of many partitions": _fetched(_EACH, 0),
    "a Fetch of a partition again and again": _fetched(_ONE, -1),
    "latest offsets of many partitions": _listed(_EACH, -1),
    "offsets of a partition again and again": _listed(_ONE, 1),
    "largest timestamps of many partitions": _listed(_EACH, -3),
    "deleted records of many partitions": _deleted(_EACH),
    "deleted records of a partition again and again": _deleted(_ONE),
    "epochs of many partitions": _epochs(_EACH),
    "epochs of a partition again and again": _epochs(_ONE),
}
