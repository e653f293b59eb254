"""Local paths as Spark takes them.

A path alone is one of the cluster's default file system (``fs.defaultFS``), while Python writes to
this machine's; and what is read is a pattern. Names in these URIs are as they are: Hadoop's Path
takes ``%20`` for three characters.
"""

from __future__ import annotations

import re
from pathlib import Path

_MEANT = re.compile(r"([\[\]{}*?\\])")


def to_write(path: Path) -> str:
    """Where Spark is to write, or to keep something."""
    return f"file://{path.absolute()}"


def to_read(path: Path) -> str:
    """What Spark is to read: this path and no other."""
    return _MEANT.sub(r"\\\1", to_write(path))
