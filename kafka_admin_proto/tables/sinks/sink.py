"""The interface of both kinds of tables for a run that writes them.

A batch run replaces all tables at once (`TableSink.replace`). A stream appends the data files of
each batch, once (`TableSink.append`): ``batch`` is the last one that is in all tables, and a batch
that is appended again after a kill changes nothing. From time to time small files are put together
and old rows forgotten (`TableSink.maintain`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

import pyarrow as pa

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.tables.sinks.data_files import DataFile, Location
from kafka_admin_proto.tables.sinks.origin import Origin
from kafka_admin_proto.tables.sinks.workspace import OutputError, Workspace

Mode = Literal["batch", "streaming"]
Files = Mapping[str, Sequence[DataFile]]


class Replacement(NamedTuple):
    """The rows that a table has on some days from now on; None stands for rows without a date."""

    rows: pa.Table
    dates: Collection[date | None]


class TableSink(ABC):
    """Tables that one run writes, and the workspace that the run holds meanwhile.

    Raises OutputError when it is entered, and KeptFileError for strange files in its folders.
    ``path`` is the folder of the workspace, ``schemas`` are the tables' columns by name. ``inputs``
    are what the tables are made of: those of other inputs are only replaced with ``overwrite``. A
    stream replaces whole days of the tables in ``replaced_by_day``, whose files are therefore not
    put together.

    ``location`` is where tasks write data files, ``tables`` where committed ones are.
    """

    #: The version of the layout of these tables.
    layout: ClassVar[int]

    def __init__(
        self,
        path: Path,
        schemas: Mapping[str, pa.Schema],
        *,
        mode: Mode,
        inputs: Sequence[str],
        overwrite: bool = False,
        replaced_by_day: Sequence[str] = (),
    ) -> None:
        self.workspace: Workspace = Workspace(path)
        self._schemas = schemas
        self._wanted = Origin(self.layout, mode, listed(inputs, "inputs"))
        self._overwrite = overwrite
        self._replaced_by_day = replaced_by_day

    def __enter__(self) -> Self:
        try:
            self.workspace.make()
            self._open()
            self.workspace.stage()
            return self
        except OSError as error:
            TableSink.__exit__(self)
            raise OutputError(f"{self.workspace.path} cannot be written to: {error}") from None
        except BaseException:
            TableSink.__exit__(self)
            raise

    def __exit__(self, *about_error: object) -> None:
        if self.workspace.is_held and not self._goes_on():
            self.workspace.unstage()
        self.workspace.release()

    @abstractmethod
    def _open(self) -> None:
        """Hold the workspace, and refuse tables that this run may not replace."""

    def _goes_on(self) -> bool:
        """Whether the next run needs what this one has staged."""
        return False

    @property
    @abstractmethod
    def location(self) -> Location: ...

    @property
    @abstractmethod
    def tables(self) -> Location: ...

    @property
    @abstractmethod
    def batch(self) -> int:
        """The last batch of a stream that is in all tables, -1 before the first."""

    @abstractmethod
    def claim(self) -> None:
        """Make the tables of a stream, empty, unless they are there."""

    @abstractmethod
    def replace(self, files: Files) -> None:
        """Make the tables consist of these files and nothing else."""

    @abstractmethod
    def append(self, files: Files, replaced: Mapping[str, Replacement], batch: int) -> None:
        """Add the files of a stream's batch, and replace rows of whole days."""

    def maintain(self, batch: int, retain: timedelta | None = None) -> None:
        """Put small files together and forget old rows, if it is time after this batch."""
        oldest = None if retain is None else (datetime.now(UTC) - retain).date()
        for every, target_bytes in _COMPACTIONS:
            if (batch + 1) % every == 0:
                self._compact(batch, target_bytes, oldest)
                return

    @abstractmethod
    def _compact(self, batch: int, target_bytes: int, oldest: date | None) -> None:
        """Put files up to that size together, and forget the rows of days before ``oldest``."""

    @abstractmethod
    def file_names(self, table: str) -> list[str]:
        """The names of the committed files of a table, below its folder in ``tables``."""

    @abstractmethod
    def count_rows(self) -> dict[str, int]:
        """The rows of each table."""


#: Batches → bytes: at multiples of that many batches, files smaller than that many bytes are
#: merged. Each row is thus rewritten only a few times, and each step reads a bounded number of
#: files.
_COMPACTIONS = ((512, 256 << 20), (64, 32 << 20), (8, 4 << 20))
