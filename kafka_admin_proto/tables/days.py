"""Days and dates of times, in Arrow."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

DAY_US = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()
#: The days since 1970 that a date names: years 1 to 9999.
FIRST_DAY, LAST_DAY = (each.toordinal() - _EPOCH for each in (date.min, date.max))


def floor_days(micros: Any) -> Any:
    """Days since 1970 of times in microseconds; days before that are negative."""
    days = pc.divide(micros, DAY_US)
    early = pc.less(micros, pc.multiply(days, DAY_US))
    return pc.if_else(early, pc.subtract(days, 1), days)


def as_dates(days: Any) -> Any:
    """Days since 1970 as dates; null where no date names the day."""
    named = pc.and_(pc.greater_equal(days, FIRST_DAY), pc.less_equal(days, LAST_DAY))
    return pc.if_else(named, days, None).cast(pa.int32()).cast(pa.date32())


def dates_of(times: Any) -> Any:
    """The dates (UTC) of timestamps in microseconds; null where there is none."""
    return as_dates(floor_days(times.cast(pa.int64())))
