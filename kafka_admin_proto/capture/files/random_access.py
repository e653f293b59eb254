"""Files that can be read at any offset, as in an object store."""

from __future__ import annotations

from typing import Protocol

from kafka_admin_proto.capture.files.buffered import BufferedSource

#: Bytes of one read: each request to an object store takes a while, however small it is.
_PIECE = 2 * 1024 * 1024


class RandomAccess(Protocol):
    """A file that can be read at any offset."""

    @property
    def size(self) -> int: ...

    def read_at(self, offset: int, size: int, /) -> bytes:
        """Read ``size`` bytes; fewer only at the end of the file. Raises OSError."""
        ...


class BufferedFile(BufferedSource):
    """Reads a file from an offset up to the size that it has now.

    Unlike a stream, it raises errors, so that a task that fails can be run again.
    """

    def __init__(self, file: RandomAccess, offset: int, data: bytes = b"") -> None:
        """``data`` are bytes from ``offset`` on that were read before."""
        self._file = file
        super().__init__(self)
        self.passed = offset
        self.data = data
        self._next_offset = offset + len(data)
        #: The error of a failed read, which a decompressor may have taken for the end of the file.
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
