"""Decoded frames → rows of the table ``frames``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pyarrow as pa

from kafka_admin_proto.capture.connection.topic_names import TopicNamesAt
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import record_and_topic_ids
from kafka_admin_proto.tables.frame_columns import FRAMES
from kafka_admin_proto.tables.ingest.packets import batch_of
from kafka_admin_proto.tables.rows.derive import DerivedRow, RowDeriver
from kafka_admin_proto.topic_ids import topic_id_to_text

_NO_FRAME = (None,) * len(FRAMES)
_BATCH_ROWS, _BATCH_BYTES = 2048, 4 * 1024 * 1024
#: Bytes of a row beside its body and raw bytes, about.
_ROW_OVERHEAD = 200


class FrameRows:
    """Rows on their way into Arrow batches of a schema: `FRAMES`, `DECODED` or `STREAMED`."""

    def __init__(self, options: DecodeOptions, schema: pa.Schema = FRAMES) -> None:
        self._options = options
        self._schema = schema
        self._deriver = RowDeriver(mask=options.mask) if "derived" in schema.names else None
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return len(self._rows) >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES

    def add(self, frame: DecodedFrame, ordinal: int) -> None:
        options = self._options
        names = frame.topic_names
        if isinstance(names, TopicNamesAt):
            # Frames that a connection hands out when it ends belong to its last packet.
            ordinal = names.ordinal
        shown = frame.shown(mask=options.mask)
        record, topic_ids = record_and_topic_ids(
            shown, mask=options.mask, raw=options.raw, body=options.body, json_body=True
        )
        size = _ROW_OVERHEAD
        if record["body"] is not None:
            size += len(record["body"])
        if record["raw"] is not None:
            size += len(record["raw"])
        ids = None if topic_ids is None else [*map(topic_id_to_text, topic_ids)]
        row = (*record.values(), ordinal, ids)
        if self._deriver is not None:
            row = (*row, self._packed(self._deriver.rows(shown, ordinal)))
        self._add(row)
        self._bytes += size

    def add_unanswered(self, request: DecodedFrame, ordinal: int) -> None:
        """A request whose response was not captured, after its own frame."""
        if self._deriver is not None:
            derived = self._packed(self._deriver.unanswered(request, ordinal))
            self._add((*_NO_FRAME, derived))

    def add_state(self, flow: bytes, watermark: int, state: bytes) -> None:
        """A flow that goes on in the next batch of the stream."""
        self._add((*_NO_FRAME, None, flow, watermark, state))
        self._bytes += len(state)

    def take(self) -> pa.RecordBatch:
        """The rows that were added since the last call."""
        rows, self._rows, self._bytes = self._rows, [], 0
        return batch_of(rows, self._schema)

    def _add(self, row: tuple[Any, ...]) -> None:
        self._rows.append(row + (None,) * (len(self._schema) - len(row)))

    def _packed(self, rows: Iterable[DerivedRow]) -> bytes | None:
        found = list(rows)
        if not found:
            return None
        packed = msgspec.msgpack.encode(found)
        self._bytes += len(packed)
        return packed
