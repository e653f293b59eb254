"""Which files a stream has read, and which parts of files each of its batches is made of.

A folder has a file for each batch: so a batch that is tried again has the same parts, and Spark's
offsets are a number. From time to time what all batches have read is written down as a whole, and
what it is made of removed. A file is known as long as it is there, and a week longer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import msgspec

from kafka_admin_proto.spark.ingest.files import Fingerprint, Part

#: Batches after which what is known is written down as a whole.
_MANY = 100
#: Microseconds for which a file is known that is gone: what it is on may be mounted again.
REMEMBERED = 7 * 86_400_000_000
_NAME = re.compile(r"(\d{10})(\.known)?\.json")


class Known(msgspec.Struct, array_like=True):
    """A file that was taken: as it was listed, and as it started; it had no packet if ``empty``.

    Times are microseconds since 1970; ``gone`` is when it was first seen to be away, or 0.
    """

    changed: int
    size: int
    fingerprint: Fingerprint | None = None
    empty: bool = False
    gone: int = 0


class _Batch(msgspec.Struct, omit_defaults=True):
    parts: Sequence[Part]
    files: Mapping[str, Known]


class FileLog:
    """The log in ``folder``, which is made by the first batch; these are numbered from 1 on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = -1
        self._known: dict[str, Known] = {}

    def known(self, number: int) -> Mapping[str, Known]:
        """The files that are read with that batch, by their names; none with batch 0."""
        if self._number != number:
            whole = max((n for n, known in self._there() if known and n <= number), default=0)
            self._known = {}
            if whole:
                data = self._file(whole, ".known").read_bytes()
                self._known = msgspec.json.decode(data, type=dict[str, Known])
            for each in range(whole + 1, number + 1):
                self._known.update(self._batch(each).files)
            self._number = number
        return self._known

    def parts(self, number: int) -> Sequence[Part]:
        """What that batch is made of."""
        return self._batch(number).parts

    def add(
        self,
        number: int,
        parts: Sequence[Part],
        files: Mapping[str, Known],
        there: Container[str],
        now: int,
    ) -> None:
        """Write batch ``number`` down: its parts, and the files that are read with it.

        Those before it are done. ``there`` are the names of all files that are there ``now``.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        known = dict(self.known(number - 1))
        if number % _MANY == 0:
            known = _remembered(known, there, now)
            self._write(self._file(number - 1, ".known"), known)
            for each, _ in self._there():
                if each < number - 1:
                    self._file(each).unlink(missing_ok=True)
                    self._file(each, ".known").unlink(missing_ok=True)
        self._write(self._file(number), _Batch(parts, files))
        self._known, self._number = known | dict(files), number

    def _batch(self, number: int) -> _Batch:
        return msgspec.json.decode(self._file(number).read_bytes(), type=_Batch)

    def _file(self, number: int, what: str = "") -> Path:
        return self._folder / f"{number:010d}{what}.json"

    def _there(self) -> list[tuple[int, bool]]:
        """The numbers in the folder, and whether each is of the whole of what is known."""
        if not self._folder.exists():
            return []
        found = map(_NAME.fullmatch, os.listdir(self._folder))
        return [(int(each[1]), each[2] is not None) for each in found if each]

    def _write(self, file: Path, value: object) -> None:
        new = file.with_name(f".{file.name}")
        with new.open("wb") as to:
            to.write(msgspec.json.encode(value))
            to.flush()
            os.fsync(to.fileno())
        new.replace(file)


def _remembered(known: Mapping[str, Known], there: Container[str], now: int) -> dict[str, Known]:
    """Those that are there, or were not long ago."""
    kept = {}
    for name, each in known.items():
        gone = 0 if name in there else each.gone or now
        if not gone or now - gone <= REMEMBERED:
            kept[name] = msgspec.structs.replace(each, gone=gone)
    return kept
