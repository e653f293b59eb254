"""Where the text of a request stands in a line of a log: in a layout, in JSON, in a row of CSV.

A layout of JSON objects has it as a string somewhere in an object, and so has what collects logs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.capture.request_log_lines import MARK
from kafka_admin_proto.capture.text_times import time_in
from kafka_admin_proto.errors import DumpError

NOT_JSON = "a request log's line that is not JSON: "
_MARK = MARK.decode()
#: Objects in one another that are looked into for the text of a line.
_MOST_LEVELS = 12
#: Where a layout of JSON objects has the time.
_TIME_KEYS = ("@timestamp", "timestamp", "time", "ts", "timeMillis")
#: A member of an object in several lines, as ``aws logs`` and ``gcloud logging`` print them.
_MEMBER = re.compile(r'\s*"[^"]{1,60}": (?=")')
#: Quotes in a row of CSV.
_DOUBLED = _MARK + '{""'


def _finite(text: str) -> float:
    """A number as JSON has them: Python reads 1e999 as infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number")
    return number


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


JSON = json.JSONDecoder(parse_float=_finite, parse_constant=_no_number)


def request_texts(line: str) -> list[tuple[str, int | None]]:
    """The texts of a line that have requests, each with its time in microseconds since 1970."""
    try:
        if not line.lstrip().startswith(("{", "[{")):
            if _DOUBLED in line:
                line = line.replace('""', '"')
            elif (member := _MEMBER.match(line)) is not None:
                return request_texts(JSON.raw_decode(line, member.end())[0])
            return [(line, _own_time(line))]
        outer = JSON.decode(line)
    except (ValueError, RecursionError) as error:
        raise DumpError(f"{NOT_JSON}{error}") from None
    found = list(_texts_in(outer, None, _MOST_LEVELS))
    if not found:
        raise DumpError("a request log's line whose object has no message")
    return found


def _texts_in(value: Any, ts: int | None, levels: int) -> Iterator[tuple[str, int | None]]:
    """The texts in a value of JSON; ``ts`` is the time of the objects around it.

    Where these name none, the time that the text itself begins with counts.
    """
    if levels == 0:
        return
    if isinstance(value, str):
        if _MARK not in value:
            return
        try:
            inner = request_texts(value)
        except DumpError:  # a layout that begins with a brace
            inner = [(value, _own_time(value))]
        is_json = len(inner) > 1 or inner[0][0] != value
        for text, own in inner:
            yield text, (own or ts) if is_json else (ts or own)
    elif isinstance(value, dict):
        own = _time_in(value)
        for each in value.values():
            yield from _texts_in(each, ts if own is None else own, levels - 1)
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each, ts, levels - 1)


def _own_time(text: str) -> int | None:
    return time_in(text[: text.find(_MARK)])


def _time_in(outer: dict[str, Any]) -> int | None:
    instant = outer.get("instant")
    if isinstance(instant, dict):
        seconds, nanos = instant.get("epochSecond"), instant.get("nanoOfSecond")
        if isinstance(seconds, int) and isinstance(nanos, int):
            return seconds * 1_000_000 + nanos // 1000
    for key in _TIME_KEYS:
        value = outer.get(key)
        if isinstance(value, str) and (ts := time_in(value)) is not None:
            return ts
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return round(value * (1000 if value > 1e11 else 1_000_000))
    return None
