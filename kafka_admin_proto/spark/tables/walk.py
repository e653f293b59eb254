"""Packets that are sorted by flow and place → frame records as Arrow batches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from kafka_admin_proto.capture.connection.connection import DecodeOptions
from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNamesAt
from kafka_admin_proto.capture.frames import FETCH_KEY, NO_NAMES, RECORD_KEYS, DecodedFrame
from kafka_admin_proto.capture.request_log import frames_of_line
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.gc_tuning import tune_gc
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.render import field_scan
from kafka_admin_proto.spark.ingest.files import POSITION_BITS
from kafka_admin_proto.spark.ingest.flow_state import read_flow, write_flow
from kafka_admin_proto.spark.ingest.packets import PACKETS
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
_ALWAYS = {"capture", "direction", "error_codes", "forwarded", "place"}
#: The frame record's keys as columns; ``body`` is JSON. Beside it ``place``, the frame's place in
#: the whole capture (of the packet with which it was whole), ``topic_ids``, those in its body, and
#: ``metadata_records``: what a Fetch response has of the metadata log on topics and partitions,
#: null in all others; see `metadata_rows.fetched_records`.
FRAMES = pa.schema(
    pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in _ALWAYS)
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
#: What a stream's batch is made of: packets, and what the one before has left as ``state``.
STREAMED_PACKETS = pa.schema(
    [*(field.with_nullable(True) for field in PACKETS), pa.field("state", pa.binary())]
)
_ROWS, _BYTES = 2048, 4 * 1024 * 1024
#: What a row takes beside its body and raw bytes, about.
_OF_A_ROW = 200


class Reading(msgspec.Struct, frozen=True):
    """How frames are read; see `DecodedFrame.record` and `read_captures`."""

    mask: bool = True
    raw: bool = False
    body: bool = True
    dialect: str = "kafka"
    limit: int = DEFAULT_FRAME_LIMIT
    bodies: Collection[int] | None = None

    def settings(self) -> DecodeOptions:
        """The settings of a conversation that is read so."""
        bodies = self.bodies if self.body else ()
        return DecodeOptions(limit=self.limit, dialect=self.dialect, bodies=bodies)


AS_USUAL = Reading()


class Stream(msgspec.Struct, frozen=True):
    """How one batch of a stream is read: it is ``now``, in microseconds since 1970.

    Flows that were silent for longer than ``timeout`` end.
    """

    now: int
    timeout: int


class _Rows:
    """Rows on their way into Arrow batches."""

    def __init__(self, reading: Reading, schema: pa.Schema) -> None:
        self._reading = reading
        self._schema = schema
        self._more = (None,) * (len(schema) - len(FRAMES))
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return len(self._rows) >= _ROWS or self._bytes >= _BYTES

    def add(self, frame: DecodedFrame, place: int) -> None:
        reading = self._reading
        if isinstance(frame.topic_names, TopicNamesAt):
            # What a connection has when it is given up belongs to its last packet.
            place = frame.topic_names.at
        frame.topic_names = NO_NAMES
        frame = frame.shown(mask=reading.mask)
        record = frame.record(mask=reading.mask, raw=reading.raw, body=reading.body)
        size = _OF_A_ROW
        if record["body"] is not None:
            body = record["body"] = msgspec.json.encode(record["body"])
            size += len(body)
        if record["raw"] is not None:
            size += len(record["raw"])
        ids = records = None
        if frame.codec is not None and frame.body is not None and reading.body:
            ids = [topic_id_to_text(each) for each in field_scan.topic_ids(frame.codec, frame.body)]
            if frame.api_key == FETCH_KEY and frame.direction == "response":
                records = fetched_records(frame.body)
                size += sum(_OF_A_ROW + len(each["value"]) for each in records)
        self._rows.append((*record.values(), place, ids, records or None, *self._more))
        self._bytes += size

    def add_state(self, flow: bytes, clock: int, state: bytes) -> None:
        """A flow that goes on in the next batch of the stream."""
        self._rows.append((*_STATE_ROW, flow, clock, state))
        self._bytes += len(state)

    def take(self) -> pa.RecordBatch:
        """What was added since the last time."""
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self._schema)
        arrays = [
            pa.array(values, field.type)
            for values, field in zip(columns, self._schema, strict=True)
        ]
        self._rows, self._bytes = [], 0
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def walk(
    batches: Iterable[pa.RecordBatch], reading: Reading, stream: Stream | None = None
) -> Iterator[pa.RecordBatch]:
    """The frames of packets in the columns of ``PACKETS``, sorted by flow and place.

    One flow is followed at a time: memory holds what is in flight in it, and a batch. In a stream,
    the rows have ``state`` as well, and the result the columns of ``STREAMED``.
    """
    tune_gc()
    walker = _Walker(reading, stream)
    rows = walker.rows
    for row in _rows(batches, PACKETS.names if stream is None else STREAMED_PACKETS.names):
        walker.row(*row)
        if rows.is_full:
            yield rows.take()
    walker.finish()
    yield rows.take()


class _Walker:
    def __init__(self, reading: Reading, stream: Stream | None) -> None:
        self._stream = stream
        self._dialect = reading.dialect
        self._settings = reading.settings()
        self.rows = _Rows(reading, FRAMES if stream is None else STREAMED)
        self._out: list[DecodedFrame] = []
        self._flow: Conversation | None = None
        self._key = b""
        self._clock = 0
        #: File and problem → the sum of ``missing``, and the last place.
        self._faults: dict[tuple[str, str], tuple[int, int]] = {}

    def row(
        self, capture: str, place: int, clock: int, ts: int, key: bytes, end: int,
        sequence: int | None, flags: int, acknowledged: int, missing: int, payload: bytes,
        problem: str | None, state: bytes | None = None,
    ) -> None:  # fmt: skip
        """One row of ``PACKETS``; those of a flow come one after the other, its state first."""
        if key != self._key and self._flow is not None:
            self._end_flow()
        if sequence is not None:
            flow = self._flow
            if flow is None:
                self._key = key
                flow = self._flow = Conversation(key, self._settings, self._out)
            self._clock = clock
            flow.segment(end, sequence, flags, payload, missing, acknowledged, ts, place, capture)
            if self._out:
                self._take_frames(place)
        elif state is not None:
            self._key, self._clock = key, clock
            self._flow = read_flow(state, key, self._settings, self._out)
        elif problem is not None:
            count, _ = self._faults.get((capture, problem), (0, 0))
            self._faults[capture, problem] = count + missing, place
        else:
            number = place & ((1 << POSITION_BITS) - 1)
            self._out += frames_of_line(number, payload, capture, self._dialect)
            self._take_frames(place)

    def finish(self) -> None:
        """There are no more rows."""
        if self._flow is not None:
            self._end_flow()
        for (capture, problem), (count, place) in self._faults.items():
            self.rows.add(fault_frame(capture, problem, count), place)

    def _end_flow(self) -> None:
        flow = self._flow
        assert flow is not None
        self._flow = None
        stream = self._stream
        if stream is None or stream.now - self._clock > stream.timeout:
            flow.close()
        else:
            flow.settle(stream.now)
            state = write_flow(flow, self._settings, self._out)
            if state is not None:
                self.rows.add_state(self._key, self._clock, state)
        self._take_frames(flow.at)

    def _take_frames(self, place: int) -> None:
        for frame in self._out:
            self.rows.add(frame, place)
        self._out.clear()


def fault_frame(capture: str, problem: str, count: int) -> DecodedFrame:
    """What is wrong with a file, in the place of frames; ``{count}`` stands for ``count``."""
    error = DumpError(problem.replace("{count}", str(count)))
    return DecodedFrame(capture=capture, stream_offset=0, direction="data", data=b"", error=error)


def _rows(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        columns = [
            column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
            for column in map(batch.column, names)
        ]
        yield from zip(*(column.to_pylist() for column in columns), strict=True)
