"""Packets in a dump, as Wireshark copies them: what Kafka sent, without the headers around it.

A dump has no times and may have any part of a connection, so that packets are not followed as those
of a capture are: each endpoint's bytes are joined where the sequence numbers go on, and cut into
frames, which are read as those of any dump.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kafka_admin_proto.capture.dumps.blocks import Block
from kafka_admin_proto.capture.tcp.segments import FIN, SYN, Segment, link_type_of, read_segment
from kafka_admin_proto.errors import DumpError, MissingExtraError

_PREFIX = 4
_ALL = 1 << 32
#: Bytes less than this before the expected sequence number are a retransmission; a sequence number
#: further back belongs to another connection.
_SENT_AGAIN = 1 << 20
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
                stream = self._streams.setdefault(segment[0], _Stream(self._limit))
                yield from stream.segment(segment, block, _reassembled(following))
            elif not (after_packet and block.comment.startswith(_REASSEMBLED)):
                yield block
        for stream in self._streams.values():
            yield from stream.flush()


class _Stream:
    """The bytes that one endpoint sends; ``pending`` are those of an incomplete frame."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._expected: int | None = None
        self._pending = bytearray()
        self._first = _NO_BLOCK

    def segment(self, segment: Segment, block: Block, reassembled: Block) -> Iterator[Block]:
        """The frames that are whole with this packet.

        ``reassembled`` is one that ends in it, and stands in for packets that are not there.
        """
        _, sequence, flags, payload, missing, _ = segment
        start = (sequence + bool(flags & SYN)) % _ALL
        if self._expected is not None and not flags & SYN:
            ahead = (start - self._expected + _ALL // 2) % _ALL - _ALL // 2
            if -_SENT_AGAIN < ahead < 0:
                payload = payload[-ahead:]
                start = self._expected
                if not payload:
                    return
            if start != self._expected:
                yield from self.flush()
        self._expected = (start + len(payload) + missing + bool(flags & FIN)) % _ALL
        if not self._pending:
            self._first = block
        self._pending += payload
        if payload and reassembled.data.endswith(self._pending):
            self._pending[:] = reassembled.data
        if whole := self._whole():
            yield from self._cut(whole)
            self._first = block
        if missing:  # the packet was cut when it was captured
            yield from self.flush()

    def flush(self) -> Iterator[Block]:
        """The pending bytes as a block, at the end of the stream."""
        yield from self._cut(len(self._pending))

    def _whole(self) -> int:
        """The number of pending bytes that are complete frames; 0 if they are not frames."""
        at = 0
        while len(self._pending) - at >= _PREFIX:
            size = int.from_bytes(self._pending[at : at + _PREFIX], "big", signed=True)
            if not 0 <= size <= self._limit:
                return len(self._pending)
            if at + _PREFIX + size > len(self._pending):
                break
            at += _PREFIX + size
        return at

    def _cut(self, size: int) -> Iterator[Block]:
        if size:
            yield Block(bytes(self._pending[:size]), self._first.line, self._first.comment)
            del self._pending[:size]


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
