"""The interface of both kinds of tables for a run that writes them.

A batch run replaces all tables at once (`TableSink.replace`). A stream appends the data files of
each batch, once (`TableSink.append`): ``batch`` is the last one that is in all tables, and a batch
that is appended again after a kill changes nothing. From time to time small files are put together
and old rows forgotten (`TableSink.maintain`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self

import pyarrow as pa

from kafka_admin_proto.spark.sinks.data_files import DataFile, Location
from kafka_admin_proto.spark.sinks.workspace import Workspace

Mode = Literal["batch", "streaming"]
Files = Mapping[str, Sequence[DataFile]]


class Replacement(NamedTuple):
    """The rows that a table has on some days from now on; None stands for rows without a date."""

    rows: pa.Table
    dates: Collection[date | None]


class TableSink(Protocol):
    """Tables that one run writes. Entering it raises OutputError where that cannot be.

    ``location`` is where tasks write data files, ``tables`` where committed ones are.
    """

    workspace: Workspace

    @property
    def location(self) -> Location: ...

    @property
    def tables(self) -> Location: ...

    @property
    def batch(self) -> int:
        """The last batch of a stream that is in all tables, -1 before the first."""

    def claim(self) -> None:
        """Make the tables of a stream, empty, unless they are there."""

    def replace(self, files: Files) -> None:
        """Make the tables consist of these files and nothing else."""

    def append(self, files: Files, replaced: Mapping[str, Replacement], batch: int) -> None:
        """Add the files of a stream's batch, and replace rows of whole days."""

    def maintain(self, batch: int, retain: timedelta | None = None) -> None:
        """Put small files together and forget old rows, if it is time after this batch."""

    def file_names(self, table: str) -> list[str]:
        """The names of the committed files of a table, below its folder in ``tables``."""

    def count_rows(self) -> dict[str, int]:
        """The rows of each table."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


#: Batches → bytes: at multiples of that many batches, files smaller than that many bytes are
#: merged. Each row is thus rewritten only a few times, and each step reads a bounded number of
#: files.
_COMPACTIONS = ((512, 256 << 20), (64, 32 << 20), (8, 4 << 20))


def compaction_target_bytes(batch: int) -> int | None:
    """The size up to which files are put together after this batch; None for not at all."""
    for every, target_bytes in _COMPACTIONS:
        if (batch + 1) % every == 0:
            return target_bytes
    return None


def oldest_kept(retain: timedelta) -> date:
    """The first day of which rows are kept, by this machine's clock."""
    return (datetime.now(UTC) - retain).date()
