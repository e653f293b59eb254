"""The Arrow type of a message's values, from which the Spark type follows.

Fields have Kafka's names in JSON (camelCase), as in the ``body`` of frame records. A field thus has
one name everywhere, and Spark's ``to_json`` of a column gives Kafka's own shape.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import json_name
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.wire.types.tagged import TaggedFields

#: Element type in definitions → Arrow type.
ARROW_TYPES: dict[str, pa.DataType] = {
    row.name: getattr(pa, row.arrow)() for row in SCALARS.values()
}

#: Tagged fields that the definition does not know, as ``to_json`` has them, in flexible versions.
UNKNOWN_TAGS = pa.field(
    TaggedFields.JSON_NAME,
    pa.list_(
        pa.field(
            "element",
            pa.struct(
                [pa.field("tag", pa.int32(), nullable=False),
                 pa.field("data", pa.binary(), nullable=False)]
            ),
            nullable=False,
        )
    ),
)  # fmt: skip


@lru_cache(maxsize=1024)
def arrow_type(spec: MessageSpec, versions: VersionRange) -> pa.StructType:
    """The type of values of a message whose version is any of ``versions``.

    A field can be null where one of the versions lets it be or lacks it.
    """
    structs = spec.structs()
    flexible = not (spec.flexible_versions & versions).empty

    def struct(of: StructSpec) -> pa.StructType:
        fields = [field(each) for each in of.fields if not (each.versions & versions).empty]
        return pa.struct([*fields, UNKNOWN_TAGS] if flexible else fields)

    def field(of: FieldSpec) -> pa.Field:
        element = ARROW_TYPES.get(of.type.element) or struct(structs[of.type.element])
        nullable = not ((of.nullable_versions & versions).empty and of.versions.covers(versions))
        if of.type.is_array:
            element = pa.list_(pa.field("element", element, nullable=False))
        return pa.field(json_name(of.name), element, nullable=nullable)

    return struct(spec.struct)
