"""Staged rows → the data files of the tables beside ``frames``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.tables.days import as_dates, dates_of
from kafka_admin_proto.tables.files.merge import (
    merged_changes,
    record_keys,
    topics_of_log,
    with_topic_names,
)
from kafka_admin_proto.tables.files.staging import Group, Staged, read_groups
from kafka_admin_proto.tables.rows.derived.client_uses import client_rows
from kafka_admin_proto.tables.schemas import STAGED, TABLES
from kafka_admin_proto.tables.sinks.data_files import (
    DataFile,
    Location,
    gathered,
    read_data_files,
    write_data_file,
)
from kafka_admin_proto.tables.sinks.sink import Replacement, TableSink
from kafka_admin_proto.tables.topic_names import NamedTopics

#: Bytes of staged rows that are handled at once.
_AT_ONCE = 16 * 1024 * 1024
#: The tables whose rows need all others of a day or of the metadata log; those of all other tables
#: are written as they are, or nearly.
_NOT_PLAIN = ("clients", "metadata_changes")
PLAIN_TABLES = tuple(name for name in STAGED if name not in _NOT_PLAIN)

Dates = list[date | None]


def write_plain(
    name: str, groups: Sequence[Group], topics: NamedTopics, location: Location
) -> list[DataFile]:
    """One of `PLAIN_TABLES`, in pieces of bounded size."""
    rows = _tables(groups)
    if "named_at" in STAGED[name].names:
        rows = (with_topic_names(part, topics) for part in rows)
    return write_table(name, map(dated, rows), location) if groups else []


def write_table(name: str, rows: Iterator[pa.Table], location: Location) -> list[DataFile]:
    schema = TABLES[name]
    batches = (batch for part in rows for batch in part.select(schema.names).to_batches())
    return [write_data_file(location, name, schema, batches)]


def dated(rows: pa.Table) -> pa.Table:
    return rows.append_column("date", dates_of(rows["ts"]))


def changes_of(groups: Sequence[Group], names: Mapping[str, str]) -> pa.Table:
    """The rows of ``metadata_changes`` that were staged."""
    return dated(merged_changes(read_all("metadata_changes", groups), names))


def without_committed(changes: pa.Table, sink: TableSink) -> pa.Table:
    """Rows of ``metadata_changes`` but for records of the metadata log that have a row there."""
    logged = changes.filter(pc.is_valid(changes["log_offset"]))
    if not logged.num_rows:
        return changes
    dates: Dates = pc.unique(logged["date"]).to_pylist()
    before = committed_rows(sink, "metadata_changes", dates)
    known = set(record_keys(before))
    fresh = [key not in known for key in record_keys(changes)]
    return changes.filter(pa.array(fresh, pa.bool_()))


def committed_rows(sink: TableSink, name: str, dates: Dates) -> pa.Table:
    """The rows that a table has of some dates."""
    names = sink.file_names(name)
    return read_data_files(sink.tables, name, names, TABLES[name], dates=dates)


def clients_of(
    groups: Sequence[Group], before: Callable[[Dates], pa.Table] | None = None
) -> Replacement:
    """The rows of ``clients`` on the days of what was staged, with those ``before``."""
    schema = TABLES["clients"]
    uses = read_all("clients", groups)
    uses = uses.append_column("date", as_dates(uses["day"]))
    dates: Dates = pc.unique(uses["date"]).to_pylist()
    parts = [schema.empty_table()]
    for day in dates:
        here = pc.is_null(uses["date"]) if day is None else pc.equal(uses["date"], day)
        rows = client_rows([uses.filter(here)], None if before is None else before([day]))
        days = pa.array([day] * rows.num_rows, pa.date32())
        parts.append(rows.append_column("date", days).select(schema.names).cast(schema))
    return Replacement(pa.concat_tables(parts), dates)


def found_problems(groups: Sequence[Group]) -> Iterator[tuple[str, str]]:
    for rows in _tables(groups):
        yield from zip(rows["capture"].to_pylist(), rows["problem"].to_pylist(), strict=True)


def log_names(staged: Staged) -> dict[str, str]:
    """Topic id → name, from the records of the metadata log."""
    return topics_of_log(_tables(staged.of("metadata_changes")))


def read_all(name: str, groups: Sequence[Group]) -> pa.Table:
    return pa.Table.from_batches(read_groups(groups), STAGED[name])


def _tables(groups: Sequence[Group]) -> Iterator[pa.Table]:
    """The rows of groups, some of them at once."""
    for some in gathered(groups, lambda group: group.bytes, _AT_ONCE):
        yield pa.Table.from_batches(read_groups(some))
