"""Paths, patterns and URIs of files, and the file systems of pyarrow that they are on."""

from __future__ import annotations

import glob
import re
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from pyarrow import fs

from kafka_admin_proto.tables.ingest.uris import OF_FILES, is_uri, local_name

#: The options that `pyarrow.fs` accepts at the end of a URI.
_URI_OPTIONS = re.compile(r"\?[a-z_]+=[^&?]*(&[a-z_]+=[^&?]*)*$")


def matches(pattern: str) -> list[str]:
    """The files and folders that a local pattern matches; ``**`` stands for any folders.

    Of those that only wildcards reach, hidden ones are left out, and others as in a folder.
    """
    found = sorted(glob.glob(pattern, recursive=True))
    parts = Path(pattern).parts
    if "**" not in parts:
        return found
    named = list(filter(is_hidden, parts))
    return [
        name
        for name in found
        if not any(
            is_hidden(part) and not any(fnmatchcase(part, each) for each in named)
            for part in Path(name).parts
        )
    ]


def is_hidden(part: str) -> bool:
    """Whether a file or folder of that name is left out where it is not named."""
    return part.startswith((".", "_"))


def absolute(path: str) -> str:
    """A path or pattern of this process as one that holds in any folder; a URI as it is."""
    if not path or is_uri(path) or Path(path).is_absolute():
        return path
    here = str(Path.cwd())
    return str(Path(glob.escape(here) if is_pattern(path) else here, path))


def is_pattern(path: str) -> bool:
    """Whether a path has wildcards. A file that exists is taken by its name, brackets included."""
    return glob.has_magic(path) and not is_uri(path) and not Path(path).exists()


def located(name: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path on it. Raises ValueError for a password."""
    if not is_uri(name):
        return _local(), name
    if name.startswith(OF_FILES):
        return _local(), local_name(name)
    scheme, _, rest = name.partition(":")
    path, options = split_options(rest.removeprefix("//"))
    bucket, _, key = path.partition("/")
    if ":" in bucket.rpartition("@")[0]:
        raise ValueError(
            f"{scheme}://…@{bucket.rpartition('@')[2]}: the tables would show the key in this URI; "
            "keep it where the store's own tools look, as in AWS_SECRET_ACCESS_KEY"
        )
    system, root = _remote(scheme, bucket, options)
    return system, f"{root.rstrip('/')}/{key}" if key else root


def split_options(name: str) -> tuple[str, str]:
    """Split a URI, or its part after the scheme, from its options (``?region=…``).

    File names are not percent-encoded, so any other question mark belongs to the name.
    """
    found = _URI_OPTIONS.search(name)
    return (name, "") if found is None else (name[: found.start()], found[0])


@lru_cache(maxsize=1)
def _local() -> fs.FileSystem:
    return fs.LocalFileSystem(use_mmap=False)


@lru_cache(maxsize=64)
def _remote(scheme: str, bucket: str, options: str) -> tuple[fs.FileSystem, str]:
    """The file system of a bucket, and the path of the bucket's root on it. Raises OSError."""
    # Hadoop's names of the same stores.
    scheme = "s3" if scheme in ("s3a", "s3n") else scheme
    try:
        system, root = fs.FileSystem.from_uri(f"{scheme}://{bucket}/{options}")
    except OSError as error:
        line, *places = str(error).splitlines()
        if not places:
            raise
        raise OSError(
            f"{scheme}://{bucket}: {line}; Hadoop's client has to be on this machine, where "
            "JAVA_HOME, HADOOP_HOME and CLASSPATH say"
        ) from None
    return system, root
