"""What columns must say, told from the codec's JSON and the definitions: by another road."""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

import pyarrow as pa

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import json_name
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.types.fixed import uuid_to_text


def row_of(
    found: Codec[Any], value: Any, *, mask: bool = False, versions: VersionRange | None = None
) -> dict[str, Any]:
    """The value as a row of the type for ``versions``, its own version alone by default."""
    own = VersionRange(found.version, found.version)
    rows = _Rows(found.spec, found.version, versions or own)
    return rows.struct(found.spec.struct, found.to_json(value, mask=mask))


class _Rows:
    def __init__(self, spec: MessageSpec, version: int, versions: VersionRange) -> None:
        self.structs = spec.structs()
        self.version = version
        self.versions = versions
        self.flexible = not (spec.flexible_versions & versions).empty

    def struct(self, of: StructSpec, obj: dict[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for field in of.fields:
            name = json_name(field.name)
            if (field.versions & self.versions).empty:
                continue
            if self.version not in field.versions:
                row[name] = None
            elif name in obj:
                row[name] = self.value(field, obj[name])
            else:
                row[name] = self.default(field)
        if self.flexible:
            row["_unknownTaggedFields"] = [
                {"tag": each["tag"], "data": _bytes(each["data"])}
                for each in obj.get("_unknownTaggedFields", [])
            ] or None
        return row

    def default(self, field: FieldSpec) -> Any:
        """A tagged field is not in JSON at its default."""
        value = field.default_value
        if isinstance(value, dict):
            return self.struct(self.structs[field.type.element], {})
        return uuid_to_text(value) if isinstance(value, UUID) else value

    def value(self, field: FieldSpec, obj: Any) -> Any:
        if obj is None:
            return None
        if field.type.is_array:
            return [self.item(field, each) for each in obj]
        return self.item(field, obj)

    def item(self, field: FieldSpec, obj: Any) -> Any:
        if field.type.is_struct:
            return self.struct(self.structs[field.type.element], obj)
        if field.type.element in ("bytes", "records"):
            return _bytes(obj)
        return float(obj) if field.type.element == "float64" else obj


def _bytes(text: str) -> bytes:
    return MASK.encode() if text == MASK else base64.b64decode(text)


def same(one: Any, other: Any) -> bool:
    """``==`` where NaN is itself and -0.0 is not 0.0."""
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def binary(rows: list[bytes | None]) -> pa.Array:
    return pa.array(rows, pa.binary())
