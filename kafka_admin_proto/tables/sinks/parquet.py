"""Tables as folders of Parquet files on a file system that all workers share.

    with ParquetSink(Path("tables"), TABLES, mode="batch", inputs=["captures/"]) as sink:
        ...                                     # tasks write data files below sink.location
        sink.replace({"frames": files, ...})

Files are first written to a folder ``.staging-…`` beside the tables. Then a journal lists the
target of each file. The run that wrote the journal, or the next run after a kill, carries it out:
each step is an atomic rename, and steps that are done are skipped. If a run is killed before it
writes its journal, the next run removes its files. A lock keeps two runs out of one folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_admin_proto.kept_files import read_kept_json, refuse_links, write_whole
from kafka_admin_proto.tables.sinks.data_files import (
    DataFile,
    Location,
    gathered,
    read_footer,
    write_data_file,
)
from kafka_admin_proto.tables.sinks.journal import JOURNAL, Journal, read_journal
from kafka_admin_proto.tables.sinks.origin import MARKER, Origin, refuse_others
from kafka_admin_proto.tables.sinks.sink import Files, Replacement, TableSink
from kafka_admin_proto.tables.sinks.workspace import LOCK, STAGING, OutputError

#: The names of inputs take most of the marker.
_MOST_MARKER_BYTES = 16 << 20

Moves = list[tuple[Path, Path]]


class ParquetSink(TableSink):
    """Tables in the folder ``path``, which is held by one run."""

    layout = 3

    @property
    def _path(self) -> Path:
        return self.workspace.path

    def _open(self) -> None:
        self._refuse_foreign()
        self.workspace.hold()
        for table in self._schemas:
            refuse_links(self._path / table)
        self._recover()
        found = self._marker()
        if found is not None:
            refuse_others(str(self._path), found, self._wanted, overwrite=self._overwrite)

    def _goes_on(self) -> bool:
        # Files in a journal are not removed, because the next run carries the journal out.
        return (self._path / JOURNAL).exists()

    @property
    def location(self) -> Location:
        return Location(str(self._staged))

    @property
    def tables(self) -> Location:
        return Location(str(self._path))

    @property
    def _staged(self) -> Path:
        return self.workspace.staging / "tables"

    @property
    def batch(self) -> int:
        found = self._marker()
        return -1 if found is None else found.batch

    def file_names(self, table: str) -> list[str]:
        return [each.name for each in self._committed(table)]

    def count_rows(self) -> dict[str, int]:
        return {
            table: sum(read_footer(each).rows for each in self._committed(table))
            for table in self._schemas
        }

    def _committed(self, table: str) -> list[Path]:
        return sorted((self._path / table).glob("[!._]*.parquet"))

    # What a run does ----------------------------------------------------------------------------

    def claim(self) -> None:
        if self._marker() is None:
            self._write_json(MARKER, self._wanted)
        for table in self._schemas:
            if not self._committed(table):
                empty = self._write(table, [])
                to = self._path / table / "empty.parquet"
                to.parent.mkdir(exist_ok=True)
                empty.rename(to)

    def replace(self, files: Files) -> None:
        for table in self._schemas:
            if not files.get(table):
                self._write(table, [])
                continue
            # A task that was tried again, or a file that was written again, has left others here.
            names = {each.name for each in files[table]}
            for each in (self._staged / table).iterdir():
                if each.name not in names:
                    each.unlink()
        self._publish([(self._staged / table, self._path / table) for table in self._schemas])

    def append(self, files: Files, replaced: Mapping[str, Replacement], batch: int) -> None:
        moves: Moves = []
        removes: list[Path] = []
        for table, new in files.items():
            moves += self._places(table, [self._staged / table / each.name for each in new], batch)
        for table, replacement in replaced.items():
            if not replacement.dates:
                continue
            made, gone = self._replaced(table, replacement)
            moves += self._places(table, made, batch)
            removes += gone
        self._publish(moves, removes, batch=batch)

    def _compact(self, batch: int, target_bytes: int, oldest: date | None) -> None:
        moves: Moves = []
        removes: list[Path] = []
        for table in self._schemas:
            most_bytes = 0 if table in self._replaced_by_day else target_bytes
            made, gone = self._rewritten(table, most_bytes, oldest)
            moves += self._places(table, made, batch)
            removes += gone
        if removes:
            self._publish(moves, removes, batch=batch)

    def _places(self, table: str, files: Iterable[Path], batch: int) -> Moves:
        """Where files go: names are in the order of the batches."""
        return [
            (each, self._path / table / f"batch-{batch:010d}-{each.stem[5:17]}.parquet")
            for each in files
        ]

    def _replaced(self, table: str, replacement: Replacement) -> tuple[list[Path], list[Path]]:
        """New files and those that they replace: rows of other days in these are written again."""
        made, gone = [], []
        for each in self._committed(table):
            about = read_footer(each)
            if about.rows and not about.may_have(replacement.dates):
                continue
            gone.append(each)
            rows = pq.read_table(each, schema=self._schemas[table])
            kept = rows.filter(pc.invert(on_dates(rows["date"], replacement.dates)))
            if kept.num_rows:
                made.append(self._write(table, kept.to_batches()))
        if replacement.rows.num_rows or not made:
            made.append(self._write(table, replacement.rows.to_batches()))
        return made, gone

    def _rewritten(
        self, table: str, most_bytes: int, oldest: date | None
    ) -> tuple[list[Path], list[Path]]:
        """New files and those that they replace: small files together, without old rows."""
        made: list[Path] = []
        gone: list[Path] = []
        kept = 0
        for files in _together(map(read_footer, self._committed(table)), most_bytes):
            if len(files) == 1 and not _is_old(files[0], oldest):
                kept += 1
                continue
            paths = [self._path / table / each.name for each in files]
            gone += paths
            if any(oldest is None or _has_kept(each, oldest) for each in files):
                made.append(self._write(table, self._read_kept(paths, oldest)))
        if not (kept or made):
            made.append(self._write(table, []))
        return made, gone

    def _read_kept(self, paths: Iterable[Path], oldest: date | None) -> Iterator[pa.RecordBatch]:
        for path in paths:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=4096):
                    if oldest is not None:
                        old = pc.fill_null(pc.less(batch["date"], pa.scalar(oldest)), False)
                        batch = batch.filter(pc.invert(old))
                    yield batch

    def _write(self, table: str, batches: Iterable[pa.RecordBatch]) -> Path:
        file = write_data_file(self.location, table, self._schemas[table], batches)
        return self._staged / table / file.name

    # The journal --------------------------------------------------------------------------------

    def _publish(
        self, moves: Moves, removes: Iterable[Path] = (), *, batch: int | None = None
    ) -> None:
        """Put what is staged in its place, and take what it replaces away.

        A move replaces what is there. ``removes`` goes first, none of it where a move leads.
        """
        self._write_json(
            JOURNAL,
            Journal(
                staging=self.workspace.staging.name,
                moves=[(self._name(source), self._name(target)) for source, target in moves],
                removes=[self._name(each) for each in removes],
                marker=self._wanted
                if batch is None
                else msgspec.structs.replace(self._wanted, batch=batch),
            ),
        )
        self._carry_out()
        self.workspace.stage()

    def _carry_out(self) -> None:
        journal = read_journal(self._path, self._schemas)
        staging = self._path / journal.staging
        old = staging / "old"
        old.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(journal.removes):
            if (self._path / name).exists():
                (self._path / name).rename(old / f"removed-{number}")
        for number, (source, target) in enumerate(journal.moves):
            if not (self._path / source).exists():
                continue
            if (self._path / target).exists():
                (self._path / target).rename(old / f"replaced-{number}")
            (self._path / target).parent.mkdir(parents=True, exist_ok=True)
            (self._path / source).rename(self._path / target)
        self._write_json(MARKER, journal.marker)
        (self._path / JOURNAL).unlink()
        shutil.rmtree(staging, ignore_errors=True)

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._path))

    def _write_json(self, name: str, value: Journal | Origin) -> None:
        data = msgspec.json.format(msgspec.json.encode(value), indent=1)
        write_whole(self._path / name, data, self._path / f"{STAGING}{name.strip('.')}")

    def _marker(self) -> Origin | None:
        try:
            return read_kept_json(self._path / MARKER, Origin, _MOST_MARKER_BYTES)
        except FileNotFoundError:
            return None

    # Whose folder it is -------------------------------------------------------------------------

    def _refuse_foreign(self) -> None:
        found = sorted(each.name for each in self._path.iterdir())
        if MARKER in found or JOURNAL in found:
            # Other files beside the tables, such as a report, are left alone.
            return
        foreign = [n for n in found if n != LOCK and not n.startswith(STAGING)]
        if foreign:
            raise OutputError(
                f"{self._path} has something else in it ({', '.join(foreign[:3])}"
                f"{', …' if len(foreign) > 3 else ''}): name a new or empty folder"
            )

    def _recover(self) -> None:
        """Carry out the journal of a killed run, and remove its other files."""
        if (self._path / JOURNAL).exists():
            self._carry_out()
        self.workspace.clear()


def on_dates(column: pa.ChunkedArray, dates: Iterable[date | None]) -> pa.ChunkedArray:
    """Which values of a column of dates are among these; None stands for null."""
    return pc.is_in(column, value_set=pa.array(list(dates), pa.date32()))


def _together(files: Iterable[DataFile], most_bytes: int) -> Iterator[list[DataFile]]:
    """Small files in groups of about that many bytes; each large one alone."""
    small = []
    for each in files:
        if each.size_bytes >= most_bytes:
            yield [each]
        else:
            small.append(each)
    yield from gathered(small, lambda file: file.size_bytes, most_bytes)


def _is_old(file: DataFile, oldest: date | None) -> bool:
    return oldest is not None and file.first_date is not None and file.first_date < oldest


def _has_kept(file: DataFile, oldest: date) -> bool:
    late = file.last_date is not None and file.last_date >= oldest
    return late or bool(file.undated_rows)
