"""A partition as one share group has it, on the partition's leader (``SharePartition`` in Kafka).

Members acquire records for some time and acknowledge them; what changes by that is kept by the
share coordinator before it counts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from kafka_admin_proto.server.clock import Clock, Timer
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.acknowledged import (
    RENEW,
    STATES,
    Acknowledgement,
    acknowledged_batches,
    check_owner,
    invalid,
    runs,
)
from kafka_admin_proto.server.share.acquiring import (
    Acquired,
    Acquiring,
    LogBatch,
    acquire_free,
    acquire_new,
    without,
)
from kafka_admin_proto.server.share.in_flight import (
    TERMINAL,
    InFlight,
    Part,
    loaded,
    parts_of,
)
from kafka_admin_proto.server.share.state import (
    ACQUIRED,
    ARCHIVED,
    AVAILABLE,
    ShareState,
    StateBatch,
)

_FIRST = attrgetter("first")
_MOST_COMPLETED = (1 << 31) - 1


class ShareLimits(NamedTuple):
    """The configs of a share group."""

    lock_ms: int
    deliveries: int
    records: int
    renews: bool


#: Gets 0 when a change is kept, or an error code and its message.
Kept = Callable[[int, str | None], None]
#: Keeps (start offset, records done with, changed records).
Keep = Callable[[int, int, Sequence[StateBatch], Kept], None]


class SharePartition:
    """The records in flight, from ``start`` to ``end``; the next one is ``end`` if there are none.

    ``looked_at`` is the offset at which a request last looked for records.
    ``limits`` gives the group's configs, ``keep`` keeps changes, and ``changed`` is called when
    records may be acquired that could not before.
    """

    def __init__(
        self,
        kept: ShareState,
        start: int,
        clock: Clock,
        limits: Callable[[], ShareLimits],
        keep: Keep,
        changed: Callable[[], None],
    ) -> None:
        self.state_epoch: int = kept.state_epoch
        self.start: int = start
        self.batches: list[InFlight] = loaded(kept.batches, start)
        self.end: int = self.batches[-1].last if self.batches else start
        self.looked_at = -1
        self._clock = clock
        self._limits = limits
        self._keep = keep
        self._changed = changed
        self._lock_timer: Timer | None = None
        self._is_closed = False
        self._advance()

    # Acquiring.

    @property
    def next_offset(self) -> int:
        """The offset from which records are read for the next member."""
        if not self.batches or self.start > self.batches[-1].last:
            return self.end
        return next((each.first for each in parts_of(self.batches) if each.is_free), self.end + 1)

    @property
    def can_acquire(self) -> bool:
        """Whether there is room for more records, or some are free again."""
        return self.next_offset != self.end + 1 or self._in_flight < self._limits().records

    @property
    def _in_flight(self) -> int:
        return self.end - self.start + 1 if self.batches else 0

    def acquire(
        self,
        member: str,
        wanted: Acquiring,
        fetch_offset: int,
        stored: Sequence[LogBatch],
        aborted: Sequence[LogBatch] = (),
    ) -> list[Acquired]:
        """Give a member records of batches that were read from ``next_offset`` on.

        Those of ``aborted`` batches are archived instead.
        """
        if wanted.most <= 0 or not stored or stored[-1].last_offset < self.start:
            return []
        limits = self._limits()
        last = stored[-1].last_offset
        most = min(wanted.most, limits.records - self._in_flight)
        if most <= 0:  # full: only records between those in flight can be acquired
            last = min(last, self.end)
            most = min(wanted.most, self.end - fetch_offset + 1)
        if most <= 0:
            return []
        wanted = wanted._replace(
            most=most, member=member, lock_ms=self._clock.now_ms() + limits.lock_ms
        )
        base = stored[0].base_offset
        if fetch_offset < base:
            self._archive(fetch_offset, base - 1, AVAILABLE)
        place = bisect_right(self.batches, base, key=_FIRST) - 1
        if place < 0:
            base = max(base, self.start)
        elif self.batches[place].last >= base:
            base = self.batches[place].first
        overlap = [
            each for each in self.batches if min(stored[0].base_offset, base) <= each.first <= last
        ]
        if overlap:
            rows, count, is_over = acquire_free(
                overlap, wanted, limits.deliveries, stored[0].base_offset, last,
                partial(self._fill, wanted, stored, last),
            )  # fmt: skip
            if not is_over and count < most and overlap[-1].last < last:
                wanted = wanted._replace(most=most - count)
                rows += self._acquire_new(wanted, stored, overlap[-1].last + 1, last)
        else:
            rows = self._acquire_new(wanted, stored, base, last)
        self._arm()
        for each in aborted:
            if each.base_offset <= self.end:
                self._archive(each.base_offset, each.last_offset, ACQUIRED)
        return without(rows, aborted) if aborted else rows

    def _fill(
        self, wanted: Acquiring, stored: Sequence[LogBatch], last: int, gap: InFlight, most: int
    ) -> list[Acquired]:
        """Acquire records of a gap, as new ones: what is behind them stays a gap."""
        self._shorten(gap, gap.last)
        end = min(gap.last, last)
        within = [LogBatch(base, min(low, end)) for base, low in stored if base <= end]
        rows = self._acquire_new(wanted._replace(most=most), within, gap.first, end)
        place = bisect_right(self.batches, end, key=_FIRST)
        filled = self.batches[place - 1].last
        if filled < gap.last:
            self.batches.insert(place, InFlight.gap(filled + 1, gap.last))
        return rows

    def _acquire_new(
        self, wanted: Acquiring, stored: Sequence[LogBatch], first: int, last: int
    ) -> list[Acquired]:
        """Acquire records that are not in flight yet."""
        if not self.batches and self.end > first:
            first = self.end
        new, rows = acquire_new(wanted, stored, first, last)
        place = bisect_right(self.batches, first, key=_FIRST)
        self.batches[place:place] = new
        if self.batches[0].first == first:
            self.start = first
        self.end = max(self.end, new[-1].last)
        return rows

    # Acknowledging.

    def acknowledge(
        self, member: str, acknowledgements: Iterable[Acknowledgement], then: Kept
    ) -> None:
        """Change records as their member says; ``then`` gets 0 when that is kept, or a code.

        Raises ApiFailure, and changes nothing then.
        """
        parts: list[Part] = []
        changes: list[StateBatch] = []
        try:
            for each in acknowledgements:
                if each.last >= self.start:
                    self._acknowledge(member, each, parts, changes)
        except ApiFailure:
            for part in parts:
                part.end(is_kept=False)
            raise
        self._arm()
        self._write(parts, changes, then)

    def _acknowledge(
        self,
        member: str,
        ack: Acknowledgement,
        parts: list[Part],
        changes: list[StateBatch],
    ) -> None:
        """Begin the changes of one acknowledgement. Raises ApiFailure."""
        limits = self._limits()
        for batch in acknowledged_batches(ack, self.batches, self.start):
            if batch.last < self.start:
                continue
            is_partial = (
                not batch.is_within(ack.first, ack.last)
                or len(ack.types) > 1
                or batch.crosses(self.start)
            )
            if not batch.is_split:
                check_owner(batch.parts[0], member, "batch")
                if is_partial:
                    batch.split()
            first = max(ack.first, self.start, batch.first)
            for low, high, kind in runs(ack, first, min(ack.last, batch.last)):
                for held in batch.overlapping(low, high):
                    check_owner(held, member, "offset" if batch.is_split else "batch")
                    if kind == RENEW and not limits.renews:
                        raise invalid("Renewing acquisition locks is not enabled for the group.")
                    part = batch.cut(held, max(held.first, low), min(held.last, high))
                    if kind == RENEW:
                        part.lock_ms = self._clock.now_ms() + limits.lock_ms
                        continue
                    parts.append(part)
                    changes.append(part.begin(STATES[kind], limits.deliveries))

    def release(self, member: str, then: Kept) -> None:
        """Give back all that a member has: its session has ended."""
        self._free(lambda part: part.member == member, then)

    def _expire(self) -> None:
        """Give back what members have had for too long, at once and whether that is kept or not.

        A lock that ends stays ended, as in Kafka: it would end again without a break otherwise.
        """
        self._lock_timer = None
        now_ms = self._clock.now_ms()
        self._free(lambda part: part.lock_ms <= now_ms, lambda *_: None, at_once=True)

    def _free(self, is_freed: Callable[[Part], bool], then: Kept, *, at_once: bool = False) -> None:
        """Let others acquire what a member has of these parts."""
        limit = self._limits().deliveries

        def may_free(part: Part) -> bool:
            return part.state == ACQUIRED and part.before is None and is_freed(part)

        parts: list[Part] = []
        changes: list[StateBatch] = []
        for batch in self.batches:
            if batch.crosses(self.start):
                for part in filter(may_free, batch.overlapping(self.start, self.start)):
                    batch.split()
                    batch.cut(part, self.start, part.last)
            for part in batch.parts:
                if may_free(part):
                    state = ARCHIVED if part.last < self.start else AVAILABLE
                    parts.append(part)
                    changes.append(part.begin(state, limit))
        self._arm()
        self._write(parts, changes, then, at_once=at_once)

    def _write(
        self,
        parts: Sequence[Part],
        changes: Sequence[StateBatch],
        then: Kept,
        *,
        at_once: bool = False,
    ) -> None:
        """Keep changes, which have not happened if that fails, or happen ``at_once``."""
        if not changes:
            then(0, None)
            return

        def end(*, is_kept: bool) -> None:
            for each in parts:
                each.end(is_kept=is_kept)
            self._advance()
            self._arm()

        def kept(code: int, message: str | None) -> None:
            if not at_once:
                end(is_kept=not code)
            then(code, message)
            self._changed()

        start, completed = self.start, self._completed
        if at_once:
            end(is_kept=True)
            self._changed()
        self._keep(start, completed, changes, kept)

    @property
    def _completed(self) -> int:
        """How many records from the start on are done with, as a count of 32 bits has room for."""
        count = sum(
            each.overlap(self.start, self.end)
            for each in parts_of(self.batches)
            if each.state in TERMINAL
        )
        return min(count, _MOST_COMPLETED)

    def _advance(self) -> None:
        """Move the start behind the records that are done with."""
        first = next((each for each in parts_of(self.batches) if not each.is_done), None)
        if first is None:
            if self.batches:
                self.start = self.end = self.batches[-1].last + 1
                self.batches.clear()
            return
        self.start = max(self.start, first.first)
        while self.batches[0].last < first.first:
            del self.batches[0]

    # The log, and time.

    def log_starts_at(self, offset: int) -> None:
        """The log begins later than this partition: what was there before is gone."""
        if offset <= self.start:
            return
        if self.batches:
            self._archive(self.start, offset - 1, AVAILABLE)
        else:
            self.end = offset
        self.start = offset
        self.end = max(self.end, offset)

    def _archive(self, first: int, last: int, state: int) -> None:
        """Archive records of a state that the log has not, or that were aborted."""
        begin = max(0, bisect_right(self.batches, first, key=_FIRST) - 1)
        for batch in self.batches[begin : bisect_right(self.batches, last, key=_FIRST)]:
            if batch.is_gap:
                if state == AVAILABLE:
                    self._shorten(batch, last)
                continue
            for part in batch.overlapping(first, last):
                if part.state == state and part.before is None:
                    if not batch.is_within(first, last):
                        batch.split()
                    batch.cut(part, max(part.first, first), min(part.last, last)).archive()

    def _shorten(self, gap: InFlight, last: int) -> None:
        """Let a gap begin behind an offset, and be none where it ends there."""
        place = bisect_right(self.batches, gap.first, key=_FIRST) - 1
        left = [InFlight.gap(last + 1, gap.last)] if last < gap.last else []
        self.batches[place : place + 1] = left

    def _arm(self) -> None:
        """Wait for the lock that ends first."""
        if self._lock_timer is not None:
            self._lock_timer.cancel()
            self._lock_timer = None
        locks = [
            each.lock_ms
            for each in parts_of(self.batches)
            if each.state == ACQUIRED and each.before is None
        ]
        if locks and not self._is_closed:
            delay_ms = max(0, min(locks) - self._clock.now_ms())
            self._lock_timer = self._clock.later(delay_ms / 1000, self._expire)

    def close(self) -> None:
        """The broker leads the partition no more; changes that are being kept may end later."""
        self._is_closed = True
        if self._lock_timer is not None:
            self._lock_timer.cancel()
            self._lock_timer = None
