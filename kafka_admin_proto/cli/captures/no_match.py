"""What there is in an input of which the filters match nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.topics_named import topics_named
from kafka_admin_proto.cli.output import printable, utc_text
from kafka_admin_proto.counts import with_commas

if TYPE_CHECKING:
    from kafka_admin_proto.cli.captures.filters import Filter

#: Values of each kind that are listed, and that are counted: names in a capture have no end.
_LISTED = 8
_MOST_VALUES = 1000


class WhatThereIs:
    """Collects, of the frames that do not match, the values that the given filters ask for."""

    def __init__(self, wanted: Filter) -> None:
        self._wanted = wanted
        #: How many frames there are: pieces without an api are none.
        self.count: int = 0
        given = {
            "apis": wanted.api_keys, "client ids": wanted.client_id,
            "connections": wanted.connection, "topics": wanted.topic,
        }  # fmt: skip
        self._values: dict[str, dict[str, int]] = {
            name: {} for name, value in given.items() if value is not None
        }
        self.apis: dict[str, int] | None = self._values.get("apis")
        self.client_ids: dict[str, int] | None = self._values.get("client ids")
        self.connections: dict[str, int] | None = self._values.get("connections")
        self._times: list[int] = []
        self._slowest_us: int | None = None

    def add(self, frame: DecodedFrame) -> None:
        """A frame that does not match; ``frame`` is as outputs may show it."""
        for name, counts in self._values.items():
            for value in _values(name, frame):
                if value in counts or len(counts) < _MOST_VALUES:
                    counts[value] = counts.get(value, 0) + 1
        self.add_all(1, [] if frame.ts is None else [frame.ts], frame.latency_us)

    def add_all(self, count: int, times: list[int], slowest_us: int | None) -> None:
        """So many frames whose values are counted."""
        self.count += count
        if times:
            known = [*self._times, *times]
            self._times = [min(known), max(known)]
        if slowest_us is not None:
            self._slowest_us = max(self._slowest_us or 0, slowest_us)

    def describe(self) -> str:
        """``0 of 294 frames match; client ids are …``, for each filter that was given."""
        wanted = self._wanted
        verb = "matches" if self.count == 1 else "match"
        parts = [f"0 of {with_commas(self.count, 'frames')} {verb}"]
        for name, counts in self._values.items():
            listed = sorted(counts, key=lambda value: -counts[value])[:_LISTED]
            more = ", …" if len(counts) > _LISTED else ""
            parts.append(f"{name} are {', '.join(listed)}{more}" if listed else f"no {name}")
        if wanted.since is not None or wanted.until is not None:
            times = [utc_text(each) for each in self._times]
            parts.append(f"times are {times[0]} to {times[1]}" if times else "no frame has a time")
        if wanted.slower_than_us is not None:
            slowest = self._slowest_us
            parts.append(
                "no response has a latency" if slowest is None
                else f"the slowest response took {slowest / 1000:.1f} ms"
            )  # fmt: skip
        return printable("; ".join(parts))


def _values(name: str, frame: DecodedFrame) -> list[str]:
    if name == "topics":
        return sorted(topics_named(frame))
    key = None if frame.api_key is None else f"key {frame.api_key}"
    found = {
        "apis": frame.api or key, "client ids": frame.client_id, "connections": frame.connection,
    }[name]  # fmt: skip
    return [] if found is None else [found]
