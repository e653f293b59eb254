"""The columns of frames: of the table ``frames``, and of rows on their way there."""

from __future__ import annotations

import pyarrow as pa

from kafka_admin_proto.capture.record import RECORD_KEYS

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
    "packet_ordinal": pa.int64(),
    "topic_ids": pa.list_(pa.string()),
}
_NEVER_NULL = {"capture", "direction", "forwarded", "packet_ordinal"}
#: The frame record's keys as columns; ``body`` is JSON. ``packet_ordinal`` is that of the packet
#: which completed the frame, and ``topic_ids`` are the topic ids in the frame's body.
FRAMES = pa.schema(
    pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in _NEVER_NULL)
    for name in (*RECORD_KEYS, "packet_ordinal", "topic_ids")
)
#: The pipeline's rows: frames. In those of a stream, which go through Spark, ``derived`` has the
#: msgpack of the rows of other tables that a frame completes, see `derive.packed`. A row may have
#: ``derived`` alone, with all others null.
DECODED = pa.schema(
    [*(field.with_nullable(True) for field in FRAMES), pa.field("derived", pa.binary())]
)
#: A stream's rows: those of the pipeline, and a row for each flow that continues in the next batch,
#: with its endpoints, its state, and the watermark of its last packet; its other columns are null.
STREAMED = pa.schema(
    [
        *DECODED,
        pa.field("flow", pa.binary()),
        pa.field("watermark", pa.timestamp("us", tz="UTC")),
        pa.field("state", pa.binary()),
    ]
)
