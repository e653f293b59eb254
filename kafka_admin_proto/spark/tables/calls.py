"""Requests with their responses, from frames whose bodies are Kafka's JSON."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from kafka_admin_proto.protocol.error_codes import error_name

Json = dict[str, Any]

#: Requests and responses that wait for each other: some clients give all requests of a connection
#: the same correlation id. Brokers answer the requests of a connection one after the other, so that
#: few wait unless responses were not captured.
MOST_WAITING = 2000


class Call(msgspec.Struct):
    """A request and what answers it, each as the columns of its frame; bodies as builtins.

    ``ts`` is in microseconds since 1970.
    """

    request: Json
    response: Json | None = None


def pair(frames: Iterable[Json], most_waiting: int = MOST_WAITING) -> Iterator[Call]:
    """The calls among frames of one connection with one correlation id, as they are answered.

    Frames come in the order of the capture. A response is its request's by the time between them,
    which frame records have. One that stands before its request, as clocks and captures have it,
    counts as that of the next request that has no response. Calls without a response come at the
    end, or when more than ``most_waiting`` frames wait for theirs: the older half is given up then.
    """
    asked, told = _Waiting(), _Waiting()
    for frame in frames:
        api = frame["api_key"], frame["api_version"]
        if frame["direction"] == "request":
            response = told.take((*api, frame["ts"]))
            if response is not None:
                yield Call(frame, response)
            else:
                asked.add((*api, frame["ts"]), frame)
        elif frame["direction"] == "response":
            request = asked.take((*api, _asked_at(frame)))
            if request is not None:
                yield Call(request, frame)
            else:
                told.add((*api, _asked_at(frame)), frame)
        if len(asked) + len(told) > most_waiting:
            yield from _give_up(asked, told, most_waiting // 2)
    yield from _give_up(asked, told, 0)


def _asked_at(response: Json) -> int | None:
    ts, latency = response["ts"], response["latency_us"]
    return None if ts is None or latency is None else ts - latency


#: Api key, version and the time of the request.
_Key = tuple[Any, Any, int | None]


class _Waiting:
    """Frames in their order, each found by its key."""

    def __init__(self) -> None:
        self.frames: dict[int, tuple[_Key, Json]] = {}
        self._numbers: dict[_Key, deque[int]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self.frames)

    def add(self, key: _Key, frame: Json) -> None:
        self.frames[self._next] = key, frame
        self._numbers.setdefault(key, deque()).append(self._next)
        self._next += 1

    def take(self, key: _Key) -> Json | None:
        """The first with that key."""
        numbers = self._numbers.get(key)
        return None if numbers is None else self.pop(numbers[0])

    def pop(self, number: int) -> Json:
        key, frame = self.frames.pop(number)
        numbers = self._numbers[key]
        numbers.remove(number)
        if not numbers:
            del self._numbers[key]
        return frame


def _give_up(asked: _Waiting, told: _Waiting, most: int) -> Iterator[Call]:
    """The calls that nothing more is waited for, so that at most ``most`` of each kind wait."""
    early = _early(asked, told)
    for number in list(asked.frames):
        response = early.get(number)
        if response is not None:
            yield Call(asked.pop(number), told.pop(response))
        elif len(asked) > most:
            yield Call(asked.pop(number))
    for number in list(told.frames)[: max(0, len(told) - most)]:
        told.pop(number)


def _early(asked: _Waiting, told: _Waiting) -> dict[int, int]:
    """Requests, by number, and the responses that stand before them."""
    requests: dict[Any, list[tuple[int, int]]] = {}
    for number, ((*api, ts), _) in asked.frames.items():
        requests.setdefault(tuple(api), []).append((ts or 0, number))
    responses: dict[Any, list[tuple[int, int]]] = {}
    for number, ((*api, since), frame) in told.frames.items():
        if since is not None and frame["latency_us"] == 0:
            responses.setdefault(tuple(api), []).append((since, number))
    found: dict[int, int] = {}
    for key, of_api in responses.items():
        later = iter(sorted(requests.get(key, ())))
        for since, number in sorted(of_api):
            next_one = next((request for ts, request in later if ts > since), None)
            if next_one is not None:
                found[next_one] = number
    return found


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
