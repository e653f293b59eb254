"""All slips of a definition in Kafka's JSON, each with its line.

`DefinitionReader` reads the definition. A fault does not end its work here, and each parsed JSON
object knows where in the text it begins.
"""

from __future__ import annotations

import contextlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, TypeVar

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.kafka_json.reader import DefinitionReader, without_comments
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.slip import Slip

_Spec = TypeVar("_Spec", FieldSpec, StructSpec, MessageSpec)
_SPACE = re.compile(r"[ \t\n\r]*")
_RULE = "definition"
#: The most characters of a name in a slip: a struct's name is in the slips of all its fields.
_SHOWN = 128
#: Keys without which the rules between fields cannot be checked; "" is a key that is missing.
_NEEDED = frozenset(
    {
        "", "name", "type", "versions", "fields", "commonStructs", "tag", "taggedVersions",
        "validVersions", "flexibleVersions",
    }
)  # fmt: skip


def lint_definition(text: str) -> list[Slip]:
    """Every slip, in the order of the text.

    Rules between the fields of a message are checked if the names, types, versions and tags of all
    fields can be read: without these, sound fields would seem to break the rules.
    """
    reader = _LintReader(text)
    try:
        code = without_comments(text)
        json.loads(code)
        data = _LocatedParser(code, reader).value(0)[0]
        reader.message(data, "", "kafka")
    except json.JSONDecodeError as error:
        return [Slip(error.lineno, error.colno, "json", error.msg, "correct the JSON there")]
    except RecursionError:
        return [Slip(1, 1, _RULE, "nested too deeply", "flatten the definition")]
    except SchemaError as error:  # a comment without an end
        return [Slip(1, 1, _RULE, error.fault, error.remedy)]
    except ValueError as error:  # Python refuses to read numbers of thousands of digits
        return [Slip(1, 1, "json", str(error), "correct the number")]
    return sorted(reader.slips)


class _Object(dict[str, Any]):
    """A JSON object, where it begins in the text, and where each of its keys does."""

    place = 0

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, int] = {}


class _Name(str):
    """The name of a field, which knows the place of the field: complaints carry names alone."""

    place = 0


class _LocatedParser:
    """Parses JSON that is known to be well-formed."""

    def __init__(self, text: str, reader: _LintReader) -> None:
        self._text = text
        self._reader = reader
        self._scalar = json.JSONDecoder().raw_decode

    def value(self, at: int) -> tuple[Any, int]:
        """The value that begins there, or behind spaces, and where it ends."""
        at = self._skip(at)
        if self._text[at] == "{":
            return self._object(at)
        if self._text[at] != "[":
            return self._scalar(self._text, at)
        items = []
        end = self._skip(at + 1)
        while self._text[end] != "]":
            item, end = self.value(end + (self._text[end] == ","))
            items.append(item)
            end = self._skip(end)
        return items, end + 1

    def _object(self, at: int) -> tuple[_Object, int]:
        parsed = _Object()
        parsed.place = at
        end = self._skip(at + 1)
        while self._text[end] != "}":
            place = self._skip(end + (self._text[end] == ","))
            key, end = self._scalar(self._text, place)
            value, end = self.value(self._skip(end) + 1)
            if key == "name" and isinstance(value, str):
                value = _Name(value)
                value.place = at
            if key in parsed and parsed[key] != value:  # the same thing twice is in upstream files
                fault = f'key "{key}" appears twice, with different values'
                self._reader.slip(place, SchemaError(fault, "remove one"))
            parsed[key] = value
            parsed.places[key] = place
            end = self._skip(end)
        return parsed, end + 1

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return at if space is None else space.end()


class _LintReader(DefinitionReader):
    """Notes each fault and goes on."""

    def __init__(self, text: str) -> None:
        #: Where each line begins.
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.slips: set[Slip] = set()
        #: The names of the structs and fields around what is being read, as slips show them.
        self._path: list[str] = []
        #: Where the last object begins: the place of a fault of a value that is no object.
        self._place = 0
        #: The objects with a fault in one of the `_NEEDED` keys.
        self._broken: set[int] = set()

    def slip(self, place: int, error: SchemaError) -> None:
        """Note a fault at that place in the text."""
        line = bisect_right(self._lines, place)
        column = place - self._lines[line - 1] + 1
        field = error.field[:_SHOWN]
        names = [*self._path, *([field] if field not in ("", *self._path[-1:]) else [])]
        fault = f"{'.'.join(names)}: {error.fault}" if names else error.fault
        self.slips.add(Slip(line, column, _RULE, fault, error.remedy))

    def fault(self, error: SchemaError, data: Any, key: str = "") -> None:
        known = isinstance(data, _Object)
        self.slip(data.places.get(key, data.place) if known else self._place, error)
        if key in _NEEDED:
            self._broken.add(id(data))

    def message(self, data: Any, file: str, dialect: str) -> MessageSpec:
        self._enter(data)
        return super().message(data, file, dialect)

    def struct(self, data: Any) -> StructSpec:
        self._enter(data)
        try:
            return super().struct(data)
        finally:
            self._path.pop()

    def field(self, data: Any) -> FieldSpec:
        self._enter(data)
        try:
            return super().field(data)
        finally:
            self._path.pop()

    def make(self, what: type[_Spec], data: Any, **parts: Any) -> _Spec:
        spec: _Spec = _UNCHECKED[what](**parts)
        readable = not self._broken if what is MessageSpec else id(data) not in self._broken
        if readable and isinstance(data, _Object):
            for error in (*spec.faults(), *_never_there(spec)):
                place = error.field.place if isinstance(error.field, _Name) else data.place
                self.slip(place, error)
        return spec

    def check_tags(self, spec: MessageSpec, data: Any) -> None:
        if not self._broken:
            with contextlib.suppress(SchemaError):  # the struct reports its own faults
                super().check_tags(spec, data)

    def _enter(self, data: Any) -> None:
        name = data.get("name") if isinstance(data, _Object) else None
        self._place = data.place if isinstance(data, _Object) else self._place
        self._path.append(name[:_SHOWN] if isinstance(name, str) else "(no name)")


def _never_there(spec: object) -> Iterator[SchemaError]:
    """Fields of a message that none of its valid versions has, which Kafka's generator takes.

    A field of a common struct may be missing in one place and there in another.
    """
    if not isinstance(spec, MessageSpec) or spec.valid_versions.empty:
        return
    fields = [(field, spec.valid_versions) for field in spec.fields]
    for struct in spec.common_structs:
        fields += [(field, struct.versions & spec.valid_versions) for field in struct.fields]
    for field, around in fields:
        versions = field.versions & around
        if versions.empty:
            yield SchemaError(
                f"no valid version has this field: its versions are {field.versions}, "
                f"those around it {around}",
                "widen its versions, or remove it",
                field=field.name,
            )
        else:
            fields += [(inner, versions) for inner in field.fields or ()]


class _Field(FieldSpec, frozen=True):
    def __post_init__(self) -> None:
        """`make` checks the rules."""


class _Struct(StructSpec, frozen=True):
    def __post_init__(self) -> None:
        """Likewise."""


class _Message(MessageSpec, frozen=True):
    def __post_init__(self) -> None:
        """Likewise."""


_UNCHECKED: dict[type[Any], type[Any]] = {
    FieldSpec: _Field, StructSpec: _Struct, MessageSpec: _Message,
}  # fmt: skip
