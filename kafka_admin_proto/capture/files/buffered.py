"""Bytes that come in pieces, looked at before they are taken; and what a packet is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from kafka_admin_proto.errors import DumpError

#: No packet is larger, with segmentation offload and jumbo frames; more is a damaged file.
MAX_PACKET_BYTES = 16 * 1024 * 1024
#: Behind the end of every file.
NO_END = 1 << 63
_PIECE = 256 * 1024

#: A packet: when, in microseconds since 1970, 0 where the file does not say; its LINKTYPE number;
#: its bytes, maybe fewer than it had on the wire (tcpdump -s). A plain tuple: there are millions.
Packet = tuple[int, int, bytes]
#: Takes what is wrong with a capture: the byte at which it is, and what.
Report = Callable[[int, DumpError], None]


class ByteStream(Protocol):
    """Bytes in pieces: a file, a pipe, a decompressor."""

    def read(self, size: int, /) -> bytes: ...


class BufferedSource:
    """A stream with a look ahead; reads what is there rather than wait for a full piece."""

    def __init__(self, stream: ByteStream) -> None:
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self.data: bytes = b""
        self.at: int = 0
        #: Where in ``data`` the packet that was read last begins, its header.
        self.start: int = 0
        #: Bytes before ``data``.
        self.passed: int = 0
        #: Why the stream ended before its end, as a decompressor may say.
        self.fault: str = ""

    @property
    def position(self) -> int:
        """How many bytes of the stream are before ``at``."""
        return self.passed + self.at

    @property
    def started(self) -> int:
        """How many bytes of the stream are before the packet that was read last."""
        return self.passed + self.start

    def have(self, size: int) -> bool:
        """Read on until so many bytes are there from ``at`` on; False where the stream ends."""
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

    def rest(self) -> Iterator[bytes]:
        """Everything that is left, piece by piece."""
        if self.at < len(self.data):
            yield self.data[self.at :]
        while not self.fault and (piece := self._next(_PIECE)):
            yield piece

    def _next(self, size: int) -> bytes:
        try:
            return self._read(size)
        except Exception as error:  # EOFError, zlib.error, LZMAError, ZstdError, OSError
            self.fault = f"{type(error).__name__}: {error}"
            return b""


def truncation(source: BufferedSource, what: str) -> DumpError:
    """The capture ends in the middle of something that begins where the source is."""
    left = len(source.data) - source.at
    return DumpError(
        f"the capture ends {left} bytes into a {what} at byte {source.position}{_why(source)}; "
        "all packets before it are read"
    )


def damage(source: BufferedSource, at: int, what: str, *, found: bool = True) -> DumpError:
    """No packet stands at a byte; the source is where one was found again, or at its end."""
    passed = source.position - at
    rest = (
        f"{passed} bytes are passed over until the next packet"
        if found
        else f"no packet is found in the {passed} bytes from there on{_why(source)}"
    )
    return DumpError(f"the capture is damaged at byte {at}: {what}; {rest}")


def _why(source: BufferedSource) -> str:
    return f" ({source.fault})" if source.fault else ""
