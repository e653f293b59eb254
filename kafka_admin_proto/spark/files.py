"""Capture files wherever pyarrow reaches: which there are, in which order, in which parts."""

from __future__ import annotations

import glob
import io
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
from kafka_admin_proto.capture.splits import split_points, splittable
from kafka_admin_proto.capture.text import SAMPLE

#: Bytes of a large file that one task reads.
SPLIT_SIZE = 128 * 1024 * 1024
#: Files that are looked at side by side when a job is planned.
_LOOKS = 16
#: What a packet's place in the whole capture has of its bits for the place in its file: of 16 GB a
#: rank. A larger file takes several ranks. The others are for ranks, which a stream uses up.
POSITION_BITS = 34
MOST_RANKS = 1 << (63 - POSITION_BITS)

Kind = Literal["pcap", "log"]


class Part(msgspec.Struct, frozen=True):
    """What of a file one task reads: the packets that start in bytes ``start`` to ``end``.

    ``rank`` is the file's place among all files of the capture, ``clock`` the latest time (in
    microseconds) at which any file up to this one starts. Packets are ``numbered`` one by one where
    nobody knows how many bytes the file has: it is compressed.
    """

    file: str
    rank: int
    kind: Kind
    start: int
    end: int
    clock: int = 0
    numbered: bool = False


def list_files(paths: Iterable[str]) -> list[str]:
    """The files that paths and URIs name: files, folders with all below them, local patterns.

    Hidden files, and those whose names start with an underscore, are for others. Raises
    FileNotFoundError for a path that leads nowhere.
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
            yield name.rstrip("/") + rest, _changed(each)


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
    bucket, _, _ = rest.partition("/")
    system = _remote(scheme, bucket)
    return system, fs.FileSystem.from_uri(name)[1] if scheme == "file" else rest


@lru_cache(maxsize=1)
def _local() -> fs.FileSystem:
    return fs.LocalFileSystem(use_mmap=False)


@lru_cache(maxsize=64)
def _remote(scheme: str, bucket: str) -> fs.FileSystem:
    return fs.FileSystem.from_uri(f"{scheme}://{bucket}/")[0]


class _Look(msgspec.Struct, frozen=True, order=True):
    """What the start of a file says of it."""

    first: int
    name: str
    kind: Kind = "pcap"
    parts: tuple[tuple[int, int], ...] = ((0, 0),)
    numbered: bool = True

    @property
    def ranks(self) -> int:
        """How many ranks its packets' places take."""
        return 1 if self.numbered else 1 + (self.parts[-1][1] >> POSITION_BITS)


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
    parts = []
    rank = first_rank
    for look in looks:
        clock = max(clock, look.first)
        parts += [
            Part(look.name, rank, look.kind, *each, clock, look.numbered) for each in look.parts
        ]
        rank += look.ranks
    if rank > MOST_RANKS:
        raise ValueError(f"{rank} files or pieces of 16 GB; a capture has at most {MOST_RANKS}")
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
    parts = tuple(split_points(head, size, split_size))
    return _Look(first_timestamp(head), name, "pcap", parts, not splittable(head))
