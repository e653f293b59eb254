"""Any input → decoded frames: the format of an input decides which reader it gets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from io import BufferedReader

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.capture import request_log_lines
from kafka_admin_proto.capture.captures import open_file, read_captures
from kafka_admin_proto.capture.dumps.frame_decoder import FrameDecoder
from kafka_admin_proto.capture.dumps.pasted_packets import without_headers
from kafka_admin_proto.capture.dumps.readers import READERS, read_blocks
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.files.opening import is_capture
from kafka_admin_proto.capture.frames import DecodedFrame, fault_frame
from kafka_admin_proto.capture.plain_rows import RowSink
from kafka_admin_proto.capture.request_log import read_request_log
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: The name of the format of packet captures: pcap, pcapng, either of them compressed.
PCAP = "pcap"
#: The name of the format of a broker's request log.
REQUEST_LOG = "request-log"
#: The values of ``format``, beside "auto".
FORMATS = (PCAP, REQUEST_LOG, *READERS)

#: The first bytes of compressed files; those of bzip2 whole, as base64 may begin with BZh.
_COMPRESSED = {
    b"\x1f\x8b\x08": "gzip", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\3\4": "zip",
    **{b"BZh%d1AY&SY" % level: "bzip2" for level in range(1, 10)},
}  # fmt: skip
#: The error for packets that are to be read as payloads or bodies: the addresses of a packet would
#: be read as a header, and a token in it as a body.
_ARE_PACKETS = "these are packets with frames in them, and no {}: leave --unit out"


def format_of(sample: bytes) -> str:
    """The format of an input that starts so: a capture or a request log; "auto" for a dump."""
    if is_capture(sample):
        return PCAP
    return REQUEST_LOG if request_log_lines.matches(sample) else "auto"


def _packed(sample: bytes) -> str | None:
    """What has compressed an input that starts so; as a frame it would be larger than any."""
    return next((name for magic, name in _COMPRESSED.items() if sample.startswith(magic)), None)


def read_frames(
    names: Iterable[str],
    decoder: FrameDecoder,
    *,
    format: str = "auto",
    bodies: Collection[int] | None = None,
    opener: Callable[[str], BufferedReader] = open_file,
    keep_requests: Collection[int] = (),
    sink: RowSink | None = None,
) -> Iterator[DecodedFrame]:
    """Every frame of the inputs; one that cannot be read is a frame with that problem.

    Captures of packets are read packet by packet, all of them as one capture, after the dumps,
    which are read whole. ``decoder`` reads the dumps, and has limit and dialect for all.
    ``bodies`` are the api keys whose bodies are read, None for all. ``opener`` is asked
    twice for a capture: to look at its start, and to read it. ``keep_requests`` are the api keys
    whose responses in captures have their requests, as in `DecodeOptions`. ``sink`` takes rows of
    captures, as in `read_captures`.
    """
    captures = []
    for name in listed(names, "names"):
        try:
            with opener(name) as stream:
                kind = format_of(stream.peek(SAMPLE_BYTES)) if format == "auto" else format
                if kind == PCAP:
                    captures.append(name)
                    continue
                if kind == REQUEST_LOG:
                    yield from read_request_log(stream, replace_invalid_utf8(name), decoder.dialect)
                    continue
                if format == "auto" and (packed := _packed(stream.peek(SAMPLE_BYTES))):
                    raise DumpError(f"these are bytes that {packed} has compressed: unpack them")
                blocks = read_blocks(stream.read(), kind)
            found = without_headers(blocks, decoder.limit)
            if decoder.unit != "frames" and found != blocks:
                raise DumpError(_ARE_PACKETS.format(decoder.unit), line=blocks[0].line)
            blocks = found
        except (DumpError, OSError) as caught:
            error = caught if isinstance(caught, DumpError) else DumpError(str(caught))
            yield fault_frame(name, error, line=error.line)
            continue
        for block in blocks:
            yield from decoder.decode(block, replace_invalid_utf8(name))
    if captures:
        yield from read_captures(
            captures, limit=decoder.limit, dialect=decoder.dialect, bodies=bodies, opener=opener,
            keep_requests=keep_requests, sink=sink,
        )  # fmt: skip
