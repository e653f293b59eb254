"""Log segments (``*.log``) and snapshots (``*.checkpoint``), read batch by batch.

    for found in read_segment("fruit-0/00000000000000000000.log"):
        found                        # a Batch, or a Gap: bytes that are none

A file of any size takes the memory of its largest batch. What is damaged is reported where it
stands, and the reading goes on at the next batch that its checksum vouches for.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

import msgspec

from kafka_admin_proto.errors import DecodeError, KafkaAdminProtoError
from kafka_admin_proto.records.batches.batches import Batch, read_records
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.message_sets import LOG_OVERHEAD, SMALLEST
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC

Source = str | os.PathLike[str] | IO[bytes]

#: Bytes of a batch beyond which its length is taken for damage; brokers' max.message.bytes is
#: 1 MiB unless set otherwise.
DEFAULT_BATCH_LIMIT = 128 << 20

#: Up to magic, which is all that is needed to tell what the rest is.
_PREFIX = 17
_SMALLEST_V2 = 61 - LOG_OVERHEAD
_CHUNK = 1 << 18
#: Bytes of candidates that may fail their checksum for each chunk that a search passes: of those
#: behind which a batch may begin, and of all others.
_CHECKED_LIKELY = 8 << 20
_CHECKED_OTHERS = 2 << 20
#: Where a batch or message may begin: its fixed fields as they are in any real log. The length is
#: below 1 GiB and not zero, as it is all through preallocated space.
_CANDIDATE = re.compile(
    rb"(?=\x00\x00.{6}(?!\x00{4})[\x00-\x3f].{3}"
    rb"(?:.{4}\x02.{4}\x00[\x00-\x7f][\x00-\x7f].{33}[\x00-\x7f].{3}|.{4}[\x00\x01][\x00-\x0f]))",
    re.DOTALL,
)
_LONGEST_CANDIDATE = 61
#: Faults that are told apart.
_LAST = "the last batch"
_ZEROS = "there are zeros"


class Gap(msgspec.Struct, frozen=True):
    """``size`` bytes at ``position`` that are no batch.

    ``preallocated``: zeros to the end of the file, as a broker with ``log.preallocate`` leaves
    them; ``truncated``: a last batch that was not written to its end; ``damaged``: anything else.
    """

    position: int
    size: int
    what: Literal["preallocated", "truncated", "damaged"]
    text: str

    @property
    def is_problem(self) -> bool:
        """Whether something is missing: not so in space that is free."""
        return self.what != "preallocated"


def read_segment(source: Source, *, limit: int = DEFAULT_BATCH_LIMIT) -> Iterator[Batch | Gap]:
    """The batches of a log segment or snapshot in the order of the file, and what is none.

    ``source`` is a path or a stream of bytes, which stays open. ``offset_in_data`` of a batch is
    its position in the file; one with a fault in it has the ``error`` (its offset counts from the
    file's start) and the records before that. Raises OSError where the file cannot be read, and
    nothing for what is in it.
    """
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as stream:
            yield from _Reader(stream, limit).read()
    else:
        yield from _Reader(source, limit).read()


def topic_of(path: str | os.PathLike[str]) -> str | None:
    """The topic whose log a segment belongs to, from its folder (``fruit-0``); None if none.

    Folders of logs that are about to go (``fruit-0.ID-delete``) or to come in (``-future``,
    ``-stray``) count too. Snapshots (``*.checkpoint``) are of the metadata log, wherever they are.
    """
    if re.search(r"\.checkpoint(?:\.deleted)?$", Path(path).name):
        return METADATA_TOPIC
    folder = Path(path).absolute().parent.name
    match = re.fullmatch(r"(.+)-\d+(?:\.[0-9a-f]+-(?:delete|future|stray))?", folder)
    return match[1] if match else None


class _Window:
    """The part of a stream that is being looked at; ``position`` is that of its first byte."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ended = False
        self.data = bytearray()
        self.position = 0

    def fill(self, size: int) -> int:
        """Have ``size`` bytes in ``data`` or, where the stream ends before, all; how many."""
        while len(self.data) < size and not self._ended:
            # In pieces: a length that lies makes no more room than there are bytes.
            piece = self._stream.read(min(max(size - len(self.data), _CHUNK), 1 << 20))
            self._ended = not piece
            self.data += piece
        return min(size, len(self.data))

    def drop(self, size: int) -> None:
        del self.data[:size]
        self.position += size


class _Allowance:
    """Bytes that a search may check in vain: ``amount`` for each chunk of the file it passes.

    So checking takes time in proportion to the file, and no false beginning, however long it says
    that it is, is in the way of what comes chunks later. ``longest`` is the largest single piece;
    what goes beyond the amount is made up for by the next chunks.
    """

    def __init__(self, amount: int, longest: int) -> None:
        self._amount = self._left = amount
        self._longest = longest
        self._chunk = 0

    def take(self, size: int, position: int) -> bool:
        """Whether ``size`` bytes may be checked, at that position of the file."""
        if self.is_spent(position) or size > self._longest:
            return False
        self._left -= size
        return True

    def is_spent(self, position: int) -> bool:
        """Whether nothing is left of it at that position of the file."""
        chunk = position // _CHUNK
        self._left = min(self._left + (chunk - self._chunk) * self._amount, self._amount)
        self._chunk = chunk
        return self._left <= 0

    def give_back(self, size: int) -> None:
        """They were not in vain."""
        self._left += size


class _Reader:
    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._window = _Window(stream)
        self._limit = limit
        self._likely = _Allowance(_CHECKED_LIKELY, limit)
        self._others = _Allowance(_CHECKED_OTHERS, _CHECKED_OTHERS)

    def read(self) -> Iterator[Batch | Gap]:
        window = self._window
        while window.fill(_PREFIX):
            fault = self._fault(0)
            if fault:
                yield from self._search(fault)
                continue
            size = self._size(0)
            left = window.fill(size)
            if left < size:
                yield from self._search(f"{_LAST} needs {size} bytes, and {left} are left")
                continue
            if not self._may_follow(size) and self._likely.is_spent(window.position):
                text = f"its length is {size - LOG_OVERHEAD}, and there nothing follows"
                yield from self._search(text, skip=1)
                continue
            batch = self._batch(bytes(window.data[:size]), window.position)
            if batch.error is None or self._is_whole(size):
                yield batch
                window.drop(size)
            else:  # its length may be what is damaged: the next one may begin inside of it
                self._likely.take(size, window.position)
                yield from self._search(str(batch.error), skip=1)

    def _is_whole(self, size: int) -> bool:
        """Whether the faulty batch at hand ends where it says."""
        if _checksum_holds(self._window.data, 0, size) or self._window.fill(size + 1) == size:
            return True
        self._window.fill(size + _PREFIX)
        if self._fault(size) == _ZEROS:
            return True
        following = self._size_if_whole(size)
        return bool(following) and _checksum_holds(self._window.data, size, following)

    def _may_follow(self, at: int) -> bool:
        """Whether a batch may begin at ``at``, or the file ends there."""
        return self._window.fill(at + _PREFIX) == at or not self._fault(at)

    def _size_if_whole(self, at: int) -> int:
        """The size of the batch that may begin at ``at``; 0 if none can, or not all is there."""
        if self._fault(at):
            return 0
        size = self._size(at)
        return size if self._window.fill(at + size) == at + size else 0

    def _batch(self, data: bytes, position: int) -> Batch:
        found = read_records(data)
        if not found.batches:
            return Batch(
                size=len(data), offset_in_data=position, error=_moved(found.error, position)
            )
        (batch,) = found.batches
        batch.offset_in_data = position
        batch.error = _moved(batch.error, position)
        return batch

    def _fault(self, at: int) -> str:
        """Why no batch begins at ``at`` in the window; "" where one may."""
        data = self._window.data[at : at + _PREFIX]
        if len(data) < _PREFIX:
            return f"{_LAST} needs {_PREFIX} bytes and more, and {len(data)} are left"
        magic = data[16]
        length = int.from_bytes(data[8:12], "big", signed=True)
        least = SMALLEST if magic < 2 else _SMALLEST_V2
        if not any(data):
            return _ZEROS
        if magic > 2:
            return f"its magic is {magic}; expected 0, 1 or 2"
        if data[0] > 127:
            offset = int.from_bytes(data[:8], "big", signed=True)
            return f"its base offset is {offset}; expected 0 or above"
        if not least <= length <= self._limit - LOG_OVERHEAD:
            return f"its length is {length}; expected {least} to {self._limit - LOG_OVERHEAD}"
        return ""

    def _size(self, at: int) -> int:
        return int.from_bytes(self._window.data[at + 8 : at + 12], "big") + LOG_OVERHEAD

    def _search(self, fault: str, *, skip: int = 0) -> Iterator[Gap]:
        """Pass by what is no batch, up to the next one or the end of the file, and report it.

        ``skip``: bytes at which no batch can begin.
        """
        window = self._window
        start = window.position
        at, only_zeros = skip, True
        ended = False
        while not ended:
            available = window.fill(_CHUNK)
            ended = window.fill(available + 1) == available
            match = _CANDIDATE.search(window.data, at, available)
            if match is None:
                # The last bytes may begin a batch that goes on in the next chunk.
                passed = available if ended else max(at, available - _LONGEST_CANDIDATE)
            else:
                passed, ended = match.start(), False
                if self._is_vouched_for(passed):
                    window.drop(passed)
                    yield self._gap(start, fault, "damaged")
                    return
                at = passed + 1
                if at < _CHUNK // 2:
                    continue
                passed = at
            only_zeros = only_zeros and not window.data[:passed].strip(b"\0")
            window.drop(passed)
            at = 0
        if only_zeros:
            yield self._gap(start, fault, "preallocated")
        else:
            yield self._gap(start, fault, "truncated" if fault.startswith(_LAST) else "damaged")

    def _is_vouched_for(self, at: int) -> bool:
        """Whether a whole batch begins at ``at``, by its checksum and within the allowances."""
        size = self._size_if_whole(at)
        if not size:
            return False
        allowed = self._likely if self._may_follow(at + size) else self._others
        if not allowed.take(size, self._window.position + at):
            return False
        if _checksum_holds(self._window.data, at, size):
            allowed.give_back(size)
            return True
        return False

    def _gap(
        self, start: int, fault: str, what: Literal["preallocated", "truncated", "damaged"]
    ) -> Gap:
        size = self._window.position - start
        text = {
            "preallocated": f"{size} bytes are preallocated and not written yet",
            "truncated": f"the file is cut short: {fault}",
            "damaged": f"no batch: {fault}; {size} bytes passed by",
        }[what]
        return Gap(start, size, what, text)


def _checksum_holds(data: bytearray, start: int, size: int) -> bool:
    """Whether the batch at ``start`` has the checksum that it says."""
    view = memoryview(data)[start : start + size]
    try:
        if view[16] == 2:
            return crc32c(view[21:]) == int.from_bytes(view[17:21], "big")
        return zlib.crc32(view[16:]) == int.from_bytes(view[12:16], "big")
    finally:
        view.release()


def _moved(error: KafkaAdminProtoError | None, position: int) -> KafkaAdminProtoError | None:
    """The error of a batch that was read by itself, as one of the file."""
    if isinstance(error, DecodeError):
        error.offset += position
        error.path = (error.path or "").removeprefix("batches[0]").removeprefix(".")
        error.message = "batch"
    return error
