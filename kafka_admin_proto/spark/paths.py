"""Convert local paths to the form that Spark understands.

Spark takes a plain path as one of the cluster's default file system (``fs.defaultFS``), while
Python uses this machine's, and it reads paths as patterns. Names in these URIs are not
percent-encoded: Hadoop's Path takes ``%20`` for three characters.
"""

from __future__ import annotations

import re
from pathlib import Path

_MEANT = re.compile(r"([\[\]{}*?\\])")


def to_write(path: Path) -> str:
    """The path as a URI for Spark to write to."""
    return f"file://{path.absolute()}"


def to_read(path: Path) -> str:
    """The path as a pattern that matches this path only, for Spark to read."""
    return _MEANT.sub(r"\\\1", to_write(path))
