"""Values of messages as builtins for pyarrow, which takes the defaults of tagged fields so."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.fixed import uuid_to_text
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.visitor import Visitor


def plain(wire_type: WireType, value: Any) -> Any:
    """A value as builtins; None stays None."""
    return None if value is None else _PLAIN.visit(wire_type, value)


class _Plain(Visitor[Any, Any]):
    """Converts values that are not null."""

    def struct(self, wire_type: StructType, context: Any) -> Any:
        return {
            member.json: plain(member.wire_type, getattr(context, member.attribute))
            for member in wire_type.members
            if member.wire_type is not None
        }

    def nullable_struct(self, wire_type: NullableStruct, context: Any) -> Any:
        return self.visit(wire_type.struct, context)

    def array(self, wire_type: Array, context: Any) -> Any:
        return [plain(wire_type.element, item) for item in context]

    def blob(self, wire_type: Blob, context: Any) -> Any:
        return context

    def scalar(self, wire_type: ScalarType, context: Any) -> Any:
        return uuid_to_text(context) if isinstance(context, UUID) else context


_PLAIN = _Plain()
