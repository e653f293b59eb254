"""Which of some named things a number in an input means, today and after more are added."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable

#: Bytes of the number.
SIZE = 3


class Choice:
    """Each name stands at a place that its checksum gives, and owns the numbers up to there.

    A new name takes some numbers from one neighbour; all other inputs mean what they meant, and
    one that has a name's own place means that name for ever. An index would shift.
    """

    def __init__(self, names: Iterable[str]) -> None:
        places = {place_of(name): name for name in names}
        self._places = sorted(places)
        self._names = [places[place] for place in self._places]

    def __getitem__(self, number: bytes) -> str:
        """The name for the first ``SIZE`` bytes."""
        place = bisect_left(self._places, int.from_bytes(number[:SIZE], "big"))
        return self._names[place % len(self._names)]


def place_of(name: str) -> int:
    return zlib.crc32(name.encode()) >> 8


def number_of(name: str) -> bytes:
    """The bytes that always mean that name."""
    return place_of(name).to_bytes(SIZE, "big")
