"""The chunks of a part of a file; the compiled engine takes the plain packets, where it is in use.

Plain is a whole packet of a usual shape whose flow has an open chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.capture.files.buffered import BufferedSource
from kafka_admin_proto.capture.files.pcap import FileHeader
from kafka_admin_proto.capture.files.pcapng import Blocks
from kafka_admin_proto.capture.tcp.segments import BARE_LINK_HEADERS, LINK_HEADERS
from kafka_admin_proto.tables.ingest.chunks import (
    CHUNK_BYTES,
    Chunk,
    ChunkRow,
    OpenChunks,
    chunks_of,
)
from kafka_admin_proto.tables.ingest.files import POSITION_BITS, Part
from kafka_admin_proto.tables.ingest.packets import ANY_TIME, Times, packet_rows
from kafka_admin_proto.wire.engine import compiled


def part_chunks(part: Part, times: Times = ANY_TIME, engine: Any = compiled) -> Iterator[ChunkRow]:
    opened = OpenChunks()
    taker = None if engine is None else PlainChunks(opened, engine)
    return chunks_of(packet_rows(part, times, taker), opened)


class PlainChunks:
    """Adds plain packets to the chunks that are ``opened``; a `packets.PacketTaker`."""

    def __init__(self, opened: OpenChunks, engine: Any) -> None:
        self._opened = opened
        self._packer = engine.ChunkPacker(
            LINK_HEADERS, BARE_LINK_HEADERS, opened.by_flow, Chunk, CHUNK_BYTES
        )

    def begin(self, part: Part, capture: str, times: Times) -> None:
        """Begin with a part of a file, which has the name ``capture`` in its rows."""
        base = part.rank << POSITION_BITS
        self._packer.read_part(
            capture, base, 1 << POSITION_BITS, times.since, times.until, part.numbered
        )

    def take(self, source: BufferedSource, end: int, position: int) -> int:
        """Take packets that follow in the buffer and begin before the byte ``end``.

        ``position`` is that of the last packet; returns the same behind those that were taken.
        """
        room = self._opened.room
        layout = source.layout
        if type(layout) is FileHeader:
            position, left = self._packer.pack_pcap(source, layout, end, position, room)
        elif type(layout) is Blocks:
            position, left = self._packer.pack_pcapng(
                source, layout.order, layout.interfaces, end, position, room
            )
        else:
            return position
        self._opened.waiting += room - left
        return position
