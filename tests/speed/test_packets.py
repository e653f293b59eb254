"""The engine's reader of packets gives the segments that the Python function gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.tcp import segments
from kafka_admin_proto.capture.tcp.segments import Segment, segment_in
from tests.capture.packets import KINDS, conversation
from tests.helpers.profile import SEED
from tests.speed.compiled import speed

SAMPLES = sorted(Path(__file__).parents[2].joinpath("samples").glob("*.pcap.gz"))
#: Bytes of a packet in which a change may mean another kind of packet.
HEADERS = 80


def packets() -> Iterator[tuple[int, bytes]]:
    for sample in SAMPLES:
        with sample.open("rb") as stream:
            for _, link, data in read_packets(open_packets(stream), lambda at, error: None):
                yield link, data


def reader() -> Callable[[int, bytes], Segment | None]:
    read: Callable[[int, bytes], Segment | None]
    read = speed().SegmentReader(segments.LINK_HEADERS, segments.BARE_LINK_HEADERS, segment_in).read
    return read


def test_packets_of_captures() -> None:
    read = reader()
    count = 0
    for link, data in packets():
        assert read(link, data) == segment_in(link, data)
        count += 1
    assert count > 1000


def test_damaged_packets_of_all_link_types() -> None:
    """Bytes changed, ends cut off, and link headers of other types in front."""
    read = reader()
    draw = random.Random(SEED)
    chosen = draw.sample([data for _, data in packets()], 200)
    headers = {link: size for link, (size, _) in segments.LINK_HEADERS.items()}
    for data in chosen:
        for link in (*segments.LINK_TYPES, 147, -1, 511, 512, 1 << 40):
            size = headers.get(link, 0)
            packet = bytearray(size) + data[14:]
            if size:
                at = segments.LINK_HEADERS[link][1]
                packet[at : at + 2] = data[12:14]
            assert read(link, bytes(packet)) == segment_in(link, bytes(packet))
            for _ in range(8):
                place = draw.randrange(min(len(packet), HEADERS))
                damaged = bytearray(packet)
                damaged[place] = draw.choice([0, 1, 6, 0x45, 0x46, 0xFF, draw.randrange(256)])
                damaged = damaged[: draw.choice([len(damaged), draw.randrange(len(damaged) + 1)])]
                found = bytes(damaged)
                assert read(link, found) == segment_in(link, found), (link, found.hex())


def test_damaged_headers_of_all_kinds_of_packets() -> None:
    read, draw = reader(), random.Random(SEED)
    for link, wrap in KINDS.values():
        for packet in conversation([(True, bytes(9))]):
            data = wrap(packet)
            assert segment_in(link, data)
            for _ in range(30):
                changed = bytearray(data[: draw.choice([len(data), draw.randrange(len(data))])])
                if changed:
                    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
                assert read(link, bytes(changed)) == segment_in(link, bytes(changed))


def test_what_is_not_bytes_goes_to_python() -> None:
    asked: list[object] = []

    def slow(link: int, data: object) -> Segment | None:
        asked.append(data)
        return None

    link, packet = next(packets())
    read = speed().SegmentReader(segments.LINK_HEADERS, segments.BARE_LINK_HEADERS, slow).read
    assert read(link, packet)
    assert read(link, bytearray(packet)) is None
    assert len(asked) == 1


@pytest.mark.parametrize("table", [{-1: (14, 12)}, {512: (14, 12)}, {1: (14, 13)}, {1: (14, -1)}])
def test_a_table_that_would_read_outside_is_refused(table: dict[int, tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="EtherType"):
        speed().SegmentReader(table, {}, segment_in)
