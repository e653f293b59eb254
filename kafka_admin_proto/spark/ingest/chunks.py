"""Packets of one flow packed into chunks: one row for many packets on their way through Spark.

A row costs Spark far more than a packet costs us, so that packets are packed before the shuffle and
unpacked behind it. A chunk has consecutive packets of one flow in one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any

import pyarrow as pa

from kafka_admin_proto.spark.ingest.packets import PacketRow

#: One row for each chunk of a flow, and for each fault of a file.
#:
#: ``capture``, ``clock`` and ``flow`` are those of its packets, ``place`` is the first one's.
#: ``segments`` has a `SEGMENT` for each packet, ``payload`` their payloads one after the other. A
#: fault has ``problem`` and ``missing`` instead, see `packets.PACKETS`.
CHUNKS = pa.schema(
    [
        pa.field("capture", pa.string(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),
        pa.field("clock", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("flow", pa.binary(), nullable=False),
        pa.field("segments", pa.binary()),
        pa.field("payload", pa.binary()),
        pa.field("problem", pa.string()),
        pa.field("missing", pa.int64()),
    ]
)
#: Of a packet: place, time in microseconds, sequence number, number acknowledged, bytes that were
#: not captured, bytes of payload, flags, and the end that sent it (`LINE` for a line of a log).
SEGMENT = Struct("<qqIIIIHb")
LINE = -1
#: Bytes of payload in a chunk, unless one packet has more.
CHUNK_BYTES = 1024 * 1024
#: Bytes of all chunks of a task that are open, after which all are handed on.
_OPEN_BYTES = 16 * 1024 * 1024
#: Bytes, and rows, of one batch.
_BATCH_BYTES = 4 * 1024 * 1024
_BATCH_ROWS = 4096
#: What a chunk takes beside its segments and payloads, about.
_CHUNK_OVERHEAD = 200


class _Chunk:
    __slots__ = ("capture", "clock", "payload", "place", "segments")

    def __init__(self, capture: str, place: int, clock: int) -> None:
        self.capture = capture
        self.place = place
        self.clock = clock
        self.segments = bytearray()
        self.payload = bytearray()


def pack(rows: Iterable[PacketRow]) -> Iterator[pa.RecordBatch]:
    """Batches of chunks of packets, which are in the order of the capture within each flow.

    Chunks of a flow come in that order as well. Memory holds the open chunks and one batch.
    """
    batch = _Batch()
    chunks: dict[bytes, _Chunk] = {}
    waiting = 0
    pack_segment = SEGMENT.pack
    for row in rows:
        (
            capture, place, clock, ts, flow, end, sequence, flags, acknowledged, missing, payload,
            problem,
        ) = row  # fmt: skip
        if problem is not None:
            batch.add(capture, place, clock, flow, None, None, problem, missing)
            continue
        if sequence is None:  # a line of a log
            ts = sequence = acknowledged = missing = flags = 0
            end = LINE
        size = len(payload)
        chunk = chunks.get(flow)
        if chunk is not None and (
            len(chunk.payload) + size > CHUNK_BYTES or chunk.capture != capture
        ):
            batch.add_chunk(flow, chunk)
            waiting -= len(chunk.payload) + len(chunk.segments)
            if batch.is_full:
                yield batch.take()
            chunk = None
        if chunk is None:
            chunk = chunks[flow] = _Chunk(capture, place, clock)
            waiting += _CHUNK_OVERHEAD
        chunk.segments += pack_segment(place, ts, sequence, acknowledged, missing, size, flags, end)
        if size:
            chunk.payload += payload
        waiting += SEGMENT.size + size
        if waiting > _OPEN_BYTES:
            for flow, chunk in chunks.items():
                batch.add_chunk(flow, chunk)
                if batch.is_full:
                    yield batch.take()
            chunks.clear()
            waiting = 0
    for flow, chunk in chunks.items():
        batch.add_chunk(flow, chunk)
        if batch.is_full:
            yield batch.take()
    yield batch.take()


class _Batch:
    """Rows of `CHUNKS` on their way into a record batch."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    def add(self, *row: Any) -> None:
        self._rows.append(row)

    def add_chunk(self, flow: bytes, chunk: _Chunk) -> None:
        segments, payload = bytes(chunk.segments), bytes(chunk.payload)
        self._rows.append(
            (chunk.capture, chunk.place, chunk.clock, flow, segments, payload, None, None)
        )
        self._bytes += len(segments) + len(payload)

    @property
    def is_full(self) -> bool:
        return self._bytes >= _BATCH_BYTES or len(self._rows) >= _BATCH_ROWS

    def take(self) -> pa.RecordBatch:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(CHUNKS)
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, CHUNKS, strict=True)
        ]
        self._rows, self._bytes = [], 0
        return pa.RecordBatch.from_arrays(arrays, schema=CHUNKS)
