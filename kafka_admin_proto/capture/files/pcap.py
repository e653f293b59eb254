"""Read pcap: a file header, then packets with a header each, and no mark where a packet begins."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka_admin_proto.capture.files.buffered import (
    MAX_PACKET_BYTES,
    NO_END,
    BufferedSource,
    Packet,
    Report,
    damage,
    truncation,
)
from kafka_admin_proto.capture.files.header_recovery import (
    CUT_OFF,
    NOT_A_HEADER,
    HeaderRecovery,
    Layout,
)
from kafka_admin_proto.counts import counted

FILE_HEADER = 24
PACKET_HEADER = 16
BEGINNING = FILE_HEADER + PACKET_HEADER
#: Magic number → byte order, and fractions of a second.
MAGICS = {
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
}
#: The largest packet, unless the file header allows larger ones: libpcap's MAXIMUM_SNAPLEN.
USUAL_LARGEST = 256 * 1024
#: The largest size of a packet on the wire.
LARGEST_ORIGINAL = MAX_PACKET_BYTES - 1


class FileHeader(NamedTuple):
    """The properties of all packets of the file."""

    order: str
    resolution: int
    link: int
    #: Bytes of the largest packet.
    largest: int
    #: Whether packets had at least as many bytes on the wire; some writers get this wrong.
    regular: bool


def read_file_header(data: bytes) -> FileHeader | None:
    """Read the file header from the first BEGINNING bytes of a file that starts with a magic.

    Returns None if the header is cut off.
    """
    if len(data) < FILE_HEADER:
        return None
    order, resolution = MAGICS[data[:4]]
    snap, network = struct.unpack_from(f"{order}2I", data, 16)
    largest = max(snap, USUAL_LARGEST) if snap <= MAX_PACKET_BYTES else USUAL_LARGEST
    regular = True
    if len(data) >= BEGINNING:
        size, original = struct.unpack_from(f"{order}2I", data, FILE_HEADER + 8)
        regular = size <= original <= LARGEST_ORIGINAL
    # The upper bits may say how long frame check sequences are.
    return FileHeader(order, resolution, network & 0xFFFF, largest, regular)


def fault_of(header: FileHeader, size: int, original: int) -> str:
    """The fault of a packet header with these sizes, captured and on the wire; "" if possible."""
    if size > header.largest:
        return f"a packet of {counted(size, 'bytes')}"
    if not (size or original):
        return "a packet of no bytes"  # a hole in the file
    if header.regular and not size <= original <= LARGEST_ORIGINAL:
        return f"a packet of {counted(size, 'bytes')} that had {original}"
    return ""


def layout(header: FileHeader) -> Layout:
    """The layout for header recovery, which is stricter than `fault_of` where a header is due."""
    order, resolution, _, largest, _ = header
    unpack = struct.Struct(f"{order}4x3I").unpack_from

    def step(data: bytes, at: int) -> int:
        if at + PACKET_HEADER > len(data):
            return CUT_OFF
        fraction, size, original = unpack(data, at)
        if fraction >= resolution or not 0 < size <= largest:
            return NOT_A_HEADER
        if not size <= original <= LARGEST_ORIGINAL:
            return NOT_A_HEADER
        after: int = at + PACKET_HEADER + size
        return after if after <= len(data) else CUT_OFF

    times, sizes, originals = (
        up_to(each, order) for each in (resolution - 1, largest, LARGEST_ORIGINAL)
    )
    # The pattern skips sizes of zero, because holes in files are long runs of zeros.
    pattern = b"(?=...." + times + b"(?!\\x00{4})" + sizes + originals + b")"
    return Layout(
        re.compile(pattern, re.DOTALL),
        PACKET_HEADER,
        step,
        reach=largest + PACKET_HEADER + 1,
        largest=largest + PACKET_HEADER,
    )


def up_to(number: int, order: str) -> bytes:
    """A pattern for four bytes with at most this number; it also matches some larger numbers."""
    high, low = number >> 24, number >> 16 & 0xFF
    top = b"[\\x00-\\x%02x]" % high
    below = b"." if high else b"[\\x00-\\x%02x]" % low
    return top + below + b".." if order == ">" else b".." + below + top


def read_pcap(
    source: BufferedSource, header: FileHeader, report: Report, end: int = NO_END
) -> Iterator[Packet]:
    """The packets from the source's position that begin before the byte ``end``."""
    resolution, link, largest = header.resolution, header.link, header.largest
    unpack = struct.Struct(f"{header.order}4I").unpack_from
    nanoseconds = resolution == 1_000_000_000
    most = LARGEST_ORIGINAL
    while source.position < end and source.have(PACKET_HEADER):
        data, at = source.data, source.at
        last = min(len(data) - PACKET_HEADER, end - 1 - source.passed)
        size = original = 0
        while at <= last:
            seconds, fraction, size, original = unpack(data, at)
            after = at + PACKET_HEADER + size
            if after > len(data):
                break
            if (not 0 < size <= largest or not size <= original <= most) and fault_of(
                header, size, original
            ):
                break
            if nanoseconds:
                fraction //= 1000
            source.start, source.at = at, after
            yield seconds * 1_000_000 + fraction, link, data[at + PACKET_HEADER : after]
            at = source.at  # who takes the packets may have taken some of the next as well
        else:
            continue
        if fault := fault_of(header, size, original):
            at = source.position
            source.at += 1
            found = HeaderRecovery(layout(header)).find(source)
            report(at, damage(source, at, fault, found=found))
            if not found:
                return
        elif not source.have(PACKET_HEADER + size):
            report(source.position, truncation(source, "packet"))
            return
    if source.position < end and (source.at < len(source.data) or source.fault):
        report(source.position, truncation(source, "packet header"))
