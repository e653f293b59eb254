"""The records of a share group's partition that are in flight: acquired, or not done with.

``InFlightBatch`` and ``InFlightState`` in Kafka.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter

import msgspec

from kafka_admin_proto.server.share.state import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    AVAILABLE,
    StateBatch,
    combined,
)

_FIRST, _LAST = attrgetter("first"), attrgetter("last")
NO_MEMBER = ""
_NEVER_MS = 0
TERMINAL = (ACKNOWLEDGED, ARCHIVED)


class Part(msgspec.Struct):
    """Records of one state: those of a whole batch, or some of a batch that was split.

    ``lock_ms`` is when the member's lock ends. ``before`` is what the part was while a change of
    it is not kept yet.
    """

    first: int
    last: int
    state: int
    count: int
    member: str = NO_MEMBER
    lock_ms: int = _NEVER_MS
    before: tuple[int, str, int] | None = None

    @property
    def is_free(self) -> bool:
        """Whether a member may acquire the records."""
        return self.state == AVAILABLE and self.before is None

    @property
    def is_done(self) -> bool:
        """Whether nothing comes of the records any more."""
        return self.state in TERMINAL and self.before is None

    def acquire(self, member: str, lock_ms: int) -> None:
        """Give the records to a member until its lock ends."""
        self.state, self.member, self.lock_ms = ACQUIRED, member, lock_ms
        self.count += 1

    def archive(self) -> None:
        """Be done with the records, whoever has them."""
        self.state, self.member = ARCHIVED, NO_MEMBER

    def begin(self, state: int, limit: int) -> StateBatch:
        """Begin a change to a state, and say what is kept of it.

        Records with as many deliveries as the limit are archived instead of being free again.
        """
        self.before = self.state, self.member, self.lock_ms
        if state == AVAILABLE and self.count >= limit:
            state = ARCHIVED
        self.state, self.member = state, NO_MEMBER
        return StateBatch(self.first, self.last, state, self.count)

    def end(self, *, is_kept: bool) -> None:
        """End a change, which has not happened unless it was kept."""
        if self.before is not None and not is_kept:
            self.state, self.member, self.lock_ms = self.before
        self.before = None

    def overlap(self, first: int, last: int) -> int:
        """How many of the records have offsets from one to another."""
        return max(0, min(self.last, last) - max(self.first, first) + 1)


class InFlight:
    """A batch of records that were acquired together: one part, or more if it was split.

    Parts are cut where a change begins or ends. A batch may have more offsets than there are
    records, as between two batches of a compacted log, so it has not a part for each one.

    A gap is no batch yet, but one free part: the offsets between two batches of a kept state.
    """

    def __init__(self, first: int, last: int, parts: list[Part], *, is_gap: bool = False) -> None:
        self.first = first
        self.last = last
        self.parts = parts
        self.is_split: bool = False
        self.is_gap = is_gap

    @classmethod
    def whole(cls, part: Part) -> InFlight:
        return cls(part.first, part.last, [part])

    @classmethod
    def gap(cls, first: int, last: int) -> InFlight:
        return cls(first, last, [Part(first, last, AVAILABLE, 0)], is_gap=True)

    def split(self) -> None:
        """Track each record by itself from now on."""
        self.is_split = True

    def overlapping(self, first: int, last: int) -> list[Part]:
        """The parts that have offsets from one to another, and maybe others."""
        begin = bisect_left(self.parts, first, key=_LAST)
        return self.parts[begin : bisect_right(self.parts, last, key=_FIRST)]

    def cut(self, part: Part, first: int, last: int) -> Part:
        """The part as one of no other offsets; those before and behind are parts of their own.

        It has no change that is being kept, which would end for this one alone.
        """
        place = bisect_left(self.parts, part.first, key=_FIRST)
        if part.first < first:
            self.parts.insert(place, msgspec.structs.replace(part, last=first - 1))
            part.first = first
            place += 1
        if part.last > last:
            self.parts.insert(place + 1, msgspec.structs.replace(part, first=last + 1))
            part.last = last
        return part

    def is_within(self, first: int, last: int) -> bool:
        """Whether all records have offsets from one to another."""
        return first <= self.first and self.last <= last

    def crosses(self, offset: int) -> bool:
        """Whether the batch begins before an offset and goes on from there."""
        return self.first < offset <= self.last


def parts_of(batches: Sequence[InFlight]) -> Iterator[Part]:
    """All parts, in the order of their offsets."""
    for each in batches:
        yield from each.parts


def loaded(batches: Sequence[StateBatch], start: int) -> list[InFlight]:
    """The batches of a kept state and its gaps: records that were acquired and are free again.

    A damaged log may have a snapshot whose batches overlap, or end before they begin.
    """
    in_flight = []
    for batch in combined((), batches, start):
        if batch.first_offset > start:
            in_flight.append(InFlight.gap(start, batch.first_offset - 1))
        in_flight.append(
            InFlight.whole(
                Part(batch.first_offset, batch.last_offset, batch.state, batch.delivery_count)
            )
        )
        start = batch.last_offset + 1
    return in_flight
