"""Definitions that are loaded at run time, and value classes made of them on the fly.

The classes are what ``tools/definitions/generate.py`` writes for shipped messages: both are made of
``class_plans``, and `tests/schema/test_load_schemas.py` holds the two equal.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto.arguments import checked_arguments
from kafka_admin_proto.codec import use_classes, value_class_of
from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.values import Message, StructValue, equal_bits


def load_schemas(
    path: str | Path, *, dialect: str = "", on_fault: Callable[[SchemaError], object] | None = None
) -> str:
    """Take in a folder of definitions at run time; returns the dialect that they are found under.

    Files are Kafka's message-definition JSON, unchanged, or grammars (``.kip``), at any depth.
    ``dialect`` is the folder's name unless given; loading it again replaces it. From then on
    ``codec(name, version, dialect=...)`` works, with value classes made on the fly. A field whose
    name looks like a credential's counts as one, and is masked where Kafka's own are.

    Raises SchemaError for the first file that breaks a rule, and then nothing is loaded. With
    ``on_fault`` such a file is left out and the function gets its error, which names the file;
    ``on_fault=faults.append`` lists them all.
    """
    checked_arguments(load_schemas, {"dialect": dialect, "on_fault": on_fault})
    folder = Path(path)
    if not folder.is_dir():
        raise SchemaError("there is no such folder", "name one with definitions", file=str(path))
    dialect = dialect or folder.resolve().name
    catalog().load(folder, dialect, class_plans, on_fault)
    use_classes(dialect, make_classes)
    return dialect


class ClassPlan(msgspec.Struct, frozen=True):
    """What the class of one struct is made of: as a text for a module, or at run time.

    ``marks`` are class variables that differ from the base's, ``fields`` definitions by the names
    of their attributes, ``structs`` the names of those that are attributes of a message's class.
    """

    name: str
    base: type[StructValue]
    marks: dict[str, Any]
    structs: list[str]
    fields: dict[str, FieldSpec]
    has_unknown_tags: bool
    has_floats: bool


def class_plans(spec: MessageSpec) -> list[ClassPlan]:
    """The classes of a message and its structs, each after those that are in it.

    Raises SchemaError for a field whose name its class could not have.
    """
    structs = spec.structs()
    planned: dict[str, ClassPlan] = {}

    def plan(struct: StructSpec) -> None:
        if struct.name not in planned:
            for field in struct.fields:
                if field.type.is_struct:
                    plan(structs[field.type.element])
            planned[struct.name] = _class_plan(spec, struct)

    nested = (structs[each.type.element] for each in spec.fields if each.type.is_struct)
    for each in (*nested, *spec.common_structs, spec.struct):
        plan(each)
    return list(planned.values())


def make_classes(spec: MessageSpec) -> dict[str, type[Any]]:
    """The message's class and those of its structs, by name; raises as ``class_plans`` does."""
    made: dict[str, type[Any]] = {}
    for plan in class_plans(spec):
        namespace: dict[str, Any] = {
            "__doc__": f"{plan.name} of {spec.name}, {spec.dialect}.",
            "__reduce__": _reduce_as(spec.dialect, spec.name, plan.name),
            **plan.marks,
            **{name: made[name] for name in plan.structs},  # capitals: no field has such a name
        }
        if plan.has_floats:
            namespace["__eq__"] = equal_bits
        fields = [_attribute(name, field, made) for name, field in plan.fields.items()]
        if plan.has_unknown_tags:
            fields.append(("unknown_tagged_fields", tuple, ()))
        made[plan.name] = msgspec.defstruct(
            plan.name, fields, bases=(plan.base,), namespace=namespace, module=__name__, gc=False
        )
    return made


def _class_plan(spec: MessageSpec, struct: StructSpec) -> ClassPlan:
    is_message = struct.name == spec.name
    base = Message if is_message else StructValue
    marks: dict[str, Any] = {}
    if is_message:
        own = {"message_name": spec.name, "dialect": spec.dialect, "api_key": spec.api_key}
        marks = {name: each for name, each in own.items() if each != getattr(Message, name, None)}
    if secrets := _secret_fields(spec, struct):
        marks["secret_fields"] = secrets
    scalars = (SCALARS.get(field.type.element) for field in struct.fields)
    return ClassPlan(
        name=struct.name,
        base=base,
        marks=marks,
        structs=sorted(spec.structs()) if is_message else [],
        fields={_attribute_name(spec, struct, base, field): field for field in struct.fields},
        has_unknown_tags=has_unknown_tags(spec),
        has_floats=any(each is not None and each.python_type is float for each in scalars),
    )


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


def _secret_fields(spec: MessageSpec, struct: StructSpec) -> dict[str, str]:
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


def _attribute_name(
    spec: MessageSpec, struct: StructSpec, base: type[StructValue], field: FieldSpec
) -> str:
    """The field's name in Python; SchemaError where a value class cannot have it."""
    name = python_name(field.name)
    if keyword.iskeyword(name):
        fault = f"{name} is a word of Python"
    elif hasattr(base, name) or name == "unknown_tagged_fields":
        fault = f"the name would hide {base.__name__}.{name}"
    else:
        return name
    error = SchemaError(fault, "rename the field", field=field.name, file=spec.file)
    raise error.inside(struct.name)


def annotation(field: FieldSpec, *, inside: str = "", named: Callable[[str], str] = str) -> str:
    """The field's type in Python, as a text.

    Structs may be ``inside`` the class of that name; ``named`` says what other types are called.
    """
    element, scalar = field.type.element, SCALARS.get(field.type.element)
    if scalar is not None:
        element = named(scalar.python_type.__name__)
    elif inside:
        element = f"{inside}.{element}"
    text = f"{named('list')}[{element}]" if field.type.is_array else element
    return text if field.nullable_versions.empty else f"{text} | None"


def _attribute(name: str, field: FieldSpec, made: dict[str, type[Any]]) -> tuple[str, Any, Any]:
    """Name, type and default of one field, as ``msgspec.defstruct`` takes them."""
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
