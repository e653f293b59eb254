"""Files of frames that tasks write as they decode: each frame once, with its topics' names."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.tables.days import DAY_US
from kafka_admin_proto.tables.files import frame_files
from kafka_admin_proto.tables.files.frame_files import (
    FrameFile,
    FrameWriter,
    rewrite_frame_file,
    write_frame_file,
)
from kafka_admin_proto.tables.frame_columns import FRAMES
from kafka_admin_proto.tables.sinks.data_files import Location
from kafka_admin_proto.tables.topic_names import NamedTopics

IDS = ("id-a", "id-b", "id-c")
#: Day, topic ids, line of a log.
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-2, 3),
        st.lists(st.sampled_from(IDS), unique=True),
        st.sampled_from([None, None, None, 7]),
    ),
    max_size=12,
)
NAMES = st.dictionaries(
    st.sampled_from(IDS), st.tuples(st.sampled_from(["x", "y"]), st.integers(-1, 30))
)
Row = tuple[int | None, list[str], int | None]


def batch_of(rows: list[Row], first: int) -> pa.RecordBatch:
    columns = {
        "ts": [None if day is None else day * DAY_US for day, _, _ in rows],
        "topic_ids": [ids for _, ids, _ in rows],
        "line": [line for _, _, line in rows],
        "packet_ordinal": list(range(first, first + len(rows))),
        **{name: ["x"] * len(rows) for name in ("capture", "direction")},
        "error_codes": [[]] * len(rows),
        "forwarded": [False] * len(rows),
    }
    arrays = [pa.array(columns.get(each.name, [None] * len(rows)), each.type) for each in FRAMES]
    return pa.RecordBatch.from_arrays(arrays, schema=FRAMES)


def expected_names(rows: list[Row], names: NamedTopics) -> list[list[tuple[str, str]] | None]:
    found = []
    for ordinal, (_, ids, line) in enumerate(rows):
        known = [
            (each, names[each][0])
            for each in ids
            if line is None and each in names and names[each][1] <= ordinal
        ]
        found.append(known or None)
    return found


@given(
    batches=st.lists(ROWS, max_size=4),
    names=NAMES,
    seen=st.lists(st.sampled_from(IDS)),
    sizes=st.sampled_from([(1, 1, 1), (1, 1 << 20, 300), (1 << 20, 1 << 20, 1 << 20)]),
    short_run=st.sampled_from([1, 2, 64]),
)
def test_each_frame_once_with_its_names(
    batches: list[list[Row]], names: NamedTopics, seen: list[str], sizes: tuple[int, int, int],
    short_run: int,
) -> None:  # fmt: skip
    """A task knows some names as it writes; frames that lack others wait."""
    known = {each: names[each] for each in seen if each in names}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, size in zip(
            ("_SMALL_FILE", "ROW_GROUP_BYTES", "_WAITING_BYTES", "_SHORT_RUN"),
            (*sizes, short_run),
            strict=True,
        ):
            patch.setattr(frame_files, name, size)
        location = Location(folder)
        writer, waiting, first = FrameWriter(location), [], 0
        for rows in batches:
            pending = writer.add(batch_of(rows, first), known)
            waiting += [] if pending is None else [pending]
            first += len(rows)
        file, few = writer.finish()
        files = [] if file is None else [file.file]
        assert file is None or file.agrees(names)
        late = [batch.select(FRAMES.names) for batch in [*waiting, *few]]
        files.append(write_frame_file(location, late, names))
        tables = [pq.read_table(Path(folder, "frames", each.name)) for each in files]
        for each, table in zip(files, tables, strict=True):
            assert each.rows == table.num_rows
        found = pa.concat_tables(tables).sort_by("packet_ordinal")
    everything = [row for rows in batches for row in rows]
    assert found["packet_ordinal"].to_pylist() == list(range(len(everything)))
    assert found["topic_names"].to_pylist() == expected_names(everything, names)
    days = found["date"].cast(pa.int32()).to_pylist()
    assert days == [day for day, _, _ in everything]


@pytest.mark.parametrize(
    "rows",
    [
        [(0, [], None), (0, ["id-a"], None)],  # the body of the latter is the batch
        [(0, [], None), (0, ["id-a"], None), (1, [], None)],  # days are written by themselves
    ],
    ids=["most of a batch waits", "two days"],
)
def test_memory_is_that_of_the_frames_that_do_not_wait(rows: list[Row], tmp_path: Path) -> None:
    large = "x" * (1 << 20)
    bodies = ["{}", large, *([large] * 2)][: len(rows)]
    body = FRAMES.get_field_index("body")
    writer = FrameWriter(Location(str(tmp_path)))
    before = pa.total_allocated_bytes()
    for first in range(0, 40 * len(rows), len(rows)):
        batch = batch_of(rows, first)
        made = batch.set_column(body, FRAMES.field(body), pa.array(bodies, pa.string()))
        pending = writer.add(made, {})
        assert pending is not None
        assert pending["packet_ordinal"].to_pylist() == [first + 1]
        del batch, made, pending
        # What waits for more of its day, of a day that has been written nothing.
        kept = sum(part.nbytes for parts in writer._waiting.values() for part in parts)
        assert pa.total_allocated_bytes() - before < 2 * kept + (1 << 20)
    writer.close()


def test_a_row_group_has_one_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_files, "_SMALL_FILE", 1)
    writer = FrameWriter(Location(str(tmp_path)))
    for first in range(0, 40, 4):
        days: list[Row] = [(0, [], None), (2, [], None), (None, [], None), (1, [], None)]
        writer.add(batch_of(days, first), {})
    file, _ = writer.finish()
    assert file is not None
    again = rewrite_frame_file(Location(str(tmp_path)), file.file.name, {})
    for each in (file.file, again):
        with pq.ParquetFile(tmp_path / "frames" / each.name) as read:
            groups = [read.read_row_group(n, ["date"]) for n in range(read.num_row_groups)]
        assert [len(set(group["date"].to_pylist())) for group in groups] == [1] * 4
        assert each.undated_rows == 10


def test_another_name_was_earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packets give one id different names: whoever knew the later one alone was wrong."""
    monkeypatch.setattr(frame_files, "_SMALL_FILE", 1)
    location = Location(str(tmp_path))
    writer = FrameWriter(location)
    rows: list[Row] = [(0, ["id-a"], None), (0, ["id-b"], None), (0, [], None)]
    assert writer.add(batch_of(rows, 10), {"id-a": ("x", 5), "id-b": ("z", 5)}) is None
    file, _ = writer.finish()
    assert file is not None
    assert file.used == {("id-a", "x"), ("id-b", "z")}
    names = {"id-a": ("y", 3), "id-b": ("z", 4)}
    assert not file.agrees(names)
    assert not file.agrees({"id-b": ("z", 4)})
    assert file.agrees({"id-a": ("x", 3), "id-b": ("z", 4)})
    again = rewrite_frame_file(location, file.file.name, names)
    table = pq.read_table(tmp_path / "frames" / again.name).sort_by("packet_ordinal")
    assert table["topic_names"].to_pylist() == [[("id-a", "y")], [("id-b", "z")], None]
    assert FrameFile(again, {("id-a", "y")}).agrees(names)
