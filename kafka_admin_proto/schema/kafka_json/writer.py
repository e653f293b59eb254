"""Write definitions as Kafka's JSON: one field a line, defaults of the notation left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.model import MessageSpec


def write_message(spec: MessageSpec) -> str:
    """The definition as Kafka would write it: one key order, defaults of the notation left out."""
    return _format(_message_to_dict(spec)) + "\n"


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
    headers = {str(versions): str(header) for versions, header in spec.header_versions}
    _put(result, "headerVersions", headers, bool)
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
