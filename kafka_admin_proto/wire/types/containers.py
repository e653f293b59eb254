"""Types that hold fields: structs and messages."""

from __future__ import annotations

from functools import cached_property
from io import BytesIO
from typing import IO, Any

import msgspec
from construct import Container

from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError
from kafka_admin_proto.wire.emit.emitters import JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.nodes import StructNode
from kafka_admin_proto.wire.options import LENIENT, OBSERVER, JsonOptions
from kafka_admin_proto.wire.secrets import MASK, is_metadata_topic, is_secret_name
from kafka_admin_proto.wire.types.base import (
    AMONG_SECRETS,
    WireType,
    cannot_encode,
    is_misplaced_secret,
    shown,
    with_article,
    wrong_json,
)
from kafka_admin_proto.wire.types.blobs import Records
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.tagged import TaggedFields


class StructType(WireType):
    """The fields of a struct in wire order, then, in flexible versions, its tagged fields.

    ``members`` are all fields of the struct in the order of the value class, absent ones too.
    ``secret_tags``: tags that the definition does not have may carry credentials.
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
        secret_tags: bool = False,
    ) -> None:
        super().__init__()
        self.struct_name = struct_name
        self.value_class = value_class
        self.members = members
        self.written: tuple[tuple[Member, WireType], ...] = tuple(
            (m, m.wire_type) for m in members if m.wire_type and m.tag is None
        )
        self.absent: tuple[Member, ...] = tuple(m for m in members if m.wire_type is None)
        tagged = {m.tag: m for m in members if m.wire_type and m.tag is not None}
        self.tagged: TaggedFields | None = None
        if flexible:
            self.tagged = TaggedFields(tagged, foreign_tags, len(members), secret_tags)
        self.holds_secrets: bool = any(member.holds_secrets for member in members)
        self.secret_tags = secret_tags
        self.holds_records: bool = any(wire_type.holds_records for wire_type in self.children())
        self.min_size: int = sum(wire_type.min_size for _, wire_type in self.written) + flexible
        self.fixed_size: int | None = None
        if not flexible and all(wire_type.fixed_size is not None for _, wire_type in self.written):
            self.fixed_size = self.min_size

    def describe(self) -> str:
        return self.struct_name

    def children(self) -> tuple[WireType, ...]:
        tagged = self.tagged.members.values() if self.tagged is not None else ()
        types = (*(wire_type for _, wire_type in self.written), *(m.wire_type for m in tagged))
        return tuple(each for each in types if each is not None)

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        observer = context.get(OBSERVER)
        values = [member.default() for member in self.members]
        prefix = f"{path}." if path else ""
        for member, wire_type in self.written:
            here = prefix + member.attribute
            if observer is None:
                values[member.slot] = wire_type._parse(stream, context, here)
            else:
                secret = member.sensitive or self._named_secret(member, values)
                values[member.slot] = member.parse(stream, context, here, secret=secret)
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
            raise self.wrong_value(path, obj)
        prefix = f"{path}." if path else ""
        for member in self.absent:
            if member.ignorable or context.get(LENIENT):
                member.build(obj, BytesIO(), context, prefix + member.attribute)
                continue
            value = getattr(obj, member.attribute)
            if not member.is_default(value):
                secret = member.holds_secrets or is_misplaced_secret(value)
                raise EncodeError(
                    "this version does not have the field, and its value "
                    f"{shown(value, secret=secret)} is not the default {member.default()!r}",
                    path=prefix + member.attribute,
                    value=None if secret else value,
                )
        for member, _ in self.written:
            member.build(obj, stream, context, prefix + member.attribute)
        unknown = getattr(obj, TaggedFields.ATTRIBUTE, ())
        if self.tagged is not None:
            self.tagged.build_from(obj, unknown, stream, context, prefix)
        elif unknown and not context.get(LENIENT):
            raise EncodeError(
                "this version has no tagged fields",
                path=f"{prefix}{TaggedFields.ATTRIBUTE}",
                value=None if self.secret_tags else unknown,
            )
        return obj

    def wrong_value(self, path: str, value: Any) -> EncodeError:
        """The error for a value that is not an instance of the value class."""
        mine = self.value_class
        expected = with_article(mine.__name__)
        if type(value).__name__ == mine.__name__:  # of another dialect, or of other definitions
            fault = (
                f"expected {expected} of {_origin(mine)}, got one of {_origin(type(value))}; "
                "take the codec of the value's own class, codec(type(value), version), or make the "
                "value with the codec's value_class"
            )
            return EncodeError(fault, path=path)
        if isinstance(value, type):
            fault = f"expected {expected}, got {shown(value)}; make a value of it"
            return EncodeError(fault, path=path, value=value)
        return cannot_encode(path, value, expected, secret=self.holds_secrets)

    def node(self) -> StructNode | None:
        return self._node

    @cached_property
    def _node(self) -> StructNode | None:
        types = (*self.children(), *(member.absent_type for member in self.absent))
        if any(wire_type is not None and wire_type.node() is None for wire_type in types):
            return None
        return StructNode(
            self.value_class,
            tuple(member.node() for member in self.members),
            self.tagged is not None,
            frozenset() if self.tagged is None else self.tagged.foreign,
            self.secret_tags,
            self.holds_records,
        )

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        self.emit_read_into(e, f"{target} = {{}}")

    def emit_read_into(self, e: ReadEmitter, sink: str) -> None:
        places: dict[int, str] = {}
        for member, wire_type in self.written:
            places[member.slot] = local = e.fresh(member.attribute[:1])
            wire_type.emit_read(e, local)
        if self.tagged is None:
            e.sync_position()
            e.line(sink.format(self._constructed(e, places)))
            return
        count = e.fresh("t")
        e.fixed("B", count)
        e.sync_position()
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
            self._emit_absent(e, member, f"{value}.{member.attribute}")
        for member, wire_type in self.written:
            wire_type.emit_write(e, f"{value}.{member.attribute}")
        if self.tagged is not None:
            self.tagged.emit_write(e, value)
        elif hasattr(self.value_class, TaggedFields.ATTRIBUTE):
            with e.block(f"if {value}.{TaggedFields.ATTRIBUTE}:"):
                e.line("raise Fallback")

    def _emit_absent(self, e: WriteEmitter, member: Member, value: str) -> None:
        """Refuse what is lost, or of a wrong type; an ignorable value is written to nowhere."""
        if not member.ignorable:
            with e.block(f"if not {value} == {e.default(member.default)}:"):
                e.line("raise Fallback")
            return
        assert member.absent_type is not None
        default = member.default()
        # Any value may be looked at, and most are defaults: what is fast is enough. A subclass is
        # not asked for its truth, which may be what it likes.
        differs = f"type({value}) is not list or {value}"
        if default != []:
            constant = e.constant("D", default, (type(default), str(default)))
            differs = f"{value} is not {constant}"
        with e.block(f"if {differs}:"):
            noted = e.take_run()
            with e.apart():
                member.absent_type.emit_write(e, value)
                e.flush()
            for code, each in noted:
                e.fixed(code, each)

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        if not isinstance(value, self.value_class):
            raise self.wrong_value("", value)
        if options.mask and self.holds_records and is_metadata_topic(value):
            options = msgspec.structs.replace(options, mask_records=True)
        result: dict[str, Any] = {}
        for member in self.members:
            wire_type = member.wire_type
            if wire_type is None:
                continue
            item = getattr(value, member.attribute)
            if member.tag is not None and member.is_default(item):
                continue
            are_records = item is not None and isinstance(wire_type, Records)
            if options.record_sizes and are_records:
                result[f"{member.json}SizeInBytes"] = memoryview(item).nbytes
            elif (options.mask_records and are_records) or (
                options.mask and item is not None and member.is_secret(value)
            ):
                result[member.json] = MASK
            else:
                result[member.json] = wire_type.to_json(item, options)
        if self.tagged is not None and value.unknown_tagged_fields:
            result[TaggedFields.JSON_NAME] = self.tagged.unknown_to_json(
                value.unknown_tagged_fields, options
            )
        return result

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        """A dict display; the tree is called where there are unknown tags, or secret records."""
        if e.depth == e.DEEPEST:
            return super().emit_json(e, value)
        e.depth += 1
        members = [(m, m.wire_type) for m in self.members if m.wire_type is not None]
        items = [self._json_item(e, member, wire_type, value) for member, wire_type in members]
        e.depth -= 1
        display = f"{{{', '.join(items)}}}"
        rare = [] if self.tagged is None else [f"{value}.{TaggedFields.ATTRIBUTE}"]
        if e.options.mask and self.holds_records:
            is_metadata = e.named("is_metadata", is_metadata_topic)
            rare.append(f"{is_metadata}({value})")
        if not rare:
            return display
        return f"{super().emit_json(e, value)} if {' or '.join(rare)} else {display}"

    def _json_item(self, e: JsonEmitter, member: Member, wire_type: WireType, owner: str) -> str:
        """The item of the dict display for a field."""
        value = f"{owner}.{member.attribute}"
        shown = wire_type.emit_json(e, value)
        if e.options.mask and member.sensitive:
            shown = f"None if {value} is None else {MASK!r}"
        elif e.options.mask and member.named_by:
            secret = f"{value} is not None and is_secret({owner}.{member.named_by})"
            shown = f"{MASK!r} if {secret} else {shown}"
        item = f"{member.json!r}: {shown}"
        if e.options.record_sizes and isinstance(wire_type, Records):
            view = e.named("memoryview", memoryview)
            size = f"{{'{member.json}SizeInBytes': {view}({value}).nbytes}}"
            item = f"**({{{item}}} if {value} is None else {size})"
        if member.tag is not None:
            item = f"**(nothing if {value} == {e.default(member.default)} else {{{item}}})"
        return item

    def from_json(self, obj: Any, path: str) -> Any:
        if not isinstance(obj, dict):
            expected = f"an object ({self.struct_name})"
            raise wrong_json(path, obj, expected, secret=self.holds_secrets)
        rest = dict(obj)
        prefix = f"{path}." if path else ""
        values = [self._member_from_json(member, rest, prefix) for member in self.members]
        if self.tagged is not None:
            unknown = rest.pop(TaggedFields.JSON_NAME, [])
            values.append(self.tagged.unknown_from_json(unknown, prefix + TaggedFields.JSON_NAME))
        if rest:
            known = ", ".join(m.json for m in self.members if m.wire_type) or "no fields"
            fault = f"in this version {self.struct_name} has {known}"
            # Someone who misses a credential's place by a little puts it where a key is.
            if any(member.sensitive or member.named_by for member in self.members):
                not_shown = "unknown field, whose name may be a secret and is not shown"
                raise JsonError(f"{not_shown}; {fault}", path=path)
            raise JsonError(f"unknown field; {fault}", path=prefix + str(min(rest, key=str)))
        return self.value_class(*values)

    def _member_from_json(self, member: Member, rest: dict[str, Any], prefix: str) -> Any:
        for name in (member.json, *member.aliases):
            if name in rest:
                break
        else:
            if member.wire_type is not None and member.tag is None:
                raise JsonError(
                    "the field is missing; this version always has it", path=prefix + member.json
                )
            return member.default()
        if member.wire_type is None:
            raise JsonError("this version does not have the field", path=prefix + name)
        try:
            return member.wire_type.from_json(rest.pop(name), prefix + name)
        except JsonError as error:
            if member.sensitive or member.named_by:
                error.forget_value()
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
        before = AMONG_SECRETS.set(self.secret_tags)
        try:
            return super()._build(obj, stream, context, "")
        except EncodeError as error:
            error.message = error.message or self._title_in(path)
            raise
        finally:
            AMONG_SECRETS.reset(before)

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        """As ``StructType.to_json``; EncodeError for a value that the message cannot carry.

        The fields do not check what they show. Where one fails, building the value finds the
        field, and says what was expected there.
        """
        try:
            return super().to_json(value, options)
        except (EncodeError, AttributeError, TypeError, ValueError, OverflowError):
            pass
        # Here, not inside the handler: the first exception may have the value in it.
        raise self.json_error(value)

    def json_error(self, value: Any) -> EncodeError:
        """The error of a value that has no JSON form; for a field at fault it is raised here."""
        self._build(value, BytesIO(), Container({LENIENT: True}), "")
        return EncodeError("the value has no JSON form", message=self.title)

    def from_json(self, obj: Any, path: str) -> Any:
        before = AMONG_SECRETS.set(self.secret_tags)
        try:
            return super().from_json(obj, path)
        except JsonError as error:
            error.message = self.title
            raise
        finally:
            AMONG_SECRETS.reset(before)

    def _title_in(self, path: str) -> str:
        outer = path.removeprefix("(parsing)").removeprefix("(building)").removeprefix(" -> ")
        return f"{outer}: {self.title}" if outer else self.title


def _origin(value_class: type) -> str:
    """Which definitions a class is of: the dialect of a message's, the module of another one."""
    dialect = getattr(value_class, "dialect", None)
    return value_class.__module__ if dialect is None else f"the dialect {dialect}"
