"""The pipeline's tables: the frames are those of one process, and the others what they say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.record import RECORD_KEYS, frame_record
from kafka_admin_proto.capture.request_log import read_request_log
from kafka_admin_proto.spark.ingest import exchange
from kafka_admin_proto.spark.sinks.parquet import ParquetSink
from kafka_admin_proto.spark.sinks.reading import read_tables
from kafka_admin_proto.spark.tables.files import frame_files, staging
from kafka_admin_proto.spark.tables.pipeline import run_batch
from kafka_admin_proto.spark.tables.schemas import TABLES
from tests.capture.test_request_log import entry, log4j
from tests.spark.traffic import ADMIN, CONTROLLER, DAY, LOG, hidden_in, write_mixed

pytestmark = pytest.mark.xdist_group("spark")

Row = dict[str, Any]


def rows_of(spark: SparkSession, out: Path, name: str) -> list[Row]:
    table = read_tables(spark, str(out), {name: TABLES[name]}).get(name)
    assert table is not None, name
    found = table.selectExpr(
        *(
            f"unix_micros({each}) AS {each}" if each in ("ts", "first_ts", "last_ts") else each
            for each in TABLES[name].names
        )
    )
    return [row.asDict(recursive=True) for row in found.collect()]


def frames_in(spark: SparkSession, out: Path) -> list[str]:
    """The table ``frames`` as frame records, each as JSON."""
    rows = rows_of(spark, out, "frames")
    for row in rows:
        row["body"] = None if row["body"] is None else json.loads(row["body"])
    return as_text(rows)


def as_text(rows: Iterable[Row]) -> list[str]:
    return sorted(
        json.dumps({name: row[name] for name in RECORD_KEYS}, sort_keys=True) for row in rows
    )


def by_one_process(captures: Sequence[Path], logs: Sequence[Path] = ()) -> list[str]:
    """What ``kap decode --output jsonl`` writes."""
    found = [frame_record(frame) for frame in read_captures(captures)]
    for log in logs:
        with log.open("rb") as lines:
            found += [frame_record(frame) for frame in read_request_log(lines, str(log))]
    return as_text(found)


def make(spark: SparkSession, out: Path, captures: Sequence[Path], **options: Any) -> None:
    names = [str(each) for each in captures]
    with ParquetSink(out, TABLES, mode="batch", inputs=names) as sink:
        run_batch(spark.sparkContext, names, sink, **options)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_mixed(tmp_path_factory.mktemp("pipeline") / "mixed")


@pytest.fixture(scope="module")
def request_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = tmp_path_factory.mktemp("logs") / "request.log"
    broken = 'Completed request:{"requestHeader"\n'
    log.write_text(f"{log4j(entry())}{broken}{log4j(entry(isForwarded=True))}noise\n")
    return log


@pytest.fixture(scope="module")
def out(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    mixed: list[Path],
    request_log: Path,
) -> Path:
    """All tables of all traffic."""
    folder = tmp_path_factory.mktemp("tables") / "out"
    segments = [str(each) for each in sorted(LOG.glob("*.log"))]
    make(spark, folder, [*mixed, request_log], segments=segments)
    return folder


@pytest.fixture
def rows(spark: SparkSession, out: Path) -> Any:
    return lambda name: rows_of(spark, out, name)


def test_frames_are_those_of_one_process(
    spark: SparkSession, out: Path, mixed: list[Path], request_log: Path
) -> None:
    expected = by_one_process(mixed, [request_log])
    assert any('"topic_names": {' in each for each in expected)
    assert frames_in(spark, out) == expected


@pytest.mark.exhaustive
@pytest.mark.parametrize(("decoded_at_once", "split"), [(1 << 30, 1 << 30), (1, 5000)])
def test_any_number_of_tasks_and_splits(
    spark: SparkSession,
    tmp_path: Path,
    mixed: list[Path],
    decoded_at_once: int,
    split: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "_READ_BYTES", 1)
    monkeypatch.setattr(exchange, "_DECODE_BYTES", decoded_at_once)
    make(spark, tmp_path / "out", mixed[:3], split_size=split)
    assert frames_in(spark, tmp_path / "out") == by_one_process(mixed[:3])


@pytest.mark.parametrize("decoded_at_once", [1 << 30, 1])
def test_files_that_tasks_finish(
    spark: SparkSession,
    tmp_path: Path,
    mixed: list[Path],
    decoded_at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each task has enough frames for a file; some wait for names that other tasks know."""

    def run_here(
        context: object, shares: Sequence[Any], run: Callable[[Any], bytes]
    ) -> list[bytes]:
        return [run(share) for share in shares]

    for module in (exchange, staging):
        monkeypatch.setattr(module, "run_tasks", run_here)
    monkeypatch.setattr(exchange, "_DECODE_BYTES", decoded_at_once)
    monkeypatch.setattr(frame_files, "_SMALL_FILE", 1)
    make(spark, tmp_path / "out", mixed)
    assert frames_in(spark, tmp_path / "out") == by_one_process(mixed)
    files = list((tmp_path / "out" / "frames").glob("*.parquet"))
    assert len(files) > 1 if decoded_at_once == 1 else len(files) <= 2


def test_where_files_lie(out: Path) -> None:
    """A table of a few megabytes is one file, and says its columns' types itself."""
    found = sorted(each.relative_to(out) for each in out.rglob("*.parquet"))
    assert [each.parts[0] for each in found] == sorted(TABLES)
    assert all(pq.read_schema(out / each).field("date").type == pa.date32() for each in found)
    dates = set(pq.read_table(out / "frames", columns=["date"])["date"].to_pylist())
    assert dates >= {date.fromisoformat(day) for day in DAY} | {None}


def test_audit_of_the_samples(rows: Any) -> None:
    """What the clients of the samples did, see samples/README.md."""
    found = [row for row in rows("admin_audit") if row["capture"].endswith("samples.pcap")]
    asked = [row for row in found if not row["forwarded"] and row["client"].startswith("127")]
    told = {(row["operation"], row["topic"], row["error"]) for row in asked}
    assert told >= {
        ("create topic", "fruit", None),
        ("create topic", "veg", None),
        ("create topic", "fruit", "TOPIC_ALREADY_EXISTS"),
        ("create partitions", "fruit", None),
        ("alter config", "fruit", None),
        ("delete topic", "veg", None),
    }
    (deleted,) = (row for row in asked if row["operation"] == "delete topic")
    (created,) = (row for row in asked if row["topic"] == "veg" and row["api"] == "CreateTopics")
    assert deleted["topic_id"] == created["topic_id"]
    assert created["client_software"] == "apache-kafka-java 4.2.0"
    assert created["answered"]
    assert created["latency_us"] > 0
    forwarded = [row for row in found if row["forwarded"]]
    assert {row["principal"] for row in forwarded} == {"User:ANONYMOUS"}


def test_each_request_on_topics_has_its_rows(spark: SparkSession, rows: Any, out: Path) -> None:
    """As many as the bodies have topics, whatever became of the responses."""
    expected = 0
    for row in rows_of(spark, out, "frames"):
        if row["direction"] == "request" and row["body"] is not None:
            body = json.loads(row["body"])
            if row["api"] in ("CreateTopics", "CreatePartitions", "DeleteTopics"):
                expected += len(body.get("topics", body.get("topicNames", ())))
    found = [row for row in rows("admin_audit") if row["operation"] in (
        "create topic", "create partitions", "delete topic")]  # fmt: skip
    assert len(found) == expected


def test_audit_across_midnight(rows: Any) -> None:
    """A response on the next day is the request's all the same."""
    found = [row for row in rows("admin_audit") if row["client"] == "10.0.0.1:40000"]
    first = min(found, key=lambda row: row["ts"])
    assert str(first["date"]) == DAY[0]
    assert first["answered"]
    assert {row["connection"].partition("#")[2] for row in found} == {"", "2"}


def test_audit_of_a_request_log(rows: Any) -> None:
    found = [row for row in rows("admin_audit") if row["capture"].endswith("request.log")]
    assert [(row["topic"], row["error"], row["latency_us"]) for row in found] == [
        ("apples", "TOPIC_ALREADY_EXISTS", 12345)
    ] * 2
    assert {row["forwarded"] for row in found} == {False, True}


def test_clients(rows: Any) -> None:
    found = rows("clients")
    (python,) = (row for row in found if row["client_id"] == "kafka-python-3.0.12")
    software = python["software_name"], python["software_version"]
    assert (*software, python["address"]) == ("kafka-python", "3.0.12", "127.0.0.1")
    assert {each["api"] for each in python["apis"]} >= {"ApiVersions", "Fetch", "Metadata"}
    assert sum(each["requests"] for each in python["apis"]) == python["requests"]
    (alice,) = (row for row in found if row["address"] == "10.0.0.3")
    assert alice["principals"] == ["User:alice"]
    assert all(each["min_version"] <= each["max_version"] for row in found for each in row["apis"])


def test_metadata_changes(rows: Any) -> None:
    found = rows("metadata_changes")
    sources = {row["source"] for row in found}
    assert sources == {
        "UpdateMetadata", "LeaderAndIsr", "StopReplica", "PartitionRecord",
        "PartitionChangeRecord", "RemoveTopicRecord",
    }  # fmt: skip
    (gone,) = (r for r in found if r["source"] == "StopReplica" and r["topic"] == "apples")
    assert (gone["partition"], gone["deleted"], gone["controller_epoch"]) == (3, True, 7)
    logged = [row for row in found if row["log_offset"] is not None]
    keys = [(r["source"], r["log_offset"], r["topic_id"], r["partition"]) for r in logged]
    assert len(keys) == len(set(keys))
    assert all(row["topic"] for row in logged)
    # What the real node of the sample fetched of its own log, and the segment: other topics.
    of_capture = {row["topic"] for row in logged if row["capture"].endswith("samples.pcap")}
    assert {"fruit", "veg"} >= of_capture
    of_segment = [row for row in logged if row["capture"].endswith(".log")]
    assert len([row for row in of_segment if row["source"] == "PartitionRecord"]) == 9
    assert len([row for row in of_segment if row["source"] == "PartitionChangeRecord"]) == 14


def test_quorum_events(rows: Any) -> None:
    vote, begin = sorted(rows("quorum_events"), key=lambda row: row["ts"])
    assert (vote["api"], vote["replica_id"], vote["epoch"], vote["granted"]) == ("Vote", 2, 5, True)
    assert (begin["api"], begin["leader_id"], begin["answered"]) == (
        "BeginQuorumEpoch",
        None,
        False,
    )


def test_problems(spark: SparkSession, rows: Any, out: Path) -> None:
    """Each frame with a problem is one, with its bytes."""
    frames = [row for row in rows_of(spark, out, "frames") if row["problem"] is not None]
    found = rows("problems")
    names = ("capture", "connection", "stream_offset", "problem", "raw")
    assert sorted(str([row[name] for name in names]) for row in found) == sorted(
        str([row[name] for name in names]) for row in frames
    )
    assert any("missing" in row["problem"] or "hole" in row["problem"] for row in found)
    assert all(row["raw"] is not None for row in found)


def test_no_secret_in_any_table(spark: SparkSession, rows: Any, mixed: list[Path]) -> None:
    shown = [json.dumps(record) for record in (
        frame_record(frame, mask=False, raw=True) for frame in read_captures(mixed))]  # fmt: skip
    assert len(set(hidden_in("\n".join(shown)))) >= 8
    for name in TABLES:
        text = "\n".join(json.dumps(row, default=str) for row in rows(name))
        assert not hidden_in(text), name


@pytest.mark.exhaustive
def test_segments_alone(spark: SparkSession, tmp_path: Path) -> None:
    data = bytearray((LOG / "00000000000000000000.log").read_bytes())
    data[300:340] = bytes(40)
    (tmp_path / "damaged.log").write_bytes(data)
    segments = [*map(str, LOG.iterdir()), str(tmp_path / "damaged.log"), str(tmp_path / "no.log")]
    segments = [each for each in segments if each.endswith((".log", ".checkpoint"))]
    make(spark, tmp_path / "out", [], segments=segments)
    changes = rows_of(spark, tmp_path / "out", "metadata_changes")
    assert len({str(row) for row in changes}) == len(changes)
    found = rows_of(spark, tmp_path / "out", "problems")
    assert {Path(row["capture"]).name for row in found} == {"damaged.log", "no.log"}
    assert rows_of(spark, tmp_path / "out", "frames") == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [ADMIN, CONTROLLER], ids=lambda path: path.name)
def test_samples(spark: SparkSession, tmp_path: Path, name: Path) -> None:
    make(spark, tmp_path / "out", [name])
    assert frames_in(spark, tmp_path / "out") == by_one_process([name])
    assert rows_of(spark, tmp_path / "out", "problems") == []
    assert all((tmp_path / "out" / each).is_dir() for each in TABLES)
