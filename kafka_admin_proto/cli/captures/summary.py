"""Frames counted: per api and version how many, how large, how fast, with which errors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.problem_kinds import kind_of
from kafka_admin_proto.structs import decodable

_PERCENTILES = (50, 90, 99)
#: Latencies are kept in classes of this width: 1 % of themselves.
_STEP = math.log(1.01)
_TOKEN = "SASL token without a header, after SaslHandshake v0"
#: Kinds of problems that an api's row names; of more, the others are counted as one.
_MOST_KINDS = 100
_OTHER = "another problem"


class _Latencies:
    """Percentiles of any number of latencies in little memory, exact to 1 %."""

    def __init__(self) -> None:
        self._classes: Counter[int] = Counter()
        self._largest = 0
        #: Number and client id of the first frame with the largest latency.
        self.slowest: tuple[int | None, str | None] = (None, None)

    def add(self, microseconds: int, number: int, client_id: str | None) -> None:
        if microseconds > self._largest or not self._classes:
            self.slowest = number, client_id
        self._classes[round(math.log(max(microseconds, 1)) / _STEP)] += 1
        self._largest = max(self._largest, microseconds)

    def percentile(self, percent: int) -> int | None:
        wanted = math.ceil(self._classes.total() * percent / 100)
        for latency_class in sorted(self._classes):
            wanted -= self._classes[latency_class]
            if wanted <= 0:
                return min(round(math.exp(latency_class * _STEP)), self._largest)
        return None

    @property
    def largest(self) -> int | None:
        return self._largest if self._classes else None


@decodable
class CountedRow(msgspec.Struct):
    """What a summary counts of a frame that decodes; the fields are columns of rows."""

    number: int
    api_key: int
    api: str
    api_version: int
    direction: str
    forwarded: bool
    size: int
    latency_us: int | None
    client_id: str | None
    error_codes: list[str] | None

    @property
    def is_unread(self) -> bool:
        return self.error_codes is None

    def error_names(self) -> list[str]:
        return self.error_codes or []


class _ApiCounts:
    def __init__(self) -> None:
        self.requests = self.responses = self.forwarded = self.bytes = self.problems = 0
        self.latencies = _Latencies()
        self.errors: Counter[str] | None = Counter()
        self.not_decoded: Counter[str] = Counter()

    def add(self, number: int, frame: DecodedFrame | CountedRow) -> None:
        if frame.forwarded:  # counted with the Envelope, or where the client sent it
            self.forwarded += frame.direction == "request"
            return
        self.requests += frame.direction == "request"
        self.responses += frame.direction == "response"
        self.bytes += frame.size
        if frame.latency_us is not None:
            self.latencies.add(frame.latency_us, number, frame.client_id)
        if frame.is_unread:
            self.errors = None
        elif self.errors is not None:
            self.errors.update(frame.error_names())

    def add_not_decoded(self, frame: DecodedFrame) -> None:
        if frame.error is not None:
            self.problems += 1
            kind = kind_of(str(frame.error))
        elif frame.is_token:
            kind = _TOKEN
        else:
            return
        known = kind in self.not_decoded or len(self.not_decoded) < _MOST_KINDS
        self.not_decoded[kind if known else _OTHER] += 1


class Summary:
    """Counts frames, each from a DecodedFrame or from its row."""

    def __init__(self) -> None:
        self._groups: dict[tuple[int, int, str], _ApiCounts] = {}
        self._rows = msgspec.json.Decoder(CountedRow)

    def add(self, number: int, frame: DecodedFrame) -> None:
        self._count(number, frame).add_not_decoded(frame)

    def add_rows(self, lines: bytes) -> None:
        """Count frames that have decoded; ``lines`` are JSON, with the fields of `CountedRow`."""
        for row in self._rows.decode_lines(lines):
            self._count(row.number, row)

    def _count(self, number: int, frame: DecodedFrame | CountedRow) -> _ApiCounts:
        key = -1 if frame.api_key is None else frame.api_key
        version = -1 if frame.api_version is None else frame.api_version
        name = key, version, frame.api or ""
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = _ApiCounts()
        group.add(number, frame)
        return group

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `summarise`."""
        ordered = sorted(self._groups, key=lambda key: (key[0] < 0, key))
        return [_row(*key, self._groups[key]) for key in ordered]


def summarise(
    frames: Iterable[tuple[int, DecodedFrame]], summary: Summary | None = None
) -> list[dict[str, Any]]:
    """One row an api and version, in the order of keys; bytes outside of frames come last.

    ``forwarded`` are requests inside Envelopes, of which nothing else is counted but problems.
    Latencies are in microseconds, percentiles exact to 1 %; ``slowest_number`` and
    ``slowest_client_id`` are of the response with the largest one. ``errors`` counts the frames
    that have an error code, by its name, and is None where a body was not asked for;
    ``not_decoded`` counts those that were not read whole, by the kind of problem (see ``kind_of``),
    and SASL tokens, which have no api. The ``summary`` may have counted other frames, and counts
    rows that come while ``frames`` are taken.
    """
    summary = Summary() if summary is None else summary
    for number, frame in frames:
        summary.add(number, frame)
    return summary.rows()


def _row(key: int, version: int, api: str, group: _ApiCounts) -> dict[str, Any]:
    row: dict[str, Any] = {
        "api_key": None if key < 0 else key,
        "api": api or None,
        "api_version": None if version < 0 else version,
        "requests": group.requests,
        "responses": group.responses,
        "forwarded": group.forwarded,
        "bytes": group.bytes,
    }
    for percent in _PERCENTILES:
        row[f"latency_p{percent}_us"] = group.latencies.percentile(percent)
    row["latency_max_us"] = group.latencies.largest
    row["errors"] = None if group.errors is None else dict(group.errors.most_common())
    row["problems"] = group.problems
    row["not_decoded"] = dict(group.not_decoded.most_common())
    row["slowest_number"], row["slowest_client_id"] = group.latencies.slowest
    return row
