"""A buffered source of bytes with look-ahead, and the types of packets and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DumpError

#: The largest packet, with segmentation offload and jumbo frames; a larger size means damage.
MAX_PACKET_BYTES = 16 * 1024 * 1024
#: An offset behind the end of every file.
NO_END = 1 << 63
_PIECE = 256 * 1024

#: A packet: its time in microseconds since 1970 (0 if the file has none), its LINKTYPE number, and
#: its bytes, which may be fewer than on the wire (tcpdump -s). It is a plain tuple for speed.
Packet = tuple[int, int, bytes]
#: Called for each fault of a capture with the byte at which it begins.
Report = Callable[[int, DumpError], None]


class ByteStream(Protocol):
    """A file, a pipe or a decompressor."""

    def read(self, size: int, /) -> bytes: ...


class BufferedSource:
    """A stream with look-ahead. A read returns the bytes that have arrived, not a full buffer."""

    def __init__(self, stream: ByteStream) -> None:
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self.data: bytes = b""
        self.at: int = 0
        #: Where in ``data`` the header of the last packet begins.
        self.start: int = 0
        #: How its packets are written, once the first of them was read: what `pcap` or `pcapng`
        #: knows of the file.
        self.layout: object = None
        #: Bytes of the stream before ``data``.
        self.passed: int = 0
        #: The error of a decompressor that ended the stream early.
        self.fault: str = ""

    @property
    def position(self) -> int:
        """The offset of ``at`` in the stream."""
        return self.passed + self.at

    @property
    def started(self) -> int:
        """The offset in the stream of the last packet's header."""
        return self.passed + self.start

    def have(self, size: int) -> bool:
        """Read until ``size`` bytes are buffered from ``at`` on; False if the stream ends."""
        if len(self.data) - self.at >= size:
            return True
        parts = [self.data[self.at :]]
        there = len(parts[0])
        self.passed += self.at
        while there < size and not self.fault:
            piece = self._next(max(_PIECE, min(size - there, MAX_PACKET_BYTES)))
            if not piece:
                break
            parts.append(piece)
            there += len(piece)
        self.start -= self.at
        self.data, self.at = b"".join(parts), 0
        return there >= size

    def _next(self, size: int) -> bytes:
        try:
            return self._read(size)
        except Exception as error:  # EOFError, zlib.error, LZMAError, ZstdError, OSError
            self.fault = f"{type(error).__name__}: {error}"
            return b""


def truncation(source: BufferedSource, what: str) -> DumpError:
    """The fault of a capture that ends inside of a packet or header at the source's position."""
    left = len(source.data) - source.at
    return DumpError(
        f"the capture ends {counted(left, 'bytes')} into a {what} at byte "
        f"{source.position}{_why(source)}; "
        "all packets before it are read"
    )


def damage(source: BufferedSource, at: int, what: str, *, found: bool = True) -> DumpError:
    """The fault of a capture without a packet at byte ``at``.

    The source is at the next packet if one was ``found``, otherwise at the end.
    """
    passed = source.position - at
    rest = (
        f"{counted(passed, 'bytes')} passed over until the next packet"
        if found
        else f"no packet is found in the {counted(passed, 'bytes')} from there on{_why(source)}"
    )
    return DumpError(f"the capture is damaged at byte {at}: {what}; {rest}")


def _why(source: BufferedSource) -> str:
    return f" ({source.fault})" if source.fault else ""
