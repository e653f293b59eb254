"""The exchange by flow: tasks that read captures write chunks, tasks that decode read them by flow.

A task that reads writes the chunks of its parts to one file, in a folder that all workers share,
with an index behind them: flows are in buckets by a hash, and the index has a slice for each
bucket. Each task that decodes takes some buckets from all files and has their chunks by flow and
ordinal. So payloads never go through a shuffle of Spark's, which took longer than to read them.
The driver knows the bytes of each bucket, so that tasks are of one size and the largest start
first, with the connection in them that has most of a capture.
"""

from __future__ import annotations

import heapq
import os
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from kafka_admin_proto.gc_tuning import tune_gc
from kafka_admin_proto.tables.ingest.chunks import ChunkRow
from kafka_admin_proto.tables.ingest.files import Part
from kafka_admin_proto.tables.ingest.plain_chunks import part_chunks
from kafka_admin_proto.tables.runner import Runner

#: Bytes of captures that one task reads, and bytes of chunks that one task decodes, at least.
_READ_BYTES = 8 * 1024 * 1024
_DECODE_BYTES = 16 * 1024 * 1024
#: Tasks that read, for each core at most: a task costs Spark as much as a megabyte costs to read.
_READS_OF_A_CORE = 16
#: Buckets for each core: as many tasks as that leave the cores idle only for a moment at the end.
_BUCKETS_OF_A_CORE = 32
#: Files of chunks that a task has open at a time.
_OPEN_FILES = 64

_T = TypeVar("_T")


class Slice(msgspec.Struct, frozen=True, array_like=True):
    """Where the index of a bucket is in a file, and how many bytes its chunks have."""

    path: str
    start: int
    size: int
    chunk_bytes: int


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """A chunk in the index: a `ChunkRow`, but that its segments and payload are sizes.

    They are one behind the other in the file, from ``offset`` on.
    """

    flow: bytes
    packet_ordinal: int
    capture: str
    watermark: int
    offset: int
    segments: int
    payload: int
    problem: str | None
    missing: int | None


#: Bucket → its slice of a file.
Slices = dict[int, Slice]
#: The slices of each task that decodes.
Shares = list[list[Slice]]

_entries = msgspec.msgpack.Decoder(list[_Entry])


def exchange(runner: Runner, parts: Sequence[Part], folder: Path) -> Shares:
    """Write the chunks of captures to files in ``folder``, and share them out to tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    buckets = runner.cores * _BUCKETS_OF_A_CORE
    read = partial(write_chunks, folder=str(folder), buckets=buckets)
    shares = balanced(
        parts, lambda part: part.end - part.start, _READ_BYTES, runner.cores * _READS_OF_A_CORE
    )
    files = runner.run(read, shares)
    found = [[slices[bucket] for slices in files if bucket in slices] for bucket in range(buckets)]
    decoded = balanced(
        [each for each in found if each],
        lambda bucket: sum(each.chunk_bytes for each in bucket),
        _DECODE_BYTES,
        buckets,
    )
    return [[each for bucket in share for each in bucket] for share in decoded]


def balanced(
    items: Sequence[_T], size_of: Callable[[_T], int], least: int, most_shares: int
) -> list[list[_T]]:
    """Items in shares of about the same size, those of the largest items first.

    Each share has at least ``least`` bytes, and there are at most ``most_shares`` of them.
    """
    if not items:
        return []
    total = sum(map(size_of, items))
    count = min(len(items), most_shares, max(1, total // least))
    shares: list[list[_T]] = [[] for _ in range(count)]
    taken = [(0, number) for number in range(count)]
    for item in sorted(items, key=size_of, reverse=True):
        size, number = heapq.heappop(taken)
        shares[number].append(item)
        heapq.heappush(taken, (size + size_of(item), number))
    return sorted(shares, key=lambda share: sum(map(size_of, share)), reverse=True)


def write_chunks(parts: Sequence[Part], folder: str, buckets: int) -> Slices:
    """What a task does that reads: write the chunks of its parts, and say where they are.

    Another try of the task has another file; the one that counts is named by what it returns.
    """
    tune_gc()
    path = f"{folder}/{uuid.uuid4().hex}.chunks"
    index: dict[int, list[_Entry]] = {}
    offset = 0
    with open(path, "wb") as file:
        for part in parts:
            for (
                capture, ordinal, watermark, flow, segments, payload, problem, missing
            ) in part_chunks(part):  # fmt: skip
                segments, payload = segments or b"", payload or b""
                entry = _Entry(
                    flow, ordinal, capture, watermark, offset, len(segments), len(payload), problem,
                    missing,
                )  # fmt: skip
                index.setdefault(zlib.crc32(flow) % buckets, []).append(entry)
                file.write(segments)
                file.write(payload)
                offset += len(segments) + len(payload)
        slices = {}
        for bucket, entries in index.items():
            packed = msgspec.msgpack.encode(entries)
            file.write(packed)
            chunk_bytes = sum(each.segments + each.payload for each in entries)
            slices[bucket] = Slice(path, offset, len(packed), chunk_bytes)
            offset += len(packed)
    return slices


def read_chunks(slices: Sequence[Slice]) -> Iterator[ChunkRow]:
    """The chunks of slices by flow and ordinal. Memory holds one of them, and the index."""
    found = [(entry.flow, entry.packet_ordinal, path, entry) for path, entry in _read_index(slices)]
    found.sort(key=lambda each: each[:2])
    files: dict[str, int] = {}
    try:
        for _, _, path, entry in found:
            if entry.problem is not None:
                segments = payload = None
            else:
                file = files.get(path)
                if file is None:
                    if len(files) >= _OPEN_FILES:
                        _close(files)
                    file = files[path] = os.open(path, os.O_RDONLY)
                segments = os.pread(file, entry.segments, entry.offset)
                payload = os.pread(file, entry.payload, entry.offset + entry.segments)
            yield (
                entry.capture, entry.packet_ordinal, entry.watermark, entry.flow, segments, payload,
                entry.problem, entry.missing,
            )  # fmt: skip
    finally:
        _close(files)


def _read_index(slices: Sequence[Slice]) -> Iterator[tuple[str, _Entry]]:
    for each in sorted(slices, key=lambda each: (each.path, each.start)):
        with open(each.path, "rb") as file:
            file.seek(each.start)
            for entry in _entries.decode(file.read(each.size)):
                yield each.path, entry


def _close(files: dict[str, int]) -> None:
    for file in files.values():
        os.close(file)
    files.clear()
