"""Encode an Arrow array of structs into bodies, without Spark; ``to_kafka`` runs it in each worker.

The attributes of values are filled column by column; then the codec encodes the values, and raises
the errors for those that do not fit.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pyarrow as pa

from kafka_admin_proto.codec import Codec, codec, value_class_of
from kafka_admin_proto.errors import EncodeError, UnsupportedVersionError
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import json_name, python_name
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.spark.columns.arrow_arrays import MASK_BYTES
from kafka_admin_proto.spark.columns.decode import Wanted, message_spec
from kafka_admin_proto.spark.columns.types import UNKNOWN_TAGS
from kafka_admin_proto.wire.secrets import MASK, is_secret_name
from kafka_admin_proto.wire.types.fixed import uuid_from_text


def encode_array(values: pa.StructArray, versions: pa.Array | None, wanted: Wanted) -> pa.Array:
    """The body of each struct; null for null.

    ``versions`` has the version of each row if ``wanted`` has none. Raises EncodeError with the
    path of a value that cannot be encoded, and UnsupportedVersionError.
    """
    spec = message_spec(wanted.name, wanted.dialect)
    of_rows = [wanted.version] * len(values) if versions is None else versions.to_pylist()
    bodies: list[bytes | None] = [None] * len(values)
    by_version: dict[int | None, list[int]] = {}
    for row, valid in enumerate(values.is_valid().to_pylist()):
        if valid:
            by_version.setdefault(of_rows[row], []).append(row)
    for version, rows in by_version.items():
        if version is None:
            raise UnsupportedVersionError(f"{spec.name} of version null cannot be written")
        message = codec(spec.name, version, dialect=wanted.dialect)
        whole = len(rows) == len(values)
        for row, value in zip(
            rows,
            _Values(spec, message).of(values if whole else values.take(pa.array(rows))),
            strict=True,
        ):
            bodies[row] = message.encode(value)
    return pa.array(bodies, pa.binary())


_MASKED = "the value is masked; read it with show_secrets=True to write it again"


class _Values:
    """Makes values of structs, for one message and version."""

    def __init__(self, spec: MessageSpec, message: Codec[Any]) -> None:
        self.spec = spec
        self.version = message.version
        self.title = message.grammar.title
        self.structs = spec.structs()

    def of(self, array: pa.StructArray) -> list[Any]:
        """The message's values."""
        return self._structs(self.spec.struct, array, "")

    def _error(self, fault: str, path: str) -> EncodeError:
        return EncodeError(fault, path=path, message=self.title)

    def _structs(self, struct: StructSpec, array: pa.StructArray, path: str) -> list[Any]:
        if not pa.types.is_struct(array.type):
            raise self._error(f"expected a struct ({struct.name}), got {array.type}", path)
        columns = dict(zip((f.name for f in array.type), array.flatten(), strict=True))
        lists: list[Any] = []
        prefix = f"{path}." if path else ""
        by_field: dict[str, list[Any]] = {}
        for field in struct.fields:
            names = [json_name(name) for name in (field.name, *field.aliases)]
            name = next((name for name in names if name in columns), None)
            if name is None:
                values = [self._default(field) for _ in range(len(array))]
            else:
                values = self._field(field, columns.pop(name), prefix + python_name(field.name))
            by_field[field.name] = values
            lists.append(values)
        for field in struct.fields:
            self._refuse_masks(field, by_field, prefix)
        value_class = value_class_of(self.spec, struct.name)
        unknown = columns.pop(UNKNOWN_TAGS.name, None)
        if columns:
            fields = ", ".join(json_name(field.name) for field in struct.fields) or "no fields"
            raise self._error(
                f"unknown field; {struct.name} has {fields}", prefix + next(iter(columns))
            )
        if unknown is not None and unknown.null_count < len(unknown):
            lists.append([self._tags(tags, path) for tags in unknown.to_pylist()])
        if not lists:
            return [value_class() for _ in range(len(array))]
        return list(map(value_class, *lists))

    def _default(self, field: FieldSpec) -> Any:
        default = field.default_value
        if isinstance(default, dict):
            return value_class_of(self.spec, field.type.element)()
        return default

    def _field(self, field: FieldSpec, array: pa.Array, path: str) -> list[Any]:
        if array.null_count == len(array):
            values: list[Any] = [None] * len(array)
        elif field.type.is_array:
            values = self._lists(field, array, path)
        else:
            values = self._elements(field, array, path)
        if array.null_count and self.version not in (field.nullable_versions & field.versions):
            return [self._default(field) if value is None else value for value in values]
        return values

    def _lists(self, field: FieldSpec, array: pa.Array, path: str) -> list[Any]:
        if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
            raise self._error(f"expected an array, got {array.type}", path)
        lengths = array.value_lengths().to_pylist()
        items = self._elements(field, array.flatten(), f"{path}[]")
        lists: list[Any] = []
        start = 0
        for length in lengths:
            if length is None:
                lists.append(None)
            else:
                lists.append(items[start : start + length])
                start += length
        return lists

    def _elements(self, field: FieldSpec, array: pa.Array, path: str) -> list[Any]:
        if field.type.is_struct:
            values = self._structs(self.structs[field.type.element], array, path)
            if array.null_count:
                valid = array.is_valid().to_pylist()
                return [value if v else None for value, v in zip(values, valid, strict=True)]
            return values
        numbers = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
        fast = numbers and not array.null_count  # many times as fast
        plain: list[Any] = array.to_numpy().tolist() if fast else array.to_pylist()
        if SCALARS[field.type.element].python_type is UUID:
            return [self._uuid(text, path) for text in plain]
        return plain

    def _uuid(self, text: Any, path: str) -> UUID | None:
        if text is None:
            return None
        try:
            return uuid_from_text(text)
        except (ValueError, TypeError):
            raise self._error(
                f"expected a uuid of 22 characters of base64url, got {str(text)[:60]!r}", path
            ) from None

    def _refuse_masks(self, field: FieldSpec, by_field: dict[str, list[Any]], prefix: str) -> None:
        """Raise EncodeError for a mask, which would overwrite the secret in the cluster."""
        values = by_field[field.name]
        secret = field.sensitive or field.named_by or field.type.element == "records"
        if not secret or field.type.is_array:
            return
        for row, value in enumerate(values):
            if value not in (MASK, MASK_BYTES):
                continue
            if not field.named_by or is_secret_name(by_field[field.named_by][row]):
                raise self._error(_MASKED, prefix + python_name(field.name))

    def _tags(self, tags: list[dict[str, Any]] | None, path: str) -> tuple[tuple[int, bytes], ...]:
        pairs = tuple((each["tag"], each["data"]) for each in tags or ())
        if self.spec.has_secrets and any(data == MASK_BYTES for _, data in pairs):
            raise self._error(_MASKED, f"{path}.{UNKNOWN_TAGS.name}" if path else UNKNOWN_TAGS.name)
        return pairs
