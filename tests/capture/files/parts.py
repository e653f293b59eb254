"""Reading captures whole and in parts, as if no packet were large: windows are small, and many."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise

import pytest

from kafka_admin_proto.capture.files import pcap, pcapng, split_alignment
from kafka_admin_proto.capture.files.buffered import BufferedSource, ByteStream, Packet
from kafka_admin_proto.capture.files.opening import read_packets
from kafka_admin_proto.capture.files.random_access import RandomAccess
from kafka_admin_proto.capture.files.splits import read_split
from kafka_admin_proto.errors import DumpError

#: Packets in files made here have so many bytes at most: windows are then small, and many.
LARGEST = 120
Found = list[tuple[int, Packet | str]]


@contextmanager
def small_packets() -> Iterator[None]:
    """What is known of packets, in the measure of the files here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pcap, "USUAL_LARGEST", LARGEST)
        patch.setattr(pcapng, "_REACH", LARGEST)
        patch.setattr(pcapng, "_USUAL_BLOCK", 4 * LARGEST)
        patch.setattr(split_alignment, "_SEARCH_BYTES", 1000)
        yield


class Bytes:
    """A file in memory; how much of it was read, and from where on beside its beginning."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)
        self.read = 0
        self.lowest_after_head = self.size

    def read_at(self, offset: int, size: int) -> bytes:
        found = self.data[offset : offset + size]
        self.read += len(found)
        if offset:
            self.lowest_after_head = min(self.lowest_after_head, offset)
        return found


class Trickle:
    """A pipe that brings a few bytes at a time."""

    def __init__(self, data: bytes, dice: random.Random) -> None:
        self._stream = BytesIO(data)
        self._dice = dice

    def read(self, size: int, /) -> bytes:
        return self._stream.read(min(size, self._dice.randrange(1, 100)))


def whole(stream: ByteStream) -> Found:
    """Packets and faults in their order, and where they begin."""
    found: Found = []
    source = BufferedSource(stream)
    for packet in read_packets(source, into(found)):
        found.append((source.started, packet))
    return found


def into(found: Found) -> Callable[[int, DumpError], None]:
    return lambda at, error: found.append((at, str(error)))


def parts(file: RandomAccess, bounds: list[int]) -> Found:
    """The same, read in the parts between the bounds."""
    found: Found = []
    for start, end in pairwise(bounds):
        of_part: Found = []
        for each in read_split(file, start, end, into(of_part)):
            of_part.append(each)
        found += of_part
    return found
