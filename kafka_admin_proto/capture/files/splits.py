"""Splits: several workers read one large capture file, each the packets that begin in its part.

    for start, end in split_points(file.read_at(0, HEAD), file.size, 128 << 20):
        for position, packet in read_split(file, start, end, report):
            ...

However a file is split, the parts together yield the packets and faults of the whole file, each
once: a packet belongs to the part in which it begins. Reading a part needs the file alone.

- pcap: about 1 MB before a part is read to find its first packet (`split_alignment`), and more
  where that is not conclusive.
- pcapng: packets depend on the blocks before the part, so all of these are skimmed by their
  lengths. The last of n parts may read the whole file, and all parts together n / 2 files.
- A compressed file is one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_admin_proto.capture.files import pcap, pcapng
from kafka_admin_proto.capture.files.buffered import BufferedSource, Packet, Report
from kafka_admin_proto.capture.files.opening import MAGIC_BYTES, open_packets, read_packets
from kafka_admin_proto.capture.files.random_access import BufferedFile, RandomAccess
from kafka_admin_proto.capture.files.split_alignment import first_packet
from kafka_admin_proto.errors import DumpError

#: Bytes from the beginning of a file that ``splittable`` and ``split_points`` need.
HEAD = MAGIC_BYTES
#: Parts of a pcapng file at most.
MOST_PCAPNG_SPLITS = 16


def splittable(head: bytes) -> bool:
    """Whether a file that begins with ``head`` can be split: pcap and pcapng, not compressed."""
    return head[:4] in pcap.MAGICS or head[:4] == pcapng.MAGIC


def split_points(head: bytes, size: int, split_size: int) -> list[tuple[int, int]]:
    """The parts (start, end) of a file of ``size`` bytes; all but the last have ``split_size``.

    A file that cannot be split is one part. Parts of a pcapng file may be larger, because a file
    has at most `MOST_PCAPNG_SPLITS` of them.
    """
    if split_size < 1:
        raise ValueError(f"a split size of {split_size}: it is at least one byte")
    if not splittable(head):
        return [(0, size)]
    if head[:4] == pcapng.MAGIC:
        split_size = max(split_size, -(-size // MOST_PCAPNG_SPLITS))
    starts = range(0, max(size, 1), split_size)
    return [(start, min(start + split_size, size)) for start in starts]


def _passed_over(source: BufferedSource) -> None:
    """Nobody wants to see the source."""


def read_split(
    file: RandomAccess,
    start: int,
    end: int,
    report: Report,
    opened: Callable[[BufferedSource], object] = _passed_over,
) -> Iterator[tuple[int, Packet]]:
    """The packets whose headers begin in [start, end), each with that offset; faults are reported.

    If the file is not ``splittable``, the part that starts at 0 has all packets, and offsets are
    those in the decompressed file. An OSError of ``read_at`` is raised as it is. ``opened`` is
    given the source before the first packet: who takes a packet may take some of those behind it.
    """
    head = file.read_at(0, pcap.BEGINNING)
    source = BufferedFile(file, 0)
    if start == 0 and splittable(head):
        opened(source)
        yield from _with_positions(source, read_packets(source, report, end))
    elif start == 0:
        stream = open_packets(source)
        opened(stream)
        yield from _with_positions(stream, read_packets(stream, report))
        if source.error:
            raise source.error  # reading failed; the file itself is not damaged
    elif head.startswith(pcapng.MAGIC):

        def of_this_part(at: int, error: DumpError) -> None:
            if at >= start:
                report(at, error)

        at, state = pcapng.Blocks(source).last_before(start)
        source = BufferedFile(file, at)
        blocks = source.layout = pcapng.Blocks(source, state)
        opened(source)
        for packet in blocks.packets(of_this_part, end):
            if source.started >= start:
                yield source.started, packet
    elif head[:4] in pcap.MAGICS and (header := pcap.read_file_header(head)):
        source = BufferedFile(file, first_packet(file, header, start))
        source.layout = header
        opened(source)
        yield from _with_positions(source, pcap.read_pcap(source, header, report, end))


def _with_positions(
    source: BufferedSource, packets: Iterator[Packet]
) -> Iterator[tuple[int, Packet]]:
    for packet in packets:
        yield source.passed + source.start, packet
