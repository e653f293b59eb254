"""What the targets' seeds are made of: golden vectors, full values and the sample dump."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.visitor import Visitor

_ROOT = Path(__file__).parents[2]
#: Golden vectors: message, version, wire (hex), json.
VECTORS: list[dict[str, Any]] = json.loads(
    (_ROOT / "tests" / "vectors" / "messages.json").read_text("utf-8")
)
SAMPLE = (_ROOT / "samples" / "create_topics.hex").read_bytes()


def payloads() -> Iterator[tuple[str, int, bytes]]:
    """Each vector that is a request or response as (message, version, payload with header)."""
    from kafka_admin_proto import codec

    for number, vector in enumerate(VECTORS):
        name, version = vector["message"], vector["version"]
        body = codec(name, version).decode(bytes.fromhex(vector["wire"]))
        if name.endswith("Request"):
            yield name, version, write_request(body, version, number, "me")
        elif name.endswith("Response"):
            yield name, version, write_response(body, version, number)


def stream() -> bytes:
    """All of them as frames, one after the other."""
    return b"".join(frame(payload) for _, _, payload in payloads())


def filled(wire_type: WireType) -> Any:
    """A value of the type in which nothing is empty, null or at its default."""
    return _Filled().visit(wire_type, None)


class _Filled(Visitor[None, Any]):
    def struct(self, wire_type: StructType, context: None) -> Any:
        value = wire_type.value_class()
        for member in wire_type.members:
            if member.wire_type is not None:
                setattr(value, member.attribute, self.visit(member.wire_type, context))
        if wire_type.tagged is not None:
            value.unknown_tagged_fields = ((4711, b"?"),)
        return value

    def array(self, wire_type: Array, context: None) -> Any:
        return [self.visit(wire_type.element, context)]

    def nullable_struct(self, wire_type: NullableStruct, context: None) -> Any:
        return self.visit(wire_type.struct, context)

    def blob(self, wire_type: Blob, context: None) -> Any:
        return wire_type.scalar.sample

    def scalar(self, wire_type: ScalarType, context: None) -> Any:
        return wire_type.scalar.sample
