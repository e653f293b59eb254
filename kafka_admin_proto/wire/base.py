"""What every wire type is, and how it speaks to whoever runs it.

A reading or writing is steered through entries of construct's context, so that the same tree
serves a codec and a user's own ``construct.Struct`` around it (where none of them is set):

- ``OBSERVER``: an ``Observer`` that is told of each field read and of all that is legal but not
  as Kafka itself would write it (a padded varint, a bool of 2, ...);
- ``LENIENT``: on building, leave out values of fields that the version does not have.

Paths in errors are the Python ones of the value (``topics[0].name``).
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, ClassVar, Protocol

from construct import Construct, Container, SizeofError
from msgspec import Struct

from kafka_admin_proto.errors import DecodeError, EncodeError, JsonError

if TYPE_CHECKING:
    from kafka_admin_proto.wire.emit import JsonEmitter, ReadEmitter, WriteEmitter

OBSERVER = "_kafka_observer"
LENIENT = "_kafka_lenient"


class Observer(Protocol):
    """Told of what a reading finds, in the order of the bytes."""

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        """Bytes ``start`` to ``end`` (excluded) are the field at ``path``.

        Containers announce only their own bytes (a count, a null marker), not their contents.
        """

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        """Those bytes are accepted, and yet encoding the value again gives others."""


class JsonOptions(Struct, frozen=True):
    """How values become JSON: secrets masked or not, ``records`` as base64 or as their size."""

    mask: bool = False
    record_sizes: bool = False


PLAIN_JSON = JsonOptions()


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

    def __init__(self) -> None:
        super().__init__()

    def describe(self) -> str:
        """The type as a person reads it, nullability included."""
        return self.label

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        """The value as builtins, in the shape of Kafka's JsonConverters."""
        return value

    def from_json(self, obj: Any, path: str) -> Any:
        """The reverse of ``to_json``; raises JsonError with the JSON path."""
        raise wrong_json(path, obj, self.describe())

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        """Emit what leaves the next value in the local ``target``; see ``emit``'s rules."""
        raise NotImplementedError

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        """Emit what writes the expression ``value``, which may be evaluated more than once."""
        raise NotImplementedError

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        """The expression for the JSON form of the expression ``value``; ``to_json`` otherwise."""
        return f"{e.constant('J', self.to_json, self)}({value}, options)"

    def _sizeof(self, context: Container, path: str) -> int:
        if self.fixed_size is None:
            raise SizeofError(f"a {self.describe()} has no fixed size", path)
        return self.fixed_size


def read_exactly(stream: IO[bytes], size: int, path: str, what: str) -> bytes:
    """The next ``size`` bytes; a DecodeError at the position before them where they are short."""
    data = stream.read(size)
    if len(data) != size:
        start = stream.tell() - len(data)
        left = f"{len(data)} left"
        raise DecodeError(
            f"{what} needs {size} byte{'s' * (size != 1)}, {left}",
            path=path,
            offset=start,
            expected=what,
        )
    return data


def remaining(stream: IO[bytes]) -> int:
    """Bytes from the position to the end of a seekable stream."""
    here = stream.tell()
    end = stream.seek(0, 2)
    stream.seek(here)
    return end - here


def note(context: Container, path: str, offset: int, fault: str) -> None:
    """Tell the observer, if one is there, that these bytes are not canonical."""
    observer = context.get(OBSERVER)
    if observer is not None:
        observer.non_canonical(path, offset, fault)


def shown(value: Any) -> str:
    """The value for an error's text: cut where it is long, named by its type where it must be."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def cannot_encode(path: str, value: Any, expected: str) -> EncodeError:
    """The error for a value of the wrong type or range."""
    return EncodeError(f"expected {expected}, got {shown(value)}", path=path, value=value)


def wrong_json(path: str, obj: Any, expected: str) -> JsonError:
    """The error for a JSON value of the wrong kind."""
    return JsonError(f"expected {expected}, got {shown(obj)}", path=path)
