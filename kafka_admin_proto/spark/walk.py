"""Packets that are sorted by flow and place → frame records as Arrow batches."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from kafka_admin_proto.capture.conversation import Settings
from kafka_admin_proto.capture.flows import Flow
from kafka_admin_proto.capture.frame_records import FETCH_KEY, NO_NAMES, RECORD_KEYS, DecodedFrame
from kafka_admin_proto.capture.request_log import frames_of_line
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.render import leaves
from kafka_admin_proto.spark.files import POSITION_BITS
from kafka_admin_proto.spark.metadata_rows import fetched_records
from kafka_admin_proto.spark.packets import PACKETS
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
                ("type", pa.string()),
                ("fields", pa.string()),
            ]
        )
    ),
}
_ALWAYS = {"capture", "direction", "error_codes", "forwarded", "place"}
#: The frame record's keys as columns; ``body`` is JSON. Beside it ``place``, the frame's place in
#: the whole capture (of the packet with which it was whole), ``topic_ids``, those in its body, and
#: ``metadata_records``: what a Fetch response has of the metadata log on topics and partitions,
#: null in all others; see `metadata_rows.fetched_records`, ``fields`` is JSON.
FRAMES = pa.schema(
    pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in _ALWAYS)
    for name in (*RECORD_KEYS, "place", "topic_ids", "metadata_records")
)
_BODY = FRAMES.get_field_index("body")
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

    def settings(self) -> Settings:
        """The settings of a conversation that is read so."""
        bodies = self.bodies if self.body else ()
        return Settings(limit=self.limit, dialect=self.dialect, bodies=bodies)


AS_USUAL = Reading()


class FrameRows:
    """Frames on their way into Arrow batches."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    def add(self, frame: DecodedFrame, place: int) -> bool:
        """Whether there is enough for a batch."""
        reading = self._reading
        frame.topic_names = NO_NAMES
        record = frame.record(mask=reading.mask, raw=reading.raw, body=reading.body)
        size = _OF_A_ROW
        if record["body"] is not None:
            body = record["body"] = msgspec.json.encode(record["body"])
            size += len(body)
        if record["raw"] is not None:
            size += len(record["raw"])
        ids = records = None
        if frame.codec is not None and frame.body is not None and reading.body:
            ids = [topic_id_to_text(each) for each in leaves.topic_ids(frame.codec, frame.body)]
            if frame.api_key == FETCH_KEY and frame.direction == "response":
                records = [
                    {**each, "fields": msgspec.json.encode(each["fields"])}
                    for each in fetched_records(frame.body)
                ]
                size += sum(len(each["fields"]) for each in records)
        self._rows.append((*record.values(), place, ids, records or None))
        self._bytes += size
        return len(self._rows) >= _ROWS or self._bytes >= _BYTES

    def take(self) -> pa.RecordBatch:
        """What was added since the last time."""
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(FRAMES)
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, FRAMES, strict=True)
        ]
        self._rows, self._bytes = [], 0
        return pa.RecordBatch.from_arrays(arrays, schema=FRAMES)


def walk(batches: Iterable[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """The frames of packets in the columns of ``PACKETS``, sorted by flow and place.

    One flow is followed at a time: memory holds what is in flight in it, and a batch.
    """
    settle_collector()
    rows = FrameRows(reading)
    out: list[DecodedFrame] = []
    settings = reading.settings()
    flow: Flow | None = None
    key = b""
    faults: dict[tuple[str, str], tuple[int, int]] = {}
    for row in _rows(batches):
        (capture, place, ts, its_key, end, sequence, flags, acknowledged, missing, payload,
         problem) = row  # fmt: skip
        if its_key != key and flow is not None:
            flow.close()
            for frame in out:
                if rows.add(frame, flow.at):
                    yield rows.take()
            out.clear()
            flow = None
        if sequence is not None:
            if flow is None:
                key = its_key
                flow = Flow(key, settings, out)
            flow.segment(end, sequence, flags, payload, missing, acknowledged, ts, place, capture)
        elif problem is not None:
            count, _ = faults.get((capture, problem), (0, 0))
            faults[capture, problem] = count + missing, place
        else:
            number = place & ((1 << POSITION_BITS) - 1)
            out += frames_of_line(number, payload, capture, reading.dialect)
        if out:
            for frame in out:
                if rows.add(frame, place):
                    yield rows.take()
            out.clear()
    if flow is not None:
        flow.close()
        for frame in out:
            if rows.add(frame, flow.at):
                yield rows.take()
    for (capture, problem), (count, place) in faults.items():
        if rows.add(fault_frame(capture, problem, count), place):
            yield rows.take()
    yield rows.take()


def fault_frame(capture: str, problem: str, count: int) -> DecodedFrame:
    """What is wrong with a file, in the place of frames; ``{count}`` stands for ``count``."""
    error = DumpError(problem.replace("{count}", str(count)))
    return DecodedFrame(capture=capture, stream_offset=0, direction="data", data=b"", error=error)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        columns = [
            batch.column(name).cast(pa.int64()).to_pylist()
            if name == "ts"
            else batch.column(name).to_pylist()
            for name in PACKETS.names
        ]
        yield from zip(*columns, strict=True)


def settle_collector() -> None:
    """What lives on in a worker is not looked at again and again by the cyclic collector."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
