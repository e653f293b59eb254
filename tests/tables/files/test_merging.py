"""Tables of tasks merged in any order and grouping are the tables of one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import FetchRequest, FetchResponse
from kafka_admin_proto.capture.captures import CaptureDecoder, open_file
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.messages import fetch_response
from kafka_admin_proto.tables.files.merge import merged_changes, topics_of_log, with_topic_names
from kafka_admin_proto.tables.frame_columns import DECODED
from kafka_admin_proto.tables.rows.derive import CALL_KEYS, RowDeriver
from kafka_admin_proto.tables.rows.derived import client_uses
from kafka_admin_proto.tables.rows.derived.client_uses import USES, ClientUses, client_rows
from kafka_admin_proto.tables.schemas import STAGED
from kafka_admin_proto.tables.topic_names import UNNAMED, earliest
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import answers, asks
from tests.helpers.profile import draws
from tests.tables.traffic import LOG, write_mixed

T = TypeVar("T")
DAY_US = 86_400_000_000


@st.composite
def groupings(draw: st.DrawFn, items: Sequence[T]) -> list[list[T]]:
    """The items in any order, in groups of any size, some of them empty."""
    shuffled = draw(st.permutations(items))
    cuts = sorted(draw(st.lists(st.integers(0, len(items)), max_size=4)))
    return [list(shuffled[a:b]) for a, b in pairwise([0, *cuts, len(items)])]


# --- clients


REQUESTS = st.fixed_dictionaries(
    {
        "ts": st.none() | st.integers(-DAY_US, 2 * DAY_US),
        "direction": st.sampled_from(["request", "request", "response", "gap"]),
        "client_id": st.none() | st.sampled_from(["a", "b"]),
        "client_software": st.none() | st.sampled_from(["java 4.1", "java", "rdkafka 2 x"]),
        "client": st.none() | st.sampled_from(["10.0.0.1:5", "10.0.0.1:6", "[::1]:5"]),
        "principal": st.none() | st.sampled_from(["User:a", "User:b"]),
        "api": st.none() | st.sampled_from(["Fetch", "Vote"]),
        "api_key": st.none() | st.integers(1, 2),
        "api_version": st.integers(0, 9),
        "forwarded": st.booleans(),
    }
)


def uses_of(frames: Iterable[dict[str, Any]], batch_rows: int) -> pa.Table:
    """The uses that a task gathers from these frames, in batches of that size."""
    uses = ClientUses()
    rows = list(frames)
    for start in range(0, len(rows), batch_rows):
        part = rows[start : start + batch_rows]
        arrays = [pa.array([row.get(each.name) for row in part], each.type) for each in DECODED]
        uses.add(pa.RecordBatch.from_arrays(arrays, schema=DECODED))
    return uses.take()


def clients_by_day(parts: Iterable[pa.Table]) -> dict[int | None, list[Any]]:
    """Day → its rows of ``clients``, the parts merged one after the other, as a stream does."""
    days: dict[int | None, pa.Table] = {}
    for part in parts:
        rows = part.to_pylist()
        for day in {row["day"] for row in rows}:
            uses = pa.Table.from_pylist([row for row in rows if row["day"] == day], USES)
            days[day] = client_rows([uses], days.get(day))
    return {day: in_order(table) for day, table in days.items()}


def in_order(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=repr)


@given(st.data(), st.lists(REQUESTS, max_size=12), st.integers(1, 5))
def test_clients_of_parts_are_those_of_all_frames(
    data: st.DataObject, frames: list[dict[str, Any]], batch_rows: int
) -> None:
    whole = clients_by_day([uses_of(frames, 100)])
    groups = data.draw(groupings(frames))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_uses, "_COMPACT_ROWS", data.draw(st.sampled_from([0, 3, 50_000])))
        parts = [uses_of(group, batch_rows) for group in groups]
    assert clients_by_day(parts) == whole
    counted = [
        row for row in frames
        if row["direction"] == "request" and row["api_key"] is not None and not row["forwarded"]
    ]  # fmt: skip
    assert sum(row["requests"] for rows in whole.values() for row in rows) == len(counted)


@given(st.data(), st.lists(REQUESTS, max_size=12))
def test_all_parts_of_a_day_at_once(data: st.DataObject, frames: list[dict[str, Any]]) -> None:
    one_day = [{**row, "ts": None} for row in frames]
    parts = [uses_of(group, 3) for group in data.draw(groupings(one_day))]
    assert in_order(client_rows(parts)) == in_order(client_rows([uses_of(one_day, 100)]))


# --- names of topics


@given(
    st.data(),
    st.dictionaries(st.tuples(st.sampled_from("ab"), st.integers(0, 9)), st.text(max_size=2)),
)
def test_the_earliest_name_of_an_id_counts(
    data: st.DataObject, given_names: dict[tuple[str, int], str]
) -> None:
    items = [{topic_id: (name, at)} for (topic_id, at), name in given_names.items()]
    groups = data.draw(groupings(items))
    merged = earliest(earliest(group) for group in groups)
    assert merged == earliest(items)
    for topic_id, (name, at) in merged.items():
        assert at == min(each for known, each in given_names if known == topic_id)
        assert name == given_names[topic_id, at]


# --- derived rows: frames of real captures, distributed among tasks


def tables_of(tasks: Iterable[Iterable[tuple[Any, int]]]) -> dict[str, list[Any]]:
    """The merged tables of tasks, each of which derives the rows of its frames."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in (*STAGED, "topic_names")}
    for task in tasks:
        deriver = RowDeriver(mask=True)
        for frame, ordinal in task:
            for table, row in deriver.rows(frame, ordinal):
                rows[table].append(row)
    made = {name: pa.Table.from_pylist(rows[name], schema) for name, schema in STAGED.items()}
    names = earliest(
        {row["topic_id"]: (row["name"], row["packet_ordinal"])} for row in rows["topic_names"]
    )
    changes = made["metadata_changes"]
    return {
        "admin_audit": in_order(with_topic_names(made["admin_audit"], names)),
        "quorum_events": in_order(made["quorum_events"]),
        "metadata_changes": in_order(merged_changes(changes, topics_of_log([changes]))),
        "names": sorted(names.items()),
    }


@cache
def sample_frames() -> list[tuple[DecodedFrame, int]]:
    """Frames of the captures that the tests of the pipeline read, each with an ordinal."""
    frames: list[DecodedFrame] = []
    with TemporaryDirectory() as folder:
        for name in write_mixed(Path(folder) / "mixed"):
            decoder = CaptureDecoder(DecodeOptions(keep_requests=CALL_KEYS))
            with open_file(str(name)) as stream:
                frames += decoder.read(stream, str(name))
            frames += decoder.finish()
    return [(frame, ordinal) for ordinal, frame in enumerate(frames)]


@settings(max_examples=draws(60))
@given(st.integers(1, 7), st.integers(0, 1 << 30))
def test_tables_do_not_depend_on_tasks(tasks: int, seed: int) -> None:
    chance = Random(seed)
    parts: list[list[tuple[DecodedFrame, int]]] = [[] for _ in range(tasks)]
    for each in sample_frames():
        chance.choice(parts).append(each)
    for part in parts:
        chance.shuffle(part)
    assert tables_of(parts) == whole_tables()


@cache
def whole_tables() -> dict[str, list[Any]]:
    tables = tables_of([sample_frames()])
    assert all(tables.values())
    return tables


@cache
def fetched_log() -> list[DecodedFrame]:
    """Frames of a broker that fetches a metadata log."""
    log = (LOG / "00000000000000000000.log").read_bytes()
    records = fetch_response.PartitionData(records=log)
    topic = fetch_response.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[records])
    turns = [asks(FetchRequest(), 13, 1), answers(FetchResponse(responses=[topic]), 13, 1)]
    decoder = CaptureDecoder()
    return [*decoder.read(BytesIO(pcap(conversation(turns))), "log.pcap"), *decoder.finish()]


def test_a_record_that_is_fetched_again_keeps_its_first_packet() -> None:
    """All brokers fetch the same records, and tasks decode their frames in any order."""
    first = [(frame, 5) for frame in fetched_log()]
    again = [(frame, 9) for frame in fetched_log()]
    once = tables_of([first])["metadata_changes"]
    assert len(once) > 10
    assert all(row["packet_ordinal"] == 5 for row in once)
    for tasks in ([again + first], [first + again], [again, first], [first, again]):
        assert tables_of(tasks)["metadata_changes"] == once


CHANGES = st.fixed_dictionaries(
    {
        "packet_ordinal": st.none() | st.integers(0, 5),
        "capture": st.sampled_from(["a.pcap", "b.pcap"]),
        "log_offset": st.none() | st.integers(0, 2),
        "source": st.just("PartitionRecord"),
        "partition": st.integers(0, 1),
    }
)


@given(st.lists(CHANGES, max_size=12))
def test_each_record_has_one_row(changes: list[dict[str, Any]]) -> None:
    """The row of the earliest packet stays; rows of files have no packet, and come last."""
    table = pa.Table.from_pylist(changes, STAGED["metadata_changes"])
    first: dict[Any, tuple[Any, ...]] = {}
    for row in changes:
        key = (row["log_offset"], row["partition"])
        rank = (row["packet_ordinal"] is None, row["packet_ordinal"] or 0, row["capture"])
        if row["log_offset"] is not None:
            first[key] = min(first.get(key, rank), rank)
    made = merged_changes(table, {}).to_pylist()
    kept = {
        (row["log_offset"], row["partition"]): (
            row["packet_ordinal"] is None, row["packet_ordinal"] or 0, row["capture"]
        )
        for row in made
        if row["log_offset"] is not None
    }  # fmt: skip
    assert kept == first
    requests = [row for row in changes if row["log_offset"] is None]
    assert len(made) == len(first) + len(requests)


def test_rows_that_have_no_name() -> None:
    """A topic id keeps its row without a name where the capture names it only later."""
    audit = STAGED["admin_audit"]
    row = {"topic_id": "x", "named_at": 5, "packet_ordinal": 5}
    rows = pa.Table.from_pylist([row, {**row, "named_at": 7}, {**row, "named_at": None}], audit)
    assert with_topic_names(rows, {"x": ("fruit", 6)})["topic"].to_pylist() == [None, "fruit", None]
    assert with_topic_names(rows, {"y": UNNAMED})["topic"].to_pylist() == [None, None, None]
