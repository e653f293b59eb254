"""Decoded frames → rows of the table ``frames``."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from kafka_admin_proto.capture.connection.topic_names import TopicNamesAt
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import record_and_topic_ids
from kafka_admin_proto.tables.frame_columns import FRAMES
from kafka_admin_proto.tables.ingest.packets import batch_of
from kafka_admin_proto.tables.rows.derive import RowDeriver
from kafka_admin_proto.topic_ids import topic_id_to_text

_NO_FRAME = (None,) * len(FRAMES)
#: Rows and bytes that are enough for a batch.
BATCH_ROWS, BATCH_BYTES = 2048, 4 * 1024 * 1024
#: Bytes of a row beside its body and raw bytes, about.
_ROW_OVERHEAD = 200


class RowStore(Protocol):
    """Gathers rows with the columns of a schema into batches."""

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""

    def add(self, row: tuple[Any, ...], size: int) -> None:
        """Add a row, of about ``size`` bytes."""

    def take(self) -> pa.RecordBatch:
        """The rows that were added since the last call."""


class RowList:
    """Rows as tuples; `PlainFlows` has them in the columns of the compiled engine."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return len(self._rows) >= BATCH_ROWS or self._bytes >= BATCH_BYTES

    def add(self, row: tuple[Any, ...], size: int) -> None:
        self._rows.append(row)
        self._bytes += size

    def take(self) -> pa.RecordBatch:
        """The rows that were added since the last call."""
        rows, self._rows, self._bytes = self._rows, [], 0
        return batch_of(rows, self._schema)


class FrameRows:
    """Rows on their way into Arrow batches of a schema: `FRAMES`, `DECODED` or `STREAMED`.

    ``deriver`` makes the rows of other tables, where the schema has a column for them.
    """

    def __init__(
        self, options: DecodeOptions, schema: pa.Schema, deriver: RowDeriver | None, store: RowStore
    ) -> None:
        self._options = options
        self._width = len(schema)
        self._deriver = deriver
        self._store = store

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return self._store.is_full

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
            derived = self._deriver.cell(self._deriver.rows(shown, ordinal))
            row, size = (*row, derived), size + len(derived or b"")
        self._add(row, size)

    def add_unanswered(self, request: DecodedFrame, ordinal: int) -> None:
        """A request whose response was not captured, after its own frame."""
        if self._deriver is not None:
            derived = self._deriver.cell(self._deriver.unanswered(request, ordinal))
            if derived is not None:
                self._add((*_NO_FRAME, derived), len(derived))

    def add_state(self, flow: bytes, watermark: int, state: bytes) -> None:
        """A flow that goes on in the next batch of the stream."""
        self._add((*_NO_FRAME, None, flow, watermark, state), len(state))

    def take(self) -> pa.RecordBatch:
        """The rows that were added since the last call."""
        return self._store.take()

    def _add(self, row: tuple[Any, ...], size: int) -> None:
        self._store.add(row + (None,) * (self._width - len(row)), size)
