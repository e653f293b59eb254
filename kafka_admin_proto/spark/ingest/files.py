"""Capture files wherever pyarrow reaches: which there are, in which order, in which parts."""

from __future__ import annotations

import glob
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, NamedTuple, Self

import msgspec
from pyarrow import fs

from kafka_admin_proto.capture import request_log
from kafka_admin_proto.capture.captures import first_packet
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.files.opening import is_capture
from kafka_admin_proto.capture.files.splits import split_points, splittable

#: Bytes of a large file that one task reads.
SPLIT_SIZE = 128 * 1024 * 1024
#: Bytes that tell a file from others: they have the times of its first packets.
_START = 1024
#: Files that are looked at side by side when a job is planned.
_LOOKS = 16
#: What a packet's place in the whole capture has of its bits for the place in its file: of 16 GB a
#: rank. A larger file takes several ranks. The others are for ranks, which a stream uses up.
POSITION_BITS = 34
MOST_RANKS = 1 << (63 - POSITION_BITS)

#: What `pyarrow.fs` takes at the end of a URI.
_OPTIONS = re.compile(r"\?[a-z_]+=[^&?]*(&[a-z_]+=[^&?]*)*$")

Kind = Literal["pcap", "log"]


class Fingerprint(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when it was looked at: its size, and a hash of its first bytes."""

    size: int
    start: str

    @classmethod
    def of(cls, head: bytes, size: int) -> Self:
        """Of a file of that size that starts so."""
        return cls(size, hashlib.blake2b(head[:_START], digest_size=16).hexdigest())

    def is_start_of(self, head: bytes) -> bool:
        """Whether a file that starts so starts as this one did, however much was added to it."""
        return self == Fingerprint.of(head[: self.size], self.size)


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """What of a file one task reads: the packets that start in bytes ``start`` to ``end``.

    ``rank`` is the file's place among all files of the capture, ``clock`` the latest time (in
    microseconds) at which any file up to this one starts. Packets are ``numbered`` one by one where
    nobody knows how many bytes the file has: it is compressed. Of a file that is ``as_planned``
    nothing else is read. A ``problem`` is told in the place of all packets.
    """

    file: str
    rank: int
    kind: Kind
    start: int
    end: int
    clock: int = 0
    numbered: bool = False
    as_planned: Fingerprint | None = None
    problem: str | None = None


class Found(NamedTuple):
    """A file that is there, when it changed in microseconds since 1970 (0: unknown), its bytes."""

    name: str
    changed: int
    size: int


def list_files(paths: Iterable[str]) -> list[str]:
    """The files that paths and URIs name: files, folders with all below them, local patterns.

    Hidden files, and those whose names start with an underscore, are for others. Raises
    FileNotFoundError for a path that leads nowhere, ValueError for a URI with a password in it.
    """
    return list(dict.fromkeys(each.name for each in find_files(paths)))


def find_files(paths: Iterable[str], *, more_to_come: bool = False) -> Iterator[Found]:
    """The same files, and what of them is known without a look.

    Where there are ``more_to_come``, a pattern may match none yet.
    """
    for path in paths:
        pattern = _is_pattern(path)
        names = sorted(glob.glob(path)) if pattern else [path]
        if not names and not more_to_come:
            raise FileNotFoundError(f"no file matches {path}")
        for name in names:
            try:
                yield from _below(name)
            except FileNotFoundError:
                # It is gone since the pattern was matched.
                if not (pattern and more_to_come):
                    raise


def _is_pattern(path: str) -> bool:
    """A name that has a bracket, as a shell hands it on, is the file's that is there."""
    return glob.has_magic(path) and "://" not in path and not Path(path).exists()


def _below(name: str) -> Iterator[Found]:
    system, path = located(name)
    info = system.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"there is no {name}")
    if info.type == fs.FileType.File:
        yield _found(name, info)
        return
    base = path.rstrip("/")
    below = system.get_file_info(fs.FileSelector(path, recursive=True))
    for each in sorted(below, key=lambda info: info.path):
        rest = each.path[len(base) :]
        hidden = any(part.startswith((".", "_")) for part in Path(rest).parts)
        if each.type == fs.FileType.File and not hidden:
            yield _found(_joined(name, rest), each)


def _found(name: str, info: fs.FileInfo) -> Found:
    return Found(name, 0 if info.mtime_ns is None else info.mtime_ns // 1000, info.size)


class OpenFile:
    """A file that is read from any place. Raises OSError where it cannot be."""

    def __init__(self, name: str) -> None:
        system, path = located(name)
        self.native = system.open_input_file(path)
        self.size: int = self.native.size()

    def read_at(self, offset: int, size: int) -> bytes:
        data: bytes = self.native.read_at(min(size, self.size - offset), offset)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about_error: object) -> None:
        self.native.close()


def open_part(part: Part) -> OpenFile:
    """The file of a part, as large as it was when that was planned. Raises OSError if it cannot be
    opened, or is another one now.
    """
    file = OpenFile(part.file)
    planned = part.as_planned
    if planned is not None:
        if not planned.is_start_of(file.read_at(0, _START)):
            file.native.close()
            raise OSError("another file took the place of this one before it was read")
        file.size = min(file.size, planned.size)
    return file


def open_stream(name: str) -> io.BufferedReader:
    """A file from its start."""
    return io.BufferedReader(OpenFile(name).native, SAMPLE_BYTES)


def located(name: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and where it is there. Raises ValueError for a password."""
    scheme, found, rest = name.partition("://")
    if not found:
        return _local(), name
    if scheme == "file":
        return _remote(scheme, "", "")[0], fs.FileSystem.from_uri(name)[1]
    path, options = split_options(rest)
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
    path, options = split_options(name)
    return path.rstrip("/") + rest + options


def split_options(name: str) -> tuple[str, str]:
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


class Look(msgspec.Struct, frozen=True, order=True):
    """What the start of a file says of it. One that is ``empty`` has no packet for certain."""

    first: int
    name: str
    kind: Kind = "pcap"
    parts: tuple[tuple[int, int], ...] = ((0, 0),)
    numbered: bool = True
    fingerprint: Fingerprint | None = None
    empty: bool = False
    problem: str | None = None

    @property
    def ranks(self) -> int:
        """How many ranks its packets' places take."""
        return 1 if self.numbered else 1 + (self.parts[-1][1] >> POSITION_BITS)


def plan(names: Sequence[str], split_size: int = SPLIT_SIZE) -> list[Part]:
    """The parts of all files, those of a capture in the order of their first packets.

    A file that cannot be opened is a part as well, which says why.
    """
    parts = parts_of(look_at(names, split_size))
    return [msgspec.structs.replace(part, as_planned=None) for part in parts]


def look_at(names: Sequence[str], split_size: int) -> list[Look]:
    """Looks at all files, in the order of their first packets."""
    with ThreadPoolExecutor(_LOOKS) as pool:
        return sorted(pool.map(partial(_look, split_size=split_size), names))


def parts_of(looks: Iterable[Look], first_rank: int = 0) -> list[Part]:
    """The parts of files; ``first_rank`` is the one after those of the files before them."""
    parts = []
    rank, clock = first_rank, 0
    for look in looks:
        clock = max(clock, look.first)
        parts += [
            Part(
                look.name, rank, look.kind, *each, clock, look.numbered, look.fingerprint,
                look.problem,
            )
            for each in look.parts
        ]  # fmt: skip
        rank += look.ranks
    if rank > MOST_RANKS:
        raise ValueError(f"{rank} files or pieces of 16 GB; a capture has at most {MOST_RANKS}")
    return parts


def starts_as(name: str, before: Fingerprint) -> bool:
    """Whether a file starts as it did, as far as that can be told now."""
    try:
        with OpenFile(name) as file:
            return before.is_start_of(file.read_at(0, _START))
    except OSError:
        return False


def _look(name: str, split_size: int) -> Look:
    try:
        with OpenFile(name) as file:
            size = file.size
            head = file.read_at(0, SAMPLE_BYTES)
    except OSError as error:
        return Look(0, name, problem=str(error))
    fingerprint = Fingerprint.of(head, size)
    if not is_capture(head) and request_log.matches(head):
        return Look(0, name, "log", ((0, size),), fingerprint=fingerprint)
    first = first_packet(head)
    return Look(
        0 if first is None else first[0],
        name,
        "pcap",
        tuple(split_points(head, size, split_size)),
        not splittable(head),
        fingerprint,
        first is None and size <= len(head),
    )
