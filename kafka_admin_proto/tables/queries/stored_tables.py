"""The pipeline's tables as they are stored: Parquet files that pyarrow reads batch by batch.

No Spark takes part: a question reads a few narrow columns, of which a processor reads tens of
millions of values a second, and holds one batch at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.tables.schemas import TABLES
from kafka_admin_proto.tables.sinks.data_files import Location
from kafka_admin_proto.tables.sinks.snapshots import snapshot_names

#: Rows of a batch, and how many batches and files are read ahead.
_BATCH_ROWS = 32_768
_BATCHES_AHEAD = 4
_FILES_AHEAD = 2


class StoredTable:
    """The rows of a table that fulfil a condition; None stands for all rows."""

    def __init__(self, files: dataset.Dataset, condition: pc.Expression | None = None) -> None:
        self._files = files
        self._condition = condition

    @property
    def names(self) -> list[str]:
        """The columns, in the order of the table's schema (`tables.schemas.TABLES`)."""
        found: list[str] = self._files.schema.names
        return found

    def where(self, condition: pc.Expression) -> StoredTable:
        """Those of the rows that fulfil another condition too."""
        both = condition if self._condition is None else self._condition & condition
        return StoredTable(self._files, both)

    def count(self) -> int:
        """The number of rows, mostly out of the heads of the files. Raises OSError as they do."""
        found: int = self._files.count_rows(filter=self._condition)
        return found

    def span(self) -> tuple[int, int] | None:
        """The first and the last time of the rows in microseconds since 1970; None without any."""
        times: list[int] = []
        for part in self.batches(_times(self)):
            for column in part.columns:
                found = pc.min_max(column.cast(pa.int64()))
                times += [each.as_py() for each in found.values() if each.is_valid]
        return (min(times), max(times)) if times else None

    def batches(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows, a batch at a time; no batch is empty."""
        columns = listed(names, "names")
        found = self._files.to_batches(
            columns=columns,
            filter=self._condition,
            batch_size=_BATCH_ROWS,
            batch_readahead=_BATCHES_AHEAD,
            fragment_readahead=_FILES_AHEAD,
        )
        return (pa.Table.from_batches([batch]) for batch in found if batch.num_rows)

    def rows(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows, in memory."""
        names = listed(names, "names")
        empty = pa.schema([self._files.schema.field(name) for name in names]).empty_table()
        return pa.concat_tables([empty, *self.batches(names)])


def read_tables(
    folder: str | os.PathLike[str], *, since: datetime | None = None, until: datetime | None = None
) -> dict[str, StoredTable]:
    """The tables below a folder or URI, by name; one that is not there is left out.

    Rows before ``since`` and from ``until`` on are left out (both with a time zone), and then so
    are rows without a time, but for those of ``problems``: what could not be read may be of any
    time. ``clients`` has days: those that have any time in between count;
    `clients_between` counts the frames themselves. Of a Delta table it is the newest snapshot,
    whatever is written later. Raises MissingExtraError where a Delta table needs delta-rs.
    """
    place = os.fspath(folder)
    found = {name: _read_table(place, name, schema) for name, schema in TABLES.items()}
    return {
        name: _between(table, since, until, timeless=name == "problems")
        for name, table in found.items()
        if table is not None
    }


def _read_table(folder: str, table: str, schema: pa.Schema) -> StoredTable | None:
    out = Location(folder.rstrip("/"))
    names = snapshot_names(out, table)
    if names is None:
        return None
    system, path = out.folder(table)
    files = [f"{path}/{name}" for name in names]
    return StoredTable(dataset.dataset(files, schema=schema, format="parquet", filesystem=system))


def _times(table: StoredTable) -> list[str]:
    """The columns with the first and the last time of a row, one where they are the same."""
    return ["ts"] if "ts" in table.names else ["first_ts", "last_ts"]


def _between(
    table: StoredTable, since: datetime | None, until: datetime | None, *, timeless: bool
) -> StoredTable:
    """The rows of that time, and with ``timeless`` those without a time."""
    end, start = dataset.field(_times(table)[0]), dataset.field(_times(table)[-1])
    day = dataset.field("date")
    if since is not None:
        first = since.astimezone(UTC)
        inside = (start >= first) & (day >= first.date())
        table = table.where(inside | start.is_null() if timeless else inside)
    if until is not None:
        last = until.astimezone(UTC)
        inside = (end < last) & (day <= last.date())
        table = table.where(inside | end.is_null() if timeless else inside)
    return table
