"""Capture files wherever pyarrow reaches: which there are, in which order, in which parts."""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, Self

import msgspec
from pyarrow import fs

from kafka_admin_proto.capture import request_log
from kafka_admin_proto.capture.captures import first_timestamp
from kafka_admin_proto.capture.packet_files import is_capture
from kafka_admin_proto.capture.splits import split_points
from kafka_admin_proto.capture.text import SAMPLE

#: Bytes of a large file that one task reads.
SPLIT_SIZE = 128 * 1024 * 1024
#: Files that are looked at side by side when a job is planned.
_LOOKS = 16
#: What a packet's place in the whole capture has of its bits for the place in its file.
POSITION_BITS = 44
MOST_FILES = 1 << (63 - POSITION_BITS)

#: What `pyarrow.fs` takes at the end of a URI.
_OPTIONS = re.compile(r"\?[a-z_]+=[^&?]*(&[a-z_]+=[^&?]*)*$")

Kind = Literal["pcap", "log"]


class Part(msgspec.Struct, frozen=True):
    """What of a file one task reads: the packets that start in bytes ``start`` to ``end``.

    ``rank`` is the file's place among all files of the capture, ``clock`` the latest time (in
    microseconds) at which any file up to this one starts.
    """

    file: str
    rank: int
    kind: Kind
    start: int
    end: int
    clock: int = 0


def list_files(paths: Iterable[str]) -> list[str]:
    """The files that paths and URIs name: files, folders with all below them, local patterns.

    Hidden files, and those whose names start with an underscore, are for others. Raises
    FileNotFoundError for a path that leads nowhere, ValueError for a URI with a password in it.
    """
    return list(dict.fromkeys(name for name, _ in list_changes(paths)))


def list_changes(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The same files, and when each changed, in seconds since 1970."""
    for path in paths:
        names = sorted(glob.glob(path)) if _is_pattern(path) else [path]
        if not names:
            raise FileNotFoundError(f"no file matches {path}")
        for name in names:
            yield from _below(name)


def _is_pattern(path: str) -> bool:
    """A name that has a bracket, as a shell hands it on, is the file's that is there."""
    return glob.has_magic(path) and "://" not in path and not Path(path).exists()


def _below(name: str) -> Iterator[tuple[str, int]]:
    system, path = _located(name)
    info = system.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"there is no {name}")
    if info.type == fs.FileType.File:
        yield name, _changed(info)
        return
    base = path.rstrip("/")
    below = system.get_file_info(fs.FileSelector(path, recursive=True))
    for each in sorted(below, key=lambda info: info.path):
        rest = each.path[len(base) :]
        hidden = any(part.startswith((".", "_")) for part in Path(rest).parts)
        if each.type == fs.FileType.File and not hidden:
            yield _joined(name, rest), _changed(each)


def _changed(info: fs.FileInfo) -> int:
    return 0 if info.mtime_ns is None else info.mtime_ns // 1_000_000_000


class OpenFile:
    """A file that is read from any place. Raises OSError where it cannot be."""

    def __init__(self, name: str) -> None:
        system, path = _located(name)
        self.native = system.open_input_file(path)
        self.size: int = self.native.size()

    def read_at(self, offset: int, size: int) -> bytes:
        data: bytes = self.native.read_at(min(size, self.size - offset), offset)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about_error: object) -> None:
        self.native.close()


def open_stream(name: str) -> io.BufferedReader:
    """A file from its start."""
    return io.BufferedReader(OpenFile(name).native, SAMPLE)


def _located(name: str) -> tuple[fs.FileSystem, str]:
    scheme, found, rest = name.partition("://")
    if not found:
        return _local(), name
    if scheme == "file":
        return _remote(scheme, "", "")[0], fs.FileSystem.from_uri(name)[1]
    path, options = _taken_apart(rest)
    bucket, _, key = path.partition("/")
    if ":" in bucket.rpartition("@")[0]:
        raise ValueError(
            f"{scheme}://…@{bucket.rpartition('@')[2]}: the tables would show the key in this URI; "
            "keep it where the store's own tools look, as in AWS_SECRET_ACCESS_KEY"
        )
    system, root = _remote(scheme, bucket, options)
    return system, f"{root.rstrip('/')}/{key}" if key else root


def _joined(name: str, rest: str) -> str:
    """The name of what is below a folder."""
    path, options = _taken_apart(name)
    return path.rstrip("/") + rest + options


def _taken_apart(name: str) -> tuple[str, str]:
    """A URI, or what it has after the scheme, without and with its options (``?region=…``).

    Names are as the file system has them, so that other question marks are of the name.
    """
    found = _OPTIONS.search(name)
    return (name, "") if found is None else (name[: found.start()], found[0])


@lru_cache(maxsize=1)
def _local() -> fs.FileSystem:
    return fs.LocalFileSystem(use_mmap=False)


@lru_cache(maxsize=64)
def _remote(scheme: str, bucket: str, options: str) -> tuple[fs.FileSystem, str]:
    """A file system, and where it has the start of the bucket."""
    system, root = fs.FileSystem.from_uri(f"{scheme}://{bucket}/{options}")
    return system, root


class _Look(msgspec.Struct, frozen=True, order=True):
    """What the start of a file says of it."""

    first: int
    name: str
    kind: Kind = "pcap"
    parts: tuple[tuple[int, int], ...] = ((0, 0),)


def plan(
    names: Sequence[str],
    split_size: int = SPLIT_SIZE,
    *,
    first_rank: int = 0,
    clock: int = 0,
) -> list[Part]:
    """The parts of all files, those of a capture in the order of their first packets.

    ``first_rank`` and ``clock`` are where the files before them have come to. A file that cannot be
    opened is a part as well, whose reading says why.
    """
    with ThreadPoolExecutor(_LOOKS) as pool:
        looks = sorted(pool.map(partial(_look, split_size=split_size), names))
    if first_rank + len(looks) > MOST_FILES:
        raise ValueError(f"{first_rank + len(looks)} files; a capture has at most {MOST_FILES}")
    parts = []
    for rank, look in enumerate(looks, first_rank):
        clock = max(clock, look.first)
        parts += [Part(look.name, rank, look.kind, *each, clock) for each in look.parts]
    return parts


def _look(name: str, split_size: int) -> _Look:
    try:
        with OpenFile(name) as file:
            size = file.size
            head = file.read_at(0, SAMPLE)
    except OSError:
        return _Look(0, name)
    if not is_capture(head) and request_log.matches(head):
        return _Look(0, name, "log", ((0, size),))
    return _Look(first_timestamp(head), name, "pcap", tuple(split_points(head, size, split_size)))
