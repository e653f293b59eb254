"""``Codec``: one message at one version, bytes ↔ value ↔ JSON."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from io import BytesIO
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar
from uuid import UUID

import msgspec
from construct import Container

from kafka_admin_proto.arguments import Buffer, as_bytes, check_offset, checked
from kafka_admin_proto.codec.entities import EntityField, entity_fields, replace_all
from kafka_admin_proto.codec.value_classes import value_class_of
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import TrailingBytesError
from kafka_admin_proto.gc_tuning import without_gc
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.wire.emit.runtime import ValueChanged
from kafka_admin_proto.wire.engine import compiled_engine
from kafka_admin_proto.wire.fuse import Fused, Read, Write, fuse_json, fuse_read, fuse_write
from kafka_admin_proto.wire.grammar import message_type
from kafka_admin_proto.wire.observers import Notes, StrictObserver
from kafka_admin_proto.wire.options import LENIENT, OBSERVER, VIEWS, JsonOptions
from kafka_admin_proto.wire.types.base import Observer
from kafka_admin_proto.wire.types.containers import MessageType

if TYPE_CHECKING:
    from kafka_admin_proto_speed import Engine

#: After these the other way of reading or writing would fail as well, for lack of memory or stack.
_NO_SECOND_TRY = (MemoryError, RecursionError)
#: Bytes above which the cyclic collector is paused while the fused code reads.
_LARGE = 8 * 1024


class MessageValue(Protocol):
    """What a codec asks of a message's value class; ``values.Message`` is the base of them all."""

    message_name: ClassVar[str]
    dialect: ClassVar[str]


M = TypeVar("M", bound=MessageValue)
H = TypeVar("H", bound=MessageValue)


class Codec(Generic[M]):
    """One message at one version. Made by ``codec(...)``, which keeps it."""

    def __init__(self, spec: MessageSpec, version: int) -> None:
        self.spec = spec
        self.name: str = spec.name
        self.version = version
        self.value_class: type[M] = value_class_of(spec, spec.name)
        #: The construct tree: ``.parse``, ``.build`` and ``.sizeof``, fit for a construct.Struct.
        self.grammar: MessageType = message_type(
            spec, version, lambda name: value_class_of(spec, name)
        )
        self._entity_fields: dict[str, tuple[EntityField, ...]] = {}
        self._to_json: dict[JsonOptions, Callable[[M], dict[str, Any]]] = {}
        #: The compiled engine for the message; None where plain Python reads and writes it.
        self.engine: Engine | None = compiled_engine(self.grammar)
        if self.engine is not None:
            # The engine's own take the places of these, and call them for what they refuse. From
            # the first moment on: a method that somebody has bound is not replaced any more.
            self.engine.stand_before(self.decode, self.encode, self.decode_to_json_text)
            vars(self).update(
                decode=self.engine.decode,
                encode=self.engine.encode,
                decode_to_json_text=self.engine.decode_to_json_text,
            )

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
        if type(data) is not bytes and not self._takes(data, zero_copy):
            data = as_bytes(data)
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
        if type(data) is not bytes and not self._takes(data, zero_copy):
            data = as_bytes(data)
        if strict or observer is not None:
            return self._parse(
                data, offset, StrictObserver(observer) if strict else observer, zero_copy
            )
        read = self._read_views if zero_copy else self._read
        failure = ""
        try:
            if len(data) > _LARGE:  # it would take half as long again, a huge one three times
                value, end = without_gc(read, data, offset)
            else:
                value, end = read(data, offset)
            if end <= len(data) and offset >= 0:
                return value, end
            value = None
            failure = f"{counted(end - len(data), 'bytes')} missing"
        except _NO_SECOND_TRY:
            raise
        except UnicodeDecodeError:
            pass  # text that is not UTF-8 is left to the tree
        except Exception as error:
            failure = repr(error)
        # Here, not inside the handlers: the exception keeps alive what was read so far.
        result = self._parse(data, offset, None, zero_copy)
        if failure:
            _report(f"{self!r} reads by its tree what its {self.backend} code refuses ({failure})")
        return result

    def _takes(self, data: Any, zero_copy: bool) -> bool:
        """Whether the engine reads from a buffer where it is; of one that changes, views do not."""
        if self.engine is None:
            return False
        if isinstance(data, memoryview):
            plain = data.c_contiguous and data.format == "B" and data.ndim == 1
            return plain and (data.readonly or not zero_copy)
        return isinstance(data, bytearray) and not zero_copy

    def _parse(
        self, data: Buffer, offset: int, observer: Observer | None, zero_copy: bool = False
    ) -> tuple[M, int]:
        """Read by the tree."""
        views = memoryview(data) if zero_copy else None
        data = as_bytes(data)
        check_offset(data, offset)
        stream = BytesIO(data)
        stream.seek(offset)
        value: M = self.grammar._parse(stream, Container({OBSERVER: observer, VIEWS: views}), "")
        return value, stream.tell()

    def decode_behind(self, header: Codec[H], data: bytes, offset: int) -> tuple[H, int, M] | None:
        """A header at ``offset``, its end, and this message as all that is behind it.

        One call of the engine; None without it and for what it refuses, which is then read header
        and body by themselves.
        """
        mine, other = self.engine, header.engine
        if mine is None or other is None or len(data) > _LARGE:
            return None
        try:
            return mine.read_behind(other, data, offset)
        except _NO_SECOND_TRY:
            raise
        except Exception:
            return None

    def non_canonical(self, data: Buffer) -> list[str]:
        """What in a body is legal and yet not as encoding would write it, place by place."""
        notes = Notes()
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
            except _NO_SECOND_TRY:
                raise
            except (UnicodeEncodeError, ValueChanged):
                pass  # text that was not UTF-8, and lists that change, are left to the tree
            except Exception as error:
                failure = repr(error)
        stream = BytesIO()
        self.grammar._build(value, stream, Container({LENIENT: lenient}), "")
        if failure:
            _report(f"{self!r} writes by its tree what its {self.backend} code refuses ({failure})")
        return stream.getvalue()

    def encode_behind(self, header: Codec[H], front: H, value: M) -> bytes:
        """The bytes of a header's value, then those of this message's; raises as ``encode``."""
        mine, other = self.engine, header.engine
        if mine is not None and other is not None:
            try:
                return mine.write_behind(other, front, value)
            except _NO_SECOND_TRY:
                raise
            except Exception:
                pass  # each by itself, with what is wrong
        return header.encode(front) + self.encode(value)

    def encode_into(self, value: M, buffer: bytearray) -> None:
        """Write a body to the end of ``buffer``, which stays as it is if that fails."""
        if self.engine is not None:
            try:
                self.engine.write_into(value, buffer)
            except _NO_SECOND_TRY:
                raise
            except Exception:
                pass  # once more, with all that may be wrong
            else:
                return
        buffer += self.encode(value)

    @property
    def backend(self) -> Literal["compiled", "pure"]:
        """Which code reads and writes: that of ``kafka-admin-proto-speed``, or Python's own."""
        return "pure" if self.engine is None else "compiled"

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
        read: Read = self.engine.read if self.engine else self._fused_read.function
        return read

    @cached_property
    def _read_views(self) -> Read:
        if self.engine is not None:
            return self.engine.read_views
        read: Read = fuse_read(self.grammar, views=True).function
        return read

    def _json(self, options: JsonOptions) -> Callable[[M], dict[str, Any]]:
        made = self._to_json.get(options)
        if made is None:
            made = self._to_json[options] = fuse_json(self.grammar, options).function
        return made

    @cached_property
    def _write(self) -> Write:
        write: Write = self.engine.write if self.engine else self._fused_write.function
        return write

    def to_json(
        self, value: M, *, mask: bool = False, records: Literal["base64", "size"] = "base64"
    ) -> dict[str, Any]:
        """The value as builtins in the shape of Kafka's JsonConverters, for this version.

        ``mask`` hides secrets. ``records="size"`` gives ``recordsSizeInBytes`` instead of
        the bytes, as Kafka's request log does. Raises EncodeError with the path for a field whose
        value has no JSON form. Types and ranges are not checked as by ``encode``: a text or True in
        a field of integers stands in JSON as it is, since looking at each number takes up to half
        as long again. `from_json` refuses it.
        """
        options = JsonOptions(mask=mask, record_sizes=records == "size")
        try:
            return self._json(options)(value)
        except _NO_SECOND_TRY:
            raise
        except Exception:  # the tree says what is wrong with the value
            pass
        # Here, not inside the handler: the first exception may have the value in it.
        result: dict[str, Any] = self.grammar.to_json(value, options)
        return result

    def to_json_text(
        self, value: M, *, mask: bool = False, records: Literal["base64", "size"] = "base64"
    ) -> bytes:
        """The text, in UTF-8, of what ``to_json`` gives; float64 stand as msgspec writes them."""
        if self.engine is not None:
            try:
                return self.engine.json_of(value, mask, records == "size")
            except _NO_SECOND_TRY:
                raise
            except Exception:
                pass  # the other way takes it, or says what is wrong
        obj = self.to_json(value, mask=mask, records=records)
        try:
            return msgspec.json.encode(obj, enc_hook=_plain)
        except (TypeError, ValueError, OverflowError):
            pass
        # Here, not inside the handler: the exception may have the value in it.
        raise self.grammar.json_error(value)

    def scanned_json_text(
        self, value: M, *, mask: bool
    ) -> tuple[bytes, list[int], list[UUID], bool] | None:
        """``to_json_text``, and what `render.field_scan` finds, in one pass of the engine.

        That are error codes and topic ids, in order and with repetitions, and whether some text is
        not UTF-8. None without the engine, and for what it refuses.
        """
        if self.engine is None:
            return None
        try:
            return self.engine.scanned_json_of(value, mask)
        except _NO_SECOND_TRY:
            raise
        except Exception:
            return None

    def decode_to_json_text(
        self, data: Buffer, *, mask: bool = False, records: Literal["base64", "size"] = "base64"
    ) -> bytes:
        """``to_json_text`` of a whole body; with the engine without values in between.

        Raises what ``decode`` raises.
        """
        if self.engine is not None and (type(data) is bytes or self._takes(data, False)):
            try:
                text, end = self.engine.json(data, 0, mask, records == "size")
                if end == len(data):
                    return text
            except _NO_SECOND_TRY:
                raise
            except Exception:
                pass  # the other way takes it, or says what is wrong
        return self.to_json_text(self.decode(data), mask=mask, records=records)

    def entity_fields(self, entity_type: str) -> list[str]:
        """The fields that name topics, groups and the like in this version, as ``topics.name``.

        ``entity_type`` is that of Kafka's definitions ("topicName", "groupId", "brokerId",
        "producerId" or "transactionalId") or one of the loaded definitions; ValueError for another.
        """
        return [path for each in self._entities(entity_type) for path in each.paths()]

    def replace_entities(self, value: M, entity_type: str, change: Callable[[Any], Any]) -> None:
        """Replace what those fields hold, at any depth, by what ``change`` makes of each.

        Nulls are left alone, and so are fields that this version does not have. The value is
        changed in place. Raises EncodeError for a value of another message, and TypeError for a
        change that is no function, or one with async.
        """
        checked(change, Callable[[Any], Any], "change")
        if not isinstance(value, self.value_class):
            raise self.grammar.wrong_value("", value)
        replace_all(self._entities(entity_type), value, change)

    def _entities(self, entity_type: str) -> tuple[EntityField, ...]:
        found = self._entity_fields.get(entity_type)
        if found is None:
            found = entity_fields(self.grammar, entity_type, self.spec.dialect)
            self._entity_fields[entity_type] = found
        return found

    def from_json(self, obj: Any) -> M:
        """The value from what ``to_json`` gives; raises JsonError with the JSON path."""
        value: M = self.grammar.from_json(obj, "")
        return value


def _plain(value: Any) -> Any:
    """The text or number that an object is, of a subclass or with ``__index__``.

    Raises TypeError for anything else.
    """
    return str.__str__(value) if isinstance(value, str) else index(value)


def _report(what: str) -> None:
    """A bug of this package that does no harm but to speed."""
    warnings.warn(f"{what}; please report this", RuntimeWarning, stacklevel=4)
