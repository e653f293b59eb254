"""One message at one version: bytes ↔ value ↔ JSON.

``codec(...)`` finds it, ``Codec`` does the work, ``Message`` is the base of all value classes.
"""

from __future__ import annotations

import gc
import importlib
import struct
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar, overload

import msgspec
from construct import Container

from kafka_admin_proto.errors import (
    DecodeError,
    SchemaError,
    TrailingBytesError,
    UnknownMessageError,
    UnsupportedVersionError,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import messages_package, python_name
from kafka_admin_proto.wire.base import LENIENT, OBSERVER, JsonOptions, Observer, WireType
from kafka_admin_proto.wire.containers import MessageType
from kafka_admin_proto.wire.fuse import Fused, Read, Write, fuse_json, fuse_read, fuse_write
from kafka_admin_proto.wire.grammar import message_type
from kafka_admin_proto.wire.secrets import MASK, is_secret_name

Buffer = bytes | bytearray | memoryview
#: Bytes above which the cyclic collector is paused while the fused code reads.
_LARGE = 8 * 1024
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
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value == getattr(default, name):
                continue
            if name in self.secret_fields and value is not None:
                named_by = self.secret_fields[name]
                if not named_by or is_secret_name(getattr(self, named_by)):
                    value = MASK
            yield name, value


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


class Codec(Generic[M]):
    """One message at one version. Made by ``codec(...)``, which keeps it."""

    def __init__(self, spec: MessageSpec, version: int) -> None:
        self.spec = spec
        self.name = spec.name
        self.version = version
        self.value_class: type[M] = value_class_of(spec, spec.name)
        #: The construct tree: ``.parse``, ``.build`` and ``.sizeof``, fit for a construct.Struct.
        self.grammar: MessageType = message_type(
            spec, version, lambda name: value_class_of(spec, name)
        )
        self._to_json: dict[JsonOptions, Callable[[M], dict[str, Any]]] = {}

    def __repr__(self) -> str:
        return f"<Codec {self.name} v{self.version}>"

    def decode(self, data: Buffer, *, strict: bool = False, zero_copy: bool = False) -> M:
        """Read a whole body.

        Raises DecodeError with path and offset; TrailingBytesError, which carries the value, when
        bytes are left. ``strict`` also refuses what Java reads but would write differently.
        ``zero_copy`` leaves ``bytes`` and ``records`` fields as memoryviews of the data, which
        they keep alive.
        """
        return self.decode_at(data, 0, strict=strict, zero_copy=zero_copy)

    def decode_at(
        self, data: Buffer, offset: int, *, strict: bool = False, zero_copy: bool = False
    ) -> M:
        """Read a body from ``offset`` to the end of the data, as ``decode`` does."""
        value, end = self.decode_from(data, offset, strict=strict, zero_copy=zero_copy)
        if end != len(data):
            raise TrailingBytesError(
                value, bytes(data[end:]), message=self.grammar.title, offset=end
            )
        return value

    def decode_from(
        self,
        data: Buffer,
        offset: int = 0,
        *,
        strict: bool = False,
        zero_copy: bool = False,
        observer: Observer | None = None,
    ) -> tuple[M, int]:
        """Read a body that starts at ``offset``; return it and the offset of its end.

        Raises ValueError for an offset outside the data: that is the caller's slip.
        """
        if strict or observer is not None:
            return self._parse(data, offset, _Strict(observer) if strict else observer)
        if type(data) is not bytes:
            data = bytes(data)
        read = self._read_views if zero_copy else self._read
        if len(data) > _LARGE and gc.isenabled():
            read = _without_collector(read)
        failure = ""
        try:
            value, end = read(data, offset)
            if end <= len(data) and offset >= 0:
                return value, end
            value = None
            failure = f"{end - len(data)} bytes missing"
        except UnicodeDecodeError:
            pass  # text that is not UTF-8 is left to the tree
        except Exception as error:
            failure = repr(error)
        # Here, not inside the handlers: the exception keeps alive what was read so far.
        result = self._parse(data, offset, None)
        if failure:
            _report(f"{self!r} reads by its tree what its fused code refuses ({failure})")
        return result

    def _parse(self, data: Buffer, offset: int, observer: Observer | None) -> tuple[M, int]:
        """Read by the tree."""
        if not 0 <= offset <= len(data):
            raise ValueError(f"offset {offset} is outside the {len(data)} bytes of data")
        stream = BytesIO(data)
        stream.seek(offset)
        value: M = self.grammar._parse(stream, Container({OBSERVER: observer}), "")
        return value, stream.tell()

    def non_canonical(self, data: Buffer) -> list[str]:
        """What in a body is legal and yet not as encoding would write it, place by place."""
        notes = _Notes()
        self.decode_from(data, observer=notes)
        return notes.found

    def encode(self, value: M, *, lenient: bool = False) -> bytes:
        """Write a body. Raises EncodeError with the path of the field and its value.

        A value in a field that this version does not have is an error, unless the schema says
        that the field can be ignored; ``lenient`` drops all such values.
        """
        failure = ""
        if not lenient:
            try:
                return self._write(value)
            except UnicodeEncodeError:
                pass  # text that was not UTF-8 is left to the tree
            except Exception as error:
                failure = repr(error)
        stream = BytesIO()
        self.grammar._build(value, stream, Container({LENIENT: lenient}), "")
        if failure:
            _report(f"{self!r} writes by its tree what its fused code refuses ({failure})")
        return stream.getvalue()

    def encode_into(self, value: M, buffer: bytearray) -> None:
        """Write a body to the end of ``buffer``, which stays as it is if that fails."""
        buffer += self.encode(value)

    def source(self) -> str:
        """The Python source of the fused decoder and encoder, made when they are first used."""
        return f"{self._fused_read.source}\n\n{self._fused_write.source}"

    @cached_property
    def _fused_read(self) -> Fused:
        return fuse_read(self.grammar)

    @cached_property
    def _fused_write(self) -> Fused:
        return fuse_write(self.grammar)

    @cached_property
    def _read(self) -> Read:
        read: Read = self._fused_read.function
        return read

    @cached_property
    def _read_views(self) -> Read:
        read: Read = fuse_read(self.grammar, views=True).function
        return read

    def _json(self, options: JsonOptions) -> Callable[[M], dict[str, Any]]:
        made = self._to_json.get(options)
        if made is None:
            made = self._to_json[options] = fuse_json(self.grammar, options).function
        return made

    @cached_property
    def _write(self) -> Write:
        write: Write = self._fused_write.function
        return write

    def to_json(
        self,
        value: M,
        *,
        mask: bool = False,
        records: Literal["base64", "size"] = "base64",
    ) -> dict[str, Any]:
        """The value as builtins in the shape of Kafka's JsonConverters, for this version.

        ``mask`` hides secrets. ``records="size"`` gives ``recordsSizeInBytes`` instead of
        the bytes, as Kafka's request log does.
        """
        options = JsonOptions(mask=mask, record_sizes=records == "size")
        try:
            result: dict[str, Any] = self._json(options)(value)
        except Exception:  # the tree says what is wrong with the value
            result = self.grammar.to_json(value, options)
        return result

    def from_json(self, obj: Any) -> M:
        """The value from what ``to_json`` gives; raises JsonError with the JSON path."""
        value: M = self.grammar.from_json(obj, "")
        return value


def _without_collector(read: Read) -> Read:
    """``read`` with the cyclic collector paused: values have no cycles.

    Each list that a reading makes counts towards a collection that would look through all of
    them, again and again: a large message took half as long again, a huge one three times.
    """

    def paused(data: bytes, offset: int) -> tuple[Any, int]:
        gc.disable()
        try:
            return read(data, offset)
        finally:
            gc.enable()

    return paused


def _report(what: str) -> None:
    """A bug of this package that does no harm but to speed."""
    warnings.warn(f"{what}; please report this", RuntimeWarning, stacklevel=4)


class _Notes:
    """An observer that keeps what is not canonical."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        pass

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        self.found.append(f"{path} at byte {offset}: {fault}")


class _Strict:
    """An observer that refuses what is not canonical, and passes the rest on."""

    def __init__(self, inner: Observer | None) -> None:
        self.inner = inner

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        if self.inner is not None:
            self.inner.span(path, start, end, wire_type, value, secret)

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        raise DecodeError(
            f"{fault}, which is not canonical", path=path, offset=offset, expected="canonical bytes"
        )


#: (message as asked for, version, type, dialect) → codec.
_codecs: dict[tuple[Any, int, str, str], Codec[Any]] = {}
#: Loaded dialect → message → name of a class → class.
_loaded_classes: dict[str, dict[str, dict[str, type[Any]]]] = {}


@overload
def codec(message: type[M], version: int) -> Codec[M]: ...


@overload
def codec(message: str, version: int, *, dialect: str = ...) -> Codec[Any]: ...


@overload
def codec(
    message: int, version: int, type: Literal["request", "response"], *, dialect: str = ...
) -> Codec[Any]: ...


def codec(
    message: type[Message] | str | int, version: int, type: str = "", *, dialect: str = "kafka"
) -> Codec[Any]:
    """The codec of a message at a version, kept after the first call.

    ``message`` is a value class, a name ("CreateTopicsRequest") or an api key with ``type``
    "request" or "response". Raises UnknownMessageError or UnsupportedVersionError.
    """
    key = (message, version, type, dialect)
    found = _codecs.get(key)
    if found is None:
        found = _codecs[key] = _make_codec(message, version, type, dialect)
    return found


def _make_codec(
    message: type[Message] | str | int, version: int, type_: str, dialect: str
) -> Codec[Any]:
    if isinstance(message, int):
        name = catalog().name_of(message, type_, dialect)
        if name is None:
            if type_ not in ("request", "response"):
                raise UnknownMessageError(
                    'an api key names two messages: say type "request" or "response", '
                    f"not {type_!r}"
                )
            raise UnknownMessageError(f"no api with key {message} in dialect {dialect!r}")
    elif isinstance(message, str):
        name = catalog().current_name(message, dialect)
    elif isinstance(message, type) and hasattr(message, "message_name"):
        name, dialect = message.message_name, message.dialect
    else:
        raise UnknownMessageError(f"{message!r} is not a message, nor a name or api key of one")
    entry = catalog().entry(name, dialect)
    if type_ not in ("", entry.type):
        raise UnknownMessageError(f"{name} is a {entry.type}, not a {type_}")
    if version not in entry.versions:
        raise UnsupportedVersionError(f"{name} has versions {entry.valid_versions}, not {version}")
    by_name = (name, version, "", dialect)  # however it was asked for, there is one codec
    if by_name not in _codecs:
        _codecs[by_name] = Codec(catalog().spec(name, dialect), version)
    return _codecs[by_name]


def load_schemas(path: str | Path, *, dialect: str = "") -> str:
    """Take in a folder of definitions at run time; returns the dialect that they are found under.

    Files are Kafka's message-definition JSON, unchanged, or grammars (``.kip``), at any depth.
    ``dialect`` is the folder's name unless given; loading it again replaces it. From then on
    ``codec(name, version, dialect=...)`` works, with value classes made on the fly. Raises
    SchemaError for the first definition that breaks a rule, and then nothing is loaded.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise SchemaError("there is no such folder", "name one with definitions", file=str(path))
    dialect = dialect or folder.resolve().name
    classes = importlib.import_module("kafka_admin_proto.classes")
    catalog().load(folder, dialect, classes.check_names)
    _loaded_classes.pop(dialect, None)
    for key in [key for key, made in _codecs.items() if made.spec.dialect == dialect]:
        del _codecs[key]
    return dialect


def value_class_of(spec: MessageSpec, struct_name: str) -> type[Any]:
    """The class of a message's values, or of those of a struct in it."""
    if catalog().is_loaded(spec.dialect):
        made = _loaded_classes.setdefault(spec.dialect, {})
        if spec.name not in made:
            classes = importlib.import_module("kafka_admin_proto.classes")
            made[spec.name] = classes.make_classes(spec)
        return made[spec.name][struct_name]
    module = importlib.import_module(f"{messages_package(spec.dialect)}.{python_name(spec.name)}")
    value_class: type[Any] = getattr(module, struct_name)
    return value_class
