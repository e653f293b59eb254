"""A field of a struct at one version, as structs and their tagged fields see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import msgspec
from construct import Container

from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.wire.nodes import FieldNode
from kafka_admin_proto.wire.options import OBSERVER
from kafka_admin_proto.wire.secrets import is_secret_name
from kafka_admin_proto.wire.types.base import SecretObserver, WireType


class Member(msgspec.Struct, frozen=True):
    """A field of a struct at one version.

    ``slot`` is its place among the value class's fields, ``tag`` its tag where it is tagged.
    ``wire_type`` is None where the version does not have the field; ``absent_type`` then is what
    a value has to fit, although it is not written. ``default`` makes the value of an absent field.
    ``named_by`` is the attribute whose text decides whether it is a secret.
    ``holds_secrets``: it is a credential, may be one by its name, or has one inside.
    ``entity_type`` is what it names, as the definitions say it ("topicName").
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
    holds_secrets: bool = False
    absent_type: WireType | None = None
    entity_type: str = ""

    def is_default(self, value: Any) -> bool:
        """Whether a tagged field stays unwritten, or an absent one loses nothing."""
        return bool(value == self.default())

    def is_secret(self, owner: Any) -> bool:
        return self.sensitive or (
            bool(self.named_by) and is_secret_name(getattr(owner, self.named_by, None))
        )

    def node(self) -> FieldNode:
        """What the field is to the compiled engine, which knows its type."""
        node = None if self.wire_type is None else self.wire_type.node()
        absent = None if self.absent_type is None else self.absent_type.node()
        return FieldNode(
            attribute=self.attribute,
            json=self.json,
            node=node,
            absent=absent,
            default=self.default,
            ignorable=self.ignorable,
            tag=self.tag,
            sensitive=self.sensitive,
            named_by=self.named_by,
        )

    def parse(self, stream: IO[bytes], context: Container, path: str, *, secret: bool) -> Any:
        """Read the field and announce it to the observer, all that is inside a ``secret`` too."""
        wire_type, observer = self.wire_type, context.get(OBSERVER)
        assert wire_type is not None
        if observer is None or wire_type.is_leaf:
            start = stream.tell()
            value = wire_type._parse(stream, context, path)
            if observer is not None:
                observer.span(path, start, stream.tell(), wire_type, value, secret)
            return value
        if secret:
            context = Container(context, **{OBSERVER: SecretObserver(observer)})
        return wire_type._parse(stream, context, path)

    def build(self, owner: Any, stream: IO[bytes], context: Container, path: str) -> None:
        """Write the field of ``owner``; an EncodeError about a secret says nothing of its value."""
        wire_type = self.absent_type if self.wire_type is None else self.wire_type
        assert wire_type is not None
        try:
            wire_type._build(getattr(owner, self.attribute), stream, context, path)
        except EncodeError as error:
            if self.is_secret(owner):
                error.forget_value()
            raise
