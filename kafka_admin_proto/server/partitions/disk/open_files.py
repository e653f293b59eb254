"""Files of segments, of which only the ones used last are open.

A cluster may have more segments than a process may have open files.
"""

from __future__ import annotations

import errno
import os
from collections import OrderedDict
from pathlib import Path

from kafka_admin_proto.kept_files import open_kept

_MOST_OPEN = 128


class OpenFiles:
    """The descriptors of the files that were used last, by their paths."""

    def __init__(self) -> None:
        self._files: OrderedDict[Path, int] = OrderedDict()

    def descriptor(self, path: Path) -> int:
        """The descriptor of a file that is there. Raises OSError, and KeptFileError for a link."""
        descriptor = self._files.get(path)
        if descriptor is None:
            descriptor = self._files[path] = open_kept(path, os.O_RDWR)
            if len(self._files) > _MOST_OPEN:
                os.close(self._files.popitem(last=False)[1])
        else:
            self._files.move_to_end(path)
        return descriptor

    def close(self, path: Path) -> None:
        found = self._files.pop(path, None)
        if found is not None:
            os.close(found)

    def close_all(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1])


class SegmentFile:
    """The ``.log`` file of a segment at ``path``."""

    def __init__(self, path: Path, files: OpenFiles) -> None:
        self.path: Path = path
        self._files = files

    def read(self, position: int, size_bytes: int) -> bytes:
        """So many bytes from a position on. Raises OSError, also if the file has fewer."""
        data = os.pread(self._files.descriptor(self.path), size_bytes, position)
        while len(data) < size_bytes:
            more = os.pread(
                self._files.descriptor(self.path), size_bytes - len(data), position + len(data)
            )
            if not more:
                ends = position + len(data)
                raise OSError(errno.EIO, f"the file ends at byte {ends}, within a batch", self.path)
            data += more
        return data

    def write(self, position: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._files.descriptor(self.path), rest, position)
            rest, position = rest[written:], position + written

    def truncate(self, size_bytes: int) -> None:
        """Cut the file off behind its first ``size_bytes``. Raises OSError."""
        os.ftruncate(self._files.descriptor(self.path), size_bytes)

    def sync(self) -> None:
        """Wait until the disk has what was written. Raises OSError."""
        os.fsync(self._files.descriptor(self.path))

    def rename(self, path: Path) -> None:
        """Give the file another name in its folder. Raises OSError."""
        self._files.close(self.path)
        os.replace(self.path, path)
        self.path = path
