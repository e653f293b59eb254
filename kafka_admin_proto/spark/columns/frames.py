"""Decode binary Arrow arrays of payloads and of record batches into structs, without Spark.

``frame_header`` and ``from_record_batch`` run this in each worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, FrameError
from kafka_admin_proto.protocol.payloads import read_request
from kafka_admin_proto.records.batches.batches import read_records
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.batches.records_json import why_hidden
from kafka_admin_proto.spark.columns.arrow_arrays import MASK_BYTES, list_array, struct_array
from kafka_admin_proto.spark.columns.decode import Mode
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

PREFIX_SIZE = 4

HEADER_TYPE = pa.struct(
    [
        ("api_key", pa.int16()),
        ("api", pa.string()),
        ("api_version", pa.int16()),
        ("correlation_id", pa.int32()),
        ("client_id", pa.string()),
        ("header_version", pa.int16()),
        ("body_offset", pa.int32()),
        ("error", pa.string()),
    ]
)

#: The fields of a batch, which each of its records repeats.
_BATCH_FACTS = {
    "offset_in_data": pa.int32(),
    "size": pa.int32(),
    "magic": pa.int8(),
    "base_offset": pa.int64(),
    "last_offset": pa.int64(),
    "partition_leader_epoch": pa.int32(),
    "compression": pa.string(),
    "timestamp_type": pa.string(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int16(),
    "base_sequence": pa.int32(),
    "is_transactional": pa.bool_(),
    "is_control": pa.bool_(),
    "has_delete_horizon": pa.bool_(),
}
_HEADERS_TYPE = pa.list_(
    pa.field(
        "element",
        pa.struct([pa.field("key", pa.string(), nullable=False), ("value", pa.binary())]),
        nullable=False,
    )
)
RECORD_TYPE = pa.struct(
    [
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", _HEADERS_TYPE),
        *_BATCH_FACTS.items(),
        ("error", pa.string()),
    ]
)
RECORDS_TYPE = pa.list_(pa.field("element", RECORD_TYPE, nullable=False))
#: Bytes of keys, values and headers that become one Arrow array.
_PIECE = 16 << 20


def header_array(payloads: pa.Array, *, prefix: bool) -> pa.StructArray:
    """The request header of each payload; null for null. With ``prefix``, the size is in front."""
    rows = [
        None if payload is None else _header(payload, prefix) for payload in payloads.to_pylist()
    ]
    return pa.array(rows, HEADER_TYPE)


def _header(payload: bytes, prefix: bool) -> dict[str, Any]:
    start = PREFIX_SIZE if prefix else 0
    read = read_request(payload, body=False, offset=start)
    error: DecodeError | None = None
    if prefix and len(payload) >= start:
        size = int.from_bytes(payload[:start], "big", signed=True)
        if size != len(payload) - start:
            error = FrameError(
                f"the size in front says {size}, with {counted(len(payload) - start, 'bytes')} "
                "behind it",
                offset=0,
                expected="the size of what follows",
            )
    if read.header is None:
        return {
            "api_key": read.api_key if len(payload) >= start + 8 else None,
            "api": read.api,
            "api_version": read.api_version if len(payload) >= start + 8 else None,
            "error": read.problem,
        }
    return {
        "api_key": read.api_key,
        "api": read.api,
        "api_version": read.api_version,
        "correlation_id": read.header.correlation_id,
        "client_id": None
        if read.header.client_id is None
        else replace_invalid_utf8(read.header.client_id),
        "header_version": read.header_version,
        "body_offset": read.body_offset,
        "error": None if error is None else str(error),
    }


def records_array(
    data: pa.Array, *, mode: Mode, limit: int, show_secrets: bool
) -> Iterator[pa.ListArray]:
    """The records of each row's batches, in pieces of bounded size; see ``from_record_batch``."""
    piece = _Records(show_secrets)
    for value in data:
        piece.add(value.as_py(), mode, limit)
        if piece.size > _PIECE:
            yield piece.result()
            piece = _Records(show_secrets)
    if piece.counts or not len(data):
        yield piece.result()


class _Records:
    """The records of some rows, each with the values of `RECORD_TYPE`."""

    def __init__(self, show_secrets: bool) -> None:
        self.show_secrets = show_secrets
        self.size = 0
        self.counts: list[int | None] = []
        self.records: list[tuple[Any, ...]] = []

    def add(self, data: bytes | None, mode: Mode, limit: int) -> None:
        """Read the batches of a row."""
        if data is None:
            self.counts.append(None)
            return
        before = len(self.records)
        records = read_records(data, limit=limit)
        if mode == "FAILFAST":
            for error in records.errors():
                raise error
        for batch in records.batches:
            facts = tuple(
                _as_long(getattr(batch, name)) if type_ == pa.int64() else getattr(batch, name)
                for name, type_ in _BATCH_FACTS.items()
            )
            for record in batch.records:
                self._record(record, facts)
            if batch.error is not None:
                self._fault(facts, str(batch.error))
        read = sum(batch.size for batch in records.batches)
        place = Batch(offset_in_data=read, size=len(data) - read)
        nothing = [None] * (len(_BATCH_FACTS) - 2)
        if records.error is not None:
            self._fault((place.offset_in_data, place.size, *nothing), str(records.error))
        elif records.partial_bytes:
            self._fault(
                (place.offset_in_data, place.size, *nothing),
                f"batches[{len(records.batches)}] at byte {read}: cut short after "
                f"{counted(records.partial_bytes, 'bytes')}, as brokers do with the last one of a "
                "Fetch",
            )
        self.counts.append(len(self.records) - before)

    def _record(self, record: Record, facts: tuple[Any, ...]) -> None:
        hidden = None if self.show_secrets else why_hidden(record, None)
        key, value = record.key, record.value
        headers = []
        for name, of_header in record.headers:
            shown = of_header if hidden is None or of_header is None else MASK_BYTES
            headers.append({"key": replace_invalid_utf8(name), "value": shown})
            self.size += len(name) + len(of_header or b"")
        self.size += len(key or b"") + len(value or b"") + 64
        if hidden is not None:
            key = None if key is None else MASK_BYTES
            value = None if value is None else MASK_BYTES
        times = _as_long(record.offset), _as_long(record.timestamp)
        self.records.append((*times, key, value, headers, *facts, hidden))

    def _fault(self, facts: tuple[Any, ...], error: str) -> None:
        self.records.append((None, None, None, None, None, *facts, error))

    def result(self) -> pa.ListArray:
        columns = list(zip(*self.records, strict=True)) or [()] * RECORD_TYPE.num_fields
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, RECORD_TYPE, strict=True)
        ]
        elements = struct_array(len(self.records), RECORD_TYPE, arrays)
        lengths = [length or 0 for length in self.counts]
        nulls = [length is None for length in self.counts]
        return list_array(lengths, nulls, elements, RECORDS_TYPE)


def _as_long(value: int) -> int:
    """A sum of numbers in the bytes as an int64, which wraps around as Java's long does."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
