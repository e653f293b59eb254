"""Each wire type in each place where the notation allows it, used by a Kafka message or not."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import construct
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, EncodeError, JsonError
from kafka_admin_proto.schema.fields import StructSpec
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.testing import struct_values
from kafka_admin_proto.values import StructValue, equal_bits
from kafka_admin_proto.wire.grammar import message_type
from kafka_admin_proto.wire.options import PLAIN_JSON
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.containers import MessageType
from kafka_admin_proto.wire.types.fixed import uuid_from_text, uuid_to_text
from kafka_admin_proto.wire.types.scalar import scalar_type
from kafka_admin_proto.wire.varint import encode_uvarint
from tests.helpers.profile import draws


def sample() -> dict[str, Any]:
    """A message with every type plain, in arrays, nullable and tagged, at versions 0 to 2."""
    fields: list[dict[str, Any]] = []
    tag = 0
    for element, scalar in SCALARS.items():
        name = element.capitalize()
        fields.append({"name": name, "type": element, "versions": "0+"})
        if element != "records":
            fields.append({"name": f"{name}s", "type": f"[]{element}", "versions": "1+",
                           "nullableVersions": "2+"})  # fmt: skip
            fields.append({"name": f"Tag{name}", "type": element, "versions": "2+",
                           "taggedVersions": "2+", "tag": tag})  # fmt: skip
            fields.append({"name": f"Tag{name}s", "type": f"[]{element}", "versions": "2+",
                           "taggedVersions": "2+", "tag": tag + 1})  # fmt: skip
            tag += 2
        if scalar.has_length:
            fields.append({"name": f"Maybe{name}", "type": element, "versions": "0+",
                           "nullableVersions": "0+", "default": "null"})  # fmt: skip
    inner = [{"name": "Number", "type": "int32", "versions": "0+", "default": "7"}]
    structs: list[tuple[str, dict[str, Any]]] = [
        ("Plain", {}),
        ("Maybe", {"nullableVersions": "0+", "default": "null"}),
        ("Present", {"nullableVersions": "0+"}),
        ("TagPlain", {"taggedVersions": "2+", "versions": "2+", "tag": tag}),
        ("TagMaybe", {"taggedVersions": "2+", "versions": "2+", "tag": tag + 1,
                      "nullableVersions": "2+", "default": "null"}),
        ("TagPresent", {"taggedVersions": "2+", "versions": "2+", "tag": tag + 2,
                        "nullableVersions": "2+"}),
    ]  # fmt: skip
    for name, more in structs:
        fields.append(
            {"name": f"S{name}", "type": f"S{name}", "versions": "0+", "fields": inner, **more}
        )
    return {
        "type": "data", "name": "Sample", "validVersions": "0-2", "flexibleVersions": "2+",
        "fields": fields,
    }  # fmt: skip


SPEC = read_message(json.dumps(sample()))


def value_class(struct: StructSpec, nested: dict[str, type[Any]]) -> type[Any]:
    fields: list[tuple[str, type, Any]] = []
    for field in struct.fields:
        default = field.default_value
        if isinstance(default, dict):
            default = msgspec.field(default_factory=nested[field.type.element])
        elif isinstance(default, list):
            default = msgspec.field(default_factory=list)
        fields.append((python_name(field.name), object, default))
    fields.append(("unknown_tagged_fields", object, ()))
    body = {"__eq__": equal_bits, "__hash__": None}
    return msgspec.defstruct(struct.name, fields, bases=(StructValue,), namespace=body)


CLASSES: dict[str, type[Any]] = {}
for found in [*SPEC.structs().values(), SPEC.struct]:
    CLASSES[found.name] = value_class(found, CLASSES)


def grammar(version: int) -> MessageType:
    return message_type(SPEC, version, CLASSES.__getitem__)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_every_type_in_every_place(version: int) -> None:
    tree = grammar(version)

    @given(struct_values(tree))
    @settings(max_examples=draws(60))
    def check(value: Any) -> None:
        data = tree.build(value)
        assert tree.build(tree.parse(data)) == data
        obj = tree.to_json(value, PLAIN_JSON)
        again = tree.from_json(json.loads(json.dumps(obj)), "")
        assert tree.to_json(again, PLAIN_JSON) == obj
        for end in range(len(data)):
            with pytest.raises(DecodeError):
                tree.parse(data[:end])

    check()


def test_tagged_fields_at_their_default_are_not_written() -> None:
    tree = grammar(2)
    value = CLASSES["Sample"]()
    plain = tree.build(value)
    assert plain.endswith(b"\0")
    value.tag_int8 = 5
    assert tree.build(value) == plain[:-1] + b"\x01\x02\x01\x05"
    value.tag_int8 = 0
    value.s_tag_present = None  # its default is an empty struct: a null is written
    tag = max(field.tag for field in SPEC.fields if field.tag is not None)
    assert tree.build(value) == plain[:-1] + bytes([1, tag, 1, 0])
    assert tree.parse(tree.build(value)).s_tag_present is None


ONE_OF_EACH: list[tuple[WireType, Any, bytes, Any]] = [
    (scalar_type("bool"), True, b"\x01", True),
    (scalar_type("int8"), -1, b"\xff", -1),
    (scalar_type("int16"), -2, b"\xff\xfe", -2),
    (scalar_type("uint16"), 65535, b"\xff\xff", 65535),
    (scalar_type("int32"), 1, b"\0\0\0\x01", 1),
    (scalar_type("uint32"), 1 << 31, b"\x80\0\0\0", 1 << 31),
    (scalar_type("int64"), -(1 << 63), b"\x80" + bytes(7), -(1 << 63)),
    (scalar_type("float64"), -0.5, b"\xbf\xe0" + bytes(6), -0.5),
    (scalar_type("uuid"), UUID(int=1), bytes(15) + b"\x01", "AAAAAAAAAAAAAAAAAAAAAQ"),
    (scalar_type("string", compact=False, nullable=False), "ü", b"\0\x02\xc3\xbc", "ü"),
    (scalar_type("string", compact=True, nullable=True), None, b"\0", None),
    (scalar_type("string", compact=True, nullable=False), "", b"\x01", ""),
    (scalar_type("bytes", compact=False, nullable=True), None, b"\xff\xff\xff\xff", None),
    (scalar_type("bytes", compact=True, nullable=False), b"ab", b"\x03ab", "YWI="),
    (scalar_type("records", compact=False, nullable=False), b"", bytes(4), ""),
]


@pytest.mark.parametrize(("wire_type", "value", "wire", "obj"), ONE_OF_EACH)
def test_contract(wire_type: WireType, value: Any, wire: bytes, obj: Any) -> None:
    assert wire_type.parse(wire) == value
    assert wire_type.build(value) == wire
    assert wire_type.to_json(value, PLAIN_JSON) == obj
    assert wire_type.from_json(obj, "") == value
    assert wire_type.min_size <= len(wire)
    assert wire_type.describe()
    for end in range(len(wire)):
        with pytest.raises(DecodeError) as caught:
            wire_type.parse(wire[:end])
        assert caught.value.offset <= end
    if wire_type.fixed_size is None:
        with pytest.raises(construct.SizeofError):
            wire_type.sizeof()
    else:
        assert wire_type.sizeof() == len(wire)
    for wrong in (object(), [], {}):
        with pytest.raises(EncodeError):
            wire_type.build(wrong)
        with pytest.raises(JsonError):
            wire_type.from_json(wrong, "")


@pytest.mark.parametrize("element", ["int8", "int16", "uint16", "int32", "uint32", "int64"])
def test_integers_out_of_range(element: str) -> None:
    wire_type: Any = scalar_type(element)
    low, high = wire_type.bounds
    for edge in (low, high):
        assert wire_type.parse(wire_type.build(edge)) == edge
    for beyond in (low - 1, high + 1):
        with pytest.raises(EncodeError, match="an integer from"):
            wire_type.build(beyond)
        with pytest.raises(JsonError, match="an integer from"):
            wire_type.from_json(beyond, "")


@given(st.integers(0, (1 << 31) - 2))
def test_varints_in_front_of_strings(length: int) -> None:
    prefix = encode_uvarint(length + 1)
    assert len(prefix) == max(1, -(-(length + 1).bit_length() // 7))
    with pytest.raises(DecodeError) as caught:
        scalar_type("bytes", compact=True, nullable=False).parse(prefix[:-1])
    assert "varint" in caught.value.fault or "missing" in caught.value.fault
    if length:
        with pytest.raises(DecodeError, match=f"bytes needs {length} byte"):
            scalar_type("bytes", compact=True, nullable=False).parse(prefix)


@pytest.mark.parametrize(
    "text",
    ["", "short", "A" * 21, "A" * 23, "ü" * 22, "A" * 21 + "+", "{" + "0" * 34 + "}", "0" * 36],
)
def test_texts_that_are_no_uuid(text: str) -> None:
    with pytest.raises(JsonError, match="22 characters of base64url"):
        scalar_type("uuid").from_json(text, "id")


@given(st.uuids())
def test_both_forms_of_a_uuid(value: UUID) -> None:
    assert uuid_from_text(uuid_to_text(value)) == uuid_from_text(str(value)) == value
    assert len(uuid_to_text(value)) == 22


def test_null_where_it_is_not_allowed() -> None:
    for wire_type, wire in [
        (scalar_type("string", compact=False, nullable=False), b"\xff\xff"),
        (scalar_type("string", compact=True, nullable=False), b"\0"),
        (scalar_type("bytes", compact=False, nullable=False), b"\xff\xff\xff\xff"),
    ]:
        with pytest.raises(DecodeError, match="is null where null is not allowed"):
            wire_type.parse(wire)
        with pytest.raises(EncodeError, match="cannot be null"):
            wire_type.build(None)
    with pytest.raises(DecodeError, match="has length -2"):
        scalar_type("string", compact=False, nullable=True).parse(b"\xff\xfe")
    with pytest.raises(DecodeError, match="over the 32767 possible"):
        scalar_type("string", compact=True, nullable=True).parse(
            encode_uvarint(32769) + bytes(32768)
        )
