"""Capture files → packets: pcap and pcapng, plain or compressed, from a file or a pipe.

Formats: the libpcap file format (both byte orders, micro- and nanoseconds) and pcapng
(draft-ietf-opsawg-pcapng: several sections and interfaces, any timestamp resolution). Packets come
as they arrive in the stream: memory stays within one packet plus what was read at once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import NamedTuple, Protocol

from kafka_admin_proto.errors import DumpError, MissingExtraError

#: No packet is larger, with segmentation offload and jumbo frames; more is a damaged file.
LARGEST_PACKET = 16 * 1024 * 1024
_PIECE = 256 * 1024
#: What ``xz -9`` needs is a quarter of this.
_XZ_MEMORY = 256 * 1024 * 1024
_LONGEST_MAGIC = 6
#: Times are kept in 63 bits.
_LATEST = 1 << 63

_PCAP_MAGICS = {
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
}
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_COMPRESSED = (_GZIP_MAGIC, _XZ_MAGIC, _ZSTD_MAGIC)


#: A packet: when, in microseconds since 1970, 0 where the file does not say; its LINKTYPE number;
#: its bytes, maybe fewer than it had on the wire (tcpdump -s). A plain tuple: there are millions.
Packet = tuple[int, int, bytes]


class Stream(Protocol):
    """Bytes in pieces: a file, a pipe, a decompressor."""

    def read(self, size: int, /) -> bytes: ...


class _Xz:
    """Reads xz, with a limit on memory that ``lzma.LZMAFile`` does not have."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._new()

    def _new(self) -> None:
        import lzma

        self._decompressor = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def read(self, size: int) -> bytes:
        while True:
            piece = b""
            if self._decompressor.eof:
                piece = self._decompressor.unused_data.lstrip(b"\0")
                while not piece:  # zeros are padding between streams
                    read = self._stream.read(_PIECE)
                    if not read:
                        return b""
                    piece = read.lstrip(b"\0")
                self._new()
            elif self._decompressor.needs_input:
                piece = self._stream.read(_PIECE)
                if not piece:
                    raise EOFError("the xz stream ends in the middle")
            if found := self._decompressor.decompress(piece, size):
                return found


class Buffered:
    """A stream with a look ahead; reads what is there rather than wait for a full piece."""

    def __init__(self, stream: Stream) -> None:
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self.data = b""
        self.at = 0
        #: Bytes before ``data``.
        self._passed = 0
        #: Why the stream ended before its end, as a decompressor may say.
        self.fault = ""

    @property
    def position(self) -> int:
        """How many bytes of the stream are before ``at``."""
        return self._passed + self.at

    def have(self, size: int) -> bool:
        """Read on until so many bytes are there from ``at`` on; False where the stream ends."""
        if len(self.data) - self.at >= size:
            return True
        parts = [self.data[self.at :]]
        there = len(parts[0])
        self._passed += self.at
        while there < size and not self.fault:
            piece = self._next(max(_PIECE, min(size - there, LARGEST_PACKET)))
            if not piece:
                break
            parts.append(piece)
            there += len(piece)
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


class _Again:
    """A stream whose first bytes were looked at already, for decompressors."""

    def __init__(self, source: Buffered) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        source = self._source
        if source.at == len(source.data):
            source.have(1)
        end = len(source.data) if size < 0 else source.at + size
        piece = source.data[source.at : end]
        source.at += len(piece)
        return piece


def open_packets(stream: Stream) -> Buffered:
    """A capture's bytes, decompressed if need be."""
    source = Buffered(stream)
    source.have(_LONGEST_MAGIC)
    head = source.data[:_LONGEST_MAGIC]
    if head.startswith(_COMPRESSED):
        return Buffered(_decompressed(_Again(source), head))
    return source


def is_capture(head: bytes) -> bool:
    """Whether an input that starts so is a capture of packets, compressed or not."""
    if not head.startswith(_COMPRESSED):
        return head[:4] in _PCAP_MAGICS or head[:4] == _PCAPNG_MAGIC
    source = open_packets(BytesIO(head))
    source.have(4)
    return is_capture(source.data[source.at : source.at + 4])


def _decompressed(stream: _Again, head: bytes) -> Stream:
    """What a gzip, xz or zstd stream holds, decompressed as it is read."""
    if head.startswith(_GZIP_MAGIC):
        import gzip

        return gzip.GzipFile(fileobj=stream)  # type: ignore[call-overload,no-any-return]
    if head.startswith(_XZ_MAGIC):
        return _Xz(stream)
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError(
            "a zstd-compressed capture needs zstandard: pip install 'kafka-admin-proto[capture]'"
        ) from None
    reader: Stream = zstandard.ZstdDecompressor().stream_reader(
        stream,  # type: ignore[arg-type]  # as above
        read_across_frames=True,
    )
    return reader


def read_packets(source: Buffered) -> Iterator[Packet]:
    """The packets of a capture. Raises DumpError at what is no packet, after those before it."""
    source.have(4)
    magic = source.data[source.at : source.at + 4]
    if magic == _PCAPNG_MAGIC:
        yield from _Pcapng(source).packets()
    elif magic in _PCAP_MAGICS:
        yield from _pcap(source, *_PCAP_MAGICS[magic])
    else:
        raise DumpError("not a capture: it starts with neither pcap's nor pcapng's magic number")


def _pcap(source: Buffered, order: str, resolution: int) -> Iterator[Packet]:
    if not source.have(24):
        raise _cut(source, "file header")
    (network,) = struct.unpack_from(f"{order}I", source.data, source.at + 20)
    link = network & 0xFFFF  # the upper bits may say how long frame check sequences are
    source.at += 24
    unpack = struct.Struct(f"{order}4I").unpack_from
    nanoseconds = resolution == 1_000_000_000
    while source.have(16):
        seconds, fraction, size, _ = unpack(source.data, source.at)
        if size > LARGEST_PACKET:
            raise _damaged(source, f"a packet of {size} bytes")
        if not source.have(16 + size):
            raise _cut(source, "packet")
        start = source.at + 16
        source.at = start + size
        if nanoseconds:
            fraction //= 1000
        yield seconds * 1_000_000 + fraction, link, source.data[start : source.at]
    if source.at < len(source.data) or source.fault:
        raise _cut(source, "packet header")


class _Interface(NamedTuple):
    link: int
    snap: int
    #: Ticks a second, and seconds to add.
    resolution: int
    offset: int

    def microseconds(self, high: int, low: int) -> int:
        ticks = high << 32 | low
        return ticks * 1_000_000 // self.resolution + self.offset * 1_000_000


class _Pcapng:
    """One file: blocks of a type, a length, a body, and the length again."""

    _SECTION, _INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6

    def __init__(self, source: Buffered) -> None:
        self._source = source
        self._order = "<"
        self._interfaces: list[_Interface] = []

    def packets(self) -> Iterator[Packet]:
        source = self._source
        while source.have(12):
            kind, size = self._head()
            if size < 12 or size % 4 or size > LARGEST_PACKET + 4096:
                raise _damaged(source, f"a block of {size} bytes")
            if not source.have(size):
                raise _cut(source, "block")
            body = source.data[source.at + 8 : source.at + size - 4]
            try:
                packet = self._block(kind, body)
            except (struct.error, IndexError):
                raise _damaged(source, f"a block of type {kind} that is too short") from None
            source.at += size
            if packet is not None:
                yield packet
        if source.at < len(source.data) or source.fault:
            raise _cut(source, "block header")

    def _head(self) -> tuple[int, int]:
        """Type and length of the block; a section says in which byte order it is written."""
        source = self._source
        if source.data[source.at : source.at + 4] == _PCAPNG_MAGIC:
            magic = source.data[source.at + 8 : source.at + 12]
            if magic not in (b"\x1a\x2b\x3c\x4d", b"\x4d\x3c\x2b\x1a"):
                raise _damaged(source, f"a section with the byte-order magic {magic.hex()}")
            self._order = ">" if magic[0] == 0x1A else "<"
            self._interfaces.clear()
        kind, size = struct.unpack_from(f"{self._order}2I", source.data, source.at)
        return kind, size

    def _block(self, kind: int, body: bytes) -> Packet | None:
        order = self._order
        if kind == self._ENHANCED:
            number, high, low, size, _ = struct.unpack_from(f"{order}5I", body)
            start = 20
        elif kind == self._PACKET:
            number, _, high, low, size, _ = struct.unpack_from(f"{order}2H4I", body)
            start = 20
        elif kind == self._SIMPLE:
            (original,) = struct.unpack_from(f"{order}I", body)
            interface = self._interfaces[0]
            size = min(original, interface.snap or original)
            return 0, interface.link, body[4 : 4 + size]
        else:
            if kind == self._INTERFACE:
                self._interfaces.append(self._read_interface(body))
            return None
        interface = self._interfaces[number]
        ts = interface.microseconds(high, low)
        if not 0 <= ts < _LATEST:
            raise struct.error  # no time that anybody can mean
        return ts, interface.link, body[start : start + size]

    def _read_interface(self, body: bytes) -> _Interface:
        link, _, snap = struct.unpack_from(f"{self._order}2HI", body)
        resolution, offset = 1_000_000, 0
        at = 8
        while at + 4 <= len(body):
            code, size = struct.unpack_from(f"{self._order}2H", body, at)
            value = body[at + 4 : at + 4 + size]
            if code == 0:
                break
            if code == 9 and value:
                exponent = value[0] & 0x7F
                resolution = 1 << exponent if value[0] & 0x80 else 10 ** min(exponent, 30)
            elif code == 14 and len(value) == 8:
                (offset,) = struct.unpack(f"{self._order}q", value)
            at += 4 + size + -size % 4
        return _Interface(link, snap, resolution, offset)


def _cut(source: Buffered, what: str) -> DumpError:
    left = len(source.data) - source.at
    why = f" ({source.fault})" if source.fault else ""
    return DumpError(
        f"the capture ends {left} bytes into a {what} at byte {source.position}{why}; "
        "all packets before it are read"
    )


def _damaged(source: Buffered, what: str) -> DumpError:
    return DumpError(
        f"the capture is damaged at byte {source.position}: {what}; "
        "all packets before it are read, those after it cannot be found"
    )
