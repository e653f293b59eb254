"""Split alignment: find the first packet of a part of a pcap file without reading the file before.

pcap has no mark at the start of a packet. A reader that starts at the beginning of the file is
always in one of two states: at a packet header, from which it moves to the byte behind the packet;
or at damage, from which it moves to the first header that header recovery accepts
(`header_recovery`). It can therefore enter a window of the file in two ways only:

- at the byte behind a packet whose header is before the window, at most one largest packet before
  it: every offset there that could be such a header is a candidate, inside payloads as well;
- at the first header inside the window that header recovery accepts, when it comes from damage.

Every candidate is followed through the window. If all of them arrive at the same offset, the real
reader arrives there too, whatever payloads and damage the file has: nothing is guessed. If they do
not, the window grows, up to the whole file before the part.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Iterator

from kafka_admin_proto.capture.files.buffered import NO_END
from kafka_admin_proto.capture.files.header_recovery import HeaderRecovery
from kafka_admin_proto.capture.files.pcap import (
    FILE_HEADER,
    LARGEST_ORIGINAL,
    PACKET_HEADER,
    FileHeader,
    fault_of,
    layout,
    up_to,
)
from kafka_admin_proto.capture.files.random_access import BufferedFile, RandomAccess

#: The size of the first window in largest packets, and the factor by which windows grow.
_WINDOW, _GROWTH = 4, 4
#: Bytes that are read ahead for a first header; a packet begins within them nearly always.
_READ_AHEAD_BYTES = 64 * 1024
#: Bytes behind the start of the part in which header recovery searches.
_SEARCH_BYTES = 16 * 1024 * 1024


def first_packet(file: RandomAccess, header: FileHeader, start: int) -> int:
    """The offset of the first packet, or damage, from ``start`` on; the file's size for none."""
    span = header.largest + PACKET_HEADER
    window = _WINDOW * span
    while header.regular and start - window - span > FILE_HEADER:
        found = _from_anywhere(file, header, start - window, start)
        if found is not None:
            return found
        window *= _GROWTH
    return max(_followed(file, header, {FILE_HEADER}, FILE_HEADER, start) or (file.size,))


def _from_anywhere(file: RandomAccess, header: FileHeader, window: int, start: int) -> int | None:
    """The first packet from ``start`` on, for any way of entering the window that begins at
    ``window``; None if different ways lead to different packets.
    """
    offsets = set(_behind_packets(file, header, window))
    recovery = HeaderRecovery(layout(header))
    search = BufferedFile(file, window, file.read_at(window, recovery.look + _READ_AHEAD_BYTES))
    if recovery.find(search, start + _SEARCH_BYTES):
        offsets.add(search.position)
    elif search.position < start + _SEARCH_BYTES:
        offsets.add(file.size)
    else:
        return None
    found = _followed(file, header, offsets, window, start, start + _SEARCH_BYTES)
    return found.pop() if found is not None and len(found) == 1 else None


def _behind_packets(file: RandomAccess, header: FileHeader, window: int) -> Iterator[int]:
    """The ends, inside the window, of packets that may begin before the window."""
    span = header.largest + PACKET_HEADER
    before = window - span
    data = file.read_at(before, span - 1 + PACKET_HEADER)
    limits = (header.largest, LARGEST_ORIGINAL)
    pattern = b"(?=.{8}" + b"".join(up_to(each, header.order) for each in limits) + b")"
    sizes = struct.Struct(f"{header.order}8x2I").unpack_from
    for match in re.finditer(pattern, data, re.DOTALL):
        size, original = sizes(data, match.start())
        end = before + match.start() + PACKET_HEADER + size
        if end >= window and not fault_of(header, size, original):
            yield min(end, file.size)


def _followed(
    file: RandomAccess,
    header: FileHeader,
    offsets: set[int],
    at: int,
    start: int,
    until: int = NO_END,
) -> set[int] | None:
    """The first packets from ``start`` on, for readers at each of the ``offsets``.

    No offset is before ``at``. Returns None if a reader skips damage and finds no packet before
    ``until``.
    """
    step = _WINDOW * (header.largest + PACKET_HEADER)
    while at < start:
        end = min(at + step, start)
        section = _Section(file, header, at, end, until)
        reached = set()
        for offset in offsets:
            after = section.followed(offset)
            if after is None:
                return None
            reached.add(after)
        offsets, at = reached, end
    return offsets


class _Section:
    """A section of the file through which readers are followed."""

    def __init__(
        self, file: RandomAccess, header: FileHeader, start: int, end: int, until: int
    ) -> None:
        self._file = file
        self._header = header
        self._sizes = struct.Struct(f"{header.order}8x2I").unpack_from
        self._start, self._end, self._until = start, end, until
        self._recovery = HeaderRecovery(layout(header))
        self._data = file.read_at(start, end - start + self._recovery.look)
        #: Offset → where a reader that is there leaves the section.
        self._known: dict[int, int] = {}
        #: Accepted offsets in order, and the least offset from which each is the first.
        self._accepted: list[int] = []
        self._first_from: dict[int, int] = {}

    def followed(self, offset: int) -> int | None:
        """Where a reader at ``offset`` leaves the section, at its end or behind it."""
        passed = []
        while offset < self._end and offset not in self._known:
            passed.append(offset)
            after = self._after(offset)
            if after is None:
                return None
            offset = after
        reached = self._known.get(offset, offset)
        self._known.update(dict.fromkeys(passed, reached))
        return reached

    def _after(self, offset: int) -> int | None:
        file_size = self._file.size
        if offset + PACKET_HEADER > file_size:
            return file_size
        size, original = self._sizes(self._data, offset - self._start)
        if not fault_of(self._header, size, original):
            after: int = offset + PACKET_HEADER + size
            return min(after, file_size)
        return self._found(offset + 1)

    def _found(self, offset: int) -> int | None:
        next_one = bisect_left(self._accepted, offset)
        if next_one < len(self._accepted):
            accepted = self._accepted[next_one]
            if self._first_from[accepted] <= offset:
                return accepted
        source = BufferedFile(self._file, self._start, self._data)
        source.at = offset - self._start
        if self._recovery.find(source, self._until):
            accepted_at = source.position
        elif source.position < self._until:
            accepted_at = self._file.size
        else:
            return None
        if accepted_at not in self._first_from:
            self._accepted.insert(next_one, accepted_at)
        self._first_from[accepted_at] = offset
        return accepted_at
