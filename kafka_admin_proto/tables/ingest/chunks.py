"""Chunks: consecutive packets of one flow in one file, packed into one row for the shuffle.

Spark spends far more on a row than decoding spends on a packet. Packets are therefore packed before
the shuffle and unpacked after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

import pyarrow as pa

from kafka_admin_proto.tables.ingest.packets import PacketRow, batch_of

#: One row for each chunk of a flow, and for each fault of a file.
#:
#: All packets of a chunk have its ``capture``, ``watermark`` and ``flow``; ``packet_ordinal`` is
#: that of the first packet. ``segments`` has a `SEGMENT` for each packet, ``payload`` their
#: payloads one after the other. A fault has ``problem`` and ``missing`` instead, see
#: `packets.PACKETS`.
CHUNKS = pa.schema(
    [
        pa.field("capture", pa.string(), nullable=False),
        pa.field("packet_ordinal", pa.int64(), nullable=False),
        pa.field("watermark", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("flow", pa.binary(), nullable=False),
        pa.field("segments", pa.binary()),
        pa.field("payload", pa.binary()),
        pa.field("problem", pa.string()),
        pa.field("missing", pa.int64()),
    ]
)
#: The header of one packet in a chunk: packet ordinal, time in microseconds, sequence number,
#: acknowledgment number, bytes that were not captured, bytes of payload, flags, and the end that
#: sent the packet (`LINE` for a line of a request log).
SEGMENT = Struct("<qqIIIIHb")
LINE = -1
#: Bytes of payload in a chunk at most; a single packet may have more.
CHUNK_BYTES = 1024 * 1024
#: Bytes of all open chunks of a task, after which all of them are closed and yielded.
_OPEN_BYTES = 16 * 1024 * 1024
#: A record batch is yielded when it has this many bytes or rows.
_BATCH_BYTES = 4 * 1024 * 1024
_BATCH_ROWS = 4096
#: Estimated bytes of memory for a chunk, beside its segments and payloads.
_CHUNK_OVERHEAD = 200


class Chunk:
    """A chunk that is open; the compiled engine adds to its bytes, too."""

    __slots__ = ("capture", "ordinal", "payload", "segments", "watermark")

    def __init__(self, capture: str, ordinal: int, watermark: int) -> None:
        self.capture = capture
        self.ordinal = ordinal
        self.watermark = watermark
        self.segments: bytearray = bytearray()
        self.payload: bytearray = bytearray()

    def row(self, flow: bytes) -> ChunkRow:
        segments, payload = bytes(self.segments), bytes(self.payload)
        return self.capture, self.ordinal, self.watermark, flow, segments, payload, None, None


def pack(packed: Iterable[ChunkRow]) -> Iterator[pa.RecordBatch]:
    """Chunks in batches. Memory holds one of them."""
    chunks: list[ChunkRow] = []
    size_bytes = 0
    for chunk in packed:
        chunks.append(chunk)
        _, _, _, _, segments, payload, _, _ = chunk
        size_bytes += len(segments or b"") + len(payload or b"")
        if size_bytes >= _BATCH_BYTES or len(chunks) >= _BATCH_ROWS:
            batch, chunks, size_bytes = batch_of(chunks, CHUNKS), [], 0
            yield batch
    yield batch_of(chunks, CHUNKS)


#: The columns of `CHUNKS`; the watermark in microseconds since 1970.
ChunkRow = tuple[str, int, int, bytes, bytes | None, bytes | None, str | None, int | None]


class OpenChunks:
    """The chunks that are open, by their flows, and about how many bytes they have."""

    __slots__ = ("by_flow", "waiting")

    def __init__(self) -> None:
        self.by_flow: dict[bytes, Chunk] = {}
        self.waiting: int = 0

    @property
    def room(self) -> int:
        """How many bytes may be added before all of them are closed."""
        return _OPEN_BYTES - self.waiting


def chunks_of(rows: Iterable[PacketRow], opened: OpenChunks | None = None) -> Iterator[ChunkRow]:
    """Pack packets into chunks.

    The packets of each flow come in capture order, and so do the flow's chunks. Memory holds the
    open chunks: those of ``opened``, to which somebody else may add packets between two rows.
    """
    opened = opened or OpenChunks()
    chunks = opened.by_flow
    pack_segment = SEGMENT.pack
    for row in rows:
        (
            capture, ordinal, watermark, ts, flow, end, sequence, flags, acknowledged, missing,
            payload, problem,
        ) = row  # fmt: skip
        if problem is not None:
            yield capture, ordinal, watermark, flow, None, None, problem, missing
            continue
        if sequence is None:  # a line of a request log
            ts = sequence = acknowledged = missing = flags = 0
            end = LINE
        size = len(payload)
        chunk = chunks.get(flow)
        if chunk is not None and (
            len(chunk.payload) + size > CHUNK_BYTES or chunk.capture != capture
        ):
            opened.waiting -= len(chunk.payload) + len(chunk.segments)
            yield chunk.row(flow)
            chunk = None
        if chunk is None:
            chunk = chunks[flow] = Chunk(capture, ordinal, watermark)
            opened.waiting += _CHUNK_OVERHEAD
        chunk.segments += pack_segment(
            ordinal, ts, sequence, acknowledged, missing, size, flags, end
        )
        if size:
            chunk.payload += payload
        opened.waiting += SEGMENT.size + size
        if opened.waiting > _OPEN_BYTES:
            for flow, chunk in chunks.items():
                yield chunk.row(flow)
            chunks.clear()
            opened.waiting = 0
    for flow, chunk in chunks.items():
        yield chunk.row(flow)
