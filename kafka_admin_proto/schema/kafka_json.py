"""Kafka's message-definition JSON: the strict reader, and the writer of our own files.

The reader takes upstream files unchanged: ``//`` and ``/* */`` comments, defaults written as
strings, numbers or booleans, tags as numbers or numeric strings. Whatever it does not know it
refuses, so that a new key of a later release is noticed instead of silently lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.model import FieldSpec, FieldType, MessageSpec, StructSpec
from kafka_admin_proto.schema.versions import VersionRange

#: A string that does not end counts as one: its quotes must not each start a search of their own.
_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_MESSAGE_KEYS = (
    "apiKey", "type", "listeners", "name", "about", "validVersions", "deprecatedVersions",
    "flexibleVersions", "latestVersionUnstable", "fields", "commonStructs",
)  # fmt: skip
_WITH_API_KEY = ("request", "response", "coordinator-key", "coordinator-value")
_STRUCT_KEYS = ("name", "about", "versions", "fields")
_FIELD_KEYS = (
    "name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "flexibleVersions",
    "default", "ignorable", "mapKey", "entityType", "zeroCopy", "about", "fields",
)  # fmt: skip


def read_message(text: str, *, file: str = "", dialect: str = "kafka") -> MessageSpec:
    """Read one definition; raises SchemaError with file, field, fault and remedy."""
    try:
        return _message(_parse(text), file, dialect)
    except SchemaError as error:
        error.file = error.file or file
        raise
    except RecursionError:
        raise SchemaError("nested too deeply", "flatten the definition", file=file) from None


def write_message(spec: MessageSpec) -> str:
    """The definition as Kafka would write it: one key order, defaults of the notation left out."""
    return _format(_message_to_dict(spec)) + "\n"


# --- reading ---------------------------------------------------------------------------------


def _parse(text: str) -> Any:
    def blank(match: re.Match[str]) -> str:
        found = match.group()
        if found.startswith('"'):
            return found
        if found.startswith("/*") and not (found.endswith("*/") and len(found) >= 4):
            raise SchemaError(
                f"the comment that opens on line {_line(text, match.start())} never ends",
                'close it with "*/"',
            )
        return re.sub(r"[^\n]", " ", found)  # keeps lines and columns of the complaints below

    try:
        return json.loads(_COMMENT_OR_STRING.sub(blank, text), object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"line {error.lineno} column {error.colno}: {error.msg}", "correct the JSON there"
        ) from None
    except SchemaError:
        raise
    except ValueError as error:  # Python refuses to read numbers of thousands of digits
        raise SchemaError(str(error), "correct the number") from None


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result and result[key] != value:  # some upstream files say the same thing twice
            raise SchemaError(f'key "{key}" appears twice, with different values', "remove one")
        result[key] = value
    return result


def _message(data: Any, file: str, dialect: str) -> MessageSpec:
    keys = _Keys(data, "message", _MESSAGE_KEYS)
    name = keys.text("name")
    try:
        valid = keys.versions("validVersions")
        if valid is None:
            raise _missing("validVersions")
        flexible = keys.versions("flexibleVersions")
        if flexible is None:
            # Requests that a release has removed keep their file, with nothing else in it.
            if not valid.empty:
                raise SchemaError(
                    'the message has no "flexibleVersions"', 'add it; "0+" for a new message'
                )
            flexible = VersionRange.NONE
        type_, api_key = keys.text("type"), keys.number("apiKey")
        if api_key is None and type_ in _WITH_API_KEY:
            raise SchemaError(f"a {type_} needs an api key", 'add "apiKey"')
        spec = MessageSpec(
            name=name,
            type=type_,
            valid_versions=valid,
            flexible_versions=flexible,
            fields=tuple(_field(item) for item in keys.items("fields") or ()),
            common_structs=tuple(_struct(item) for item in keys.items("commonStructs") or ()),
            api_key=api_key,
            deprecated_versions=keys.versions("deprecatedVersions") or VersionRange.NONE,
            listeners=tuple(_listener(item) for item in keys.items("listeners") or ()),
            latest_version_unstable=keys.flag("latestVersionUnstable"),
            about=keys.text("about", ""),
            dialect=dialect,
            file=file,
        )
        for struct in [spec.struct, *spec.structs().values()]:
            _check_tags(struct)
    except SchemaError as error:
        raise _inside_once(error, name) from None
    return spec


def _check_tags(struct: StructSpec) -> None:
    """A definition of all versions leaves no tag out, as one version alone may."""
    tags = {field.tag for field in struct.fields if field.tag is not None}
    for tag in range(len(tags)):
        if tag not in tags:
            raise SchemaError(
                f"the tags of {struct.name} are not contiguous: {sorted(tags)}",
                f"use tag {tag} before any higher one",
            )


def _struct(data: Any) -> StructSpec:
    keys = _Keys(data, "common struct", _STRUCT_KEYS)
    name = keys.text("name")
    try:
        versions = keys.versions("versions")
        if versions is None:
            raise _missing("versions")
        return StructSpec(
            name, versions, tuple(_field(item) for item in keys.items("fields") or ())
        )
    except SchemaError as error:
        raise error.inside(name) from None


def _field(data: Any) -> FieldSpec:
    keys = _Keys(data, "field", _FIELD_KEYS)
    name = keys.text("name")
    try:
        fields = keys.items("fields")
        tagged = keys.versions("taggedVersions") or VersionRange.NONE
        versions = keys.versions("versions") or (None if tagged.empty else tagged)
        if versions is None:
            raise _missing("versions")
        entity = keys.text("entityType", "")
        parts: dict[str, Any] = {
            "type": FieldType.parse(keys.text("type")),
            "versions": versions,
            "nullable_versions": keys.versions("nullableVersions") or VersionRange.NONE,
            "tagged_versions": tagged,
            "tag": keys.number("tag"),
            "flexible_versions": keys.versions("flexibleVersions"),
            "default": keys.scalar("default"),
            "ignorable": keys.flag("ignorable"),
            "map_key": keys.flag("mapKey"),
            "entity_type": "" if entity == "unknown" else entity,
            "zero_copy": keys.flag("zeroCopy"),
            "about": keys.text("about", ""),
            "fields": None if fields is None else tuple(_field(item) for item in fields),
        }
    except SchemaError as error:
        raise error.inside(name) from None
    return FieldSpec(name, **parts)  # puts its own name in front of a complaint


def _listener(item: Any) -> str:
    if isinstance(item, str):
        return item
    raise SchemaError(f"a listener is {item!r}", 'write a string such as "broker"')


def _missing(key: str) -> SchemaError:
    return SchemaError(f'"{key}" is missing', "add it")


def _inside_once(error: SchemaError, name: str) -> SchemaError:
    """MessageSpec names itself in its complaints; a field's complaint does not know it yet."""
    return error if error.field.split(".")[0] == name else error.inside(name)


class _Keys:
    """One JSON object, its keys checked against the notation's and read by type."""

    def __init__(self, data: Any, what: str, known: tuple[str, ...]) -> None:
        if not isinstance(data, dict):
            raise SchemaError(f"a {what} is {_kind(data)}", "write a JSON object")
        self.data = data
        for key in data:
            if key not in known:
                name = data.get("name")
                raise SchemaError(
                    f'unknown key "{key}"',
                    f"a {what} can have {', '.join(known)}",
                    field=name if isinstance(name, str) else "",
                )

    def text(self, key: str, default: str | None = None) -> str:
        value = self._get(key, str, "a string")
        if value is not None:
            return str(value)
        if default is None:
            raise _missing(key)
        return default

    def flag(self, key: str) -> bool:
        return bool(self._get(key, bool, "true or false"))

    def items(self, key: str) -> list[Any] | None:
        value = self._get(key, list, "an array")
        return None if value is None else list(value)

    def versions(self, key: str) -> VersionRange | None:
        text = self.text(key, "")
        if not text.strip():
            return None
        try:
            return VersionRange.parse(text)
        except SchemaError as error:
            raise SchemaError(f'"{key}": {error.fault}', error.remedy) from None

    def number(self, key: str) -> int | None:
        value = self.data.get(key)
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value):
            value = int(value)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise SchemaError(f'"{key}" is {_kind(value)}', "write a whole number")
        return value

    def scalar(self, key: str) -> str:
        """A default: any JSON scalar as text; a JSON null means none given, as for Kafka."""
        value = self.data.get(key)
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (str, int, float)):
            return str(value)
        raise SchemaError(f'"{key}" is {_kind(value)}', "write a string, a number, true or false")

    def _get(self, key: str, wanted: type, article: str) -> Any:
        value = self.data.get(key)
        if value is not None and not isinstance(value, wanted):
            raise SchemaError(f'"{key}" is {_kind(value)}', f"write {article}")
        return value


def _kind(value: Any) -> str:
    names: dict[type, str] = {
        dict: "an object", list: "an array", str: "a string", bool: "a boolean",
        int: "a number", float: "a number", type(None): "null",
    }  # fmt: skip
    return f"{names[type(value)]}, {json.dumps(value)[:40]}"


# --- writing ---------------------------------------------------------------------------------


def _message_to_dict(spec: MessageSpec) -> dict[str, Any]:
    result: dict[str, Any] = {}
    _put(result, "apiKey", spec.api_key)
    result["type"] = spec.type
    _put(result, "listeners", list(spec.listeners), bool)
    result["name"] = spec.name
    _put(result, "about", spec.about, bool)
    result["validVersions"] = str(spec.valid_versions)
    _put(result, "deprecatedVersions", str(spec.deprecated_versions), _not_none)
    result["flexibleVersions"] = str(spec.flexible_versions)
    _put(result, "latestVersionUnstable", spec.latest_version_unstable, bool)
    result["fields"] = [_field_to_dict(field) for field in spec.fields]
    _put(
        result,
        "commonStructs",
        [
            {"name": s.name, "versions": str(s.versions), "fields": _fields_to_list(s.fields)}
            for s in spec.common_structs
        ],
        bool,
    )
    return result


def _fields_to_list(fields: Iterable[FieldSpec]) -> list[dict[str, Any]]:
    return [_field_to_dict(field) for field in fields]


def _field_to_dict(field: FieldSpec) -> dict[str, Any]:
    result: dict[str, Any] = {"name": field.name, "type": str(field.type)}
    result["versions"] = str(field.versions)
    _put(result, "nullableVersions", str(field.nullable_versions), _not_none)
    _put(result, "taggedVersions", str(field.tagged_versions), _not_none)
    _put(result, "tag", field.tag)
    if field.flexible_versions is not None:
        result["flexibleVersions"] = str(field.flexible_versions)
    _put(result, "default", field.default, bool)
    _put(result, "ignorable", field.ignorable, bool)
    _put(result, "mapKey", field.map_key, bool)
    _put(result, "entityType", field.entity_type, bool)
    _put(result, "zeroCopy", field.zero_copy, bool)
    _put(result, "about", field.about, bool)
    if field.fields is not None:
        result["fields"] = _fields_to_list(field.fields)
    return result


def _put(
    result: dict[str, Any],
    key: str,
    value: Any,
    wanted: Callable[[Any], bool] = lambda value: value is not None,
) -> None:
    if wanted(value):
        result[key] = value


def _not_none(text: str) -> bool:
    return text != "none"


def _format(value: Any, indent: str = "") -> str:
    """JSON with one field a line: an object without nested objects stands on one line."""
    if isinstance(value, dict) and any(_nests(item) for item in value.values()):
        inner = indent + "  "
        flat = [key for key in value if not _nests(value[key])]
        rows = [f"{json.dumps(k)}: {_format(v, inner)}" for k, v in value.items() if k not in flat]
        head = [f"{json.dumps(k)}: {json.dumps(value[k])}" for k in flat]
        if indent:
            head = [", ".join(head)]
        joined = (",\n" + inner).join(head + rows)
        return f"{{\n{inner}{joined}\n{indent}}}"
    if isinstance(value, list) and _nests(value):
        inner = indent + "  "
        joined = (",\n" + inner).join(_format(item, inner) for item in value)
        return f"[\n{inner}{joined}\n{indent}]"
    return json.dumps(value)


def _nests(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)
