"""Capture files on any file system of pyarrow: listed, probed, and planned as parts for tasks.

`listed_files` finds the files, `probe_files` reads the start of each and sorts them by their first
packets, and `parts_of` gives each part the rank and the watermark that its packets carry.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, Self

import msgspec
from pyarrow import NativeFile, fs

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.capture import request_log_lines
from kafka_admin_proto.capture.captures import first_packet
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.files.opening import is_capture
from kafka_admin_proto.capture.files.splits import split_points, splittable
from kafka_admin_proto.capture.sources import PCAP, REQUEST_LOG
from kafka_admin_proto.counts import counted
from kafka_admin_proto.tables.ingest.locations import (
    absolute,
    is_hidden,
    is_pattern,
    located,
    matches,
    split_options,
)
from kafka_admin_proto.tables.ingest.unopened import unopened_problem
from kafka_admin_proto.tables.ingest.uris import OF_FILES, local_name

#: Bytes of a large file that one task reads.
SPLIT_SIZE = 128 * 1024 * 1024
#: Bytes at the start of a file of which the fingerprint is made: they have the times of its first
#: packets, by which rotated captures differ.
_FINGERPRINT_BYTES = 1024
#: Files that are probed side by side when a job is planned.
PARALLEL_PROBES = 16
#: The low bits of a packet ordinal: the packet's position in its file, up to 16 GB. The bits above
#: are the file's rank. A larger file takes several ranks, and a stream gives each file new ranks.
POSITION_BITS = 34
MOST_RANKS = 1 << (63 - POSITION_BITS)

Kind = Literal["pcap", "log"]
#: The formats of inputs, and the kinds of their files; "auto" tells them by their first bytes.
INPUT_FORMATS: Mapping[str, Kind | None] = {"auto": None, PCAP: "pcap", REQUEST_LOG: "log"}


class Fingerprint(msgspec.Struct, frozen=True, array_like=True):
    """The size of a file when it was probed, and a hash of its first bytes."""

    size: int
    start: str

    @classmethod
    def of(cls, head: bytes, size: int) -> Self:
        return cls(size, hashlib.blake2b(head[:_FINGERPRINT_BYTES], digest_size=16).hexdigest())

    def is_start_of(self, head: bytes) -> bool:
        return self == Fingerprint.of(head[: self.size], self.size)


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a file that one task reads: the packets that start in bytes ``start`` to ``end``.

    ``rank`` orders the files of a capture; it is the high bits of packet ordinals. ``watermark`` is
    the latest time, in microseconds, at which any file up to this one starts. The packets of a
    compressed file are ``numbered`` one by one, as its size is not known before it is read.
    Where ``as_planned`` is given, the file is read only if it still has that fingerprint, and only
    up to that size. A part with a ``problem`` yields the problem and no packets.
    """

    file: str
    rank: int
    kind: Kind
    start: int
    end: int
    watermark: int = 0
    numbered: bool = False
    as_planned: Fingerprint | None = None
    problem: str | None = None


class ListedFile(NamedTuple):
    """A file in a listing: its name, its change time in microseconds since 1970 (0 if the file
    system does not say), and its size in bytes.
    """

    name: str
    changed: int
    size: int


def list_files(paths: Iterable[str]) -> list[str]:
    """The files that paths and URIs name: files, folders with all below them, local patterns.

    Local names are absolute: workers have other current folders than the driver. Hidden files, and
    files whose names start with an underscore, are left out. Raises FileNotFoundError for a path
    that does not exist, ValueError for a URI with a password in it, or of another machine's files.
    """
    return list(dict.fromkeys(each.name for each in listed_files(paths)))


def listed_files(paths: Iterable[str], *, more_to_come: bool = False) -> Iterator[ListedFile]:
    """The same files with their change times and sizes; no file is opened.

    With ``more_to_come``, for streams, a pattern may match no file yet.
    """
    for path in listed(paths, "paths"):
        pattern = is_pattern(path)
        if path.startswith(OF_FILES):  # names of files are not percent-encoded from here on
            path = local_name(path)
        names = matches(path) if pattern else [path]
        if not names and not more_to_come:
            raise FileNotFoundError(f"no file matches {path}")
        for name in names:
            try:
                yield from _below(name)
            except FileNotFoundError:
                # The file was removed after the pattern had matched it.
                if not (pattern and more_to_come):
                    raise


def _below(name: str) -> Iterator[ListedFile]:
    system, path = located(name)
    info = system.get_file_info(path)
    is_local = isinstance(system, fs.LocalFileSystem)
    if info.type == fs.FileType.NotFound and not (is_local and os.path.islink(path)):
        raise FileNotFoundError(f"there is no {name}")
    if info.type != fs.FileType.Directory:
        yield _listed(name, info)
        return
    base = path.rstrip("/")
    below = system.get_file_info(fs.FileSelector(path, recursive=True))
    if is_local:
        found = {each.path for each in below}
        below += system.get_file_info([*_links_to_nowhere(path, found)])
    for each in sorted(below, key=lambda info: info.path):
        rest = each.path[len(base) :]
        hidden = any(map(is_hidden, Path(rest).parts))
        if each.type in (fs.FileType.File, fs.FileType.NotFound) and not hidden:
            yield _listed(_joined(name, rest), each)


def _links_to_nowhere(folder: str, found: Container[str]) -> Iterator[str]:
    """Links that are not ``found``, as Arrow leaves them out: files that cannot be opened."""
    for path, _, names in os.walk(folder):
        for each in names:
            link = os.path.join(path, each)
            if link not in found and os.path.islink(link) and not os.path.exists(link):
                yield link


def _listed(name: str, info: fs.FileInfo) -> ListedFile:
    return ListedFile(
        absolute(name), 0 if info.mtime_ns is None else info.mtime_ns // 1000, info.size or 0
    )


class OpenFile:
    """An open file that is read at any offset. Raises OSError if it cannot be opened."""

    def __init__(self, name: str) -> None:
        system, path = located(name)
        self.native: NativeFile = system.open_input_file(path)
        self.size: int = self.native.size()

    def read_at(self, offset: int, size: int) -> bytes:
        data: bytes = self.native.read_at(min(size, self.size - offset), offset)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about_error: object) -> None:
        self.native.close()


def open_part(part: Part) -> OpenFile:
    """Open the file of a part, with the size that it had when the part was planned.

    Raises OSError if the file cannot be opened, or was replaced by another one.
    """
    file = _opened(part.file, part.start)
    planned = part.as_planned
    if planned is not None:
        if not planned.is_start_of(file.read_at(0, _FINGERPRINT_BYTES)):
            file.native.close()
            raise OSError("another file took the place of this one before it was read")
        file.size = min(file.size, planned.size)
    return file


def require_open(part: Part) -> None:
    """Raise OSError where a part cannot be opened, or could not be when it was planned."""
    if part.problem is not None:
        raise OSError(part.problem)
    open_part(part).native.close()


def open_stream(name: str) -> io.BufferedReader:
    return io.BufferedReader(_opened(name).native, SAMPLE_BYTES)


def _opened(name: str, start: int = 0) -> OpenFile:
    """Open a file for a task that reads it from byte ``start`` on."""
    try:
        return OpenFile(name)
    except OSError as error:
        raise OSError(unopened_problem(name, error, start)) from None


def _joined(name: str, rest: str) -> str:
    """The name of a file below a folder: ``rest`` goes in front of the URI's options."""
    path, options = split_options(name)
    return path.rstrip("/") + rest + options


class FileProbe(msgspec.Struct, frozen=True, order=True):
    """The result of reading the start of a file; probes sort by the time of the ``first`` packet.

    ``parts`` are the byte ranges for tasks. ``empty`` means that the file certainly has no packet.
    """

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
        """The number of ranks that the ordinals of its packets take up."""
        return 1 if self.numbered else 1 + (self.parts[-1][1] >> POSITION_BITS)


def plan(
    names: Sequence[str], split_size: int = SPLIT_SIZE, input_format: str = "auto"
) -> list[Part]:
    """The parts of all files, in the order of the files' first packets.

    A file that cannot be opened is a part with a ``problem``. Raises ValueError for a format that
    is none of `INPUT_FORMATS`.
    """
    parts = parts_of(probe_files(names, split_size, input_format))
    return [msgspec.structs.replace(part, as_planned=None) for part in parts]


def probe_files(
    names: Sequence[str], split_size: int, input_format: str = "auto"
) -> list[FileProbe]:
    """Probe all files; the result is in the order of their first packets.

    Raises ValueError for a format that is none of `INPUT_FORMATS`.
    """
    probe = partial(_probe, split_size=split_size, kind=kind_of_format(input_format))
    with ThreadPoolExecutor(PARALLEL_PROBES) as pool:
        return sorted(pool.map(probe, names))


def kind_of_format(input_format: str) -> Kind | None:
    """The kind of all files of a format. Raises ValueError for one that there is not."""
    if input_format not in INPUT_FORMATS:
        raise ValueError(
            f"there is no input format {input_format!r}; there are {', '.join(INPUT_FORMATS)}"
        )
    return INPUT_FORMATS[input_format]


def parts_of(probes: Iterable[FileProbe], first_rank: int = 0) -> list[Part]:
    """The parts of files that were probed; the first file gets the rank ``first_rank``."""
    parts = []
    rank, watermark = first_rank, 0
    for probe in probes:
        watermark = max(watermark, probe.first)
        parts += [
            Part(
                probe.name, rank, probe.kind, *each, watermark, probe.numbered, probe.fingerprint,
                probe.problem,
            )
            for each in probe.parts
        ]  # fmt: skip
        rank += probe.ranks
    if rank > MOST_RANKS:
        raise ValueError(
            f"{counted(rank, 'files')} or pieces of 16 GB; a capture has at most {MOST_RANKS}"
        )
    return parts


def starts_as(name: str, before: Fingerprint) -> bool:
    """Whether a file still has the fingerprint ``before``; False if it cannot be opened."""
    try:
        with OpenFile(name) as file:
            return before.is_start_of(file.read_at(0, _FINGERPRINT_BYTES))
    except OSError:
        return False


def _probe(name: str, split_size: int, kind: Kind | None) -> FileProbe:
    try:
        with OpenFile(name) as file:
            size = file.size
            head = file.read_at(0, SAMPLE_BYTES)
    except OSError as error:
        return FileProbe(0, name, problem=unopened_problem(name, error))
    fingerprint = Fingerprint.of(head, size)
    if kind is None:
        is_log = not is_capture(head) and request_log_lines.matches(head)
        kind = "log" if is_log else "pcap"
    if kind == "log":
        return FileProbe(0, name, "log", ((0, size),), fingerprint=fingerprint)
    first = first_packet(head)
    return FileProbe(
        0 if first is None else first[0],
        name,
        "pcap",
        tuple(split_points(head, size, split_size)),
        not splittable(head),
        fingerprint,
        first is None and size <= len(head),
    )
