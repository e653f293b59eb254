"""Split alignment: finds the first packet of a part of a pcap file without reading what is before.

pcap has no mark at the start of a packet. A reader that starts at the beginning of the file is, at
any moment, either at a packet's header, and next at the byte behind that packet; or it has found
damage, and skips to the first header that header recovery accepts (`header_recovery`). So a reader
can enter a window of the file in two ways only:

- at the byte behind a packet whose header is before the window, at most one largest packet before
  it: every place there that could be such a header is a candidate, inside payloads as well;
- at the first header inside the window that header recovery accepts, when it comes from damage.

Every candidate is followed through the window. If all of them arrive at the same place, the real
reader arrives there too, whatever the payloads hold and whatever is damaged: nothing is guessed. If
they do not, the window grows, up to all of the file before the part.
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

#: The first window, in packets of the largest size, and how much larger each next one is.
_WINDOW, _LARGER = 4, 4
#: Bytes in which a packet will begin, mostly; it is no error if none does.
_NEAR = 64 * 1024
#: Bytes behind the window in which a place is looked for that holds.
_FAR = 16 * 1024 * 1024


def first_packet(file: RandomAccess, header: FileHeader, start: int) -> int:
    """The first packet, or damage, at the byte ``start`` or later; the file's size for none."""
    span = header.largest + PACKET_HEADER
    window = _WINDOW * span
    while header.regular and start - window - span > FILE_HEADER:
        found = _from_anywhere(file, header, start - window, start)
        if found is not None:
            return found
        window *= _LARGER
    return max(_followed(file, header, {FILE_HEADER}, FILE_HEADER, start) or (file.size,))


def _from_anywhere(file: RandomAccess, header: FileHeader, window: int, start: int) -> int | None:
    """None where it matters how reading gets into the window, which begins at a byte."""
    places = set(_behind_packets(file, header, window))
    chains = HeaderRecovery(layout(header))
    search = BufferedFile(file, window, file.read_at(window, chains.look + _NEAR))
    if chains.find(search, start + _FAR):
        places.add(search.position)
    elif search.position < start + _FAR:
        places.add(file.size)
    else:
        return None
    found = _followed(file, header, places, window, start, start + _FAR)
    return found.pop() if found is not None and len(found) == 1 else None


def _behind_packets(file: RandomAccess, header: FileHeader, window: int) -> Iterator[int]:
    """Where packets may end that begin before the window, and not before it."""
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
    places: set[int],
    at: int,
    start: int,
    until: int = NO_END,
) -> set[int] | None:
    """Where reading gets to from ``start`` on that is at one of the places, none before ``at``.

    None where it passes over damage to a place that is not before ``until``.
    """
    step = _WINDOW * (header.largest + PACKET_HEADER)
    while at < start:
        end = min(at + step, start)
        piece = _Piece(file, header, at, end, until)
        reached = set()
        for place in places:
            after = piece.followed(place)
            if after is None:
                return None
            reached.add(after)
        places, at = reached, end
    return places


class _Piece:
    """A part of the file in which places are followed."""

    def __init__(
        self, file: RandomAccess, header: FileHeader, start: int, end: int, until: int
    ) -> None:
        self._file = file
        self._header = header
        self._sizes = struct.Struct(f"{header.order}8x2I").unpack_from
        self._start, self._end, self._until = start, end, until
        self._chains = HeaderRecovery(layout(header))
        self._data = file.read_at(start, end - start + self._chains.look)
        #: Places → where reading gets to from there.
        self._known: dict[int, int] = {}
        #: Places that hold, in order, and from where on each is the first.
        self._holding: list[int] = []
        self._first_from: dict[int, int] = {}

    def followed(self, place: int) -> int | None:
        """Where reading that is at the place gets to, at the end or behind it."""
        passed = []
        while place < self._end and place not in self._known:
            passed.append(place)
            after = self._after(place)
            if after is None:
                return None
            place = after
        reached = self._known.get(place, place)
        self._known.update(dict.fromkeys(passed, reached))
        return reached

    def _after(self, place: int) -> int | None:
        all_of_it = self._file.size
        if place + PACKET_HEADER > all_of_it:
            return all_of_it
        size, original = self._sizes(self._data, place - self._start)
        if not fault_of(self._header, size, original):
            after: int = place + PACKET_HEADER + size
            return min(after, all_of_it)
        return self._found(place + 1)

    def _found(self, place: int) -> int | None:
        """The first place that holds, from this one on."""
        next_one = bisect_left(self._holding, place)
        if next_one < len(self._holding):
            holding = self._holding[next_one]
            if self._first_from[holding] <= place:
                return holding
        source = BufferedFile(self._file, self._start, self._data)
        source.at = place - self._start
        if self._chains.find(source, self._until):
            found = source.position
        elif source.position < self._until:
            found = self._file.size
        else:
            return None
        if found not in self._first_from:
            self._holding.insert(next_one, found)
        self._first_from[found] = place
        return found
