"""Header recovery: find the next packet header of a damaged capture.

Bytes that look like a header may be the payload of a packet. An offset is accepted when a chain of
headers starts there: each header is followed by another one at the distance of its length, for
longer than the largest packet, or exactly up to the end of the file. Whether an offset is accepted
depends only on the bytes from there on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from kafka_admin_proto.capture.files.buffered import NO_END, BufferedSource

#: How a chain of headers ends: at bytes that are no header; inside of a packet that the end of the
#: data cuts off; or at an end that cannot be an accident, such as the exact end of the file.
NOT_A_HEADER, CUT_OFF, CONCLUSIVE = -1, -2, -3
#: Headers that a chain needs if it ends in a packet that the end of the file cuts off.
_MIN_HEADERS = 4


class Layout(NamedTuple):
    """The layout of a format's headers."""

    #: Matches where a header may start, by its first ``head`` bytes.
    pattern: re.Pattern[bytes]
    head: int
    #: Data and offset of a header → the offset of the next header, or one of the three ends above.
    step: Callable[[bytes, int], int]
    #: Bytes after which a chain of headers is no accident, and the size of the largest packet.
    reach: int
    largest: int


class _Chain:
    """A chain of headers: its count, the offset of its tip, and its end (0: not yet reached)."""

    __slots__ = ("count", "end", "tip")

    def __init__(self, tip: int) -> None:
        self.tip = tip
        self.count = 0
        self.end = 0


class HeaderRecovery:
    """A search for headers. It remembers the chains that it followed, so that long runs of zeros
    are followed only once.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        #: Bytes from an offset on that decide whether it is accepted.
        self.look: int = layout.reach + layout.largest
        #: Offset of a header → its chain, and the number of the chain's headers before it, which is
        #: negative for headers that join the chain behind its start.
        self._known: dict[int, tuple[_Chain, int]] = {}

    def find(self, source: BufferedSource, until: int = NO_END) -> bool:
        """Move the source to the first accepted offset before ``until``. Returns whether one was
        found; the source is at ``until`` or at the end otherwise.
        """
        layout = self._layout
        while True:
            whole = source.have(self.look)
            data, base = source.data, source.passed
            last = len(data) - (self.look if whole else layout.head)
            for match in layout.pattern.finditer(data, source.at, max(last + layout.head, 0)):
                at = match.start()
                if base + at >= until:
                    source.at = at
                    return False
                if layout.step(data, at) != NOT_A_HEADER and self._is_accepted(
                    data, base, base + at
                ):
                    source.at = at
                    return True
            source.at = last + 1 if whole else len(data)
            if not whole or source.position >= until:
                return False
            reached = source.position
            self._known = {at: known for at, known in self._known.items() if at >= reached}

    def _is_accepted(self, data: bytes, base: int, offset: int) -> bool:
        chain, before = self._known.get(offset) or self._begin(data, base, offset)
        enough = offset + self._layout.reach
        while not chain.end and chain.tip < enough:
            self._known[chain.tip] = chain, chain.count
            self._follow(chain, data, base)
        if chain.tip >= enough:
            return True
        if chain.end == CUT_OFF:
            return chain.count - before >= _MIN_HEADERS
        return chain.end == CONCLUSIVE

    def _begin(self, data: bytes, base: int, offset: int) -> tuple[_Chain, int]:
        """Follow a new chain, until it is long enough, ends, or joins a known chain."""
        chain = _Chain(offset)
        own: list[int] = []
        enough = offset + self._layout.reach
        while not chain.end and chain.tip < enough:
            if known := self._known.get(chain.tip):
                joined, count = known
                for number, at in enumerate(own):
                    self._known[at] = joined, count - len(own) + number
                return joined, count - len(own)
            own.append(chain.tip)
            self._follow(chain, data, base)
        for number, at in enumerate(own):
            self._known[at] = chain, number
        return chain, 0

    def _follow(self, chain: _Chain, data: bytes, base: int) -> None:
        at = chain.tip - base
        if at == len(data):
            chain.end = CONCLUSIVE
            return
        after = self._layout.step(data, at)
        if after < 0:
            chain.end = after
            return
        chain.tip = base + after
        chain.count += 1
