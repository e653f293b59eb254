"""Where the packets of a damaged capture go on: at the first header that others follow.

What looks like a header may be the payload of a packet. It holds when the next header stands where
its length says, and so on for longer than any packet is, or exactly to the end of the file. Whether
a place holds depends on the bytes from there on alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from kafka_admin_proto.capture.files.buffered import NO_END, BufferedSource

#: How headers end that follow each other: by something else; inside of a packet, with the data; by
#: what can be no accident, as the very end of the file is none.
NOT_A_HEADER, CUT_OFF, CONCLUSIVE = -1, -2, -3
#: Headers that follow each other up to a packet that the file's end cuts: so many are no accident.
_ENOUGH = 4


class Layout(NamedTuple):
    """What headers of a format look like."""

    #: Finds where a header may stand, in ``head`` bytes from there on.
    pattern: re.Pattern[bytes]
    head: int
    #: The data and where in it a header stands → where the next one does, or one of the above.
    step: Callable[[bytes, int], int]
    #: Bytes after which headers that follow each other are no accident, and the largest packet.
    reach: int
    largest: int


class _Chain:
    """Headers that follow each other: how many, up to where, how they end (0: not yet known)."""

    __slots__ = ("count", "end", "tip")

    def __init__(self, tip: int) -> None:
        self.tip = tip
        self.count = 0
        self.end = 0


class HeaderRecovery:
    """A search; what was followed once is remembered, so that zeros without end cost little."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        #: Bytes from a place on that decide whether it holds.
        self.look: int = layout.reach + layout.largest
        #: Where a header stands → its chain, and how many headers of that are before it. Those
        #: that join a chain from elsewhere count from below zero.
        self._known: dict[int, tuple[_Chain, int]] = {}

    def find(self, source: BufferedSource, until: int = NO_END) -> bool:
        """Move on to the first place that holds, or else to ``until`` or the end: False."""
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
                if layout.step(data, at) != NOT_A_HEADER and self._holds(data, base, base + at):
                    source.at = at
                    return True
            source.at = last + 1 if whole else len(data)
            if not whole or source.position >= until:
                return False
            reached = source.position
            self._known = {at: known for at, known in self._known.items() if at >= reached}

    def _holds(self, data: bytes, base: int, place: int) -> bool:
        chain, before = self._known.get(place) or self._begin(data, base, place)
        enough = place + self._layout.reach
        while not chain.end and chain.tip < enough:
            self._known[chain.tip] = chain, chain.count
            self._follow(chain, data, base)
        if chain.tip >= enough:
            return True
        if chain.end == CUT_OFF:
            return chain.count - before >= _ENOUGH
        return chain.end == CONCLUSIVE

    def _begin(self, data: bytes, base: int, place: int) -> tuple[_Chain, int]:
        """A new chain, which may turn out to be the beginning of a known one."""
        chain = _Chain(place)
        own: list[int] = []
        enough = place + self._layout.reach
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
