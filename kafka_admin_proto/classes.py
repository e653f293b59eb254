"""Value classes made at run time, for definitions that were loaded and not generated.

They are what ``tools/generate.py`` writes for shipped messages: the same bases, attributes,
defaults and marks; a test holds the two equal.
"""

from __future__ import annotations

import keyword
from typing import Any, cast
from uuid import UUID

import msgspec

from kafka_admin_proto.codec import Message, StructValue, equal_bits
from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.model import FieldSpec, MessageSpec, StructSpec
from kafka_admin_proto.schema.names import python_name

#: Element type in definitions → type in Python.
PYTHON_TYPES: dict[str, type] = {
    "bool": bool, "int8": int, "int16": int, "uint16": int, "int32": int, "uint32": int,
    "int64": int, "float64": float, "uuid": UUID, "string": str, "bytes": bytes, "records": bytes,
}  # fmt: skip


def make_classes(spec: MessageSpec) -> dict[str, type[Any]]:
    """The message's class and those of its structs, by name.

    Raises SchemaError for a field whose name a value class has already.
    """
    structs = spec.structs()
    made: dict[str, type[Any]] = {}

    def make(struct: StructSpec) -> None:
        for field in struct.fields:
            if field.type.is_struct and field.type.element not in made:
                make(structs[field.type.element])
        made[struct.name] = _make_class(spec, struct, made)

    make(spec.struct)
    for struct in spec.common_structs:
        if struct.name not in made:
            make(struct)
    return made


def check_names(spec: MessageSpec) -> None:
    """Raise SchemaError for a field whose name its class could not have."""
    for struct in (spec.struct, *spec.structs().values()):
        base = _base(spec, struct)
        for field in struct.fields:
            try:
                attribute_name(base, field)
            except SchemaError as error:
                error.file = spec.file
                raise error.inside(struct.name) from None


def _base(spec: MessageSpec, struct: StructSpec) -> type[StructValue]:
    return Message if struct.name == spec.name else StructValue


def _make_class(
    spec: MessageSpec, struct: StructSpec, made: dict[str, type[Any]]
) -> type[StructValue]:
    base = _base(spec, struct)
    namespace: dict[str, Any] = {"__doc__": f"{struct.name} of {spec.name}, {spec.dialect}."}
    if base is Message:
        namespace |= {
            "message_name": spec.name,
            "dialect": spec.dialect,
            "api_key": spec.api_key,
        }
    secrets = secret_fields(struct)
    if secrets:
        namespace["secret_fields"] = secrets
    if any(field.type.element == "float64" for field in struct.fields):
        namespace["__eq__"] = equal_bits
    fields = [_attribute(base, field, made) for field in struct.fields]
    if not (spec.flexible_versions & spec.valid_versions).empty:
        fields.append(("unknown_tagged_fields", tuple, ()))
    made_class: Any = msgspec.defstruct(
        struct.name, fields, bases=(base,), namespace=namespace, module=__name__, gc=False
    )
    return cast(type[StructValue], made_class)


def secret_fields(struct: StructSpec) -> dict[str, str]:
    """``StructValue.secret_fields`` of the struct's class."""
    return {
        python_name(field.name): python_name(field.named_by) if field.named_by else ""
        for field in struct.fields
        if field.sensitive or field.named_by
    }


def attribute_name(base: type[StructValue], field: FieldSpec) -> str:
    """The field's name in Python; SchemaError where a value class cannot have it."""
    name = python_name(field.name)
    if keyword.iskeyword(name):
        raise SchemaError(f"{name} is a word of Python", "rename the field", field=field.name)
    if hasattr(base, name) or name == "unknown_tagged_fields":
        raise SchemaError(
            f"the name would hide {base.__name__}.{name}", "rename the field", field=field.name
        )
    return name


def _attribute(
    base: type[StructValue], field: FieldSpec, made: dict[str, type[Any]]
) -> tuple[str, Any, Any]:
    """Name, type and default of one field, as ``msgspec.defstruct`` takes them."""
    name = attribute_name(base, field)
    element: Any = PYTHON_TYPES.get(field.type.element) or made[field.type.element]
    type_ = list[element] if field.type.is_array else element
    default = field.default_value
    if isinstance(default, list):
        default = msgspec.field(default_factory=list)
    elif isinstance(default, dict):
        default = msgspec.field(default_factory=made[field.type.element])
    return name, type_ if field.nullable_versions.empty else type_ | None, default
