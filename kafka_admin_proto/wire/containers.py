"""Types that hold fields: structs, messages, and structs that may be null."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import msgspec
from construct import Container

from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError
from kafka_admin_proto.wire.base import (
    LENIENT,
    OBSERVER,
    JsonOptions,
    WireType,
    cannot_encode,
    note,
    read_exactly,
    shown,
    wrong_json,
)
from kafka_admin_proto.wire.blobs import Records
from kafka_admin_proto.wire.secrets import MASK, is_secret_name
from kafka_admin_proto.wire.tagged import TaggedFields
from kafka_admin_proto.wire.varint import read_uvarint

if TYPE_CHECKING:
    from kafka_admin_proto.wire.emit import JsonEmitter, ReadEmitter, WriteEmitter

#: Instead of the fault of a value that may be a credential.
_NOT_SHOWN = "the field does not take this value, which may be a secret and is not shown"


class Member(msgspec.Struct, frozen=True):
    """A field of a struct at one version.

    ``slot`` is its place among the value class's fields, ``tag`` its tag where it is tagged.
    ``wire_type`` is None where the version does not have the field. ``default`` makes the value
    of an absent field. ``named_by`` is the attribute whose text decides whether it is a secret.
    """

    slot: int
    attribute: str
    json: str
    aliases: tuple[str, ...]
    wire_type: WireType | None
    default: Callable[[], Any]
    ignorable: bool = False
    tag: int | None = None
    sensitive: bool = False
    named_by: str = ""

    def is_default(self, value: Any) -> bool:
        """Whether a tagged field stays unwritten, or an absent one loses nothing."""
        return bool(value == self.default())

    def is_secret(self, owner: Any) -> bool:
        return self.sensitive or (
            bool(self.named_by) and is_secret_name(getattr(owner, self.named_by, None))
        )


class StructType(WireType):
    """The fields of a struct in wire order, then, in flexible versions, its tagged fields.

    ``members`` are all fields of the struct in the order of the value class, absent ones too.
    """

    is_leaf = False

    def __init__(
        self,
        struct_name: str,
        value_class: type[Any],
        members: tuple[Member, ...],
        *,
        flexible: bool,
        foreign_tags: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__()
        self.struct_name = struct_name
        self.value_class = value_class
        self.members = members
        self.written = tuple((m, m.wire_type) for m in members if m.wire_type and m.tag is None)
        self.absent = tuple(m for m in members if m.wire_type is None)
        tagged = {m.tag: m for m in members if m.wire_type and m.tag is not None}
        self.tagged = TaggedFields(tagged, foreign_tags, len(members)) if flexible else None
        self.min_size = sum(wire_type.min_size for _, wire_type in self.written) + flexible
        if not flexible and all(wire_type.fixed_size is not None for _, wire_type in self.written):
            self.fixed_size = self.min_size

    def describe(self) -> str:
        return self.struct_name

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        observer = context.get(OBSERVER)
        values = [member.default() for member in self.members]
        prefix = f"{path}." if path else ""
        for member, wire_type in self.written:
            here = prefix + member.attribute
            start = stream.tell()
            values[member.slot] = value = wire_type._parse(stream, context, here)
            if observer is not None and wire_type.is_leaf:
                secret = member.sensitive or self._named_secret(member, values)
                observer.span(here, start, stream.tell(), wire_type, value, secret)
        if self.tagged is not None:
            unknown = self.tagged.parse_into(values, stream, context, prefix)
            values.append(unknown)
        return self.value_class(*values)

    def _named_secret(self, member: Member, values: list[Any]) -> bool:
        if not member.named_by:
            return False
        named = next(m for m in self.members if m.attribute == member.named_by)
        return is_secret_name(values[named.slot])

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if not isinstance(obj, self.value_class):
            raise cannot_encode(path, obj, f"a {self.value_class.__name__}")
        prefix = f"{path}." if path else ""
        for member in self.absent:
            value = getattr(obj, member.attribute)
            if not (member.ignorable or member.is_default(value) or context.get(LENIENT)):
                raise EncodeError(
                    "this version does not have the field, and its value "
                    f"{shown(value)} is not the default {member.default()!r}",
                    path=prefix + member.attribute,
                    value=value,
                )
        for member, wire_type in self.written:
            here = prefix + member.attribute
            try:
                wire_type._build(getattr(obj, member.attribute), stream, context, here)
            except EncodeError as error:
                if member.is_secret(obj):
                    error.fault, error.value = _NOT_SHOWN, None
                raise
        unknown = getattr(obj, "unknown_tagged_fields", ())
        if self.tagged is not None:
            self.tagged.build_from(obj, unknown, stream, context, prefix)
        elif unknown and not context.get(LENIENT):
            raise EncodeError(
                "this version has no tagged fields",
                path=f"{prefix}unknown_tagged_fields",
                value=unknown,
            )
        return obj

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        self.emit_construct(e, f"{target} = {{}}")

    def emit_construct(self, e: ReadEmitter, sink: str) -> None:
        """Emit the reading of the fields, then ``sink`` with the value in the place of ``{}``."""
        places: dict[int, str] = {}
        for member, wire_type in self.written:
            places[member.slot] = local = e.fresh(member.attribute[:1])
            wire_type.emit_read(e, local)
        if self.tagged is None:
            e.settle()
            e.line(sink.format(self._constructed(e, places)))
            return
        count = e.fresh("t")
        e.fixed("B", count)
        e.settle()
        with e.block(f"if {count}:"):
            e.line(sink.format(self._constructed(e, places | self.tagged.emit_read(e, count))))
        with e.block("else:"):
            e.line(sink.format(self._constructed(e, places)))

    def _constructed(self, e: ReadEmitter, places: dict[int, str]) -> str:
        """The call of the value class; arguments at the end that are defaults are left out."""
        last = max(places, default=-1)
        defaults = {member.slot: member.default for member in self.members}
        arguments = [
            places[slot] if slot in places else e.default(defaults[slot])
            for slot in range(last + 1)
        ]
        return f"{e.constant('C', self.value_class)}({', '.join(arguments)})"

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        if not value.isidentifier():
            local = e.fresh("x")
            e.line(f"{local} = {value}")
            value = local
        value_class = e.constant("C", self.value_class)
        with e.block(f"if type({value}) is not {value_class}:"):
            e.line(f"check({value}, {value_class})")
        for member in self.absent:
            if not member.ignorable:
                with e.block(f"if {value}.{member.attribute} != {e.default(member.default)}:"):
                    e.line("raise Mismatch")
        for member, wire_type in self.written:
            wire_type.emit_write(e, f"{value}.{member.attribute}")
        if self.tagged is not None:
            self.tagged.emit_write(e, value)
        elif hasattr(self.value_class, TaggedFields.ATTRIBUTE):
            with e.block(f"if {value}.{TaggedFields.ATTRIBUTE}:"):
                e.line("raise Mismatch")

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        if not isinstance(value, self.value_class):
            raise cannot_encode("", value, f"a {self.value_class.__name__}")
        result: dict[str, Any] = {}
        for member in self.members:
            wire_type = member.wire_type
            if wire_type is None:
                continue
            item = getattr(value, member.attribute)
            if member.tag is not None and member.is_default(item):
                continue
            if options.record_sizes and item is not None and isinstance(wire_type, Records):
                result[f"{member.json}SizeInBytes"] = len(item)
            elif options.mask and item is not None and member.is_secret(value):
                result[member.json] = MASK
            else:
                result[member.json] = wire_type.to_json(item, options)
        if self.tagged is not None and value.unknown_tagged_fields:
            result[TaggedFields.JSON_NAME] = self.tagged.unknown_to_json(
                value.unknown_tagged_fields, options
            )
        return result

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        """A dict display; the tree is called where there are unknown tags."""
        if e.depth == e.DEEPEST:
            return super().emit_json(e, value)
        e.depth += 1
        members = [(m, m.wire_type) for m in self.members if m.wire_type is not None]
        items = [self._json_item(e, member, wire_type, value) for member, wire_type in members]
        e.depth -= 1
        display = f"{{{', '.join(items)}}}"
        if self.tagged is None:
            return display
        slow = super().emit_json(e, value)
        return f"{slow} if {value}.{TaggedFields.ATTRIBUTE} else {display}"

    def _json_item(self, e: JsonEmitter, member: Member, wire_type: WireType, owner: str) -> str:
        """What stands in the dict display for a field."""
        value = f"{owner}.{member.attribute}"
        shown = wire_type.emit_json(e, value)
        if e.options.mask and member.sensitive:
            shown = f"None if {value} is None else {MASK!r}"
        elif e.options.mask and member.named_by:
            secret = f"{value} is not None and is_secret({owner}.{member.named_by})"
            shown = f"{MASK!r} if {secret} else {shown}"
        item = f"{member.json!r}: {shown}"
        if e.options.record_sizes and isinstance(wire_type, Records):
            size = f"{{'{member.json}SizeInBytes': len({value})}}"
            item = f"**({{{item}}} if {value} is None else {size})"
        if member.tag is not None:
            item = f"**(nothing if {value} == {e.default(member.default)} else {{{item}}})"
        return item

    def from_json(self, obj: Any, path: str) -> Any:
        if not isinstance(obj, dict):
            raise wrong_json(path, obj, f"an object ({self.struct_name})")
        rest = dict(obj)
        prefix = f"{path}." if path else ""
        values = [self._member_from_json(member, rest, prefix) for member in self.members]
        if self.tagged is not None:
            unknown = rest.pop(TaggedFields.JSON_NAME, [])
            values.append(self.tagged.unknown_from_json(unknown, prefix + TaggedFields.JSON_NAME))
        if rest:
            known = ", ".join(m.json for m in self.members if m.wire_type) or "no fields"
            unknown_name = str(min(rest, key=str))
            raise JsonError(
                f"unknown field; in this version {self.struct_name} has {known}",
                path=prefix + unknown_name,
            )
        return self.value_class(*values)

    def _member_from_json(self, member: Member, rest: dict[str, Any], prefix: str) -> Any:
        for name in (member.json, *member.aliases):
            if name in rest:
                break
        else:
            if member.wire_type is not None and member.tag is None:
                raise JsonError(
                    "the field is missing; this version always has it",
                    path=prefix + member.json,
                )
            return member.default()
        if member.wire_type is None:
            raise JsonError("this version does not have the field", path=prefix + name)
        try:
            return member.wire_type.from_json(rest.pop(name), prefix + name)
        except JsonError as error:
            if member.sensitive or member.named_by:
                error.fault = _NOT_SHOWN
            raise


class MessageType(StructType):
    """The outermost struct. Its errors say which message they are about.

    Paths start anew here: inside a user's own construct the user's path goes in front of the
    message's name instead.
    """

    def __init__(self, title: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = title

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        try:
            return super()._parse(stream, context, "")
        except DecodeError as error:
            error.message = error.message or self._title_in(path)
            raise

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        try:
            return super()._build(obj, stream, context, "")
        except EncodeError as error:
            error.message = error.message or self._title_in(path)
            raise

    def from_json(self, obj: Any, path: str) -> Any:
        try:
            return super().from_json(obj, path)
        except JsonError as error:
            error.message = self.title
            raise

    def _title_in(self, path: str) -> str:
        outer = path.removeprefix("(parsing)").removeprefix("(building)").removeprefix(" -> ")
        return f"{outer}: {self.title}" if outer else self.title


class NullableStruct(WireType):
    """A struct with a marker in front: an int8 (-1 null, 1 present), or when ``tagged`` a varint.

    As in ``MessageDataGenerator.generateStructReader``: any negative byte is null, any other
    present; inside a tagged field 0 is null.
    """

    is_leaf = False
    min_size = 1

    def __init__(self, struct: StructType, *, tagged: bool) -> None:
        super().__init__()
        self.struct = struct
        self.tagged = tagged

    def describe(self) -> str:
        return f"NULLABLE {self.struct.describe()}"

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        start = stream.tell()
        if self.tagged:
            marker = read_uvarint(stream, context, path, "null marker")
            is_null, canonical = marker == 0, marker in (0, 1)
        else:
            byte = read_exactly(stream, 1, path, "null marker")
            marker = int.from_bytes(byte, "big", signed=True)
            is_null, canonical = marker < 0, marker in (-1, 1)
        if not canonical:
            note(context, path, start, f"a null marker of {marker}")
        observer = context.get(OBSERVER)
        if observer is not None:
            observer.span(path, start, stream.tell(), self, None if is_null else marker, False)
        return None if is_null else self.struct._parse(stream, context, path)

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if obj is None:
            stream.write(b"\x00" if self.tagged else b"\xff")
            return obj
        stream.write(b"\x01")
        return self.struct._build(obj, stream, context, path)

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        marker = e.fresh("m")
        if self.tagged:
            e.settle()
            e.line(f"{marker}, p = uvarint(b, p)")
        else:
            e.fixed("b", marker)
            e.settle()
        with e.block(f"if {marker} {'== 0' if self.tagged else '< 0'}:"):
            e.line(f"{target} = None")
        with e.block("else:"):
            self.struct.emit_read(e, target)

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        e.flush()
        local = e.fresh("x")
        e.line(f"{local} = {value}")
        with e.block(f"if {local} is None:"):
            e.line(f"w({(0 if self.tagged else 255).to_bytes(1, 'big')!r})")
        with e.block("else:"):
            e.fixed("B", "1")
            self.struct.emit_write(e, local)
            e.flush()

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        return None if value is None else self.struct.to_json(value, options)

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return f"None if {value} is None else {self.struct.emit_json(e, value)}"

    def from_json(self, obj: Any, path: str) -> Any:
        return None if obj is None else self.struct.from_json(obj, path)
