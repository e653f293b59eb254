"""Log segments (``*.log``) and snapshots (``*.checkpoint``), read batch by batch.

    for found in read_segment("fruit-0/00000000000000000000.log"):
        found                        # a Batch, or a Gap: bytes without a batch

Reading a file of any size takes the memory of its largest batch. Damaged bytes are reported as a
gap, behind which reading continues with the next batch whose checksum is right.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

import msgspec

from kafka_admin_proto.arguments import check_stream
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, KafkaAdminProtoError
from kafka_admin_proto.records.batches.batches import Batch, read_records
from kafka_admin_proto.records.batches.layout import (
    BATCH_HEADER,
    LOG_OVERHEAD,
    MAGIC_AT,
    SMALLEST,
    checksums,
)
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC

Source = str | os.PathLike[str] | IO[bytes]

#: A batch with a larger length is considered damaged; brokers' default of max.message.bytes is
#: 1 MiB.
DEFAULT_BATCH_LIMIT = 128 << 20

#: Bytes up to the magic, which decides the format of the rest.
_PREFIX = MAGIC_AT + 1
_SMALLEST_V2 = BATCH_HEADER.size - LOG_OVERHEAD
_CHUNK = 1 << 18
#: Positions in a file of records are int32 (``FileRecords`` in Kafka).
_MOST_BYTES = (1 << 31) - 1
#: The budgets for each chunk of a search: bytes whose checksums may fail, of candidates behind
#: which another batch may begin, and of all other candidates.
_LIKELY_BUDGET_BYTES = 8 << 20
_OTHER_BUDGET_BYTES = 2 << 20
#: A candidate for the start of a batch or message: fixed fields with plausible values. The length
#: is below 1 GiB, and not zero as in preallocated space.
_CANDIDATE = re.compile(
    rb"(?=\x00\x00.{6}(?!\x00{4})[\x00-\x3f].{3}"
    rb"(?:.{4}\x02.{4}\x00[\x00-\x7f][\x00-\x7f].{33}[\x00-\x7f].{3}|.{4}[\x00\x01][\x00-\x0f]))",
    re.DOTALL,
)
_LONGEST_CANDIDATE = BATCH_HEADER.size
#: The faults that lead to different gaps.
_LAST = "the last batch"
_ZEROS = "there are zeros"


class Gap(msgspec.Struct, frozen=True):
    """``size`` bytes at ``position`` without a batch.

    A gap is ``preallocated`` (zeros up to the end of the file, which a broker with
    ``log.preallocate`` leaves), ``truncated`` (an incomplete last batch), or ``damaged``.
    """

    position: int
    size: int
    what: Literal["preallocated", "truncated", "damaged"]
    text: str

    @property
    def is_problem(self) -> bool:
        """Whether data is missing; preallocated space is no problem."""
        return self.what != "preallocated"


def read_segment(source: Source, *, limit: int = DEFAULT_BATCH_LIMIT) -> Iterator[Batch | Gap]:
    """The batches and gaps of a log segment or snapshot, in the order of the file.

    ``source`` is a path, or a stream of bytes, which is not closed. ``offset_in_data`` of a batch
    is its position in the file. A batch with a fault has the ``error``, whose offset counts from
    the file's start, and the records before the fault. Raises OSError if the file cannot be read
    or is longer than Kafka's can be, and no other error whatever its bytes.
    """
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as stream:
            if os.fstat(stream.fileno()).st_size > _MOST_BYTES:  # it may cost no disk, but hours
                raise OSError(errno.EFBIG, "longer than a segment can be, 2 GiB", os.fspath(source))
            yield from _Reader(stream, limit).read()
    else:
        check_stream(source, "read_segment: source")
        yield from _Reader(source, limit).read()


def topic_of(path: str | os.PathLike[str]) -> str | None:
    """The topic of a segment, from the name of its folder (``fruit-0``); None for other names.

    Folders of logs that are being deleted (``fruit-0.ID-delete``) or moved (``-future``,
    ``-stray``) are recognised too. Snapshots (``*.checkpoint``) belong to the metadata log.
    """
    if re.search(r"\.checkpoint(?:\.deleted)?$", Path(path).name):
        return METADATA_TOPIC
    folder = Path(path).absolute().parent.name
    match = re.fullmatch(r"(.+)-\d+(?:\.[0-9a-f]+-(?:delete|future|stray))?", folder)
    return match[1] if match else None


class _Window:
    """The buffered part of a stream; ``position`` is the file position of its first byte."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ended = False
        self.data = bytearray()
        self.position = 0

    def fill(self, size: int) -> int:
        """Buffer ``size`` bytes, or all up to the end of the stream; returns how many."""
        while len(self.data) < size and not self._ended:
            # In pieces: a length that lies makes no more room than there are bytes.
            piece = self._stream.read(min(max(size - len(self.data), _CHUNK), 1 << 20))
            self._ended = not piece
            self.data += piece
        return min(size, len(self.data))

    def drop(self, size: int) -> None:
        del self.data[:size]
        self.position += size


class _ChecksumBudget:
    """A budget for checksums that fail: ``amount`` bytes for each chunk of the file.

    With it a search takes time in proportion to the file, and a false batch with a large length
    does not hide the batches some chunks later. ``longest`` is the largest single piece; a piece
    above the amount uses up the budget of the next chunks.
    """

    def __init__(self, amount: int, longest: int) -> None:
        self._amount = self._left = amount
        self._longest = longest
        self._chunk = 0

    def take(self, size: int, position: int) -> bool:
        """Spend ``size`` bytes at a position of the file. Returns False if the budget is too
        low.
        """
        if self.is_spent(position) or size > self._longest:
            return False
        self._left -= size
        return True

    def is_spent(self, position: int) -> bool:
        """Whether the budget is used up at a position of the file."""
        chunk = position // _CHUNK
        self._left = min(self._left + (chunk - self._chunk) * self._amount, self._amount)
        self._chunk = chunk
        return self._left <= 0

    def give_back(self, size: int) -> None:
        """Return bytes to the budget, after a checksum that was right."""
        self._left += size


class _Reader:
    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._window = _Window(stream)
        self._limit = limit
        self._likely = _ChecksumBudget(_LIKELY_BUDGET_BYTES, limit)
        self._others = _ChecksumBudget(_OTHER_BUDGET_BYTES, _OTHER_BUDGET_BYTES)

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
                yield from self._search(
                    f"{_LAST} needs {counted(size, 'bytes')}, and {left} are left"
                )
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
        """Whether the length of the faulty batch at hand is right."""
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
        """The size of the batch that may begin at ``at``; 0 if none can, or if it is cut off."""
        if self._fault(at):
            return 0
        size = self._size(at)
        return size if self._window.fill(at + size) == at + size else 0

    def _batch(self, data: bytes, position: int) -> Batch:
        record_set = read_records(data)
        if not record_set.batches:
            return Batch(
                size=len(data), offset_in_data=position, error=_moved(record_set.error, position)
            )
        (batch,) = record_set.batches
        batch.offset_in_data = position
        batch.error = _moved(batch.error, position)
        return batch

    def _fault(self, at: int) -> str:
        """The reason why no batch can begin at ``at`` in the window; "" if one may."""
        data = self._window.data[at : at + _PREFIX]
        if len(data) < _PREFIX:
            return f"{_LAST} needs {_PREFIX} bytes and more, and {len(data)} are left"
        magic = data[MAGIC_AT]
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
        """Report a gap up to the next batch, or to the end of the file.

        No batch can begin in the first ``skip`` bytes.
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
        """Whether a complete batch with a right checksum begins at ``at``, within the budgets."""
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
            "preallocated": f"{counted(size, 'bytes')} preallocated and not written yet",
            "truncated": f"the file is cut short: {fault}",
            "damaged": f"no batch: {fault}; {counted(size, 'bytes')} passed by",
        }[what]
        return Gap(start, size, what, text)


def _checksum_holds(data: bytearray, start: int, size: int) -> bool:
    """Whether the checksum of the batch at ``start`` is right."""
    stored, computed = checksums(data, start, start + size, data[start + MAGIC_AT])
    return stored == computed


def _moved(error: KafkaAdminProtoError | None, position: int) -> KafkaAdminProtoError | None:
    """The error of a single batch, with offset and path in the file."""
    if isinstance(error, DecodeError):
        error.offset += position
        error.path = (error.path or "").removeprefix("batches[0]").removeprefix(".")
        error.message = "batch"
    return error
