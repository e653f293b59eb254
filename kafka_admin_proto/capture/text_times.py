"""Dates with times in texts around captured bytes: logs, and headings of packets."""

from __future__ import annotations

import re
from datetime import UTC, datetime

#: ``2026-01-31 12:00:00,123``; with a T, a point, or a zone in other layouts.
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[,.](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")


def time_in(text: str) -> int | None:
    """The first time in a text, in microseconds since 1970; UTC where it names no zone."""
    found = _TIME.search(text)
    if found is None:
        return None
    date, time, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{zone or ''}")
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp()) * 1_000_000 + int((fraction or "0").ljust(6, "0")[:6])
