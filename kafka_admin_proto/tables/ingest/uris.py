"""URIs among the names of inputs and outputs, without pyarrow: commands check them first."""

from __future__ import annotations

import re
from urllib.parse import unquote

#: The start of a URI of a local file, as Spark and Java write it.
OF_FILES = "file:/"
#: A scheme of one letter would be a drive.
_URI = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)


def is_uri(name: str) -> bool:
    """Whether a name is a URI, such as ``s3://bucket/key`` or ``file:/captures``."""
    return _URI.match(name) is not None


def local_name(uri: str) -> str:
    """The path of a URI of a local file. Raises ValueError for one of another machine."""
    path = uri.removeprefix("file:")
    if path.startswith("//"):
        machine, _, path = path[2:].partition("/")
        if machine not in ("", "localhost"):
            raise ValueError(f"{uri} names the machine {machine}: only files of this one are read")
        path = f"/{path}"
    return unquote(path)
