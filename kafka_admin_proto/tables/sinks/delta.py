"""Tables as Delta tables, in a folder or an object store, committed by delta-rs.

    with DeltaSink("s3://bucket/tables", TABLES, work=folder, mode="batch", inputs=[...]) as sink:
        ...                                     # tasks write data files below sink.location
        sink.replace({"frames": files, ...})

Tasks write data files into the tables' folders; a file belongs to a table when the table's log
names it. Each commit is about one table. A run that is killed between commits leaves some tables
new and some old, and the next run continues. Each commit of a stream has the number of its batch as
an application transaction, so that a batch that is tried again skips the tables that have it
already. ``frames`` is committed last.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, unquote

import msgspec
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction

from kafka_admin_proto.kept_files import KeptFileError, refuse_links
from kafka_admin_proto.tables.ingest.locations import split_options
from kafka_admin_proto.tables.sinks.data_files import DataFile, Location
from kafka_admin_proto.tables.sinks.origin import KEPT, MARKER, Origin, refuse_others
from kafka_admin_proto.tables.sinks.sink import Files, Mode, Replacement, TableSink
from kafka_admin_proto.tables.sinks.workspace import OutputError
from kafka_admin_proto.tables.store_errors import store_reason

_APPLICATION = "kafka_admin_proto"
_ABOUT = f"{_APPLICATION}.about"
#: Hours for which readers find the files of a snapshot that was replaced.
SNAPSHOT_HOURS = 24
#: Batches between two removals of files that no snapshot needs any more.
_VACUUM_BATCHES = 64
_PROPERTIES = {
    "delta.deletedFileRetentionDuration": f"interval {SNAPSHOT_HOURS} hours",
    "delta.logRetentionDuration": f"interval {SNAPSHOT_HOURS} hours",
    "delta.checkpointInterval": "32",
}
#: The table that is committed last: when it has a batch, all tables have it.
_LAST = "frames"
#: The start of a URI, or of an absolute path in a log.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
T = TypeVar("T")


class DeltaSink(TableSink):
    """Delta tables below ``out``, a folder or a URI.

    ``work`` is a folder that all workers share; a stream keeps there how far it is. The other
    arguments are those of `TableSink`.
    """

    layout = 1

    def __init__(
        self,
        out: str,
        schemas: Mapping[str, pa.Schema],
        *,
        work: Path,
        mode: Mode,
        inputs: Sequence[str],
        overwrite: bool = False,
        replaced_by_day: Sequence[str] = (),
    ) -> None:
        super().__init__(
            work, schemas, mode=mode, inputs=inputs, overwrite=overwrite,
            replaced_by_day=replaced_by_day,
        )  # fmt: skip
        self._out = Location(out)
        if self._out.is_local:
            self._out = Location(str(Path(out).absolute()))
        self._opened: dict[str, DeltaTable] = {}

    def __enter__(self) -> Self:
        if self._out.is_local and (found := re.search(r"[\[\]%]", self._out.uri)):
            raise OutputError(
                f"{self._out.uri}: delta-rs takes no folder with {found[0]} in its name; name "
                "another one"
            )
        return super().__enter__()

    def _open(self) -> None:
        self.workspace.hold()
        self.workspace.clear()
        for table in self._schemas:
            self._refuse_links(table)
        self._refuse_others()

    @property
    def location(self) -> Location:
        return self._out

    @property
    def tables(self) -> Location:
        return self._out

    @property
    def batch(self) -> int:
        return self._batch_of(_LAST)

    def _batch_of(self, table: str) -> int:
        opened = self._opened.get(table)
        number = None if opened is None else opened.transaction_version(_APPLICATION)
        return -1 if number is None else number

    def file_names(self, table: str) -> list[str]:
        opened = self._opened.get(table)
        return [] if opened is None else file_names(opened)

    def count_rows(self) -> dict[str, int]:
        return {table: self._opened[table].count() for table in self._schemas}

    # What a run does ----------------------------------------------------------------------------

    def claim(self) -> None:
        about = msgspec.json.encode(self._wanted).decode()
        for table in self._schemas:
            opened = self._opened.get(table)
            if opened is None:
                self._opened[table] = self._try(partial(self._create, table, about))
                continue
            self._try(partial(_add_columns, opened, self._schemas[table]))
            if opened.metadata().configuration.get(_ABOUT) != about:
                opened.alter.set_table_properties({_ABOUT: about}, raise_if_not_exists=False)

    def _create(self, table: str, about: str) -> DeltaTable:
        name, options = delta_address(self._out, table)
        return DeltaTable.create(
            name,
            self._schemas[table],
            configuration=_PROPERTIES | {_ABOUT: about},
            storage_options=options,
            raise_if_key_not_exists=False,
        )

    def replace(self, files: Files) -> None:
        self.claim()
        for table in self._schemas:
            self._commit(table, files.get(table, ()), "overwrite", None)

    def append(self, files: Files, replaced: Mapping[str, Replacement], batch: int) -> None:
        for table in sorted(self._schemas, key=lambda table: table == _LAST):
            if self._batch_of(table) >= batch:
                continue
            if table in replaced:
                self._replace_days(table, replaced[table], _transaction(batch))
            elif files.get(table) or table == _LAST:
                self._commit(table, files.get(table, ()), "append", _transaction(batch))
        # The rows that tasks have staged are committed; a stream may run for months.
        self.workspace.unstage()
        self.workspace.stage()

    def _compact(self, batch: int, target_bytes: int, oldest: date | None) -> None:
        for table in self._schemas:
            self._try(partial(self._compact_table, table, batch, target_bytes, oldest))

    def _compact_table(
        self, table: str, batch: int, target_bytes: int, oldest: date | None
    ) -> None:
        opened = self._opened[table]
        if oldest is not None:
            opened.delete(f"date < DATE '{oldest}'")
        if table not in self._replaced_by_day:
            opened.optimize.compact(target_size=target_bytes)
        if (batch + 1) % _VACUUM_BATCHES == 0:
            # All files that the log does not name: those of writers that were killed as well.
            # It would remove files through links, too.
            self._refuse_links(table)
            opened.vacuum(SNAPSHOT_HOURS, dry_run=False, full=True)

    def _replace_days(
        self, table: str, replacement: Replacement, transaction: CommitProperties
    ) -> None:
        rows, dates = replacement
        days = ", ".join(f"DATE '{day}'" for day in dates if day is not None)
        conditions = [f"date IN ({days})"] if days else []
        conditions += ["date IS NULL"] if None in dates else []
        if conditions:
            schema = self._schemas[table]
            self._try(
                lambda: write_deltalake(
                    self._opened[table],
                    rows.select(schema.names).cast(schema),
                    mode="overwrite",
                    predicate=" OR ".join(conditions),
                    commit_properties=transaction,
                )
            )

    def _commit(
        self, table: str, files: Sequence[DataFile], mode: str, properties: CommitProperties | None
    ) -> None:
        opened = self._opened[table]
        self._try(
            lambda: opened.create_write_transaction(
                [_add_action(each) for each in files],
                mode,
                opened.schema(),
                commit_properties=properties,
            )
        )
        opened.update_incremental()

    def _try(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except (DeltaError, OSError) as error:
            raise OutputError(
                f"{self._out.uri} cannot be written to: {store_reason(str(error))}"
            ) from error

    # Whose tables they are ----------------------------------------------------------------------

    def _refuse_others(self) -> None:
        if self._out.is_local and (Path(self._out.uri) / MARKER).exists():
            raise OutputError(
                f"{self._out.uri} has tables of another format (parquet): name another folder, "
                f"{KEPT}"
            )
        with ThreadPoolExecutor(len(self._schemas)) as pool:
            found = pool.map(partial(open_table, self._out), self._schemas)
            tables = dict(zip(self._schemas, self._try(lambda: list(found)), strict=True))
        self._opened = {name: table for name, table in tables.items() if table is not None}
        for table, opened in self._opened.items():
            about = opened.metadata().configuration.get(_ABOUT)
            try:
                origin = msgspec.json.decode(about or "", type=Origin)
            except (msgspec.DecodeError, RecursionError):
                raise OutputError(
                    f"{self._out.uri}/{table} is none of the pipeline's: name another folder"
                ) from None
            refuse_others(self._out.uri, origin, self._wanted, overwrite=self._overwrite)

    def _refuse_links(self, table: str) -> None:
        if self._out.is_local:
            refuse_links(Path(self._out.uri) / table)


def _add_columns(table: DeltaTable, schema: pa.Schema) -> None:
    """Give a table of an earlier version the columns that it lacks; its rows have null there."""
    known = {field.name for field in table.schema().fields}
    missing = [field for field in Schema.from_arrow(schema).fields if field.name not in known]
    if missing:
        table.alter.add_columns(missing)


def open_table(out: Location, table: str) -> DeltaTable | None:
    """The Delta table of that name as it is now; None where there is none."""
    name, options = delta_address(out, table)
    if not DeltaTable.is_deltatable(name, options):
        return None
    return DeltaTable(name, storage_options=options)


def file_names(table: DeltaTable) -> list[str]:
    """The names of the files that a snapshot has; they are below the folder of the table.

    Raises KeptFileError for a log that names a file elsewhere, which no run writes.
    """
    names = sorted(pa.table(table.get_add_actions())["path"].to_pylist())
    for name in names:
        if _SCHEME.match(name) or {"", ".", ".."} & set(unquote(name).split("/")):
            raise KeptFileError(
                f"{table.table_uri.rstrip('/')}/_delta_log",
                f"names {name[:100]!r}, which is no file below the table",
                "name another folder",
            )
    return names


def delta_address(out: Location, table: str) -> tuple[str, dict[str, str]]:
    """A table's URI for delta-rs, and its options: those of `pyarrow.fs` by delta-rs's names."""
    if out.is_local:
        return f"{out.uri}/{table}", {}
    path, query = split_options(out.uri)
    given = dict(parse_qsl(query.removeprefix("?")))
    options = {}
    if "region" in given:
        options["AWS_REGION"] = given["region"]
    scheme = given.get("scheme", "https")
    if scheme == "http":
        options["AWS_ALLOW_HTTP"] = "true"
    if "endpoint_override" in given:
        endpoint = given["endpoint_override"]
        options["AWS_ENDPOINT_URL"] = endpoint if "://" in endpoint else f"{scheme}://{endpoint}"
    return f"{path.rstrip('/')}/{table}", options


def _transaction(batch: int) -> CommitProperties:
    return CommitProperties(app_transactions=[Transaction(_APPLICATION, batch)])


def _add_action(file: DataFile) -> AddAction:
    statistics: dict[str, Any] = {"numRecords": file.rows, "nullCount": {"date": file.undated_rows}}
    if file.first_date is not None:
        statistics["minValues"] = {"date": file.first_date}
        statistics["maxValues"] = {"date": file.last_date}
    return AddAction(
        file.name, file.size_bytes, {}, time.time_ns() // 1_000_000, True,
        msgspec.json.encode(statistics).decode(),
    )  # fmt: skip
