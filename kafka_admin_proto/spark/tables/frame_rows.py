"""Decoded frames → rows of the table ``frames``."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka_admin_proto.capture.connection.topic_names import TopicNamesAt
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import FETCH_KEY, RECORD_KEYS, frame_record
from kafka_admin_proto.render import field_scan
from kafka_admin_proto.spark.tables.metadata_rows import fetched_records
from kafka_admin_proto.topic_ids import topic_id_to_text

_TYPES: dict[str, pa.DataType] = {
    "ts": pa.timestamp("us", tz="UTC"),
    "stream_offset": pa.int64(),
    "size": pa.int32(),
    "api_key": pa.int16(),
    "api_version": pa.int16(),
    "correlation_id": pa.int32(),
    "latency_us": pa.int64(),
    "error_codes": pa.list_(pa.string()),
    "topic_names": pa.map_(pa.string(), pa.string()),
    "forwarded": pa.bool_(),
    "line": pa.int32(),
    "place": pa.int64(),
    "topic_ids": pa.list_(pa.string()),
    "metadata_records": pa.list_(
        pa.struct(
            [
                ("offset", pa.int64()),
                ("timestamp", pa.int64()),
                ("value", pa.binary()),
            ]
        )
    ),
}
_NEVER_NULL = {"capture", "direction", "error_codes", "forwarded", "place"}
#: The frame record's keys as columns; ``body`` is JSON. Beside it ``place``, the frame's place in
#: the whole capture (of the packet with which it was whole), ``topic_ids``, those in its body, and
#: ``metadata_records``: what a Fetch response has of the metadata log on topics and partitions,
#: null in all others; see `metadata_rows.fetched_records`.
FRAMES = pa.schema(
    pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in _NEVER_NULL)
    for name in (*RECORD_KEYS, "place", "topic_ids", "metadata_records")
)
#: Of a stream: beside frames, flows that go on in the next batch, each with its two endpoints, the
#: stream's time when it last had a packet, and its state; their other columns are null.
STREAMED = pa.schema(
    [
        *(field.with_nullable(True) for field in FRAMES),
        pa.field("flow", pa.binary()),
        pa.field("clock", pa.timestamp("us", tz="UTC")),
        pa.field("state", pa.binary()),
    ]
)
_STATE_ROW = (None,) * len(FRAMES)
_BATCH_ROWS, _BATCH_BYTES = 2048, 4 * 1024 * 1024
#: Bytes of a row beside its body and raw bytes, about.
_ROW_OVERHEAD = 200


class FrameRows:
    """Rows on their way into Arrow batches of a schema that starts with `FRAMES`."""

    def __init__(self, options: DecodeOptions, schema: pa.Schema = FRAMES) -> None:
        self._options = options
        self._schema = schema
        self._padding = (None,) * (len(schema) - len(FRAMES))
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return len(self._rows) >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES

    def add(self, frame: DecodedFrame, place: int) -> None:
        options = self._options
        if isinstance(frame.topic_names, TopicNamesAt):
            # Frames that a connection hands out when it ends belong to its last packet.
            place = frame.topic_names.ordinal
        frame = frame.shown(mask=options.mask)
        record = frame_record(
            frame, mask=options.mask, raw=options.raw, body=options.body, json_body=True,
            topic_names=False,
        )  # fmt: skip
        size = _ROW_OVERHEAD
        if record["body"] is not None:
            body = record["body"] = bytes(record["body"])
            size += len(body)
        if record["raw"] is not None:
            size += len(record["raw"])
        ids = records = None
        if frame.codec is not None and frame.body is not None and options.body:
            ids = [topic_id_to_text(each) for each in field_scan.topic_ids(frame.codec, frame.body)]
            if frame.api_key == FETCH_KEY and frame.direction == "response":
                records = fetched_records(frame.body)
                size += sum(_ROW_OVERHEAD + len(each["value"]) for each in records)
        self._rows.append((*record.values(), place, ids, records or None, *self._padding))
        self._bytes += size

    def add_state(self, flow: bytes, clock: int, state: bytes) -> None:
        """A flow that goes on in the next batch of the stream."""
        self._rows.append((*_STATE_ROW, flow, clock, state))
        self._bytes += len(state)

    def take(self) -> pa.RecordBatch:
        """The rows that were added since the last call."""
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self._schema)
        arrays = [
            pa.array(values, field.type)
            for values, field in zip(columns, self._schema, strict=True)
        ]
        self._rows, self._bytes = [], 0
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)
