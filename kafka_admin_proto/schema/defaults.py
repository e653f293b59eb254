"""What a definition's ``default`` text means for each type."""

from __future__ import annotations

import base64
import re
from typing import Any
from uuid import UUID

from kafka_admin_proto.errors import SchemaError

#: Inclusive bounds of the integer types.
INTEGER_BOUNDS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
ZERO_UUID = UUID(int=0)
#: Python refuses to read thousands of digits; no integer type has nearly so many.
_LONGEST_INTEGER = 40
#: What Java's ``Uuid.toString`` writes; base64's padding may follow.
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_INTEGER = re.compile(r"(?P<decimal>[+-]?[0-9]+)|0x(?P<hex>[0-9A-Fa-f]+)")


def parse_default(element: str, is_array: bool, text: str) -> Any:
    """The default value of a field of that type, ``text`` being "" where none is given.

    Arrays give ``[]`` and structs ``{}``, as the caller knows how to make an empty one; records
    without a default are null, as in ``FieldSpec.fieldDefault``. Raises SchemaError.
    """
    bounds = INTEGER_BOUNDS.get(element)
    if is_array or element in ("bytes", "records") or element[0].isupper():
        return _empty_or_null(element, is_array, text)
    if bounds:
        return _integer(element, bounds, text)
    if element == "string":
        return None if text == "null" else text
    if element == "bool":
        if text.lower() in ("true", "false", ""):
            return text.lower() == "true"
        raise SchemaError(f"default {text!r} is not a bool", 'write "true" or "false"')
    if element == "float64":
        try:
            if "_" in text:  # Python's own way of writing digits, not Java's
                raise ValueError
            return float(text) if text else 0.0
        except ValueError:
            raise SchemaError(
                f"default {text!r} is not a number", 'write a decimal number such as "0.5"'
            ) from None
    assert element == "uuid", element
    return _uuid(text)


def _empty_or_null(element: str, is_array: bool, text: str) -> Any:
    if text == "null":
        return None
    if text:
        raise SchemaError(
            f"default {text!r} is not possible here", 'write "null", or no default for an empty one'
        )
    if is_array:
        return []
    return {"bytes": b"", "records": None}.get(element, {})


def _integer(element: str, bounds: tuple[int, int], text: str) -> int:
    if not text:
        return 0
    match = _INTEGER.fullmatch(text)
    if not match:
        raise SchemaError(
            f"default {text!r} is not an integer", 'write decimal digits, or hex such as "0x7f"'
        )
    low, high = bounds
    if len(text) <= _LONGEST_INTEGER:
        value = int(match["decimal"]) if match["decimal"] else int(match["hex"], 16)
        if low <= value <= high:
            return value
    raise SchemaError(
        f"default {text[:_LONGEST_INTEGER]} does not fit {element}", f"use {low} to {high}"
    )


def _uuid(text: str) -> UUID:
    if not text:
        return ZERO_UUID
    if not _UUID.fullmatch(text):  # base64 itself would skip over other characters
        raise SchemaError(
            f"default {text!r} is not a uuid", "write the 22 characters of Kafka's base64 form"
        )
    return UUID(bytes=base64.urlsafe_b64decode(f"{text[:22]}=="))
