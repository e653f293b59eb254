"""Packets in a dump, as Wireshark copies them: what Kafka sent, without the headers around it.

A dump may lack times, and have any part of a connection. Each endpoint's bytes are put in order
as those of a capture, but no packet is awaited where one is missing, and cut into frames, which are
read as those of any dump.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kafka_admin_proto.capture.dumps.blocks import Block
from kafka_admin_proto.capture.dumps.chunks import whole_frames
from kafka_admin_proto.capture.tcp.reassembly import ReassemblyState, StreamReassembler
from kafka_admin_proto.capture.tcp.segments import (
    SYN,
    Segment,
    link_type_of,
    read_segment,
    reversed_key,
)
from kafka_admin_proto.errors import DumpError, MissingExtraError

_PREFIX = 4
#: tshark -x prints the reassembled bytes of several packets under such a name below the last
#: packet. If it took them for another protocol they are not a frame; the packets have them in any
#: case.
_REASSEMBLED = "Reassembled TCP"
_NO_BLOCK = Block(b"")


def without_headers(blocks: Sequence[Block], limit: int) -> list[Block]:
    """The blocks, those that are packets as the frames in them; ``limit`` is the largest frame.

    A frame stands where its last packet does, with the line of its first. Raises DumpError where
    there are packets and no bytes in any of them, or dpkt is needed to read one and is not there.
    """
    found = list(_Packets(limit).read(blocks))
    if blocks and not found:
        raise DumpError("packets without data: TCP's headers alone", line=blocks[0].line)
    return found


class _Packets:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        #: Source and destination → what that endpoint sends.
        self._streams: dict[bytes, _Stream] = {}

    def read(self, blocks: Sequence[Block]) -> Iterator[Block]:
        after_packet = False
        for block, following in zip_longest(blocks, blocks[1:], fillvalue=_NO_BLOCK):
            segment = _segment(block)
            if segment is not None:
                after_packet = True
                key = segment[0]
                stream = self._streams.setdefault(key, _Stream(key, self._limit))
                yield from stream.segment(segment, block, _reassembled(following))
            elif not (after_packet and block.comment.startswith(_REASSEMBLED)):
                yield block
        for stream in self._streams.values():
            yield from stream.flush()


class _Stream:
    """The bytes that one endpoint sends; ``pending`` are those of an incomplete frame."""

    def __init__(self, key: bytes, limit: int) -> None:
        self._connection = min(key, reversed_key(key))
        self._limit = limit
        self._reassembler = StreamReassembler(self, ReassemblyState())
        self._pending = bytearray()
        #: The packets that the pending bytes begin in, and that is being read.
        self._first = self._block = _NO_BLOCK
        self._reassembled = _NO_BLOCK
        self._frames: list[Block] = []

    def segment(self, segment: Segment, block: Block, reassembled: Block) -> list[Block]:
        """The frames that are whole with this packet.

        ``reassembled`` is one that ends in it, and stands in for packets that are not there.
        """
        _, sequence, flags, payload, missing, _ = segment
        if not (payload or missing or flags & SYN):
            return []
        self._block, self._reassembled = block, reassembled
        start = sequence + bool(flags & SYN)
        stream = self._reassembler
        begins = bool(flags & SYN) or stream.sequence is None
        is_same = stream.start(start) if begins else True
        if not (is_same and stream.segment(start, payload, missing, 0)):
            self._cut(len(self._pending))
            stream = self._reassembler = StreamReassembler(self, ReassemblyState(start))
            stream.segment(start, payload, missing, 0)
        stream.finish(0)  # a gap is not waited for
        return self._taken()

    def flush(self) -> list[Block]:
        """The pending bytes as a block, at the end of the stream."""
        self._cut(len(self._pending))
        return self._taken()

    def data(self, data: bytes, ts: int) -> None:
        """Take the next bytes, from the reassembly."""
        if not self._pending:
            self._first = self._block
        self._pending += data
        if data and self._reassembled.data.endswith(self._pending):
            self._pending[:] = self._reassembled.data
        if whole := whole_frames(self._pending, self._limit):
            self._cut(whole)
            self._first = self._block

    def missing(self, size: int, ts: int, *, cut_off: bool = False) -> None:
        """End the pending bytes where bytes were not captured."""
        self._cut(len(self._pending))

    def _cut(self, size: int) -> None:
        if size:
            data = bytes(self._pending[:size])
            first = self._first
            self._frames.append(
                Block(data, first.line, first.comment, self._block.ts, self._connection)
            )
            del self._pending[:size]

    def _taken(self) -> list[Block]:
        frames, self._frames = self._frames, []
        return frames


def _reassembled(block: Block) -> Block:
    """The block if it has tshark's reassembled bytes and these are a complete frame."""
    size = _PREFIX + int.from_bytes(block.data[:_PREFIX], "big")
    found = block.comment.startswith(_REASSEMBLED) and len(block.data) == size
    return block if found else _NO_BLOCK


def _segment(block: Block) -> Segment | None:
    """The TCP segment in a block; None for a block that is not a packet, or a fragment."""
    link = link_type_of(block.data)
    if link is None:
        return None
    try:
        segment = read_segment(link, block.data)
    except MissingExtraError as error:
        raise DumpError(str(error), line=block.line) from None
    return segment if segment is not None and segment[0] else None
