"""The rows of captures as tasks of the pipeline decode them, by plain Python or with the engine."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, NamedTuple

import pyarrow as pa

from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp.segments import LINK_TYPES, read_segment, reversed_key
from kafka_admin_proto.tables.decode_flows import FlowDecoder
from kafka_admin_proto.tables.frame_columns import DECODED
from kafka_admin_proto.tables.ingest.chunks import chunks_of
from kafka_admin_proto.tables.ingest.packets import PacketRow, rows_of
from kafka_admin_proto.tables.rows.frames import FrameRows
from tests.speed.rows import File


class Flows(NamedTuple):
    """The rows, in their order, and how many of them plain Python has made."""

    rows: list[dict[str, Any]]
    added: int


def flows(
    files: Sequence[File], engine: Any, options: DecodeOptions, schema: pa.Schema = DECODED
) -> Flows:
    """The rows of one capture in these files; ``engine`` None: by plain Python."""
    decoder = FlowDecoder(options, schema, engine=engine)
    decoder.rows = counted = _Counted(decoder.rows)  # type: ignore[assignment]
    found: list[dict[str, Any]] = []
    chunks: list[tuple[Any, ...]] = sorted(
        chunks_of(_packets(files)), key=lambda chunk: (chunk[3], chunk[1])
    )

    def take() -> None:
        batch = decoder.rows.take()
        batch.validate(full=True)
        # Times as numbers: no calendar has some that damaged captures have.
        found.extend(
            dict(zip(schema.names, row, strict=True)) for row in rows_of([batch], schema.names)
        )

    for chunk in chunks:
        for _ in decoder.chunk(*chunk):
            if decoder.rows.is_full:
                take()
    decoder.finish()
    take()
    return Flows(found, counted.added)


class _Counted:
    def __init__(self, rows: FrameRows) -> None:
        self._rows = rows
        self.added = 0

    def add(self, *frame: Any) -> None:
        self.added += 1
        self._rows.add(*frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)


def _packets(files: Sequence[File]) -> list[PacketRow]:
    found: list[PacketRow] = []
    for name, data in files:
        for ts, link, packet in read_packets(open_packets(BytesIO(data)), lambda at, error: None):
            segment = read_segment(link, packet) if link in LINK_TYPES else None
            if segment is None or not segment[0]:
                continue
            key, sequence, flags, payload, missing, acknowledged = segment
            other = reversed_key(key)
            flow, end = (key, 0) if key <= other else (other, 1)
            found.append((
                name, len(found) + 1, 0, ts, flow, end, sequence, flags, acknowledged, missing,
                payload, None,
            ))  # fmt: skip
    return found
