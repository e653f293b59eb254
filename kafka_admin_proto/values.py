"""The base of all value classes and messages.

Generated classes (``messages/``) and those made at run time (``loaded_schemas.py``) derive from it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, ClassVar, TypeVar, get_args

import msgspec

from kafka_admin_proto.arguments import Buffer
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.wire.secrets import MASK, is_metadata_topic, is_secret_name

M = TypeVar("M", bound="Message")


class StructValue(msgspec.Struct, gc=False):
    """The base of every value class, nested ones included.

    One class serves all versions of its message: a field that a version does not have is at its
    default after decoding. ``repr`` leaves out defaults and masks secrets.
    """

    #: Attributes that carry credentials, always or when the attribute they map to says so.
    secret_fields: ClassVar[dict[str, str]] = {}

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self._shown())
        return f"{type(self).__name__}({parts})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return list(self._shown())

    def _shown(self) -> Iterator[tuple[str, Any]]:
        default = type(self)()
        hides = is_metadata_topic(self)
        holders = _secret_holders(type(self))
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value == getattr(default, name):
                continue
            if hides:
                value = _without_bytes(value)
            if name in self.secret_fields and value is not None:
                named_by = self.secret_fields[name]
                config = getattr(self, named_by) if named_by else None
                if not isinstance(config, str) or is_secret_name(config):
                    value = MASK
            elif name in holders and not _is_structs(value):
                value = MASK
            yield name, value


@lru_cache(maxsize=4096)
def _secret_holders(value_class: type[StructValue]) -> frozenset[str]:
    """The fields with structs in which credentials are, or may be by their names.

    A struct masks its own; a wrong value in its place (a text, a dict) cannot.
    """
    fields = msgspec.structs.fields(value_class)
    return frozenset(each.name for each in fields if any(map(_has_secrets, _structs(each.type))))


def _structs(annotation: Any) -> Iterator[type[StructValue]]:
    """The value classes in a field's type, as in ``list[Topic] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, StructValue):
        yield annotation
    for inner in get_args(annotation):
        yield from _structs(inner)


def _has_secrets(value_class: type[StructValue]) -> bool:
    own = value_class.secret_fields.keys() - {"unknown_tagged_fields"}
    return bool(own or _secret_holders(value_class))


def _is_structs(value: Any) -> bool:
    """Whether a value is what a field with structs takes: None, a struct or several of these."""
    if isinstance(value, (list, tuple)):
        return all(each is None or isinstance(each, StructValue) for each in value)
    return value is None or isinstance(value, StructValue)


def _without_bytes(value: Any) -> Any:
    """A copy with the mask in the place of all bytes: those of the metadata log's records."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return MASK
    if isinstance(value, (list, tuple)):
        return type(value)(map(_without_bytes, value))
    if not isinstance(value, StructValue):
        return value
    fields = {name: _without_bytes(getattr(value, name)) for name in value.__struct_fields__}
    return type(value)(**fields)


def equal_bits(one: StructValue, other: object) -> bool:
    """``==`` for structs with float64 fields: by their bits, so that NaN equals itself."""
    return type(one) is type(other) and all(
        _same(getattr(one, name), getattr(other, name)) for name in one.__struct_fields__
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    return bool(one == other)


class Message(StructValue):
    """The base of all messages: a request, response, header, record or other data."""

    message_name: ClassVar[str]
    dialect: ClassVar[str] = "kafka"
    #: Key of the api for requests and responses, of the record for records; None for other data.
    api_key: ClassVar[int | None] = None

    @classmethod
    def codec(cls: type[M], version: int) -> Codec[M]:
        """The codec of this message at ``version``."""
        return codec(cls, version)

    @classmethod
    def decode(cls: type[M], data: Buffer, version: int, *, strict: bool = False) -> M:
        """Read a whole body; see ``Codec.decode``."""
        return codec(cls, version).decode(data, strict=strict)

    def encode(self, version: int, *, lenient: bool = False) -> bytes:
        """Write the body; see ``Codec.encode``."""
        return codec(type(self), version).encode(self, lenient=lenient)
