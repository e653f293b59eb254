"""Decode binary Arrow arrays of payloads and of record batches into structs, without Spark.

``frame_header`` and ``from_record_batch`` run this in each worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

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
                f"the size in front says {size}, and {len(payload) - start} bytes follow",
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
    """The records of some rows, as columns."""

    def __init__(self, show_secrets: bool) -> None:
        self.show_secrets = show_secrets
        self.size = 0
        self.counts: list[int | None] = []
        self.records: list[Record] = []
        self.facts: list[tuple[Any, ...]] = []
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.headers: list[list[dict[str, Any]] | None] = []
        self.errors: list[str | None] = []

    def add(self, data: bytes | None, mode: Mode, limit: int) -> None:
        """Read the batches of a row."""
        if data is None:
            self.counts.append(None)
            return
        before = len(self.records)
        found = read_records(data, limit=limit)
        if mode == "FAILFAST":
            for error in found.errors():
                raise error
        for batch in found.batches:
            facts = tuple(
                _as_long(getattr(batch, name)) if type_ == pa.int64() else getattr(batch, name)
                for name, type_ in _BATCH_FACTS.items()
            )
            for record in batch.records:
                self._record(record, facts)
            if batch.error is not None:
                self._fault(facts, str(batch.error))
        read = sum(batch.size for batch in found.batches)
        place = Batch(offset_in_data=read, size=len(data) - read)
        nothing = [None] * (len(_BATCH_FACTS) - 2)
        if found.error is not None:
            self._fault((place.offset_in_data, place.size, *nothing), str(found.error))
        elif found.partial_bytes:
            self._fault(
                (place.offset_in_data, place.size, *nothing),
                f"batches[{len(found.batches)}] at byte {read}: cut short after "
                f"{found.partial_bytes} bytes, as brokers do with the last one of a Fetch",
            )
        self.counts.append(len(self.records) - before)

    def _record(self, record: Record, facts: tuple[Any, ...]) -> None:
        hidden = None if self.show_secrets else why_hidden(record, None)
        self.records.append(record)
        self.facts.append(facts)
        if hidden is None:
            self.keys.append(record.key)
            self.values.append(record.value)
        else:
            self.keys.append(None if record.key is None else MASK_BYTES)
            self.values.append(None if record.value is None else MASK_BYTES)
        headers = []
        for name, value in record.headers:
            shown = value if hidden is None or value is None else MASK_BYTES
            headers.append({"key": replace_invalid_utf8(name), "value": shown})
            self.size += len(name) + len(value or b"")
        self.headers.append(headers)
        self.errors.append(hidden)
        self.size += len(record.key or b"") + len(record.value or b"") + 64

    def _fault(self, facts: tuple[Any, ...], error: str) -> None:
        """Add an element for a fault, which has no record."""
        self.records.append(_NO_RECORD)
        self.facts.append(facts)
        self.keys.append(None)
        self.values.append(None)
        self.headers.append(None)
        self.errors.append(error)

    def result(self) -> pa.ListArray:
        count = len(self.records)
        facts = list(zip(*self.facts, strict=True)) or [()] * len(_BATCH_FACTS)
        no_record = [record is _NO_RECORD for record in self.records]
        offsets = [r.offset for r in self.records]
        timestamps = [r.timestamp for r in self.records]
        columns = [
            pa.array(_none_where(no_record, offsets), pa.int64()),
            pa.array(_none_where(no_record, timestamps), pa.int64()),
            pa.array(self.keys, pa.binary()),
            pa.array(self.values, pa.binary()),
            pa.array(self.headers, _HEADERS_TYPE),
            *(pa.array(f, t) for f, t in zip(facts, _BATCH_FACTS.values(), strict=True)),
            pa.array(self.errors, pa.string()),
        ]
        elements = struct_array(count, RECORD_TYPE, columns)
        lengths = [length or 0 for length in self.counts]
        nulls = [length is None for length in self.counts]
        return list_array(lengths, nulls, elements, RECORDS_TYPE)


_NO_RECORD = Record(offset=-1)


def _none_where(flags: list[bool], values: list[int]) -> list[int | None]:
    return [None if flag else _as_long(each) for flag, each in zip(flags, values, strict=True)]


def _as_long(value: int) -> int:
    """A sum of numbers in the bytes as an int64, which wraps around as Java's long does."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
