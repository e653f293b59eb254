"""The classes of construct that the package derives from, with types, which construct lacks.

Without these types a checker believes that every derived class may have any attribute, and reports
no misspelt one. At run time the classes are construct's own.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

__all__ = ["Construct", "ConstructError", "SizeofError"]

if TYPE_CHECKING:

    class ConstructError(Exception):
        """The root of construct's own exceptions."""

        def __init__(self, message: str = ..., path: str | None = ...) -> None: ...

    class SizeofError(ConstructError):
        """The size of a construct was asked for, and it depends on the value."""

    class Construct:
        """What parses, builds and sizes one kind of data, by itself or inside another."""

        name: str | None
        docs: str
        flagbuildnone: bool

        def __init__(self) -> None: ...
        def parse(self, data: bytes, **contextkw: Any) -> Any:
            """The value in the bytes; raises ConstructError."""

        def parse_stream(self, stream: IO[bytes], **contextkw: Any) -> Any:
            """The value in the stream, which stands behind it then; raises ConstructError."""

        def build(self, obj: Any, **contextkw: Any) -> bytes:
            """The bytes of the value; raises ConstructError."""
            ...

        def build_stream(self, obj: Any, stream: IO[bytes], **contextkw: Any) -> Any:
            """Write the bytes of the value to the stream; raises ConstructError."""

        def sizeof(self, **contextkw: Any) -> int:
            """The size in bytes of every value; raises SizeofError where it varies."""
            ...

        def _parse(self, stream: IO[bytes], context: Any, path: str) -> Any: ...
        def _build(self, obj: Any, stream: IO[bytes], context: Any, path: str) -> Any: ...
        def _sizeof(self, context: Any, path: str) -> int: ...

        def __rtruediv__(self, name: str) -> Any:
            """Under that name, for a ``construct.Struct``."""

else:
    from construct import Construct, ConstructError, SizeofError
