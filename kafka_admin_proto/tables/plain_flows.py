"""Plain frames of chunks: the compiled engine gathers their rows in Arrow's columns.

See `kafka_admin_proto.capture.plain_frames` for what is plain. Values are made of the frames that
complete rows of other tables alone: of requests that wait for their responses, and of these; of
what names topics that have no name yet; and of parts of the metadata log that are new.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pyarrow as pa

from kafka_admin_proto.capture.connection.conversation import Conversation, both_ends
from kafka_admin_proto.capture.connection.envelope import enclosed_request, enclosed_response
from kafka_admin_proto.capture.connection.exchange import Exchange
from kafka_admin_proto.capture.connection.pairing import PendingRequest
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import PREFIX_BYTES, DecodedFrame, codec_of, frame_of_payload
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.plain_frames import PlainFrames, error_texts
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.tables.rows.derive import REQUEST_KEYS, RowDeriver
from kafka_admin_proto.tables.rows.frames import BATCH_BYTES, BATCH_ROWS
from kafka_admin_proto.topic_ids import topic_id_to_text


class PlainFlows(PlainFrames):
    """Takes the plain packets of flows, and has the rows of all frames.

    ``out`` is where frames of plain Python go, which are added to the rows then.
    """

    def __init__(
        self,
        options: DecodeOptions,
        schema: pa.Schema,
        deriver: RowDeriver | None,
        names: TopicNameIndex,
        out: list[DecodedFrame],
        engine: Any,
    ) -> None:
        super().__init__(options, engine)
        self._schema = schema
        self._deriver = deriver
        self._names = names
        self._rows = engine.RowColumns(
            self,
            [(field.name, _kind(field.type)) for field in schema],
            options.body,
            BATCH_ROWS,
            BATCH_BYTES,
            logs=None if deriver is None else deriver.seen_logs,
            topics=None if deriver is None else deriver.named,
            at_once=frozenset() if deriver is None else REQUEST_KEYS,
            waiting=options.keep_requests,
        )
        frames = self._frames(self._rows, names, mask=options.mask)
        self._reader = engine.FlowReader(self._pattern(names, out), both_ends, out, frames)

    def read(
        self,
        flow: Conversation | None,
        key: bytes,
        segments: bytes,
        payload: bytes,
        at: int,
        start: int,
        capture: str,
    ) -> tuple[Conversation | None, int, int]:
        """Take the packets of a chunk from ``at`` on, up to one that is not plain.

        Returns the conversation, where the next packet is, and where its payload. Stops behind a
        packet with frames in ``out``, and when the rows are enough for a batch.
        """
        found: tuple[Conversation | None, int, int] = self._reader.read(
            flow, key, segments, payload, at, start, capture
        )
        return found

    # `RowStore` -------------------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return bool(self._rows.is_full)

    def add(self, row: tuple[Any, ...], size: int) -> None:
        """Add a row of plain Python; the engine counts its bytes itself."""
        self._rows.add(row)

    def take(self) -> pa.RecordBatch:
        """The rows that were added since the last call."""
        count, columns = self._rows.take()
        arrays = [
            _array(field.type, count, *map(pa.py_buffer, column))
            for field, column in zip(self._schema, columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    # Methods for the engine -------------------------------------------------------------------

    def plan(self, is_response: bool, api_key: int, api_version: int) -> Any:
        """How the engine takes a message; None where it does not."""
        # The engine knows the metadata log by what it hides.
        shows_log = self._deriver is not None and not self._options.mask
        if shows_log and is_response and api_key == api_keys.FETCH:
            return None
        return super().plan(is_response, api_key, api_version)

    def request(self, exchange: Exchange, data: bytes, offset: int, ts: int) -> DecodedFrame:
        request = read_request(data, dialect=self._options.dialect, offset=4)
        return frame_of_payload(
            request, data, PREFIX_BYTES, codec_of(request), exchange.origin(offset, ts),
            client_id=exchange.client_id,
        )  # fmt: skip

    def enclosed_request(
        self, exchange: Exchange, data: bytes, offset: int, ts: int
    ) -> DecodedFrame:
        return enclosed_request(self.request(exchange, data, offset, ts), self._options.dialect)

    def derived(self, about: DecodedFrame | tuple[Any, ...], ordinal: int) -> bytes | None:
        """The rows of other tables of a request, or of what `_response` is given."""
        frame = about if isinstance(about, DecodedFrame) else self._response(*about)
        assert self._deriver is not None
        assert frame is not None
        deriver = self._deriver
        return deriver.cell(deriver.rows(frame.shown(mask=self._options.mask), ordinal))

    def _response(
        self, exchange: Exchange, request: PendingRequest, data: bytes, offset: int, ts: int,
        latency_us: int | None, enclosed: bool = False,
    ) -> DecodedFrame | None:  # fmt: skip
        """The frame of a response that decodes to its end, or the one ``enclosed`` in it.

        The names in it are learned.
        """
        dialect = self._options.dialect
        response = read_response(
            data, request.api_key, request.api_version, dialect=dialect, offset=4
        )
        frame: DecodedFrame | None = frame_of_payload(
            response, data, PREFIX_BYTES, codec_of(response), exchange.origin(offset, ts),
            client_id=request.client_id, latency_us=latency_us, request=request.frame,
        )  # fmt: skip
        if enclosed and frame is not None and request.enclosed is not None:
            inner = request.enclosed
            frame = enclosed_response(
                frame, inner.api_key, inner.api_version, inner.client_id, inner.frame, dialect
            )
        if frame is not None and frame.codec is not None:
            self._names.learn(frame.codec.name, frame.body)
        return frame

    def topic(self, raw: bytes) -> tuple[None, bytes]:
        """A topic id as text; rows get the names later."""
        return None, topic_id_to_text(UUID(bytes=raw)).encode()

    def errors(self, dialect: str, codes: list[int]) -> tuple[str, ...]:
        return error_texts(dialect, tuple(sorted(set(codes))))


def _kind(type_: pa.DataType) -> str:
    """What the engine calls a column of this type."""
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return "text"
    if pa.types.is_list(type_):
        return "texts"
    if pa.types.is_map(type_):
        return "null"
    return "int64" if pa.types.is_timestamp(type_) else str(type_)


def _array(
    type_: pa.DataType,
    count: int,
    valid: pa.Buffer,
    values: pa.Buffer,
    ends: pa.Buffer,
    text_ends: pa.Buffer,
) -> pa.Array:
    kind = _kind(type_)
    if kind == "null":
        return pa.nulls(count, type_)
    if kind == "text":
        return pa.Array.from_buffers(type_, count, [valid, ends, values])
    if kind == "texts":
        texts = pa.StringArray.from_buffers(text_ends.size // 4 - 1, text_ends, values)
        return pa.Array.from_buffers(type_, count, [valid, ends], children=[texts])
    return pa.Array.from_buffers(type_, count, [valid, values])
