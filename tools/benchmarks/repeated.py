"""Captures made larger: their packets, over and over, each time between other addresses.

The captures are of loopback (Ethernet and IPv4 headers, microseconds). 127.0.0.1 becomes 127.a.b.1,
and each repetition comes later than the one before. Checksums stay as they were; no reader checks
them.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

#: pcap's header as tcpdump writes it here, and the header of a packet.
_FILE_HEADER, _PACKET_HEADER = 24, struct.Struct("<4I")
#: In a packet with Ethernet and IPv4 headers: where the second byte of each address is.
_SOURCE, _DESTINATION = 27, 31


def repeated(files: Sequence[Path], to: Path, times: range) -> None:
    """Write the packets of the files once for each of ``times``, numbers below 65536.

    Repetition n has the same addresses and times in whatever file it comes: the files made for
    0 to 9 and for 10 to 19 are one capture of twenty.
    """
    data = [_content(each) for each in files]
    packets = [list(_packets(each)) for each in data]
    spans = [each[-1][0] - each[0][0] + 1 for each in packets]
    with to.open("wb") as out:
        out.write(data[0][:_FILE_HEADER])
        for number in times:
            clock = packets[0][0][0] + number * sum(spans)
            address = number.to_bytes(2, "big")
            for span, of_file in zip(spans, packets, strict=True):
                start = of_file[0][0]
                for seconds, micros, size, packet in of_file:
                    packet[_SOURCE : _SOURCE + 2] = address
                    packet[_DESTINATION : _DESTINATION + 2] = address
                    when = clock + seconds - start
                    out.write(_PACKET_HEADER.pack(when, micros, len(packet), size))
                    out.write(packet)
                clock += span


def cut(whole: Path, folder: Path, count: int) -> list[Path]:
    """The packets of a pcap file in so many files."""
    data = whole.read_bytes()
    whole.unlink()
    header, packets, at = data[:24], [], 24
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        packets.append(data[at:end])
        at = end
    names = []
    for number in range(count):
        share = packets[number * len(packets) // count : (number + 1) * len(packets) // count]
        names.append(folder / f"{number}.pcap")
        names[-1].write_bytes(header + b"".join(share))
    return names


def size_of(files: Sequence[Path]) -> int:
    """The bytes that one repetition has, about."""
    return sum(len(_content(each)) for each in files)


def _content(file: Path) -> bytes:
    data = file.read_bytes()
    return gzip.decompress(data) if file.suffix == ".gz" else data


def _packets(data: bytes) -> Iterator[tuple[int, int, int, bytearray]]:
    """Seconds, microseconds, the size on the wire, and the bytes of each packet."""
    at = _FILE_HEADER
    while at < len(data):
        seconds, micros, kept, size = _PACKET_HEADER.unpack_from(data, at)
        at += _PACKET_HEADER.size
        yield seconds, micros, size, bytearray(data[at : at + kept])
        at += kept
