"""How members get records: new ones, and free ones, which come fewer the more often they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kafka_admin_proto.server.share.in_flight import InFlight, Part
from kafka_admin_proto.server.share.state import ACQUIRED, AVAILABLE

#: Records with so few deliveries are never slowed down.
_FEW_DELIVERIES = 2


class LogBatch(NamedTuple):
    """The offsets of a batch of the log that was read."""

    base_offset: int
    last_offset: int


class Acquiring(NamedTuple):
    """What a member asks for; ``is_strict``: not more records than ``most``, within a batch too.

    Ranges of new records have ``batch_size`` at least. ``lock_ms`` is when the lock ends.
    """

    most: int
    batch_size: int = 500
    is_strict: bool = False
    member: str = ""
    lock_ms: int = 0


class Acquired(NamedTuple):
    """Records that a member has got, and which delivery of theirs this is."""

    first: int
    last: int
    deliveries: int


def acquire_free(
    batches: Sequence[InFlight],
    asked: Acquiring,
    limit: int,
    first: int,
    last: int,
    fill: Callable[[InFlight, int], list[Acquired]],
) -> tuple[list[Acquired], int, bool]:
    """(rows, number of records, whether others must wait) of free records in flight.

    ``limit`` is the most deliveries of a record, ``first`` and ``last`` what was read of the log.
    ``fill`` acquires so many records of a gap.
    """
    rows: list[Acquired] = []
    count = 0
    for batch in batches:
        left = asked.most - count
        if left <= 0:
            break
        if batch.is_gap:
            got = fill(batch, left)
            rows += got
            count += number_of(got)
            continue
        is_slow = _deliveries(batch, first, last) >= _slow_from(limit)
        if is_slow and count:
            return rows, count, True
        size = batch.last - batch.first + 1
        if (
            batch.is_within(first, last)
            and not batch.is_split
            and not is_slow
            and not (asked.is_strict and size > left)
        ):
            (whole,) = batch.parts
            if whole.is_free:
                whole.acquire(asked.member, asked.lock_ms)
                rows.append(Acquired(whole.first, whole.last, whole.count))
                count += size
            continue
        if not batch.is_split:
            if not batch.parts[0].is_free:
                continue
            batch.split()
        got = _acquire_some(batch, first, last, asked, left, limit)
        rows += got
        found = number_of(got)
        count += found
        if is_slow and found:
            return rows, count, True
    return rows, count, False


def _acquire_some(
    batch: InFlight, first: int, last: int, asked: Acquiring, left: int, limit: int
) -> list[Acquired]:
    """Acquire records of a split batch: the last delivery of one is of that one alone."""
    rows: list[Acquired] = []
    count, most, size = 0, None, batch.last - batch.first + 1
    for part in batch.overlapping(first, last):
        if not part.is_free:
            continue
        is_last = limit > _FEW_DELIVERIES and part.count == limit - 1
        if is_last and count:
            break
        if part.count >= _slow_from(limit) and most is None:
            most = max(1, size >> (part.count - _slow_from(limit) + 1))
        room = 1 if is_last else part.overlap(first, last)
        if asked.is_strict:
            room = min(room, left - count)
        if most is not None and most > count:
            room = min(room, most - count)
        begin = max(part.first, first)
        batch.cut(part, begin, begin + room - 1).acquire(asked.member, asked.lock_ms)
        count += room
        if rows and (rows[-1].last + 1, rows[-1].deliveries) == (part.first, part.count):
            rows[-1] = rows[-1]._replace(last=part.last)
        else:
            rows.append(Acquired(part.first, part.last, part.count))
        if is_last or (asked.is_strict and count == left) or count == most:
            break
    return rows


def number_of(rows: Iterable[Acquired]) -> int:
    return sum(each.last - each.first + 1 for each in rows)


def _deliveries(batch: InFlight, first: int, last: int) -> int:
    """The most deliveries of a record that is free."""
    parts = batch.overlapping(first, last) if batch.is_split else batch.parts
    return max((each.count for each in parts if each.is_free), default=0)


def _slow_from(limit: int) -> int:
    """The deliveries from which on records come fewer at a time."""
    return max(_FEW_DELIVERIES, -(-limit // 2))


def acquire_new(
    asked: Acquiring, batches: Sequence[LogBatch], first: int, last: int
) -> tuple[list[InFlight], list[Acquired]]:
    """The records from ``first`` on as new ones in flight, and the rows of those acquired.

    Batches of the log stay whole: more records than asked for are acquired then or, where the
    member is strict about their number, are free.
    """
    if asked.most < last - first + 1:
        last = _last_of_batch(batches, first + asked.most - 1)
    ranges = [(first, last)]
    if not asked.is_strict and last - first + 1 > asked.batch_size:
        ranges = _by_size(batches, first, last, asked.batch_size)
    new = [
        InFlight.whole(Part(low, high, ACQUIRED, 1, asked.member, asked.lock_ms))
        for low, high in ranges
    ]
    rows = [Acquired(low, high, 1) for low, high in ranges]
    if asked.is_strict and last - first + 1 > asked.most:
        new[0].split()
        new[0].cut(new[0].parts[0], first, first + asked.most - 1)
        for part in new[0].parts[1:]:
            part.state, part.count, part.member = AVAILABLE, 0, ""
        rows = [Acquired(first, first + asked.most - 1, 1)]
    return new, rows


def _last_of_batch(batches: Sequence[LogBatch], offset: int) -> int:
    """The last offset of the batch of the log that has an offset, which is itself in none."""
    for batch in batches:
        if batch.base_offset <= offset <= batch.last_offset:
            return batch.last_offset
    return offset


def _by_size(
    batches: Sequence[LogBatch], first: int, last: int, size: int
) -> list[tuple[int, int]]:
    """Offsets in ranges of at least ``size`` records, which begin where batches of the log do.

    Sizes below 1 count as 1. Kafka begins with a range of no records for them.
    """
    ranges = []
    for batch in batches:
        if batch.base_offset <= last and batch.base_offset - first >= max(1, size):
            ranges.append((first, batch.base_offset - 1))
            first = batch.base_offset
    return [*ranges, (first, last)]


def without(rows: Iterable[Acquired], aborted: Sequence[LogBatch]) -> list[Acquired]:
    """Rows without the offsets of aborted batches; both are in the order of their offsets."""
    rest = []
    place = 0
    for row in rows:
        first = row.first
        while place < len(aborted) and aborted[place].last_offset < first:
            place += 1
        for index in range(place, len(aborted)):
            base, last = aborted[index]
            if base > row.last:
                break
            if first < base:
                rest.append(row._replace(first=first, last=base - 1))
            first = last + 1
        if first <= row.last:
            rest.append(row._replace(first=first))
    return rest
