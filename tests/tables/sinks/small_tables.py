"""Two tables of a few rows, for both sinks, without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_admin_proto.tables.sinks.data_files import DataFile, read_data_files, write_data_file
from kafka_admin_proto.tables.sinks.sink import Replacement, TableSink

SCHEMAS = {
    "frames": pa.schema([("date", pa.date32()), ("api", pa.string()), ("text", pa.string())]),
    "clients": pa.schema([("date", pa.date32()), ("text", pa.string())]),
}
#: A date and a text.
Row = tuple[date | None, str]


def table_of(name: str, rows: Iterable[Row]) -> pa.Table:
    given = [{"date": day, "api": text[:1] or None, "text": text} for day, text in rows]
    return pa.Table.from_pylist(given, schema=SCHEMAS[name])


def write_batch(sink: TableSink, name: str, rows: Iterable[Row]) -> DataFile:
    """What a task does."""
    batches = table_of(name, rows).to_batches()
    return write_data_file(sink.location, name, SCHEMAS[name], batches)


def replacement(rows: Iterable[Row], dates: Iterable[date | None]) -> Replacement:
    return Replacement(table_of("clients", rows), list(dates))


def rows_of(sink: TableSink, name: str) -> list[Row]:
    """The rows that a table has, sorted."""
    found = read_data_files(sink.tables, name, sink.file_names(name), SCHEMAS[name])
    rows = zip(found["date"].to_pylist(), found["text"].to_pylist(), strict=True)
    return sorted(rows, key=str)


def contents(folder: Path) -> dict[str, list[str]]:
    """The texts of all tables of Parquet that there are, whoever reads them."""
    return {
        name: pq.read_table(folder / name)["text"].to_pylist()
        for name in SCHEMAS
        if list((folder / name).glob("*.parquet"))
    }
