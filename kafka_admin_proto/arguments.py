"""Checks of the numbers and bytes that callers pass; a wrong one raises an error that says why."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from kafka_admin_proto.wire.types.base import shown

Buffer = bytes | bytearray | memoryview


def integer_check(rule: str) -> Callable[[int], int]:
    """A function that returns a number as an ``int``.

    It raises TypeError, with the rule, for anything else; a bool is no integer here.
    """

    def check(number: int) -> int:
        if not isinstance(number, bool):
            try:
                return index(number)
            except TypeError:
                pass
        raise TypeError(f"{rule}, not {shown(number)}")

    return check


version_number: Callable[[int], int] = integer_check(
    "a version is an integer, as in codec(message, 1)"
)


def check_offset(data: bytes, offset: int) -> None:
    """Raise ValueError for an offset outside the data; the end of the data is inside."""
    if not 0 <= offset <= len(data):
        raise ValueError(f"offset {offset} is outside the {len(data)} bytes of data")


def as_bytes(data: Any) -> bytes:
    """The data as ``bytes``; raises TypeError for a text, a number or a list of numbers."""
    if type(data) is bytes:
        return data
    try:
        return bytes(memoryview(data))
    except TypeError:
        hint = "; bytes.fromhex reads hex" if isinstance(data, str) else ""
        raise TypeError(
            f"expected bytes, got an object of type {type(data).__name__}{hint}"
        ) from None
