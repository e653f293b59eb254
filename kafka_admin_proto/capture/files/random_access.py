"""Files that are read from any place: of this machine, or of an object store."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Protocol, Self

from kafka_admin_proto.capture.files.buffered import BufferedSource

#: What is read at once: an object store takes a while for any answer.
_PIECE = 2 * 1024 * 1024


class RandomAccess(Protocol):
    """A file that is read from any place."""

    @property
    def size(self) -> int: ...

    def read_at(self, offset: int, size: int, /) -> bytes:
        """So many bytes, fewer only where the file ends. Raises OSError."""
        ...


class LocalFile:
    """A file of this machine. Raises OSError where it cannot be read."""

    def __init__(self, name: str | os.PathLike[str]) -> None:
        self._file = open(name, "rb", buffering=0)  # noqa: SIM115 (see ``close``)
        self.size: int = os.fstat(self._file.fileno()).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        parts = []
        while size > 0 and (part := self._file.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class BufferedFile(BufferedSource):
    """Reads a file on from a byte, up to the size that it has now.

    Errors come out, unlike those of a stream: whoever reads may try again.
    """

    def __init__(self, file: RandomAccess, offset: int, data: bytes = b"") -> None:
        """``data`` are the bytes there, as far as they were read already."""
        self._file = file
        super().__init__(self)
        self.passed = offset
        self.data = data
        self._next_offset = offset + len(data)
        #: Why reading failed, for when a decompressor takes it for the end.
        self.error: OSError | None = None

    def read(self, size: int, /) -> bytes:
        size = min(max(size, _PIECE), self._file.size - self._next_offset)
        if size <= 0:
            return b""
        try:
            piece = self._file.read_at(self._next_offset, size)
        except OSError as error:
            self.error = error
            raise
        self._next_offset += len(piece)
        return piece

    def _next(self, size: int) -> bytes:
        return self.read(size)
