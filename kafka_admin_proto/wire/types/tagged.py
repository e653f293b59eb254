"""The tagged fields at the end of a struct in flexible versions (KIP-482).

A count, then for each field its tag, its size and its bytes. Java reads a known tag by its type
and does not look at the size; unknown ones it keeps as they are. Both hold here.
"""

from __future__ import annotations

import base64
import binascii
from io import BytesIO
from operator import index
from typing import IO, Any, ClassVar

from construct import Container

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError
from kafka_admin_proto.wire.emit.emitters import ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.emit.runtime import as_list, plain_bytes
from kafka_admin_proto.wire.options import OBSERVER, JsonOptions
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.stream import note, remaining
from kafka_admin_proto.wire.types.base import WireType, cannot_encode, shown, wrong_json
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.varint import MAX_UVARINT, encode_uvarint, read_uvarint

#: Unknown tagged fields in a value: (tag, bytes), in the order of the wire.
UnknownTags = tuple[tuple[int, bytes], ...]


class TagHeader(WireType):
    """The bytes in front of tagged fields: their count, or a field's tag and size."""

    label = "TAGGED_FIELDS"


class RawTag(WireType):
    """The bytes of a tag that this version does not define."""

    label = "RAW_TAGGED_FIELD"


class TaggedFields:
    """The tagged fields that one struct knows at one version, by tag.

    ``foreign`` tags are those that the struct has in other versions: Java refuses them here.
    ``slot`` is the place of the unknown ones among the value class's fields. ``secret``: the
    message carries credentials, so that the bytes of an unknown tag may be a newer one.
    """

    JSON_NAME: ClassVar[str] = "_unknownTaggedFields"
    ATTRIBUTE: ClassVar[str] = "unknown_tagged_fields"
    _HEADER = TagHeader()
    _RAW = RawTag()

    def __init__(
        self,
        members: dict[int, Member],
        foreign: frozenset[int],
        slot: int = 0,
        secret: bool = False,
    ) -> None:
        self.slot = slot
        self.secret = secret
        self.members: dict[int, Member] = dict(sorted(members.items()))
        self.foreign = foreign

    def parse_into(
        self, values: list[Any], stream: IO[bytes], context: Container, prefix: str
    ) -> UnknownTags:
        """Put known fields into their slots of ``values``; return the unknown ones."""
        path = prefix + self.ATTRIBUTE
        observer = context.get(OBSERVER)
        start = stream.tell()
        count = read_uvarint(stream, context, path, "number of tagged fields")
        if 2 * count > (left := remaining(stream)):
            raise DecodeError(
                f"a list of {counted(count, 'tagged fields')} needs at least "
                f"{counted(2 * count, 'bytes')}, {left} left",
                path=path,
                offset=start,
                expected="the number of tagged fields",
            )
        if observer is not None:
            observer.span(path, start, stream.tell(), self._HEADER, count, False)
        unknown: list[tuple[int, bytes]] = []
        previous = -1
        for _ in range(count):
            start = stream.tell()
            tag = read_uvarint(stream, context, path, "tag")
            if tag <= previous:
                note(context, path, start, f"tag {tag} after tag {previous}")
            previous = tag
            size = read_uvarint(stream, context, path, f"size of tag {tag}")
            member = self.members.get(tag)
            if observer is not None:
                where = prefix + member.attribute if member else path
                observer.span(where, start, stream.tell(), self._HEADER, (tag, size), False)
            if member is not None:
                self._parse_known(member, size, values, stream, context, prefix)
            else:
                unknown.append((tag, self._parse_unknown(tag, size, stream, context, path)))
        return tuple(unknown)

    def _parse_known(
        self,
        member: Member,
        size: int,
        values: list[Any],
        stream: IO[bytes],
        context: Container,
        prefix: str,
    ) -> None:
        path = prefix + member.attribute
        start = stream.tell()
        secret = member.sensitive or bool(member.named_by)
        value = member.parse(stream, context, path, secret=secret)
        taken = stream.tell() - start
        if taken != size:
            note(
                context,
                path,
                start,
                f"tagged field of {counted(taken, 'bytes')} says it has {size}",
            )
        if member.is_default(value):
            note(context, path, start, "a tagged field that is written at its default")
        values[member.slot] = value

    def _parse_unknown(
        self, tag: int, size: int, stream: IO[bytes], context: Container, path: str
    ) -> bytes:
        start = stream.tell()
        if tag in self.foreign:
            raise DecodeError(
                f"tag {tag} is not valid in this version",
                path=path,
                offset=start,
                expected="a tag of this version, or an unknown one",
            )
        if size > (left := remaining(stream)):
            raise DecodeError(
                f"tag {tag} needs {counted(size, 'bytes')}, {left} left",
                path=path,
                offset=start,
                expected="the bytes of a tagged field",
            )
        data = stream.read(size)
        observer = context.get(OBSERVER)
        if observer is not None:
            observer.span(f"{path}[{tag}]", start, stream.tell(), self._RAW, data, self.secret)
        return data

    def build_from(
        self, owner: Any, unknown: UnknownTags, stream: IO[bytes], context: Container, prefix: str
    ) -> None:
        """Write what is not at its default and all unknown tags, in the order of the tags."""
        fields: list[tuple[int, bytes]] = []
        for tag, member in self.members.items():
            value = getattr(owner, member.attribute)
            if member.is_default(value):
                continue
            buffer = BytesIO()
            member.build(owner, buffer, context, prefix + member.attribute)
            fields.append((tag, buffer.getvalue()))
        if unknown:
            unknown = self._checked(unknown, prefix + self.ATTRIBUTE)
        stream.write(section_of(fields, unknown))

    def _checked(self, unknown: UnknownTags, path: str) -> UnknownTags:
        """The pairs as they are written, of plain types: subclasses count for what is in them."""
        value = None if self.secret else unknown
        pairs = "pairs of a tag and its bytes"
        if not isinstance(unknown, (tuple, list)):
            raise cannot_encode(path, unknown, pairs, secret=self.secret)
        checked = []
        for item in as_list(unknown):
            if not isinstance(item, tuple) or tuple.__len__(item) != 2:
                raise cannot_encode(path, item, pairs, secret=self.secret)
            tag, data = tuple.__iter__(item)
            number = index(tag) if isinstance(tag, int) else -1
            if tag is True or not 0 <= number <= MAX_UVARINT:
                secret = self.secret and not isinstance(tag, int)
                raise EncodeError(
                    f"{shown(tag, secret=secret)} is not a tag", path=path, value=value
                )
            if number in self.members or number in self.foreign:
                raise EncodeError(
                    f"tag {number} is a field of this message, not an unknown one",
                    path=path,
                    value=value,
                )
            if not isinstance(data, bytes):
                raise EncodeError(f"tag {number} has no bytes", path=path, value=value)
            checked.append((number, plain_bytes(data)))
        return tuple(checked)

    def emit_read(self, e: ReadEmitter, count: str) -> dict[int, str]:
        """Emit the reading of ``count`` fields; slot of the value class → what fills it."""
        unknown, tag, size, end = (e.fresh(prefix) for prefix in "ukzq")
        places = {}
        for member in self.members.values():
            places[member.slot] = local = e.fresh(member.attribute[:1])
            e.line(f"{local} = {e.default(member.default)}")
        e.line(f"{unknown} = []")
        e.rest_of_uvarint(count)
        with e.block(f"for _ in range({count}):"):
            e.line(f"{tag}, p = uvarint(b, p)")
            e.line(f"{size}, p = uvarint(b, p)")
            word = "if"
            for number, member in self.members.items():
                assert member.wire_type is not None
                with e.block(f"{word} {tag} == {number}:"):
                    member.wire_type.emit_read(e, places[member.slot])
                    e.sync_position()
                word = "elif"
            if self.foreign:
                with e.block(f"{word} {tag} in {e.constant('F', self.foreign)}:"):
                    e.line("raise Fallback")
                word = "elif"
            with e.block("else:" if word == "elif" else "if True:"):
                e.line(f"{end} = p + {size}")
                e.line(f"{unknown}.append(({tag}, b[p:{end}]))")
                e.line(f"p = {end}")
        return places | {self.slot: f"tuple({unknown})"}

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        """Emit the writing of the section of the struct in the local ``value``."""
        run = e.take_run()
        attributes = [(m, f"{value}.{m.attribute}") for m in self.members.values()]
        filled = [f"not {attribute} == {e.default(m.default)}" for m, attribute in attributes]
        with e.block(f"if {' or '.join([f'{value}.{self.ATTRIBUTE}', *filled])}:"):
            e.write_run(run)
            fields, unknown = e.fresh("f"), e.fresh("u")
            e.line(f"{fields} = []")
            for (member, attribute), is_filled in zip(attributes, filled, strict=True):
                assert member.wire_type is not None
                with e.block(f"if {is_filled}:"), e.apart():
                    member.wire_type.emit_write(e, attribute)
                    e.flush()
                    e.line(f"{fields}.append(({member.tag}, b''.join(parts)))")
            section = e.constant("G", section_of)
            known = frozenset(self.members) | self.foreign
            checked = e.constant("K", self._checked, ("known tags", known))
            e.line(f"{unknown} = {value}.{self.ATTRIBUTE}")
            with e.block(f"if {unknown}:"):
                e.line(f"{unknown} = {checked}({unknown}, '')")
            e.line(f"w({section}({fields}, {unknown}))")
        with e.block("else:"):
            e.write_run([*run, ("x", "")])

    def unknown_to_json(self, unknown: UnknownTags, options: JsonOptions) -> list[dict[str, Any]]:
        """``[{"tag": 5, "data": "base64"}]``; the name and shape are ours, Java leaves them out."""
        unknown = self._checked(unknown, self.ATTRIBUTE)
        if options.mask and (self.secret or options.mask_records):
            return [{"tag": tag, "data": MASK} for tag, _ in unknown]
        return [
            {"tag": tag, "data": base64.b64encode(data).decode("ascii")} for tag, data in unknown
        ]

    def unknown_from_json(self, obj: Any, path: str) -> UnknownTags:
        """The reverse of ``unknown_to_json``."""
        if not isinstance(obj, list):
            raise wrong_json(path, obj, "an array of unknown tags", secret=self.secret)
        unknown = []
        for number, item in enumerate(obj):
            here = f"{path}[{number}]"
            if not isinstance(item, dict) or set(item) != {"tag", "data"}:
                expected = 'an object with "tag" and "data"'
                raise wrong_json(here, item, expected, secret=self.secret)
            tag, data = item["tag"], item["data"]
            if not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= MAX_UVARINT:
                raise wrong_json(f"{here}.tag", tag, "a tag", secret=self.secret)
            try:
                unknown.append((tag, base64.b64decode(data, validate=True)))
            except (binascii.Error, ValueError, TypeError):
                wrong = shown(data, secret=self.secret)
                raise JsonError(f"{wrong} is not base64", path=f"{here}.data") from None
        return tuple(unknown)


def section_of(fields: list[tuple[int, bytes]], unknown: UnknownTags) -> bytes:
    """The bytes of known ``fields``, in the order of their tags, and unknown ones."""
    if unknown:
        fields = sorted([*fields, *unknown], key=lambda field: field[0])
    parts = [encode_uvarint(len(fields))]
    for tag, data in fields:
        parts += (encode_uvarint(tag), encode_uvarint(len(data)), data)
    return b"".join(parts)
