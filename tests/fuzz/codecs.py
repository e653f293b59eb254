"""Any bytes give a value or a DecodeError; a value gives the same bytes or is reported.

The first three bytes choose the message among all dialects, the fourth its version, the fifth the
way in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError
from kafka_admin_proto.schema.catalog import catalog
from tests.fuzz.choice import Choice, number_of
from tests.fuzz.limits import bounded_memory
from tests.fuzz.seeds import VECTORS, filled
from tests.helpers.every_message import EVERY_DIALECT, made_ready

_MESSAGES = Choice(sorted({f"{dialect}/{name}" for dialect, name, _ in EVERY_DIALECT}))
_HEAD = 5


def one_input(data: bytes) -> None:
    if len(data) < _HEAD:
        return
    found = chosen(data)
    if data[_HEAD - 1] % 8 == 7:
        from_text(found, data[_HEAD:])
    else:
        from_wire(found, data[_HEAD:])


def chosen(data: bytes) -> Codec[Any]:
    dialect, name = _MESSAGES[data].split("/")
    versions = catalog().entry(name, dialect).versions
    version = data[3] if data[3] in versions else list(versions)[data[3] % len(list(versions))]
    return codec(name, version, dialect=dialect)


def head(dialect: str, name: str, version: int, way: int) -> bytes:
    """The bytes that choose that codec and way in; the reverse of ``chosen``."""
    return number_of(f"{dialect}/{name}") + bytes([version, way])


def from_wire(found: Codec[Any], wire: bytes) -> None:
    made_ready(found)
    try:
        with bounded_memory(wire):
            value, end = found.decode_from(wire)
    except DecodeError as error:
        assert error.message == f"{found.name} v{found.version}"
        assert 0 <= error.offset <= len(wire)
        assert error.path
        return
    assert found._parse(wire, 0, None) == (value, end)  # what the tree alone reads
    assert found.decode_from(wire, zero_copy=True) == (value, end)
    wire = wire[:end]
    encoded = found.encode(value)
    assert encoded == found.grammar.build(value)
    assert encoded == wire or found.non_canonical(wire)
    assert found.encode(found.decode(encoded)) == encoded
    repr(value)
    for mask in (False, True):
        expected = msgspec.json.encode(found.to_json(value, mask=mask))
        assert found.decode_to_json_text(wire, mask=mask) == expected
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
    for vector in VECTORS:
        start = head("kafka", vector["message"], vector["version"], 0)
        yield start + bytes.fromhex(vector["wire"])
    for dialect, name, version in EVERY_DIALECT:
        found = codec(name, version, dialect=dialect)
        for value in (found.value_class(), filled(found.grammar)):
            yield head(dialect, name, version, 0) + found.encode(value)
            yield head(dialect, name, version, 7) + json.dumps(found.to_json(value)).encode()
