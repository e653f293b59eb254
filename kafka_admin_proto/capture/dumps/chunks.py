"""Bytes of streams that dumps have in chunks: what a program wrote and read, call by call."""

from __future__ import annotations

from kafka_admin_proto.capture.dumps.blocks import Block
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT

_PREFIX = 4


def whole_frames(data: bytes | bytearray, limit: int = DEFAULT_FRAME_LIMIT) -> int:
    """The number of bytes at the start that are complete frames; all if they are not frames."""
    at = 0
    while len(data) - at >= _PREFIX:
        size = int.from_bytes(data[at : at + _PREFIX], "big", signed=True)
        if not 0 <= size <= limit:
            return len(data)
        if at + _PREFIX + size > len(data):
            break
        at += _PREFIX + size
    return at


class ChunkJoiner:
    """Joins the chunks of each stream to blocks of whole frames.

    A block stands where its last chunk does, with the line of its first one.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        #: The name of a stream → the bytes of a frame that goes on, and the line of its first.
        self._open: dict[str, tuple[bytearray, int]] = {}

    def add(self, stream: str, data: bytes, line: int, ts: int | None) -> None:
        """Append what a stream had next; ``stream`` becomes the comment of its blocks."""
        pending, first = self._open.pop(stream, (bytearray(), line))
        pending += data
        if whole := whole_frames(pending):
            self._blocks.append(Block(bytes(pending[:whole]), first, stream, ts))
            del pending[:whole]
            first = line
        if pending:
            self._open[stream] = pending, first

    def is_open(self, stream: str) -> bool:
        return stream in self._open

    def take(self, block: Block) -> None:
        self._blocks.append(block)

    def end(self, stream: str) -> None:
        """End a stream, whose name may be another's later; its last frame may not be whole."""
        if stream in self._open:
            pending, line = self._open.pop(stream)
            self._blocks.append(Block(bytes(pending), line, stream))

    def finish(self) -> list[Block]:
        for stream in list(self._open):
            self.end(stream)
        return self._blocks
