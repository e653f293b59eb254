"""Data files: the Parquet files that a table consists of, written by the tasks of a job.

A task writes files below a `Location`; nobody reads them before a sink commits them. Rows have
their ``date`` in the file, so that it has one type whatever the rows are, and no folder is needed
for each day: the statistics of files and row groups tell a reader which days they have.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Self, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import dataset, fs

from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.tables.ingest.locations import located

#: Bytes in memory of the rows that are sorted together and make one row group.
ROW_GROUP_BYTES = 16 * 1024 * 1024
_COMPRESSION = "snappy"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_T = TypeVar("_T")


class DataFile(msgspec.Struct, frozen=True):
    """A finished file. ``name`` is its name in the folder of its table.

    ``first_date`` and ``last_date`` are the least and the greatest date of its rows, null where no
    row has one; ``undated_rows`` is the number of rows without a date.
    """

    name: str
    rows: int
    size_bytes: int
    first_date: date | None
    last_date: date | None
    undated_rows: int

    def may_have(self, dates: Iterable[date | None]) -> bool:
        """Whether a row of one of these dates can be in the file; None stands for no date."""
        for day in dates:
            if day is None:
                if self.undated_rows:
                    return True
            elif self.first_date is None or self.last_date is None:
                continue
            elif self.first_date <= day <= self.last_date:
                return True
        return False


class Location(msgspec.Struct, frozen=True):
    """Where the folders of tables are: a path, or a URI of `pyarrow.fs` with its options.

    It goes to tasks, which open the file system themselves.
    """

    uri: str

    @property
    def is_local(self) -> bool:
        return _SCHEME.match(self.uri) is None

    def folder(self, table: str) -> tuple[fs.FileSystem, str]:
        system, path = located(self.uri)
        return system, f"{path.rstrip('/')}/{table}"


class DataFileWriter:
    """Writes one file of a table, row group by row group."""

    def __init__(self, location: Location, table: str, schema: pa.Schema) -> None:
        self._system, folder = location.folder(table)
        if location.is_local:
            Path(folder).mkdir(parents=True, exist_ok=True)
        self._name = f"part-{uuid.uuid4().hex}.parquet"
        self._path = f"{folder}/{self._name}"
        self._out = self._system.open_output_stream(self._path)
        self._writer = pq.ParquetWriter(self._out, schema, compression=_COMPRESSION)
        self._rows = self._undated = 0
        self._dates: list[date] = []

    def write(self, rows: pa.Table) -> None:
        """Write rows in the columns of the table, of which ``date`` is one, as a row group."""
        self._writer.write_table(rows)
        self._rows += rows.num_rows
        self._undated += rows["date"].null_count
        found = pc.min_max(rows["date"]).as_py()
        self._dates += [day for day in found.values() if day is not None]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about_error: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._writer.close()
        finally:
            self._out.close()

    def result(self) -> DataFile:
        size = self._system.get_file_info(self._path).size
        dates = self._dates
        return DataFile(
            self._name, self._rows, size, min(dates, default=None), max(dates, default=None),
            self._undated,
        )  # fmt: skip


def write_data_file(
    location: Location, table: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> DataFile:
    """Write batches in the columns of ``schema`` to one file, about as many rows a row group."""
    with DataFileWriter(location, table, schema) as file:
        filled = (batch for batch in batches if batch.num_rows)
        for group in gathered(filled, lambda batch: batch.nbytes, ROW_GROUP_BYTES):
            file.write(sorted_rows(pa.Table.from_batches(group), schema))
    return file.result()


def gathered(
    items: Iterable[_T], size_of: Callable[[_T], int], least_bytes: int
) -> Iterator[list[_T]]:
    """Items in lists, each of which is complete once it has that many bytes."""
    waiting: list[_T] = []
    waiting_bytes = 0
    for item in items:
        waiting.append(item)
        waiting_bytes += size_of(item)
        if waiting_bytes >= least_bytes:
            yield waiting
            waiting, waiting_bytes = [], 0
    if waiting:
        yield waiting


def sorted_rows(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows in the columns of ``schema``, by date and api: so readers can pass over pages."""
    keys = [(name, "ascending") for name in ("date", "api") if name in schema.names]
    return rows.select(schema.names).cast(schema).sort_by(keys)


def read_data_files(
    location: Location,
    table: str,
    names: Sequence[str],
    schema: pa.Schema,
    *,
    dates: Collection[date | None] | None = None,
) -> pa.Table:
    """The rows of data files, or only those of some dates (None: rows without a date)."""
    if not names:
        return schema.empty_table()
    system, folder = location.folder(table)
    files = [f"{folder}/{name}" for name in names]
    found = dataset.dataset(files, schema=schema, format="parquet", filesystem=system)
    if dates is None:
        return found.to_table()
    day = dataset.field("date")
    where = day.isin(pa.array([each for each in dates if each is not None], pa.date32()))
    return found.to_table(filter=where | day.is_null() if None in dates else where)


def read_footer(path: Path) -> DataFile:
    """The `DataFile` of a local file, by the file's footer. Raises KeptFileError."""
    try:
        return _data_file(path, pq.read_metadata(path))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise KeptFileError(
            path,
            f"is no data file of the pipeline's ({error})",
            "remove it, or name another folder",
        ) from None


def _data_file(path: Path, footer: pq.FileMetaData) -> DataFile:
    column = footer.schema.names.index("date")
    dates: list[date] = []
    undated = 0
    for number in range(footer.num_row_groups):
        found = footer.row_group(number).column(column).statistics
        if found is None:
            raise ValueError("it has no statistics of dates")
        undated += found.null_count
        if found.has_min_max:
            dates += [found.min, found.max]
    return DataFile(
        path.name,
        footer.num_rows,
        path.stat().st_size,
        min(dates, default=None),
        max(dates, default=None),
        undated,
    )
