"""The strict reader of Kafka's message-definition JSON.

The reader takes what Kafka's generator takes (Jackson, as its ``MessageGenerator`` sets it up):
``//`` and ``/* */`` comments, numbers and booleans for strings, ``"true"`` and numeric strings for
booleans and numbers, one value for an array of it. It refuses a key that it does not know, so that
a new key of a later release is noticed instead of silently lost.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, TypeVar, overload

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.fields import FieldSpec, FieldType, StructSpec
from kafka_admin_proto.schema.header_versions import HeaderVersions
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: The type of a field whose own type cannot be read, for a reader that goes on.
_UNREADABLE = FieldType("bytes")
_Spec = TypeVar("_Spec", FieldSpec, StructSpec, MessageSpec)
#: A string without an end counts as a string; otherwise each of its quotes would start a search of
#: its own.
_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_MESSAGE_KEYS = (
    "apiKey", "type", "listeners", "name", "about", "validVersions", "deprecatedVersions",
    "flexibleVersions", "headerVersions", "latestVersionUnstable", "fields", "commonStructs",
)  # fmt: skip
_WITH_API_KEY = ("request", "response", "coordinator-key", "coordinator-value")
_STRUCT_KEYS = ("name", "about", "versions", "deprecatedVersions", "fields")
_FIELD_KEYS = (
    "name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "flexibleVersions",
    "default", "ignorable", "mapKey", "entityType", "zeroCopy", "about", "fields",
)  # fmt: skip

#: Texts that Jackson takes for a boolean, blanks around them left out.
_FLAGS = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False, "": False, "null": False,
}  # fmt: skip
#: Texts that Jackson takes for a number, or for none.
_NUMBER = re.compile(r"([+-]?[0-9]{1,9})|null|")


def read_message(text: str, *, file: str = "", dialect: str = "kafka") -> MessageSpec:
    """Read one definition; raises SchemaError with file, field, fault and remedy."""
    try:
        return DefinitionReader().message(_parse(text), file, dialect)
    except SchemaError as error:
        error.file = error.file or file
        raise
    except RecursionError:
        raise SchemaError("nested too deeply", "flatten the definition", file=file) from None


def _parse(text: str) -> Any:
    try:
        return json.loads(without_comments(text), object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"line {error.lineno} column {error.colno}: {error.msg}", "correct the JSON there"
        ) from None
    except SchemaError:
        raise
    except ValueError as error:  # Python refuses to read numbers of thousands of digits
        raise SchemaError(str(error), "correct the number") from None


def without_comments(text: str) -> str:
    """The text with spaces for its comments: what is left keeps its lines and columns.

    Raises SchemaError where a comment does not end.
    """

    def blank(match: re.Match[str]) -> str:
        token = match.group()
        if token.startswith('"'):
            return token
        if token.startswith("/*") and not (token.endswith("*/") and len(token) >= 4):
            line = text.count("\n", 0, match.start()) + 1
            raise SchemaError(
                f"the comment that opens on line {line} never ends",
                'close it with "*/"',
            )
        return re.sub(r"[^\n]", " ", token)  # keeps lines and columns of the complaints below

    return _COMMENT_OR_STRING.sub(blank, text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result and result[key] != value:  # some upstream files say the same thing twice
            raise SchemaError(f'key "{key}" appears twice, with different values', "remove one")
        result[key] = value
    return result


class DefinitionReader:
    """Reads a parsed definition; raises SchemaError for the first fault.

    A subclass may override `fault` to go on instead, and then gets specs that break rules.
    """

    def fault(self, error: SchemaError, data: Any, key: str = "") -> None:
        """Handle a fault in the JSON object ``data``: of a key, or of the whole object ("")."""
        raise error

    def message(self, data: Any, file: str, dialect: str) -> MessageSpec:
        keys = _Keys(data, "message", _MESSAGE_KEYS, self)
        name = keys.text("name")
        try:
            valid = keys.versions("validVersions", required=True)
            flexible = keys.versions("flexibleVersions")
            # Requests that a release has removed keep their file, without flexible versions.
            if keys.data.get("flexibleVersions") is None and not valid.empty:
                fault = 'the message has no "flexibleVersions"'
                self.fault(SchemaError(fault, 'add it; "0+" for a new message'), keys.data)
            type_, api_key = keys.text("type"), keys.number("apiKey")
            if api_key is None and type_ in _WITH_API_KEY:
                self.fault(SchemaError(f"a {type_} needs an api key", 'add "apiKey"'), keys.data)
            spec = self.make(
                MessageSpec,
                keys.data,
                name=name,
                type=type_,
                valid_versions=valid,
                flexible_versions=flexible or VersionRange.NONE,
                fields=tuple(map(self.field, keys.items("fields") or ())),
                common_structs=tuple(map(self.struct, keys.items("commonStructs") or ())),
                api_key=api_key,
                deprecated_versions=keys.versions("deprecatedVersions") or VersionRange.NONE,
                listeners=tuple(
                    item
                    for item in keys.items("listeners") or ()
                    if self._is_listener(item, keys.data)
                ),
                latest_version_unstable=keys.flag("latestVersionUnstable"),
                header_versions=keys.header_versions(),
                about=keys.text("about", ""),
                dialect=dialect,
                file=file,
            )
            self.check_tags(spec, keys.data)
        except SchemaError as error:
            raise _inside_once(error, name) from None
        return spec

    def check_tags(self, spec: MessageSpec, data: Any) -> None:
        """A definition of all versions leaves no tag out, as one version alone may."""
        for struct in [spec.struct, *spec.structs().values()]:
            tags = {field.tag for field in struct.fields if field.tag is not None}
            missing = next((tag for tag in range(len(tags)) if tag not in tags), None)
            if missing is not None:
                fault = f"the tags of {struct.name} are not contiguous: {sorted(tags)}"
                self.fault(SchemaError(fault, f"use tag {missing} before any higher one"), data)

    def struct(self, data: Any) -> StructSpec:
        keys = _Keys(data, "common struct", _STRUCT_KEYS, self)
        name = keys.text("name")
        try:
            versions = keys.versions("versions", required=True)
            keys.versions("deprecatedVersions")  # Kafka reads them there too, and uses them nowhere
            fields = tuple(map(self.field, keys.items("fields") or ()))
            return self.make(StructSpec, keys.data, name=name, versions=versions, fields=fields)
        except SchemaError as error:
            raise error.inside(name) from None

    def field(self, data: Any) -> FieldSpec:
        keys = _Keys(data, "field", _FIELD_KEYS, self)
        name = keys.text("name")
        try:
            fields = keys.items("fields")
            tagged = keys.versions("taggedVersions") or VersionRange.NONE
            versions = keys.versions("versions", required=tagged.empty) or tagged
            entity = keys.text("entityType", "")
            parts: dict[str, Any] = {
                "type": keys.field_type(),
                "versions": versions,
                "nullable_versions": keys.versions("nullableVersions") or VersionRange.NONE,
                "tagged_versions": tagged,
                "tag": keys.number("tag"),
                "flexible_versions": keys.versions("flexibleVersions"),
                "default": keys.text("default", ""),
                "ignorable": keys.flag("ignorable"),
                "map_key": keys.flag("mapKey"),
                "entity_type": "" if entity == "unknown" else entity,
                "zero_copy": keys.flag("zeroCopy"),
                "about": keys.text("about", ""),
                "fields": None if fields is None else tuple(map(self.field, fields)),
            }
        except SchemaError as error:
            raise error.inside(name) from None
        # The spec puts its own name in front of a complaint.
        return self.make(FieldSpec, keys.data, name=name, **parts)

    def make(self, what: type[_Spec], data: Any, **parts: Any) -> _Spec:
        """A spec, whose rules are checked as it is made."""
        return what(**parts)

    def _is_listener(self, item: Any, data: Any) -> bool:
        if isinstance(item, str):
            return True
        error = SchemaError(f"a listener is {item!r}", 'write a string such as "broker"')
        self.fault(error, data, "listeners")
        return False


def _inside_once(error: SchemaError, name: str) -> SchemaError:
    """MessageSpec names itself in its complaints; a field's complaint does not know it yet."""
    return error if error.field.split(".")[0] == name else error.inside(name)


class _Keys:
    """One JSON object, its keys checked against the notation's and read by type.

    A fault goes to the reader; if the reader goes on, the key counts as left out.
    """

    def __init__(
        self, data: Any, what: str, known: tuple[str, ...], reader: DefinitionReader
    ) -> None:
        self._reader = reader
        self._is_object = isinstance(data, dict)
        if not self._is_object:
            reader.fault(SchemaError(f"a {what} is {_kind(data)}", "write a JSON object"), data)
            data = {}
        self.data = data
        for key in data:
            if key not in known:
                name = data.get("name")
                error = SchemaError(
                    f'unknown key "{key}"',
                    f"a {what} can have {', '.join(known)}",
                    field=name if isinstance(name, str) else "",
                )
                reader.fault(error, data, key)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.get(key)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, str):
            return value
        if value is not None:
            self._wrong(key, "write a string")
        elif default is None:
            self._missing(key)
        return default or ""

    def flag(self, key: str) -> bool:
        value = self.data.get(key)
        if isinstance(value, str):
            value = _FLAGS.get(value.strip(), value)
        if value is not None and not isinstance(value, int):
            self._wrong(key, "write true or false")
            return False
        return bool(value)

    def items(self, key: str) -> list[Any] | None:
        value = self.data.get(key)
        return value if value is None or isinstance(value, list) else [value]

    @overload
    def versions(self, key: str, *, required: Literal[True]) -> VersionRange: ...
    @overload
    def versions(self, key: str, *, required: bool = False) -> VersionRange | None: ...
    def versions(self, key: str, *, required: bool = False) -> VersionRange | None:
        """The versions under a key. If it is missing: None, or no versions where ``required``."""
        text = self.text(key, "")
        if not text.strip():
            if required:
                self._missing(key)
            return VersionRange.NONE if required else None
        try:
            return VersionRange.parse(text)
        except SchemaError as error:
            self._fault(key, f'"{key}": {error.fault}', error.remedy)
            return VersionRange.NONE if required else None

    def header_versions(self) -> HeaderVersions:
        """``{"0": "1", "1+": "3"}``: ranges of versions, and the header in front of each."""
        key = "headerVersions"
        given = self.data.get(key)
        if given is None:
            return ()
        if not isinstance(given, dict) or not given:
            self._wrong(key, 'write an object such as {"0": "1", "1+": "2"}')
            return ()
        headers = []
        for text, header in given.items():
            try:
                versions = VersionRange.parse(text)
            except SchemaError as error:
                self._fault(key, f'"{key}": {error.fault}', error.remedy)
                return ()
            number = re.fullmatch(r"\+?[0-9]{1,5}", str(header).strip())
            if versions.empty or number is None or int(number[0]) > MAX_VERSION:
                fault = f'"{key}" has {json.dumps(header)[:40]} for versions "{text}"'
                self._fault(key, fault, "write the number of a header's version")
                return ()
            headers.append((versions, int(number[0])))
        return tuple(sorted(headers, key=lambda each: each[0].lowest))

    def field_type(self) -> FieldType:
        text = self.text("type")
        if self.data.get("type") is None:
            return _UNREADABLE
        try:
            return FieldType.parse(text)
        except SchemaError as error:
            self._reader.fault(error, self.data, "type")
            return _UNREADABLE

    def number(self, key: str) -> int | None:
        value = self.data.get(key)
        if isinstance(value, str):
            digits = _NUMBER.fullmatch(value.strip())
            value = (int(digits[1]) if digits[1] else None) if digits else value
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            self._wrong(key, "write a whole number")
            return None
        return value

    def _wrong(self, key: str, remedy: str) -> None:
        """The value under the key is of a kind that Kafka does not take there either."""
        self._fault(key, f'"{key}" is {_kind(self.data[key])}', remedy)

    def _missing(self, key: str) -> None:
        self._fault("", f'"{key}" is missing', "add it")

    def _fault(self, key: str, fault: str, remedy: str) -> None:
        if self._is_object:
            self._reader.fault(SchemaError(fault, remedy), self.data, key)


def _kind(value: Any) -> str:
    names = (
        (dict, "an object"), (list, "an array"), (str, "a string"), (bool, "a boolean"),
        (int, "a number"), (float, "a number"), (type(None), "null"),
    )  # fmt: skip
    name = next(name for kind, name in names if isinstance(value, kind))
    return f"{name}, {json.dumps(value)[:40]}"
