"""Types with a length in front: string, bytes and records.

Before flexible versions the length is an int16 (string) or int32 (bytes, records), -1 for null;
in flexible versions an unsigned varint of the length plus one, 0 for null.
"""

from __future__ import annotations

import base64
import binascii
from os import SEEK_CUR
from typing import IO, Any, ClassVar

from construct import Container

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError
from kafka_admin_proto.wire.emit.emitters import JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.emit.runtime import plain_bytes
from kafka_admin_proto.wire.nodes import BlobNode
from kafka_admin_proto.wire.options import VIEWS, JsonOptions
from kafka_admin_proto.wire.stream import read_exactly, remaining
from kafka_admin_proto.wire.types.base import cannot_encode, is_misplaced_secret, shown, wrong_json
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.varint import MAX_UVARINT, encode_uvarint, read_uvarint

#: No string is longer on the wire, in either form: Java refuses a compact one as well.
MAX_STRING = 32767


class Blob(ScalarType):
    """What the three share: length, null, bytes. ``nullable`` and ``compact`` as above."""

    prefix_size: int
    max_length: int
    #: Whether errors leave the value out: records are somebody's data, or the metadata log's.
    is_unquoted: ClassVar[bool] = False

    def __init__(self, element: str, *, compact: bool, nullable: bool) -> None:
        super().__init__(element)
        self.compact = compact
        self.nullable = nullable
        self.min_size: int = 1 if compact else self.prefix_size

    @classmethod
    def of(cls, element: str, *, compact: bool, nullable: bool) -> Blob:
        return cls(element, compact=compact, nullable=nullable)

    def describe(self) -> str:
        return "COMPACT_" * self.compact + "NULLABLE_" * self.nullable + self.scalar.label

    def node(self) -> BlobNode:
        return BlobNode(
            self.element, self.prefix_size, self.max_length, self.compact, self.nullable
        )

    def _take(self, stream: IO[bytes], length: int, context: Container) -> Any:
        """The value that the next ``length`` bytes are, all of which are there."""
        whole: memoryview | None = context.get(VIEWS)
        if whole is None:
            return stream.read(length)
        end = stream.seek(length, SEEK_CUR)
        return whole[end - length : end]

    def _pack(self, obj: Any, path: str) -> bytes:
        if not isinstance(obj, (bytes, bytearray, memoryview)):
            expected = "bytes" + (" or None" if self.nullable else "")
            raise cannot_encode(path, obj, expected, secret=self.is_unquoted)
        try:
            return plain_bytes(obj)
        except ValueError:
            raise cannot_encode(
                path, obj, "a memoryview that is not released", secret=self.is_unquoted
            ) from None

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        start = stream.tell()
        what = f"{self.element} length"
        if self.compact:
            length = read_uvarint(stream, context, path, what) - 1
        else:
            prefix = read_exactly(stream, self.prefix_size, path, what)
            length = int.from_bytes(prefix, "big", signed=True)
        if length < 0:
            if length == -1 and self.nullable:
                return None
            fault = "is null where null is not allowed" if length == -1 else f"has length {length}"
            raise DecodeError(
                f"{self.element} {fault}", path=path, offset=start, expected=self.describe()
            )
        if length > self.max_length:
            raise DecodeError(
                f"{self.element} has length {length}, over the {self.max_length} possible",
                path=path,
                offset=start,
                expected=self.describe(),
            )
        left = remaining(stream)
        if length > left:
            raise DecodeError(
                f"{self.element} needs {counted(length, 'bytes')}, {left} left",
                path=path,
                offset=start,
                expected=self.describe(),
            )
        return self._take(stream, length, context)

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if obj is None:
            if not self.nullable:
                raise cannot_encode(path, obj, f"a value: this {self.element} cannot be null here")
            length, data = -1, b""
        else:
            data = self._pack(obj, path)
            length = len(data)
        if length > self.max_length:
            raise EncodeError(
                f"{self.element} of {counted(length, 'bytes')} is over the {self.max_length} "
                "possible",
                path=path,
                value=None if self.is_unquoted else obj,
            )
        if self.compact:
            stream.write(encode_uvarint(length + 1))
        else:
            stream.write(length.to_bytes(self.prefix_size, "big", signed=True))
        stream.write(data)
        return obj

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        length, end = e.fresh("n"), e.fresh("q")
        sure = False  # that the length is not negative
        if not self.compact and self.prefix_size == 2 and e.nothing_noted:
            # Most strings are shorter than 256 bytes: no call of struct.
            long = "nullable_length" if self.nullable else "long_length"
            at, low = e.at(), e.at(1)
            e.line(f"{length} = {long}(b, {at}) if b[{at}] else b[{low}]")
            e.skip(2)
            sure = not self.nullable
        else:
            e.fixed("B" if self.compact else {2: "h", 4: "i"}[self.prefix_size], length)
            e.flush()
        if self.compact:
            e.rest_of_uvarint(length, self.max_length + 1)
        if sure:
            self._emit_take(e, target, length, end)
            return
        with e.block(f"if {length} {'== 0' if self.compact else '< 0'}:"):
            if not self.nullable:
                e.line("raise Fallback")
            else:
                if not self.compact:
                    with e.block(f"if {length} != -1:"):
                        e.line("raise Fallback")
                e.line(f"{target} = None")
                e.catch_up()
        with e.block("else:"):
            self._emit_take(e, target, length, end)

    def _emit_take(self, e: ReadEmitter, target: str, length: str, end: str) -> None:
        """The slice of the input, and its end as the new position."""
        e.line(f"{end} = {e.at(-self.compact, length)}")  # a compact length is one more
        e.line(f"{target} = {self._emit_slice(e, f'{e.at()}:{end}')}")
        e.line(f"p = {end}")
        e.arrived()

    def _emit_slice(self, e: ReadEmitter, where: str) -> str:
        """The expression for the value of a slice of the input."""
        return f"{'v' if e.views else 'b'}[{where}]"

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        data, length = e.fresh("s"), e.fresh("n")
        if not self.nullable:
            self._emit_bytes(e, data, value)
            self._emit_length(e, data, length)
            return
        e.flush()
        e.line(f"{data} = {value}")
        with e.block(f"if {data} is None:"):
            null = b"\0" if self.compact else (-1).to_bytes(self.prefix_size, "big", signed=True)
            e.line(f"w({null!r})")
        with e.block("else:"):
            self._emit_bytes(e, data, data)
            self._emit_length(e, data, length)

    def _emit_length(self, e: WriteEmitter, data: str, length: str) -> None:
        """Write the length of the bytes in the local, and them."""
        e.line(f"{length} = len({data}){' + 1' * self.compact}")
        if self.compact:
            e.compact_length(length, limit=self.max_length + 1)
        elif self.prefix_size == 2:
            e.short_length(length)
        else:
            e.fixed("i", length)
            e.flush()
        e.line(f"w({data})")

    def _emit_bytes(self, e: WriteEmitter, data: str, value: str) -> None:
        """Put the bytes of the value into the local."""
        e.line(f"{data} = {value}")
        with e.block(f"if type({data}) is not bytes:"):
            e.line(f"{data} = as_bytes({data})")

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        return None if value is None else _base64_text(self._pack(value, ""))

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return f"None if {value} is None else {e.named('base64_text', _base64_text)}({value})"

    def from_json(self, obj: Any, path: str) -> Any:
        if obj is None and self.nullable:
            return None
        if not isinstance(obj, str):
            expected = f"{self.element} as base64 text"
            raise wrong_json(path, obj, expected, secret=self.is_unquoted)
        try:
            return base64.b64decode(obj, validate=True)
        except (binascii.Error, ValueError):  # ValueError: text outside ASCII
            wrong = shown(obj, secret=self.is_unquoted or is_misplaced_secret(obj))
            raise JsonError(f"{wrong} is not base64", path=path) from None


class String(Blob, elements=("string",)):
    """Text in UTF-8. Bytes that are not UTF-8 survive in the value as lone surrogates."""

    prefix_size = 2
    max_length = MAX_STRING

    def _take(self, stream: IO[bytes], length: int, context: Container) -> str:
        return stream.read(length).decode("utf-8", "surrogateescape")

    def _pack(self, obj: Any, path: str) -> bytes:
        if not isinstance(obj, str):
            raise cannot_encode(path, obj, "a str" + (" or None" if self.nullable else ""))
        try:
            # Not a subclass's own method: its text is what it is, to the compiled engine too.
            return str.encode(obj, "utf-8", "surrogateescape")
        except UnicodeEncodeError:
            fault = f"expected text that has a UTF-8 form, got {shown(obj)}"
            raise EncodeError(fault, path=path, value=obj) from None

    def _emit_slice(self, e: ReadEmitter, where: str) -> str:
        return f"b[{where}].decode()"

    def _emit_bytes(self, e: WriteEmitter, data: str, value: str) -> None:
        e.line(f"{data} = {e.named('encoded', str.encode)}({value})")

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        if value is None or str.isascii(value):
            return value
        return _json_text(value)

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        replace = e.named("json_text", _json_text)
        is_ascii = e.named("is_ascii", str.isascii)
        return f"{value} if {value} is None or {is_ascii}({value}) else {replace}({value})"

    def from_json(self, obj: Any, path: str) -> Any:
        if obj is None and self.nullable:
            return None
        if not isinstance(obj, str):
            raise wrong_json(path, obj, "a string" + (" or null" if self.nullable else ""))
        return obj


class Bytes(Blob, elements=("bytes",)):
    """Any bytes."""

    prefix_size = 4
    max_length = MAX_UVARINT - 1


class Records(Blob, elements=("records",)):
    """A record batch or message set, opaque here: bytes as they stand on the wire."""

    prefix_size = 4
    max_length = MAX_UVARINT - 1
    is_unquoted = True
    holds_records = True


def _base64_text(data: bytes | memoryview) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _json_text(text: str) -> str:
    """The text with U+FFFD where its bytes were not UTF-8.

    Raises UnicodeEncodeError for surrogates that no bytes stand behind, as writing them does.
    """
    return str.encode(text, "utf-8", "surrogateescape").decode("utf-8", "replace")


def replace_invalid_utf8(text: str) -> str:
    """The text with U+FFFD where its bytes were not UTF-8, fit for any text output."""
    try:
        return _json_text(text)
    except UnicodeEncodeError:  # surrogates that no bytes stand behind: a value built by hand
        return str.encode(text, "utf-8", "replace").decode("utf-8")
