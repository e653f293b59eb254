"""Times as options take them, and the window that two of them make."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import click
import msgspec

_DAY_US = 86_400_000_000


class TimeOfDay(msgspec.Struct, frozen=True):
    """A time without a date, in microseconds since midnight (UTC)."""

    micros: int


Time = int | TimeOfDay


def window(since: Time | None, until: Time | None, first: int) -> tuple[int | None, int | None]:
    """The instants of ``since`` and ``until`` in what starts at ``first``, in microseconds.

    A time of day is on the first day, or in the night after. An ``until`` that is no later in the
    day than ``since`` is of the day after: 23:50 to 00:10.
    """
    start, end = _instant(since, first), _instant(until, first)
    if isinstance(since, TimeOfDay) and isinstance(until, TimeOfDay):
        assert start is not None
        assert end is not None
        if end <= start:
            end += _DAY_US
    return start, end


def _instant(time: Time | None, first: int) -> int | None:
    """The instant of a time of day: on the day of ``first``, or in the night after.

    A time more than half a day before the start of a capture is one of the next day: captures run
    through the night.
    """
    if not isinstance(time, TimeOfDay):
        return time
    found = first - first % _DAY_US + time.micros
    return found + _DAY_US if first - found > _DAY_US // 2 else found


#: Microseconds since 1970, as ``ts`` of a row; seconds, after 1973: fewer digits are a slip.
_MICROSECONDS = re.compile(r"\d{15,17}")
_SECONDS = re.compile(r"\d{9,11}(\.\d*)?")
_TIME_OF_DAY = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,6})?)?")


class Instant(click.ParamType[int]):
    """A point in time as microseconds since 1970; a date and time without a zone is in UTC."""

    name = "time"

    def convert(self, value: str, parameter: object, context: object) -> int:
        if _MICROSECONDS.fullmatch(value):
            return int(value)
        if _SECONDS.fullmatch(value):
            return round(float(value) * 1_000_000)
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time like 2026-01-31T12:00:00, nor seconds since 1970")
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return round(time.timestamp() * 1_000_000)


class TableTime(click.ParamType[Time]):
    """An `Instant`, or a time of day as the table of frames has it (UTC)."""

    name = "time"

    def convert(self, value: str, parameter: object, context: object) -> Time:
        if not _TIME_OF_DAY.fullmatch(value):
            return Instant().convert(value, parameter, context)
        try:
            found = datetime.fromisoformat(f"1970-01-01T{value}+00:00")
        except ValueError:
            self.fail(f"{value!r} is no time of day")
        return TimeOfDay(round(found.timestamp() * 1_000_000))
