"""What every wire type is, and what observes a reading.

Paths in errors are the Python ones of the value (``topics[0].name``).
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, ClassVar, Protocol

from construct import Container

from kafka_admin_proto.construct_types import Construct, SizeofError
from kafka_admin_proto.errors import EncodeError, JsonError
from kafka_admin_proto.wire.emit.emitters import Count, JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.nodes import Node
from kafka_admin_proto.wire.options import JsonOptions
from kafka_admin_proto.wire.varint import MAX_UVARINT

#: Whether the message that is written, or read from JSON, carries credentials: a text or an object
#: in a wrong place may be one, as when arguments are in the wrong order.
AMONG_SECRETS: ContextVar[bool] = ContextVar("AMONG_SECRETS", default=False)


class Observer(Protocol):
    """Receives what a reading finds, in the order of the bytes."""

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        """Bytes ``start`` to ``end`` (excluded) are the field at ``path``.

        Containers announce only their own bytes (a count, a null marker), not their contents.
        """

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        """Those bytes are accepted, and yet encoding the value again gives others."""


class SecretObserver:
    """Passes on what is found inside of a secret: each span of it is one."""

    def __init__(self, inner: Observer) -> None:
        self._inner = inner

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        self._inner.non_canonical(path, offset, fault)

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        self._inner.span(path, start, end, wire_type, value, True)


class WireType(Construct):
    """One kind of field: how it is read, written, sized and shown."""

    #: What the protocol guide calls it, as in "COMPACT_STRING".
    label: ClassVar[str] = ""
    #: Whether it holds no other type; the reader of a leaf announces it to the observer.
    is_leaf: ClassVar[bool] = True
    #: Size of every value in bytes; None where it varies.
    fixed_size: int | None = None
    #: The fewest bytes that a value takes, for the check of counts that cannot be true.
    min_size: int = 0
    #: Whether a field inside of it carries a credential; errors about its values do not quote them.
    holds_secrets: bool = False
    #: Whether it is ``records``, or has some inside.
    holds_records: bool = False

    def __init__(self) -> None:
        super().__init__()

    def describe(self) -> str:
        """The type as a person reads it, nullability included."""
        return self.label

    def children(self) -> tuple[WireType, ...]:
        """The types that it is made of, in the order of the wire; a leaf has none."""
        return ()

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        """The value as builtins, in the shape of Kafka's JsonConverters."""
        return value

    def from_json(self, obj: Any, path: str) -> Any:
        """The reverse of ``to_json``; raises JsonError with the JSON path."""
        raise wrong_json(path, obj, self.describe())

    def node(self) -> Node | None:
        """What the type is to the compiled engine; None for one that it does not know."""
        return None

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        """Emit what leaves the next value in the local ``target``, by the rules of `emitters`."""
        raise NotImplementedError

    def emit_read_into(self, e: ReadEmitter, sink: str) -> None:
        """Emit the reading of a value, then ``sink`` with it in the place of ``{}``."""
        local = e.fresh("x")
        self.emit_read(e, local)
        e.sync_position()
        e.line(sink.format(local))

    def emit_read_many(self, e: ReadEmitter, target: str, count: Count) -> None:
        """Emit what leaves an array of values in the local ``target``.

        ``p`` is behind the count, of a compact one behind its first byte.
        """
        local = count.local
        if count.compact:
            e.rest_of_uvarint(local)
        with e.block(f"if {local} {'== 0' if count.compact else '< 0'}:"):
            if count.nullable and not count.compact:
                with e.block(f"if {local} != -1:"):
                    e.line("raise Fallback")
            e.line(f"{target} = None" if count.nullable else "raise Fallback")
        with e.block("else:"):
            self.emit_read_items(e, target, count.items)

    def emit_read_items(self, e: ReadEmitter, target: str, items: str) -> None:
        """Emit what leaves as many values as the expression ``items`` says in ``target``."""
        # As in the tree: without it a count that lies costs what the data can be made to hold.
        least = f" * {self.min_size}" if self.min_size > 1 else ""
        with e.block(f"if ({items}){least} > {e.data_size()} - p:"):
            e.line("raise Fallback")
        e.line(f"{target} = []")
        with e.block(f"for _ in range({items}):"):
            self.emit_read_into(e, f"{target}.append({{}})")

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        """Emit what writes the expression ``value``, which may be evaluated more than once."""
        raise NotImplementedError

    def emit_write_many(self, e: WriteEmitter, items: str, count: Count) -> None:
        """Emit what writes the count and the values in the local ``items``."""
        if count.compact:
            e.compact_length(count.local, limit=MAX_UVARINT)
        else:
            e.fixed("i", count.local)
            e.flush()
        item = e.fresh("x")
        with e.block(f"for {item} in {items}:"):
            self.emit_write(e, item)
            e.flush()

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        """The expression for the JSON form of the expression ``value``; ``to_json`` otherwise."""
        return f"{e.constant('J', self.to_json, self)}({value}, options)"

    def _sizeof(self, context: Container, path: str) -> int:
        if self.fixed_size is None:
            raise SizeofError(f"{with_article(self.describe())} has no fixed size", path)
        return self.fixed_size


def shown(value: Any, *, secret: bool = False) -> str:
    """The value for an error's text: cut where it is long, named by its type where it must be.

    ``secret``: the value may hold a credential, so that its type alone is named. None and classes
    hold none.
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if secret and value is not None:
        return f"{with_article(type(value).__name__)} that may hold a secret and is not shown"
    try:
        text = repr(value)
    except Exception:  # an object's own; and Python prints no integers of thousands of digits
        name = type(value).__name__
        text = f"a huge {name}" if isinstance(value, int) else f"{with_article(name)} without repr"
    return text if len(text) <= 60 else text[:57] + "..."


def with_article(name: str) -> str:
    """The name of a class or type with "a" or "an" in front, by its first sound."""
    start = name[:2].lower()
    is_vowel = start[:1] in ("a", "e", "i", "o", "u") and start not in ("eu", "ui", "us", "uu")
    return f"{'an' if is_vowel else 'a'} {name}"


def is_misplaced_secret(value: Any) -> bool:
    """Whether a value that stands in a wrong place may be, or have inside, a credential."""
    return AMONG_SECRETS.get() and not (value is None or isinstance(value, (int, float)))


def cannot_encode(path: str, value: Any, expected: str, *, secret: bool = False) -> EncodeError:
    """The error for a value of the wrong type or range, without the value if it is ``secret``."""
    secret = secret or is_misplaced_secret(value)
    fault = f"expected {expected}, got {shown(value, secret=secret)}"
    return EncodeError(fault, path=path, value=None if secret else value)


def wrong_json(path: str, obj: Any, expected: str, *, secret: bool = False) -> JsonError:
    """The error for a JSON value of the wrong kind, without the value if it is ``secret``."""
    secret = secret or is_misplaced_secret(obj)
    return JsonError(f"expected {expected}, got {shown(obj, secret=secret)}", path=path)
