"""Requests with their responses, from frames whose bodies are Kafka's JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from kafka_admin_proto.protocol.error_codes import error_name

Json = dict[str, Any]


class Call(msgspec.Struct):
    """A request and what answers it, each as the columns of its frame; bodies as builtins.

    ``ts`` is in microseconds since 1970.
    """

    request: Json
    response: Json | None = None


def pair(frames: Iterable[Json]) -> Iterator[Call]:
    """The calls among frames of one connection with one correlation id, in the order of requests.

    A response is its request's by the time between them, which frame records have. A response
    that stands before its request, as clocks and captures have it, counts as that of the next.
    """
    calls: list[Call] = []
    responses: list[Json] = []
    for frame in frames:
        if frame["direction"] == "request":
            calls.append(Call(frame))
        elif frame["direction"] == "response":
            responses.append(frame)
    for response in responses:
        found = _asked(calls, response)
        if found is not None:
            found.response = response
    yield from calls


def _asked(calls: list[Call], response: Json) -> Call | None:
    ts, latency = response["ts"], response["latency_us"]
    since = None if ts is None or latency is None else ts - latency
    key = response["api_key"], response["api_version"]
    open_calls = [
        call
        for call in calls
        if call.response is None and (call.request["api_key"], call.request["api_version"]) == key
    ]
    exact = next((call for call in open_calls if call.request["ts"] == since), None)
    if exact is not None or latency != 0 or since is None:
        return exact
    return next((call for call in open_calls if (call.request["ts"] or 0) > since), None)


def items(body: Any, name: str) -> list[Json]:
    """The structs in an array of a body, none where it has no such array."""
    found = body.get(name) if isinstance(body, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def text(value: Any) -> str | None:
    """A string, None for anything else."""
    return value if isinstance(value, str) else None


def number(value: Any, bits: int = 32) -> int | None:
    """A signed integer of so many bits, None for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(1 << (bits - 1)) <= value < 1 << (bits - 1) else None


def numbers(value: Any) -> list[int] | None:
    """A list of int32, None for anything else."""
    if not isinstance(value, list):
        return None
    return [each for each in value if number(each) is not None]


def topic_id(value: Any) -> str | None:
    """A topic id, None for the zero one, which stands for none."""
    return value if isinstance(value, str) and value and value != _ZERO_ID else None


_ZERO_ID = "A" * 22


def error_of(*codes: Any) -> str | None:
    """The name of the first error code that is one; a code unknown to Kafka as its number."""
    for code in codes:
        if number(code):
            return error_name(code) or str(code)
    return None
