"""Both sinks: whatever is killed when, each row once; and a bounded number of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.kept_files import open_kept
from kafka_admin_proto.tables.sinks import workspace
from kafka_admin_proto.tables.sinks.data_files import DataFile, Location, write_data_file
from kafka_admin_proto.tables.sinks.delta import DeltaSink, delta_address
from kafka_admin_proto.tables.sinks.parquet import ParquetSink
from kafka_admin_proto.tables.sinks.sink import Mode, TableSink
from kafka_admin_proto.tables.sinks.workspace import OutputError, Workspace
from tests.helpers.profile import draws
from tests.tables.sinks.small_tables import (
    SCHEMAS,
    Row,
    replacement,
    rows_of,
    table_of,
    write_batch,
)

FORMATS = ("parquet", "delta")
DAYS = st.none() | st.integers(1, 4).map(lambda day: date(2026, 1, day))


class Killed(BaseException):
    """The process is gone."""


def open_sink(
    kind: str, folder: Path, *, mode: Mode = "streaming", inputs: str = "captures/", **more: Any
) -> TableSink:
    given: dict[str, Any] = {"mode": mode, "inputs": [inputs], "replaced_by_day": ["clients"]}
    if kind == "parquet":
        return ParquetSink(folder / "out", SCHEMAS, **given, **more)
    return DeltaSink(str(folder / "out"), SCHEMAS, work=folder / "work", **given, **more)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("there", ["", "out"])
def test_a_run_that_made_nothing_leaves_nothing(kind: str, there: str, tmp_path: Path) -> None:
    """As where Spark does not start; another run that waits for the lock does not get it."""
    folder = tmp_path / "new"
    if there:
        (folder / there).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with open_sink(kind, folder), pytest.raises(OutputError, match="another run"):
        open_sink(kind, folder).__enter__()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("successor", [False, True])
def test_the_lock_of_a_folder_that_was_taken_away(
    opened: bool, successor: bool, tmp_path: Path
) -> None:
    """The run that had it removes both before or after another opens it; a third may be quicker."""
    first, second, third, fourth = (Workspace(tmp_path / "out") for _ in range(4))
    for each in (first, second):
        each.make()
    first.hold()

    def late(path: Path, flags: int) -> int:
        lock = open_kept(path, flags) if opened else -1
        if first.is_held:
            first.release()
            assert not path.parent.exists()
            if successor:
                third.make()
                third.hold()
        return lock if opened else open_kept(path, flags)

    with patch.object(workspace, "open_kept", late):
        if successor:
            with pytest.raises(OutputError, match="another run"):
                second.hold()
        else:
            second.hold()
    with pytest.raises(OutputError, match="another run"):
        fourth.hold()
    for each in (second, third):
        each.release()
    assert not (tmp_path / "out").exists()


@contextmanager
def killed_at(step: int) -> Iterator[None]:
    """No step that changes what is committed is done from that one on."""
    steps = 0

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*arguments: Any, **named: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps > step:
                raise Killed
            return real(*arguments, **named)

        return act

    with (
        patch.object(Path, "rename", wrap(Path.rename)),
        patch.object(Path, "replace", wrap(Path.replace)),
        patch.object(DeltaSink, "_try", wrap(DeltaSink._try)),
    ):
        yield


Batches = list[tuple[list[date | None], int | None]]


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=draws(24))
@given(
    batches=st.lists(
        st.tuples(st.lists(DAYS, max_size=3), st.none() | st.integers(0, 6)), max_size=9
    )
)
def test_a_stream_has_each_row_once(kind: str, batches: Batches) -> None:
    """Each batch has rows of some days, and is perhaps killed after so many steps."""
    frames: list[Row] = []
    clients: dict[date | None, int] = {}
    with TemporaryDirectory() as folder:
        for number, (days, killed) in enumerate(batches):
            rows = [(day, f"{number} {place}") for place, day in enumerate(days)]
            merged = {day: clients.get(day, 0) + days.count(day) for day in days}

            def run(number: int = number, rows: list[Row] = rows, merged: Any = merged) -> None:
                with open_sink(kind, Path(folder)) as sink:
                    sink.claim()
                    if sink.batch < number:
                        files = {"frames": [write_batch(sink, "frames", rows)]} if rows else {}
                        counted = [(day, str(count)) for day, count in merged.items()]
                        sink.append(files, {"clients": replacement(counted, merged)}, number)
                        sink.maintain(number)

            if killed is not None:
                with killed_at(killed), suppress(Killed):
                    run()
            run()
            frames += rows
            clients |= merged
            with open_sink(kind, Path(folder)) as sink:
                assert rows_of(sink, "frames") == sorted(frames, key=str)
                expected = [(day, str(count)) for day, count in clients.items()]
                assert rows_of(sink, "clients") == sorted(expected, key=str)
                assert sink.count_rows() == {"frames": len(frames), "clients": len(clients)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FORMATS)
def test_small_batches(kind: str, tmp_path: Path) -> None:
    """The number of files stays small, and a batch reads and writes about what it brings."""
    most, written = 0, []
    with open_sink(kind, tmp_path) as sink:
        sink.claim()
        for number in range(draws(200)):
            day = date(2026, 1, 1 + number // 50)
            file = write_batch(sink, "frames", [(day, "x" * 5000)] * 3)
            sink.append(
                {"frames": [file]}, {"clients": replacement([(day, str(number))], [day])}, number
            )
            sink.maintain(number)
            most = max(most, *(len(sink.file_names(name)) for name in SCHEMAS))
            written.append(file)
        assert most <= 10
        assert sink.count_rows()["frames"] == 3 * len(written)


@pytest.mark.parametrize("kind", FORMATS)
def test_staged_rows_go_with_their_batch(kind: str, tmp_path: Path) -> None:
    with open_sink(kind, tmp_path) as sink:
        sink.claim()
        for number in range(3):
            (sink.workspace.staging / "decoded").mkdir()
            (sink.workspace.staging / "decoded" / "rows").touch()
            sink.append({"frames": [write_batch(sink, "frames", [(None, "x")])]}, {}, number)
            assert not list(sink.workspace.staging.iterdir())
            assert list(sink.workspace.path.glob(".staging-*")) == [sink.workspace.staging]
    assert not list(sink.workspace.path.glob(".staging-*"))


@pytest.mark.parametrize("kind", FORMATS)
def test_tables_are_replaced(kind: str, tmp_path: Path) -> None:
    for text in ("one", "two"):
        with open_sink(kind, tmp_path, mode="batch") as sink:
            sink.replace({"frames": [write_batch(sink, "frames", [(None, text)])]})
            assert rows_of(sink, "frames") == [(None, text)]
            assert rows_of(sink, "clients") == []
            assert not list((tmp_path / "out").rglob("date=*"))


@pytest.mark.parametrize("kind", FORMATS)
def test_whose_tables_they_are(kind: str, tmp_path: Path) -> None:
    with open_sink(kind, tmp_path, mode="batch") as sink:
        sink.replace({})
    with (
        pytest.raises(OutputError, match=r"another input \(captures/\).*--overwrite"),
        open_sink(kind, tmp_path, mode="batch", inputs="others/"),
    ):
        pass
    with pytest.raises(OutputError, match=r"another mode \(batch\)"), open_sink(kind, tmp_path):
        pass
    with open_sink(kind, tmp_path, mode="batch", inputs="others/", overwrite=True) as sink:
        sink.replace({})
    with open_sink(kind, tmp_path, mode="batch", inputs="others/"):
        pass
    other = FORMATS[1 - FORMATS.index(kind)]
    with pytest.raises(OutputError, match=r"name a(nother| new or empty) folder"):
        open_sink(other, tmp_path, mode="batch").__enter__()


@pytest.mark.parametrize("kind", FORMATS)
def test_old_rows_are_forgotten(kind: str, tmp_path: Path) -> None:
    """Those of days before the last so many; rows without a date stay."""
    today = datetime.now(UTC).date()
    days = [None, *(today - timedelta(days=age) for age in (0, 1, 29, 31, 400))]
    with open_sink(kind, tmp_path) as sink:
        sink.claim()
        for number, day in enumerate([*days, *days]):
            both = [day, today] if number % 2 else [day]
            file = write_batch(sink, "frames", [(each, "x") for each in both])
            clients = replacement([(day, "y")], [day])
            sink.append({"frames": [file]}, {"clients": clients}, number)
        sink.maintain(15, timedelta(days=30))
        kept = [None, today, today - timedelta(days=1), today - timedelta(days=29)]
        assert {day for day, _ in rows_of(sink, "frames")} == set(kept)
        assert sorted((day for day, _ in rows_of(sink, "clients")), key=str) == sorted(
            kept, key=str
        )
        assert sink.count_rows()["frames"] == 2 * 4 + 6


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_that_is_forgotten_whole_still_has_columns(kind: str, tmp_path: Path) -> None:
    with open_sink(kind, tmp_path) as sink:
        sink.claim()
        file = write_batch(sink, "frames", [(date(2001, 1, 1), "x")])
        sink.append({"frames": [file]}, {}, 0)
        sink.maintain(7, timedelta(days=1))
        assert rows_of(sink, "frames") == []
        if kind == "parquet":
            assert len(sink.file_names("frames")) == 1


@given(st.lists(DAYS, min_size=1), st.lists(DAYS))
def test_a_file_may_have_the_dates_it_has(
    days: list[date | None], asked: list[date | None]
) -> None:
    named = [day for day in days if day is not None]
    first, last = min(named, default=None), max(named, default=None)
    file = DataFile("x", len(days), 1, first, last, days.count(None))
    assert file.may_have(asked) or not set(days) & set(asked)
    if len(set(days)) == 1:
        assert file.may_have(asked) == bool(set(days) & set(asked))


def test_two_streams_into_the_same_delta_tables(tmp_path: Path) -> None:
    """With work folders of their own no lock keeps them apart; the log does."""
    with open_sink("delta", tmp_path) as one:
        one.claim()
        given: dict[str, Any] = {"mode": "streaming", "inputs": ["captures/"]}
        out = str(tmp_path / "out")
        with DeltaSink(out, SCHEMAS, work=tmp_path / "other", **given) as other:
            one.append({"frames": [write_batch(one, "frames", [(None, "a")])]}, {}, 0)
            with pytest.raises(OutputError, match="cannot be written to"):
                other.append({"frames": [write_batch(other, "frames", [(None, "b")])]}, {}, 0)
        assert rows_of(one, "frames") == [(None, "a")]


def test_delta_tables_get_the_columns_that_are_new(tmp_path: Path) -> None:
    """A stream goes on with tables of an earlier version; rows that were there have null."""
    less = {name: pa.schema(list(schema)[:-1]) for name, schema in SCHEMAS.items()}
    given: dict[str, Any] = {"mode": "streaming", "inputs": ["captures/"]}
    with DeltaSink(str(tmp_path / "out"), less, work=tmp_path / "work", **given) as sink:
        sink.claim()
        old = table_of("frames", [(None, "a")]).to_batches()
        file = write_data_file(sink.location, "frames", less["frames"], old)
        sink.append({"frames": [file]}, {}, 0)
    with open_sink("delta", tmp_path) as sink:
        sink.claim()
        sink.append({"frames": [write_batch(sink, "frames", [(None, "b")])]}, {}, 1)
        sink.maintain(7)
    found = DeltaTable(str(tmp_path / "out" / "frames")).to_pyarrow_table()
    assert found.column_names == SCHEMAS["frames"].names
    assert sorted(found["text"].to_pylist(), key=str) == [None, "b"]


def test_a_snapshot_is_read_while_tables_are_replaced(tmp_path: Path) -> None:
    with open_sink("delta", tmp_path) as sink:
        sink.claim()
        for number in range(8):
            file = write_batch(sink, "frames", [(None, str(number))])
            sink.append({"frames": [file]}, {}, number)
        names = sink.file_names("frames")
        sink.maintain(7)
        assert len(sink.file_names("frames")) == 1
        assert all((tmp_path / "out" / "frames" / name).exists() for name in names)


def test_where_delta_tables_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no folder with %"):
        open_sink("delta", tmp_path / "50%").__enter__()
    foreign = tmp_path / "out" / "frames"
    DeltaTable.create(str(foreign), SCHEMAS["frames"])
    with pytest.raises(OutputError, match="frames is none of the pipeline's"):
        open_sink("delta", tmp_path).__enter__()


def test_addresses() -> None:
    """Options of a URI for pyarrow are those of delta-rs by other names."""
    store = "s3://bucket/tables?region=eu-west-3&endpoint_override=minio:9000&scheme=http"
    assert delta_address(Location(store), "frames") == (
        "s3://bucket/tables/frames",
        {
            "AWS_REGION": "eu-west-3",
            "AWS_ENDPOINT_URL": "http://minio:9000",
            "AWS_ALLOW_HTTP": "true",
        },
    )
    assert delta_address(Location("/out"), "frames") == (f"{os.sep}out/frames", {})
