"""Decode chunks of packets, sorted by flow and packet ordinal, into rows of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import DecodedFrame, fault_frame
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.capture.request_log import frames_of_line
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.gc_tuning import tune_gc
from kafka_admin_proto.tables.frame_columns import DECODED, FRAMES, STREAMED
from kafka_admin_proto.tables.ingest.chunks import CHUNKS, LINE, SEGMENT, ChunkRow
from kafka_admin_proto.tables.ingest.files import POSITION_BITS
from kafka_admin_proto.tables.ingest.packets import rows_of
from kafka_admin_proto.tables.plain_flows import PlainFlows
from kafka_admin_proto.tables.rows.derive import CALL_KEYS, DerivedCell, RowDeriver, packed
from kafka_admin_proto.tables.rows.frames import FrameRows, RowList
from kafka_admin_proto.wire.engine import compiled

#: Input of a stream's batch: chunks, and the ``state`` of each flow that the batch before left.
STREAMED_CHUNKS = pa.schema(
    [*(field.with_nullable(True) for field in CHUNKS), pa.field("state", pa.binary())]
)


class StreamTime(msgspec.Struct, frozen=True):
    """The watermark of one batch of a stream as ``now``, in microseconds since 1970.

    Flows without a packet for longer than ``timeout`` microseconds end.
    """

    now: int
    timeout: int


def decode_flows(
    chunks: Iterable[pa.RecordBatch], options: DecodeOptions = DEFAULT_OPTIONS
) -> Iterator[pa.RecordBatch]:
    """Decode chunks with the columns of `CHUNKS` into rows with the columns of `FRAMES`.

    The chunks are sorted by flow and packet ordinal. One flow is decoded at a time, so that memory
    holds the state of one flow, and a batch.
    """
    return _decoded(rows_of(chunks, CHUNKS.names), FlowDecoder(options, FRAMES))


def decode_chunks(
    chunks: Iterable[ChunkRow], options: DecodeOptions, derived: DerivedCell
) -> Iterator[pa.RecordBatch]:
    """The same for chunks as tuples; ``derived`` takes the rows of other tables, frame by frame."""
    return _decoded(chunks, FlowDecoder(options, DECODED, derived=derived))


def decode_stream(
    chunks: Iterable[pa.RecordBatch], options: DecodeOptions, time: StreamTime
) -> Iterator[pa.RecordBatch]:
    """The same for a batch of a stream: `STREAMED_CHUNKS` in, `STREAMED` out."""
    rows = rows_of(chunks, STREAMED_CHUNKS.names)
    return _decoded(rows, FlowDecoder(options, STREAMED, time))


def _decoded(chunks: Iterable[tuple[Any, ...]], decoder: FlowDecoder) -> Iterator[pa.RecordBatch]:
    tune_gc()
    rows = decoder.rows
    for row in chunks:
        for _ in decoder.chunk(*row):
            if rows.is_full:
                yield rows.take()
    decoder.finish()
    yield rows.take()


class FlowDecoder:
    """Decodes flows one after the other; the frames are in ``rows``."""

    def __init__(
        self,
        options: DecodeOptions,
        schema: pa.Schema,
        stream: StreamTime | None = None,
        engine: Any = compiled,
        derived: DerivedCell = packed,
    ) -> None:
        self._stream = stream
        deriver = None
        if "derived" in schema.names:
            deriver = RowDeriver(mask=options.mask, cell=derived)
        keep = frozenset[int]() if deriver is None else CALL_KEYS
        self._options = msgspec.structs.replace(options, keep_requests=keep)
        self._names = TopicNameIndex()
        self._out: list[DecodedFrame] = []
        #: Takes the plain packets; all bytes in hex are for plain Python.
        self._plain: PlainFlows | None = None
        if engine is not None and not options.raw:
            self._plain = PlainFlows(self._options, schema, deriver, self._names, self._out, engine)
        self.rows: FrameRows = FrameRows(options, schema, deriver, self._plain or RowList(schema))
        self._flow: Conversation | None = None
        self._key = b""
        self._watermark = 0
        #: (File, problem) → the sum of ``missing``, and the last packet ordinal.
        self._faults: dict[tuple[str, str], tuple[int, int]] = {}

    def chunk(
        self, capture: str, ordinal: int, watermark: int, key: bytes, segments: bytes | None,
        payload: bytes, problem: str | None, missing: int, state: bytes | None = None,
    ) -> Iterator[None]:  # fmt: skip
        """Decode one row of `CHUNKS`. A flow's rows come one after the other, its state first.

        Yields after each packet that completes frames, so that the caller can take full batches.
        """
        if key != self._key and self._flow is not None:
            self._end_flow()
        self._key, self._watermark = key, watermark
        if segments is not None:
            yield from self._segments(capture, key, segments, payload)
        elif state is not None:
            self._flow = Conversation.from_state(state, key, self._options, self._names, self._out)
        elif problem is not None:
            count, _ = self._faults.get((capture, problem), (0, 0))
            self._faults[capture, problem] = count + missing, ordinal

    def _segments(
        self, capture: str, key: bytes, segments: bytes, payload: bytes
    ) -> Iterator[None]:
        out, plain, at, start = self._out, self._plain, 0, 0
        while at < len(segments):
            if plain is not None:
                self._flow, at, start = plain.read(
                    self._flow, key, segments, payload, at, start, capture
                )
                if out or self.rows.is_full:
                    self._take_frames(self._names.ordinal)
                    yield
                    continue
                if at == len(segments):
                    break
            (
                ordinal, ts, sequence, acknowledged, missing, size, flags, end
            ) = SEGMENT.unpack_from(segments, at)  # fmt: skip
            data = payload[start : start + size]
            at, start = at + SEGMENT.size, start + size
            if end == LINE:
                number = ordinal & ((1 << POSITION_BITS) - 1)
                self._take_line(
                    frames_of_line(number, data, capture, self._options.dialect), ordinal
                )
                yield
                continue
            flow = self._flow
            if flow is None:
                flow = self._flow = Conversation(key, self._options, self._names, out)
            flow.segment(end, sequence, flags, data, missing, acknowledged, ts, ordinal, capture)
            if out:
                self._take_frames(ordinal)
                yield

    def finish(self) -> None:
        """Close the last flow and add the faults, after the last chunk."""
        if self._flow is not None:
            self._end_flow()
        for (capture, problem), (count, ordinal) in self._faults.items():
            error = DumpError(problem.replace("{count}", str(count)))
            self.rows.add(fault_frame(capture, error), ordinal)

    def _end_flow(self) -> None:
        flow = self._flow
        assert flow is not None
        self._flow = None
        stream = self._stream
        if stream is None or stream.now - self._watermark > stream.timeout:
            flow.close()
        else:
            flow.expire(stream.now)
            state = flow.state()
            if state is not None:
                self.rows.add_state(self._key, self._watermark, state)
        self._take_frames(flow.ordinal)
        self._take_unanswered(flow, flow.ordinal)

    def _take_frames(self, ordinal: int) -> None:
        for frame in self._out:
            self.rows.add(frame, ordinal)
        self._out.clear()
        if self._flow is not None and self._flow.unanswered:
            self._take_unanswered(self._flow, ordinal)

    def _take_unanswered(self, flow: Conversation, ordinal: int) -> None:
        for request in flow.unanswered:
            self.rows.add_unanswered(request, ordinal)
        flow.unanswered.clear()

    def _take_line(self, frames: Iterable[DecodedFrame], ordinal: int) -> None:
        """Add the frames of a line of a request log: requests, and their responses if logged."""
        waiting: list[DecodedFrame] = []
        for frame in frames:
            self.rows.add(frame, ordinal)
            if frame.direction == "request":
                waiting.append(frame)
            else:
                waiting = [each for each in waiting if each is not frame.request]
        for request in waiting:
            if request.api_key in CALL_KEYS:
                self.rows.add_unanswered(request, ordinal)
