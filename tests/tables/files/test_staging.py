"""Frames by date in groups, and these in files: nothing lost, whatever there is."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.tables.files import staging
from kafka_admin_proto.tables.files.staging import Group, _files, stage
from kafka_admin_proto.tables.frame_columns import DECODED
from kafka_admin_proto.tables.sinks.data_files import Location

DAY = 86_400_000_000
TIMES = st.none() | st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3 * DAY, 3 * DAY)
ROWS = st.lists(
    st.tuples(TIMES, st.none() | st.sampled_from(["Fetch", "Vote"]), st.text(max_size=9))
)


def batch_of(rows: list[tuple[int | None, str | None, str]]) -> pa.RecordBatch:
    columns = {
        "ts": [ts for ts, _, _ in rows],
        "api": [api for _, api, _ in rows],
        "body": [body for _, _, body in rows],
        **{name: ["x"] * len(rows) for name in ("capture", "direction")},
        "error_codes": [[]] * len(rows),
        "forwarded": [False] * len(rows),
        "packet_ordinal": list(range(len(rows))),
    }
    arrays = [pa.array(columns.get(each.name, [None] * len(rows)), each.type) for each in DECODED]
    return pa.RecordBatch.from_arrays(arrays, schema=DECODED)


@given(st.lists(ROWS, max_size=4), st.sampled_from([1, 3000, 1 << 20]))
def test_each_frame_is_in_a_group_of_its_day(
    batches: list[list[tuple[int | None, str | None, str]]], size: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "_WAITING_BYTES", size)
        staged = stage(map(batch_of, batches), folder, Location(f"{folder}/tables"))
        assert staged.files == []
        found: Counter[tuple[str | None, str]] = Counter()
        for group in staged.of("frames"):
            table = pa.ipc.open_file(group.file).get_batch(group.number)
            assert table.num_rows == group.rows
            found.update(zip(table["api"].to_pylist(), table["body"].to_pylist(), strict=True))
            micros = table["ts"].cast(pa.int64()).to_pylist()
            for ts in micros:
                if group.date != staging.NO_DATE:
                    assert str(_day(ts)) == group.date
        assert len(list(Path(folder).iterdir())) <= 1
    rows = [row for batch in batches for row in batch]
    assert found == Counter((api, body) for _, api, body in rows)


def _day(ts: int) -> date:
    return date(1970, 1, 1) + timedelta(days=ts // DAY)


GROUPS = st.builds(
    Group,
    file=st.sampled_from("ab"),
    number=st.integers(0, 1000),
    date=st.sampled_from(["unknown", "2026-01-31"]),
    rows=st.just(1),
    bytes=st.integers(1, 1 << 30),
)


@given(st.lists(GROUPS), st.integers(1, 64))
def test_files_have_each_group_once(groups: list[Group], cores: int) -> None:
    files = _files(groups, cores)
    assert sorted((g for file in files for g in file), key=str) == sorted(groups, key=str)
    for file in files:
        assert file == sorted(file, key=lambda group: (group.date, group.file, group.number))
        assert len(file) == 1 or sum(g.bytes for g in file) <= staging._FILE_BYTES
