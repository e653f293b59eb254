"""Chunks of packets that are sorted by flow and place → frame records as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa

from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import DecodedFrame, fault_frame
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.capture.request_log import frames_of_line
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.gc_tuning import tune_gc
from kafka_admin_proto.spark.ingest.chunks import CHUNKS, LINE, SEGMENT
from kafka_admin_proto.spark.ingest.files import POSITION_BITS
from kafka_admin_proto.spark.ingest.packets import rows_of
from kafka_admin_proto.spark.tables.derive import CALL_KEYS
from kafka_admin_proto.spark.tables.frame_rows import FrameRows
from kafka_admin_proto.spark.tables.schemas import DECODED, FRAMES, STREAMED

#: Input of a stream's batch: chunks, and the ``state`` of each flow that the batch before left.
STREAMED_CHUNKS = pa.schema(
    [*(field.with_nullable(True) for field in CHUNKS), pa.field("state", pa.binary())]
)


class StreamTime(msgspec.Struct, frozen=True):
    """The time of one batch of a stream: it is ``now``, in microseconds since 1970.

    Flows that were silent for longer than ``timeout`` microseconds end.
    """

    now: int
    timeout: int


def decode_flows(
    chunks: Iterable[pa.RecordBatch], options: DecodeOptions = DEFAULT_OPTIONS
) -> Iterator[pa.RecordBatch]:
    """The frames of chunks in the columns of `CHUNKS`, sorted by flow and place: `FRAMES`.

    One flow is decoded at a time: memory holds what is in flight in it, and a batch.
    """
    return _decoded(chunks, CHUNKS, FlowDecoder(options, FRAMES))


def decode_all(
    chunks: Iterable[pa.RecordBatch], options: DecodeOptions = DEFAULT_OPTIONS
) -> Iterator[pa.RecordBatch]:
    """The same with the rows of all tables that they complete: `DECODED`."""
    return _decoded(chunks, CHUNKS, FlowDecoder(options, DECODED))


def decode_stream(
    chunks: Iterable[pa.RecordBatch], options: DecodeOptions, time: StreamTime
) -> Iterator[pa.RecordBatch]:
    """The same of a batch of a stream: `STREAMED_CHUNKS` in, `STREAMED` out."""
    return _decoded(chunks, STREAMED_CHUNKS, FlowDecoder(options, STREAMED, time))


def _decoded(
    chunks: Iterable[pa.RecordBatch], columns: pa.Schema, decoder: FlowDecoder
) -> Iterator[pa.RecordBatch]:
    tune_gc()
    rows = decoder.rows
    for row in rows_of(chunks, columns.names):
        for _ in decoder.chunk(*row):
            if rows.is_full:
                yield rows.take()
    decoder.finish()
    yield rows.take()


class FlowDecoder:
    """Decodes flows one after the other; the frames are in ``rows``."""

    def __init__(
        self, options: DecodeOptions, schema: pa.Schema, stream: StreamTime | None = None
    ) -> None:
        self._stream = stream
        keep = CALL_KEYS if "derived" in schema.names else frozenset[int]()
        self._options = msgspec.structs.replace(options, keep_requests=keep)
        self._names = TopicNameIndex()
        self.rows = FrameRows(options, schema)
        self._out: list[DecodedFrame] = []
        self._flow: Conversation | None = None
        self._key = b""
        self._clock = 0
        #: File and problem → the sum of ``missing``, and the last place.
        self._faults: dict[tuple[str, str], tuple[int, int]] = {}

    def chunk(
        self, capture: str, place: int, clock: int, key: bytes, segments: bytes | None,
        payload: bytes, problem: str | None, missing: int, state: bytes | None = None,
    ) -> Iterator[None]:  # fmt: skip
        """Decode one row of `CHUNKS`; those of a flow come one after the other, its state first.

        Stops after each packet that completes frames, so that the caller can take full batches.
        """
        if key != self._key and self._flow is not None:
            self._end_flow()
        self._key, self._clock = key, clock
        if segments is not None:
            yield from self._segments(capture, key, segments, payload)
        elif state is not None:
            self._flow = Conversation.from_state(state, key, self._options, self._names, self._out)
        elif problem is not None:
            count, _ = self._faults.get((capture, problem), (0, 0))
            self._faults[capture, problem] = count + missing, place

    def _segments(
        self, capture: str, key: bytes, segments: bytes, payload: bytes
    ) -> Iterator[None]:
        out, flow, start = self._out, self._flow, 0
        for (
            place, ts, sequence, acknowledged, missing, size, flags, end
        ) in SEGMENT.iter_unpack(segments):  # fmt: skip
            data = payload[start : start + size]
            start += size
            if end == LINE:
                number = place & ((1 << POSITION_BITS) - 1)
                self._take_line(frames_of_line(number, data, capture, self._options.dialect), place)
                yield
                continue
            if flow is None:
                flow = self._flow = Conversation(key, self._options, self._names, out)
            flow.segment(end, sequence, flags, data, missing, acknowledged, ts, place, capture)
            if out:
                self._take_frames(place)
                yield

    def finish(self) -> None:
        """There are no more chunks."""
        if self._flow is not None:
            self._end_flow()
        for (capture, problem), (count, place) in self._faults.items():
            error = DumpError(problem.replace("{count}", str(count)))
            self.rows.add(fault_frame(capture, error), place)

    def _end_flow(self) -> None:
        flow = self._flow
        assert flow is not None
        self._flow = None
        stream = self._stream
        if stream is None or stream.now - self._clock > stream.timeout:
            flow.close()
        else:
            flow.expire(stream.now)
            state = flow.state()
            if state is not None:
                self.rows.add_state(self._key, self._clock, state)
        self._take_frames(flow.ordinal)
        self._take_unanswered(flow, flow.ordinal)

    def _take_frames(self, place: int) -> None:
        for frame in self._out:
            self.rows.add(frame, place)
        self._out.clear()
        if self._flow is not None and self._flow.unanswered:
            self._take_unanswered(self._flow, place)

    def _take_unanswered(self, flow: Conversation, place: int) -> None:
        for request in flow.unanswered:
            self.rows.add_unanswered(request, place)
        flow.unanswered.clear()

    def _take_line(self, frames: Iterable[DecodedFrame], place: int) -> None:
        """The frames of a line of a log: a request, and its response where the line has it."""
        request: DecodedFrame | None = None
        for frame in frames:
            self.rows.add(frame, place)
            request = frame if frame.direction == "request" else None
        if request is not None and request.api_key in CALL_KEYS:
            self.rows.add_unanswered(request, place)
