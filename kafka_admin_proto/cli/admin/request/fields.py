"""The JSON of a request: what was read, --set on top of it, and defaults below."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common.files import read_text
from kafka_admin_proto.codec import codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.names import json_name, python_name
from kafka_admin_proto.wire.secrets import is_secret_name

#: A step of a path: a name, or an index as in topics[0] or topics.0.
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
#: No list of a request that --set makes is longer.
_LONGEST = 10_000

#: Arrays that stand for all partitions where they are null, of a request that changes them.
_ALL_BY_NULL = {"ElectLeadersRequest": ("topicPartitions",)}

#: A name of a field, or an index into a list.
Step = str | int


def request_json(
    name: str, source: str | None, sets: Sequence[str], *, dialect: str = "kafka"
) -> Any:
    """The request's JSON: what was read, with --set on top.

    Raises click.UsageError, also where --set has a credential.
    """
    given: Any = {}
    if source is not None:
        text = read_text(source)
        try:
            given = msgspec.json.decode(text) if text.strip() else {}
        except (msgspec.DecodeError, RecursionError) as error:
            raise click.UsageError(f"the request is not JSON: {error}") from None
    places = []
    for setting in sets:
        path, sign, value = setting.partition("=")
        steps = [int(index) if index else name for name, index in _STEP.findall(path)]
        steps = [int(step) if isinstance(step, str) and step.isdecimal() else step
                 for step in steps]  # fmt: skip
        if not sign or not steps:
            raise click.UsageError(f"--set {path}: expected PATH=VALUE, as in topics[0].name=a")
        try:
            parsed = msgspec.json.decode(value.encode())
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            parsed = value
        given = set_at(given, steps, parsed, path)
        places.append((path, steps))
    for path, steps in places:
        refuse_secret(name, given, steps, path, dialect=dialect)
    return given


def set_at(value: Any, steps: list[Any], new: Any, path: str) -> Any:
    """The value with ``new`` at the place that the steps lead to."""
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        if value in (None, {}):
            value = []
        if not isinstance(value, list) or step > min(len(value), _LONGEST):
            raise click.UsageError(f"--set {path}: there is no item before {step}")
        return [*value[:step], set_at(value[step] if step < len(value) else None, rest, new, path),
                *value[step + 1 :]]  # fmt: skip
    value = {} if value is None else value
    if not isinstance(value, dict):
        raise click.UsageError(f"--set {path}: {step} is not within a struct")
    return {**value, step: set_at(value.get(step), rest, new, path)}


def with_defaults(
    name: str, version: int, given: Any, *, timeout_ms: int, dialect: str = "kafka"
) -> Any:
    """The request with each field that was not given at its default, in structs inside too.

    An array that may be null is null, which means all of them, or that the cluster chooses; an
    empty one asks for nothing. A timeout that is 0 by default, which a controller never keeps, is
    ``timeout_ms``; Metadata creates no topic that it is asked about. Raises click.UsageError where
    null would do something to all partitions.
    """
    codec_ = codec(name, version, dialect=dialect)
    spec = catalog().spec(name, dialect)
    structs = spec.structs()

    def example(struct: str, fields: Any) -> Any:
        """A struct with one item in each list of structs that this version has."""
        inside = {
            python_name(field.name): [
                example(field.type.element, structs[field.type.element].fields)
            ]
            for field in fields
            if field.type.is_struct and field.type.is_array and version in field.versions
        }
        kind = codec_.value_class
        return (kind if struct == name else getattr(kind, struct))(**inside)

    fields = [field for struct in (spec.struct, *structs.values()) for field in struct.fields]
    nulls = {json_name(field.name) for field in fields if version in field.nullable_versions
             and field.type.is_array}  # fmt: skip
    default = codec_.to_json(codec_.value_class())
    for each in _ALL_BY_NULL.get(name, ()):
        if isinstance(given, dict) and each not in given:
            raise click.UsageError(f"{name}: say {each}, as null would be all that there are")
    default |= {key: None for key in nulls if key in default}
    if default.get("timeoutMs") == 0:
        default["timeoutMs"] = timeout_ms
    if "allowAutoTopicCreation" in default:
        default["allowAutoTopicCreation"] = False
    return _filled(given, codec_.to_json(example(name, spec.fields)), default, nulls)


def _filled(given: Any, example: Any, default: Any, nulls: Collection[str]) -> Any:
    """``given`` with what it lacks of ``default``; items of lists are like those of ``example``."""
    if isinstance(given, list) and isinstance(example, list) and example:
        (item,) = example
        if not isinstance(item, dict):
            return given
        bare = {
            key: None
            if key in nulls
            else []
            if isinstance(each, list) and each and isinstance(each[0], dict)
            else each
            for key, each in item.items()
        }
        return [_filled(each, item, bare, nulls) for each in given]
    if isinstance(given, dict) and isinstance(example, dict) and isinstance(default, dict):
        parts = {key: _filled(each, example.get(key), default.get(key), nulls)
                 for key, each in given.items()}  # fmt: skip
        return {**default, **parts}
    return given


def refuse_secret(
    name: str, given: Any, steps: Sequence[Step], path: str, *, dialect: str = "kafka"
) -> None:
    """Raise click.UsageError where ``steps`` lead to a credential, or to something that holds one.

    Which fields are credentials is in the message's definition; for the value of a config its name
    decides, which may come from elsewhere in ``given``.
    """
    spec = catalog().spec(name, dialect)
    if _holds_secret(spec.struct, spec.structs(), given, steps):
        raise click.UsageError(
            f"--set {path}: this may be a credential, and everybody on this machine can read "
            "command lines: give it as JSON on standard input, or in a file with --json FILE"
        )


def _holds_secret(
    struct: StructSpec, structs: Mapping[str, StructSpec], value: Any, steps: Sequence[Step]
) -> bool:
    """Whether the part of a struct's ``value`` that ``steps`` lead to is or holds a credential."""
    if not isinstance(value, dict):
        return False  # reading the request as JSON refuses it
    for field in struct.fields:
        for key in _spellings(field):
            if value.get(key) is None or (steps and steps[0] != key):
                continue
            if field.sensitive or _is_named_secret(field, struct, value):
                return True
            inner = structs.get(field.type.element)
            if inner is not None and any(
                _holds_secret(inner, structs, item, rest)
                for item, rest in _items(value[key], steps[1:])
            ):
                return True
    return False


def _is_named_secret(field: FieldSpec, struct: StructSpec, value: Mapping[str, Any]) -> bool:
    """Whether the neighbour that names a value has the name of a credential."""
    return any(
        is_secret_name(value.get(key))
        for neighbour in struct.fields
        if neighbour.name == field.named_by
        for key in _spellings(neighbour)
    )


def _items(value: Any, steps: Sequence[Step]) -> Iterator[tuple[Any, Sequence[Step]]]:
    """The structs of a field that ``steps`` may lead into, each with the steps inside of it."""
    if not isinstance(value, list):
        yield value, steps
        return
    for index, item in enumerate(value):
        if not steps or steps[0] == index:
            yield item, steps[1:]


def _spellings(field: FieldSpec) -> list[str]:
    return [json_name(each) for each in (field.name, *field.aliases)]
