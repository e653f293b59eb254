"""Requests with their responses, and functions that read values of their bodies in Kafka's JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_admin_proto.protocol.error_codes import error_name

Json = dict[str, Any]


class Call(msgspec.Struct):
    """A request and its response, both as frame records; None where no response was captured."""

    request: Json
    response: Json | None = None


def items(body: Any, name: str) -> list[Json]:
    """The structs in an array of a body; empty if the body has no such array."""
    found = body.get(name) if isinstance(body, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def number(value: Any) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(1 << 31) <= value < 1 << 31 else None


def numbers(value: Any) -> list[int] | None:
    if not isinstance(value, list):
        return None
    return [each for each in value if number(each) is not None]


def topic_id(value: Any) -> str | None:
    """A topic id as text; None for the zero id, which means no id."""
    return value if isinstance(value, str) and value and value != _ZERO_ID else None


_ZERO_ID = "A" * 22


def error_of(*codes: Any) -> str | None:
    """The name of the first code that is an error; an unknown code as its number."""
    for code in codes:
        if number(code):
            return error_name(code) or str(code)
    return None
