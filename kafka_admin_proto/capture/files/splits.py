"""A large capture file read by several workers, each the packets that begin in a part of it.

    with LocalFile("admin.pcap") as file:
        for start, end in split_points(file.read_at(0, HEAD), file.size, 128 << 20):
            for position, packet in read_split(file, start, end, report):
                ...

Whatever the parts are, together they give the packets and the faults that reading the whole file
gives, each once: it is of the part in which it begins. A part depends on the file alone.

- pcap: about 1 MB before a part is read to find its first packet (``pcap_starts``), more where
  that leaves a doubt.
- pcapng: the blocks before a part say what its packets are. All are gone through, by their
  lengths: the last part of n costs up to a whole reading of the file, and all parts together n / 2.
- Compressed: one part.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_admin_proto.capture.files import pcap, pcapng
from kafka_admin_proto.capture.files.buffered import BufferedSource, Packet, Report
from kafka_admin_proto.capture.files.opening import MAGIC_BYTES, open_packets, read_packets
from kafka_admin_proto.capture.files.random_access import BufferedFile, RandomAccess
from kafka_admin_proto.capture.files.split_alignment import first_packet
from kafka_admin_proto.errors import DumpError

#: Bytes from the beginning of a file that ``splittable`` and ``split_points`` look at.
HEAD = MAGIC_BYTES
#: Parts of a pcapng file at most.
MOST_PCAPNG_SPLITS = 16


def splittable(head: bytes) -> bool:
    """Whether a file that begins so may be read in parts: pcap and pcapng, not compressed."""
    return head[:4] in pcap.MAGICS or head[:4] == pcapng.MAGIC


def split_points(head: bytes, size: int, split_size: int) -> list[tuple[int, int]]:
    """The parts of a file of ``size`` bytes, of ``split_size`` each but for the last: (start, end).

    One part where the file cannot be split; parts of a pcapng file may be larger, see above.
    """
    if split_size < 1:
        raise ValueError(f"a split size of {split_size}: it is at least one byte")
    if not splittable(head):
        return [(0, size)]
    if head[:4] == pcapng.MAGIC:
        split_size = max(split_size, -(-size // MOST_PCAPNG_SPLITS))
    starts = range(0, max(size, 1), split_size)
    return [(start, min(start + split_size, size)) for start in starts]


def read_split(
    file: RandomAccess, start: int, end: int, report: Report
) -> Iterator[tuple[int, Packet]]:
    """The packets that begin in [start, end), and where, by their headers; faults are reported.

    Of a file that is not ``splittable`` the part from 0 on has everything; where packets begin is
    then told for the file decompressed. OSError comes out as ``read_at`` raises it.
    """
    head = file.read_at(0, pcap.BEGINNING)
    source = BufferedFile(file, 0)
    if start == 0 and splittable(head):
        yield from _with_positions(source, read_packets(source, report, end))
    elif start == 0:
        stream = open_packets(source)
        yield from _with_positions(stream, read_packets(stream, report))
        if source.error:
            raise source.error  # it is not the file that is wrong
    elif head.startswith(pcapng.MAGIC):

        def of_this_part(at: int, error: DumpError) -> None:
            if at >= start:
                report(at, error)

        at, state = pcapng.Blocks(source).last_before(start)
        source = BufferedFile(file, at)
        for packet in pcapng.Blocks(source, state).packets(of_this_part, end):
            if source.started >= start:
                yield source.started, packet
    elif head[:4] in pcap.MAGICS and (header := pcap.read_file_header(head)):
        source = BufferedFile(file, first_packet(file, header, start))
        yield from _with_positions(source, pcap.read_pcap(source, header, report, end))


def _with_positions(
    source: BufferedSource, packets: Iterator[Packet]
) -> Iterator[tuple[int, Packet]]:
    for packet in packets:
        yield source.passed + source.start, packet
