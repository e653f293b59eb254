"""Any bytes give a value or a DecodeError; a value gives the same bytes or is reported.

The first two bytes choose message and version among all dialects, the third the way in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError
from tests.everything import EVERY_DIALECT
from tests.fuzz.limits import bounded_memory
from tests.fuzz.seeds import VECTORS


def one_input(data: bytes) -> None:
    if len(data) < 3:
        return
    dialect, name, version = EVERY_DIALECT[int.from_bytes(data[:2], "big") % len(EVERY_DIALECT)]
    found = codec(name, version, dialect=dialect)
    if data[2] % 8 == 7:
        from_text(found, data[3:])
    else:
        from_wire(found, data[3:])


def from_wire(found: Codec[Any], wire: bytes) -> None:
    found.grammar  # noqa: B018  # made before memory is counted
    try:
        with bounded_memory(wire):
            value, end = found.decode_from(wire)
    except DecodeError as error:
        assert error.message == f"{found.name} v{found.version}"
        assert 0 <= error.offset <= len(wire)
        assert error.path
        return
    wire = wire[:end]
    encoded = found.encode(value)
    assert encoded == wire or found.non_canonical(wire)
    assert found.encode(found.decode(encoded)) == encoded
    repr(value)
    json.dumps(found.to_json(value, mask=True, records="size"))
    obj = found.to_json(value)
    again = found.from_json(json.loads(json.dumps(obj)))
    assert found.to_json(again) == obj
    if not any(is_lossy(leaf) for leaf in leaves(value)):
        assert again == value


def from_text(found: Codec[Any], text: bytes) -> None:
    """Any JSON gives a value or a JsonError; what a value holds may be too much to encode."""
    try:
        obj = json.loads(text)
    except (ValueError, RecursionError):
        return
    try:
        value = found.from_json(obj)
        encoded = found.encode(value)
    except (JsonError, EncodeError):
        return
    assert found.encode(found.decode(encoded)) == encoded


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from leaves(getattr(value, name))
    else:
        yield value


def is_lossy(leaf: Any) -> bool:
    """What JSON cannot hold: text that is not UTF-8, and the many NaNs."""
    if isinstance(leaf, str):
        return any("\ud800" <= character <= "\udfff" for character in leaf)
    return isinstance(leaf, float) and math.isnan(leaf)


def seeds() -> Iterator[bytes]:
    place = {("kafka", name, version): i for i, (_, name, version) in enumerate(EVERY_DIALECT)}
    for vector in VECTORS:
        index = place["kafka", vector["message"], vector["version"]]
        yield index.to_bytes(2, "big") + b"\0" + bytes.fromhex(vector["wire"])
    for index, (dialect, name, version) in enumerate(EVERY_DIALECT):
        found = codec(name, version, dialect=dialect)
        empty = found.value_class()
        yield index.to_bytes(2, "big") + b"\0" + found.encode(empty)
        text = json.dumps(found.to_json(empty)).encode()
        yield index.to_bytes(2, "big") + b"\7" + text
