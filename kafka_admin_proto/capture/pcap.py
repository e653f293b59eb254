"""pcap: a header of the file, then packets, each with a header: no mark tells where one begins."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka_admin_proto.capture.buffered import (
    FOREVER,
    LARGEST_PACKET,
    Buffered,
    Packet,
    Report,
    cut,
    damaged,
)
from kafka_admin_proto.capture.chains import BROKEN, CUT, Chains, Layout

FILE_HEADER = 24
PACKET_HEADER = 16
#: Byte order and parts of a second.
MAGICS = {
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
}
#: Packets may be so large whatever the file's header says, and no larger unless it does: libpcap's
#: MAXIMUM_SNAPLEN.
USUAL_LARGEST = 256 * 1024


class FileHeader(NamedTuple):
    """What holds for all packets of the file."""

    order: str
    resolution: int
    link: int
    #: Bytes of the largest packet.
    largest: int


def read_file_header(data: bytes) -> FileHeader | None:
    """None where the data ends before the header does. It starts with one of MAGICS."""
    if len(data) < FILE_HEADER:
        return None
    order, resolution = MAGICS[data[:4]]
    snap, network = struct.unpack_from(f"{order}2I", data, 16)
    # The upper bits may say how long frame check sequences are.
    return FileHeader(
        order,
        resolution,
        network & 0xFFFF,
        max(snap, USUAL_LARGEST) if snap <= LARGEST_PACKET else USUAL_LARGEST,
    )


def valid(size: int, original: int, largest: int) -> bool:
    """Whether a packet can be that large; one without bytes is a hole in the file."""
    return size <= largest and bool(size or original)


def layout(header: FileHeader) -> Layout:
    """What a packet's header looks like, seen more strictly than where one is due."""
    order, resolution, _, largest = header
    unpack = struct.Struct(f"{order}4x3I").unpack_from

    def step(data: bytes, at: int) -> int:
        if at + PACKET_HEADER > len(data):
            return CUT
        fraction, size, original = unpack(data, at)
        if fraction >= resolution or not 0 < size <= largest or size > original:
            return BROKEN
        after: int = at + PACKET_HEADER + size
        return after if after <= len(data) else CUT

    numbers = (resolution - 1, largest, LARGEST_PACKET)
    pattern = b"(?=...." + b"".join(_up_to(each, order) for each in numbers) + b")"
    return Layout(
        re.compile(pattern, re.DOTALL),
        PACKET_HEADER,
        step,
        reach=largest + PACKET_HEADER + 1,
        largest=largest + PACKET_HEADER,
    )


def _up_to(number: int, order: str) -> bytes:
    """A pattern for four bytes that are the number at most, and maybe some larger ones."""
    high, low = number >> 24, number >> 16 & 0xFF
    top = b"[\\x00-\\x%02x]" % high
    below = b"." if high else b"[\\x00-\\x%02x]" % low
    return top + below + b".." if order == ">" else b".." + below + top


def read_pcap(
    source: Buffered, header: FileHeader, report: Report, end: int = FOREVER
) -> Iterator[Packet]:
    """The packets that begin before the byte ``end``, from where the source is."""
    _, resolution, link, largest = header
    unpack = struct.Struct(f"{header.order}4I").unpack_from
    nanoseconds = resolution == 1_000_000_000
    while source.position < end and source.have(PACKET_HEADER):
        data, at = source.data, source.at
        last = min(len(data) - PACKET_HEADER, end - 1 - source.passed)
        size = 0
        while at <= last:
            seconds, fraction, size, original = unpack(data, at)
            after = at + PACKET_HEADER + size
            if after > len(data) or size > largest or not (size or original):
                break
            if nanoseconds:
                fraction //= 1000
            source.start, source.at = at, after
            yield seconds * 1_000_000 + fraction, link, data[at + PACKET_HEADER : after]
            at = after
        else:
            continue
        if not valid(size, original, largest):
            if not _go_on(source, header, f"a packet of {size} bytes", report):
                return
        elif not source.have(PACKET_HEADER + size):
            report(source.position, cut(source, "packet"))
            return
    if source.position < end and (source.at < len(source.data) or source.fault):
        report(source.position, cut(source, "packet header"))


def _go_on(source: Buffered, header: FileHeader, what: str, report: Report) -> bool:
    """From damage to the next packet."""
    at = source.position
    source.at += 1
    found = Chains(layout(header)).find(source)
    report(at, damaged(source, at, what, found=found))
    return found
