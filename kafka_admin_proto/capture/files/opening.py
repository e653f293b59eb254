"""Read packets from capture files: pcap and pcapng, plain or compressed, from a file or a pipe.

Formats: the libpcap file format (both byte orders, micro- and nanoseconds) and pcapng
(draft-ietf-opsawg-pcapng: several sections and interfaces, any timestamp resolution). Packets are
yielded while the stream is read: memory holds one packet and one read.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from kafka_admin_proto.capture.files import pcap, pcapng
from kafka_admin_proto.capture.files.buffered import (
    NO_END,
    BufferedSource,
    ByteStream,
    Packet,
    Report,
    truncation,
)
from kafka_admin_proto.errors import DumpError, MissingExtraError

_PIECE = 256 * 1024
#: The limit on memory for xz; ``xz -9`` needs a quarter of it.
_XZ_MEMORY = 256 * 1024 * 1024
#: Bytes at the start of a file that identify its format.
MAGIC_BYTES = 6

_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_COMPRESSED = (_GZIP_MAGIC, _XZ_MAGIC, _ZSTD_MAGIC)


class _Xz:
    """Reads xz, with a limit on memory that ``lzma.LZMAFile`` does not have."""

    def __init__(self, stream: ByteStream) -> None:
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


class _Replayed:
    """The stream that a decompressor reads, from a source whose first bytes are buffered."""

    def __init__(self, source: BufferedSource) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        source = self._source
        if source.at == len(source.data):
            source.have(1)
        end = len(source.data) if size < 0 else source.at + size
        piece = source.data[source.at : end]
        source.at += len(piece)
        return piece


def open_packets(stream: ByteStream) -> BufferedSource:
    """The bytes of a capture, decompressed if they are compressed."""
    source = BufferedSource(stream)
    source.have(MAGIC_BYTES)
    head = source.data[:MAGIC_BYTES]
    if head.startswith(_COMPRESSED):
        return BufferedSource(_decompressed(_Replayed(source), head))
    return source


def is_capture(head: bytes) -> bool:
    """Whether an input that starts with ``head`` is a capture of packets, compressed or not."""
    if not head.startswith(_COMPRESSED):
        return head[:4] in pcap.MAGICS or head[:4] == pcapng.MAGIC
    source = open_packets(BytesIO(head))
    source.have(4)
    return is_capture(source.data[source.at : source.at + 4])


def _decompressed(stream: _Replayed, head: bytes) -> ByteStream:
    """A stream that decompresses gzip, xz or zstd while it is read."""
    if head.startswith(_GZIP_MAGIC):
        import gzip

        # GzipFile only calls ``read``, and its annotation asks for more methods.
        return gzip.GzipFile(fileobj=stream)  # type: ignore[call-overload,no-any-return]
    if head.startswith(_XZ_MAGIC):
        return _Xz(stream)
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError(
            "a zstd-compressed capture needs zstandard: pip install 'kafka-admin-proto[capture]'"
        ) from None
    reader: ByteStream = zstandard.ZstdDecompressor().stream_reader(
        stream,  # type: ignore[arg-type]  # as above
        read_across_frames=True,
    )
    return reader


def read_packets(source: BufferedSource, report: Report, end: int = NO_END) -> Iterator[Packet]:
    """The packets of a capture that begin before the byte ``end``, in order.

    ``report`` is called for damage, in its order among the packets.
    """
    source.have(pcap.BEGINNING)
    magic = source.data[source.at : source.at + 4]
    if magic == pcapng.MAGIC:
        blocks = source.layout = pcapng.Blocks(source)
        yield from blocks.packets(report, end)
    elif magic in pcap.MAGICS:
        header = pcap.read_file_header(source.data[source.at :])
        if header is None:
            report(source.position, truncation(source, "file header"))
            return
        source.at += pcap.FILE_HEADER
        source.layout = header
        yield from pcap.read_pcap(source, header, report, end)
    else:
        error = "not a capture: it starts with neither pcap's nor pcapng's magic number"
        if source.fault:
            error = f"the capture cannot be decompressed: {source.fault}"
        report(source.position, DumpError(error))
