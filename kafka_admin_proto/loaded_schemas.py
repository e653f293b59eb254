"""Definitions that are loaded at run time, and value classes made of them on the fly.

The classes are what ``tools/definitions/generate.py`` writes for shipped messages: the same bases,
attributes, defaults and marks; `tests/schema/test_load_schemas.py` holds the two equal.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from kafka_admin_proto.codec import use_classes, value_class_of
from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.values import Message, StructValue, equal_bits


def load_schemas(path: str | Path, *, dialect: str = "") -> str:
    """Take in a folder of definitions at run time; returns the dialect that they are found under.

    Files are Kafka's message-definition JSON, unchanged, or grammars (``.kip``), at any depth.
    ``dialect`` is the folder's name unless given; loading it again replaces it. From then on
    ``codec(name, version, dialect=...)`` works, with value classes made on the fly. A field whose
    name looks like a credential's counts as one, and is masked where Kafka's own are. Raises
    SchemaError for the first definition that breaks a rule, and then nothing is loaded.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise SchemaError("there is no such folder", "name one with definitions", file=str(path))
    dialect = dialect or folder.resolve().name
    catalog().load(folder, dialect, check_names)
    use_classes(dialect, make_classes)
    return dialect


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

    for struct in (*spec.common_structs, spec.struct):
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
    namespace: dict[str, Any] = {
        "__doc__": f"{struct.name} of {spec.name}, {spec.dialect}.",
        "__reduce__": _reduce_as(spec.dialect, spec.name, struct.name),
    }
    if base is Message:
        namespace |= {
            "message_name": spec.name,
            "dialect": spec.dialect,
            "api_key": spec.api_key,
            **{name: made[name] for name in spec.structs()},  # capitals: no field has such a name
        }
    secrets = secret_fields(spec, struct)
    if secrets:
        namespace["secret_fields"] = secrets
    if has_floats(struct):
        namespace["__eq__"] = equal_bits
    fields = [_attribute(base, field, made) for field in struct.fields]
    if has_unknown_tags(spec):
        fields.append(("unknown_tagged_fields", tuple, ()))
    made_class: Any = msgspec.defstruct(
        struct.name, fields, bases=(base,), namespace=namespace, module=__name__, gc=False
    )
    return cast(type[StructValue], made_class)


def _reduce_as(dialect: str, message: str, struct: str) -> Callable[[StructValue], Any]:
    """``__reduce__`` of a class that pickle cannot find by its name in a module."""

    def reduce(value: StructValue) -> tuple[Any, ...]:
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return loaded_value, (dialect, message, struct, fields)

    return reduce


def loaded_value(dialect: str, message: str, struct: str, fields: dict[str, Any]) -> Any:
    """A value of a loaded dialect, from a pickle.

    Raises UnknownMessageError where this process has not loaded the dialect, or has loaded one of
    that name without the message, its struct or a field.
    """
    found = catalog()
    if not found.is_loaded(dialect):
        raise UnknownMessageError(
            f"this is a {struct} of dialect {dialect!r}, which this process has not loaded; "
            f"call load_schemas(folder, dialect={dialect!r}) first"
        )
    spec = found.spec(message, dialect)
    value_class = None
    if struct == spec.name or struct in spec.structs():
        value_class = value_class_of(spec, struct)
    if value_class is None or not fields.keys() <= set(value_class.__struct_fields__):
        raise UnknownMessageError(
            f"this is a {struct} of another {message} than dialect {dialect!r} has in this "
            "process; load the same definitions in both"
        )
    return value_class(**fields)


def secret_fields(spec: MessageSpec, struct: StructSpec) -> dict[str, str]:
    """``StructValue.secret_fields`` of the class of one of the message's structs.

    A newer release's credential comes as an unknown tag: those of a message that carries
    credentials are secret in all of its structs.
    """
    secrets = {
        python_name(field.name): python_name(field.named_by) if field.named_by else ""
        for field in struct.fields
        if field.sensitive or field.named_by
    }
    if has_unknown_tags(spec) and spec.hides_unknown_tags:
        secrets["unknown_tagged_fields"] = ""
    return secrets


def has_unknown_tags(spec: MessageSpec) -> bool:
    """Whether any version of the message is flexible, and may have tags that it does not define."""
    return not (spec.flexible_versions & spec.valid_versions).empty


def has_floats(struct: StructSpec) -> bool:
    """Whether values of the struct's class are compared by ``equal_bits``."""
    scalars = (SCALARS.get(field.type.element) for field in struct.fields)
    return any(scalar is not None and scalar.python_type is float for scalar in scalars)


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
    name_of_type = field.type.element
    scalar = SCALARS.get(name_of_type)
    element: Any = made[name_of_type] if scalar is None else scalar.python_type
    type_ = list[element] if field.type.is_array else element
    default = field.default_value
    if isinstance(default, list):
        default = msgspec.field(default_factory=list)
    elif isinstance(default, dict):
        default = msgspec.field(default_factory=element)
    return name, type_ if field.nullable_versions.empty else type_ | None, default
