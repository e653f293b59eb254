"""Staged rows → the files of the tables beside ``frames``."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_admin_proto.spark.tables.client_uses import client_rows, floor_days
from kafka_admin_proto.spark.tables.merge import (
    merged_changes,
    named_audit,
    record_keys,
    topics_of_log,
)
from kafka_admin_proto.spark.tables.schemas import TABLES, undated
from kafka_admin_proto.spark.tables.staging import (
    NO_DATE,
    STAGED,
    Group,
    Staged,
    day_text,
    read_groups,
)
from kafka_admin_proto.spark.tables.topic_names import NamedTopics

#: Bytes of staged rows that are handled at once.
_AT_ONCE = 16 * 1024 * 1024
#: The tables whose rows are written as they are, or nearly.
PLAIN_TABLES = ("problems", "quorum_events", "admin_audit")


def write_plain(name: str, groups: Sequence[Group], topics: NamedTopics, folder: Path) -> None:
    """One of `PLAIN_TABLES`, in pieces of bounded size."""
    with DatedWriter(name, folder) as writer:
        for rows in _tables(groups):
            writer.write(named_audit(rows, topics) if name == "admin_audit" else rows)


def write_changes(
    groups: Sequence[Group], names: Mapping[str, str], folder: Path, committed: Path | None = None
) -> None:
    """The table ``metadata_changes``, or what a batch adds to the one that is ``committed``.

    A record of the metadata log is left out when it has a row there.
    """
    changes = merged_changes(read_all("metadata_changes", groups), names)
    if committed is not None:
        known: set[tuple[object, ...]] = set()
        for day in dates_of(changes):
            before = read_day(committed, "metadata_changes", day)
            known.update(record_keys(before))
        fresh = [key not in known for key in record_keys(changes)]
        changes = changes.filter(pa.array(fresh, pa.bool_()))
    with DatedWriter("metadata_changes", folder) as writer:
        writer.write(changes)


def dates_of(rows: pa.Table) -> list[str]:
    """The dates of rows with ``ts``."""
    days = pc.unique(floor_days(rows["ts"].cast(pa.int64()))).to_pylist()
    return [NO_DATE if day is None else day_text(day) for day in days]


def read_day(folder: Path, name: str, day: str) -> pa.Table:
    """The rows that a table has of a date."""
    schema = undated(TABLES[name])
    files = sorted((folder / f"date={day}").glob("[!._]*.parquet"))
    parts = [pq.ParquetFile(file).read(schema.names).cast(schema) for file in files]
    return pa.concat_tables([schema.empty_table(), *parts])


def write_clients(groups: Sequence[Group], folder: Path, committed: Path | None = None) -> None:
    """The table ``clients``: all rows of the days of a batch, with those ``committed`` before."""
    uses = read_all("clients", groups)
    with DatedWriter("clients", folder) as writer:
        for day in pc.unique(uses["day"]).to_pylist():
            here = pc.is_null(uses["day"]) if day is None else pc.equal(uses["day"], day)
            text = NO_DATE if day is None else day_text(day)
            before = None if committed is None else read_day(committed, "clients", text)
            writer.write_day(text, client_rows([uses.filter(here)], before))


def log_names(staged: Staged) -> dict[str, str]:
    """Topic id → name, as records of the metadata log tell it."""
    return topics_of_log(_tables(staged.of("metadata_changes")))


def read_all(name: str, groups: Sequence[Group]) -> pa.Table:
    """All staged rows of a table."""
    return pa.Table.from_batches(read_groups(groups), STAGED[name])


def _tables(groups: Sequence[Group]) -> Iterator[pa.Table]:
    """The rows of groups, so many at once."""
    waiting: list[Group] = []
    for group in groups:
        waiting.append(group)
        if sum(each.bytes for each in waiting) >= _AT_ONCE:
            yield pa.Table.from_batches(read_groups(waiting))
            waiting = []
    if waiting:
        yield pa.Table.from_batches(read_groups(waiting))


class DatedWriter:
    """Writes rows into a folder for each date; a file is there when it is whole.

    A table without rows is an empty folder, so that readers know it from one that is missing.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._schema = undated(TABLES[name])
        self._folder = folder
        self._writers: dict[str, tuple[pq.ParquetWriter, Path, Path]] = {}

    def __enter__(self) -> DatedWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: object, *about_error: object) -> None:
        for writer, unfinished, finished in self._writers.values():
            writer.close()
            if kind is None:
                unfinished.replace(finished)

    def write(self, rows: pa.Table) -> None:
        """Rows of any dates, told by ``ts``."""
        days = floor_days(rows["ts"].cast(pa.int64()))
        for day in pc.unique(days).to_pylist():
            here = pc.is_null(days) if day is None else pc.equal(days, day)
            self.write_day(NO_DATE if day is None else day_text(day), rows.filter(here))

    def write_day(self, day: str, rows: pa.Table) -> None:
        """Rows of one date."""
        if day not in self._writers:
            to = self._folder / f"date={day}"
            to.mkdir(parents=True, exist_ok=True)
            name = uuid.uuid4().hex
            unfinished, finished = to / f".{name}", to / f"part-{name}.parquet"
            writer = pq.ParquetWriter(unfinished, self._schema, compression="snappy")
            self._writers[day] = writer, unfinished, finished
        self._writers[day][0].write_table(rows.select(self._schema.names).cast(self._schema))
