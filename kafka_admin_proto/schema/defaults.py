"""What a definition's ``default`` text means for each type."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.scalars import SCALARS, Scalar

#: Digits of an integer at most: Python refuses to read thousands, and no integer type has as many.
_LONGEST_INTEGER = 40
#: What Java's ``Uuid.toString`` writes; base64's padding may follow.
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_INTEGER = re.compile(r"(?P<decimal>[+-]?[0-9]+)|0x(?P<hex>[0-9A-Fa-f]+)")
#: Digits that Java reads as an octal number.
_OCTAL = re.compile(r"[+-]?0[0-9]")


def parse_default(element: str, is_array: bool, text: str) -> Any:
    """The default value of a field of that type, ``text`` being "" where none is given.

    Arrays give ``[]`` and structs ``{}``, as the caller knows how to make an empty one; records
    without a default are null, as in ``FieldSpec.fieldDefault``. Raises SchemaError.
    """
    scalar = SCALARS.get(element)
    if is_array or scalar is None:
        return _empty_or_null([] if is_array else {}, text)
    return _READERS[scalar.python_type](scalar, text) if text else scalar.default


def _empty_or_null(empty: Any, text: str) -> Any:
    if not text:
        return empty
    if text == "null":
        return None
    raise SchemaError(
        f"default {text!r} is not possible here", 'write "null", or no default for an empty one'
    )


def _bool(scalar: Scalar, text: str) -> bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise SchemaError(f"default {text!r} is not a bool", 'write "true" or "false"')


def _float(scalar: Scalar, text: str) -> float:
    try:
        if "_" in text:  # Python's own way of writing digits, not Java's
            raise ValueError
        return float(text)
    except ValueError:
        raise SchemaError(
            f"default {text!r} is not a number", 'write a decimal number such as "0.5"'
        ) from None


def _integer(scalar: Scalar, text: str) -> int:
    assert scalar.bounds is not None, scalar.name
    match = _INTEGER.fullmatch(text)
    if not match:
        raise SchemaError(
            f"default {text!r} is not an integer", 'write decimal digits, or hex such as "0x7f"'
        )
    low, high = scalar.bounds
    if len(text) <= _LONGEST_INTEGER:
        value = int(match["decimal"]) if match["decimal"] else int(match["hex"], 16)
        if low <= value <= high:
            return _octal(text) if _OCTAL.match(text) else value
    raise SchemaError(
        f"default {text[:_LONGEST_INTEGER]} does not fit {scalar.name}", f"use {low} to {high}"
    )


def _octal(text: str) -> int:
    """The number as Java's compiler reads it: the generator writes the text into its code."""
    try:
        return int(text, 8)
    except ValueError:
        raise SchemaError(
            f"default {text} begins with 0, and is no octal number", "remove the zeros in front"
        ) from None


def _uuid(scalar: Scalar, text: str) -> UUID:
    if not _UUID.fullmatch(text):  # base64 itself would skip over other characters
        raise SchemaError(
            f"default {text!r} is not a uuid", "write the 22 characters of Kafka's base64 form"
        )
    return UUID(bytes=base64.urlsafe_b64decode(f"{text[:22]}=="))


#: Type of the values → what reads the text of a default.
_READERS: dict[type, Callable[[Scalar, str], Any]] = {
    bool: _bool, int: _integer, float: _float, UUID: _uuid,
    str: lambda _, text: None if text == "null" else text,
    bytes: lambda scalar, text: _empty_or_null(scalar.default, text),
}  # fmt: skip
