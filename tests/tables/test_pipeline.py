"""The pipeline's tables: the frames are those of one process, and the others what they say."""

from __future__ import annotations

import gzip
import json
import random
import struct
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.capture import read_captures, read_request_log
from kafka_admin_proto.capture.record import RECORD_KEYS, frame_record
from kafka_admin_proto.messages import ConsumerProtocolSubscription, JoinGroupRequest
from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.tables.files import frame_files
from kafka_admin_proto.tables.ingest import exchange
from kafka_admin_proto.tables.ingest.unopened import UnopenedError
from kafka_admin_proto.tables.pipeline import run_batch
from kafka_admin_proto.tables.queries import read_tables
from kafka_admin_proto.tables.runner import Runner, Tasks
from kafka_admin_proto.tables.schemas import TABLES
from kafka_admin_proto.tables.sinks.parquet import ParquetSink
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import USUAL
from tests.capture.test_request_log import REQUEST, RESPONSE, entry, enveloped, log4j
from tests.capture.test_times_after_gaps import records, without
from tests.helpers.profile import draws
from tests.tables.traffic import ADMIN, CONTROLLER, DAY, LOG, hidden_in, write_mixed
from tests.tables.traffic import mixed as mixed_packets

pytestmark = pytest.mark.xdist_group("spark")

Row = dict[str, Any]


def rows_of(out: Path, name: str) -> list[Row]:
    """The rows of a table, times in microseconds since 1970."""
    table = read_tables(str(out))[name].rows(TABLES[name].names)
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            micros = table[field.name].cast(pa.int64())
            table = table.set_column(number, field.name, micros)
    found: list[Row] = table.to_pylist()
    return found


def frames_in(out: Path) -> list[str]:
    """The table ``frames`` as frame records, each as JSON."""
    rows = rows_of(out, "frames")
    for row in rows:
        row["body"] = None if row["body"] is None else json.loads(row["body"])
        row["topic_names"] = None if row["topic_names"] is None else dict(row["topic_names"])
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


def make(runner: Runner, out: Path, captures: Sequence[Path], **options: Any) -> None:
    names = [str(each) for each in captures]
    with ParquetSink(out, TABLES, mode="batch", inputs=names) as sink:
        run_batch(runner, names, sink, **options)


class InThisProcess:
    """A `Runner` whose tasks a test can watch and patch."""

    cores = 2

    def run(self, task: Callable[[Any], Any], shares: Sequence[Any]) -> list[Any]:
        return [task(share) for share in shares]

    def tasks(self) -> Tasks:
        raise AssertionError

    def cancel(self) -> None:
        raise AssertionError


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
    runner: Runner, tmp_path_factory: pytest.TempPathFactory, mixed: list[Path], request_log: Path
) -> Path:
    """All tables of all traffic."""
    folder = tmp_path_factory.mktemp("tables") / "out"
    segments = [str(each) for each in sorted(LOG.glob("*.log"))]
    make(runner, folder, [*mixed, request_log], segments=segments)
    return folder


@pytest.fixture
def rows(out: Path) -> Any:
    return lambda name: rows_of(out, name)


def test_frames_are_those_of_one_process(out: Path, mixed: list[Path], request_log: Path) -> None:
    expected = by_one_process(mixed, [request_log])
    assert any('"topic_names": {' in each for each in expected)
    assert frames_in(out) == expected


@pytest.mark.exhaustive
@pytest.mark.parametrize(("decoded_at_once", "split"), [(1 << 30, 1 << 30), (1, 5000)])
def test_any_number_of_tasks_and_splits(
    runner: Runner,
    tmp_path: Path,
    mixed: list[Path],
    decoded_at_once: int,
    split: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "_READ_BYTES", 1)
    monkeypatch.setattr(exchange, "_DECODE_BYTES", decoded_at_once)
    make(runner, tmp_path / "out", mixed[:3], split_size=split)
    assert frames_in(tmp_path / "out") == by_one_process(mixed[:3])


@pytest.mark.parametrize("decoded_at_once", [1 << 30, 1])
def test_files_that_tasks_finish(
    tmp_path: Path, mixed: list[Path], decoded_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task has enough frames for a file; some wait for names that other tasks know."""
    monkeypatch.setattr(exchange, "_DECODE_BYTES", decoded_at_once)
    monkeypatch.setattr(frame_files, "_SMALL_FILE", 1)
    make(InThisProcess(), tmp_path / "out", mixed)
    assert frames_in(tmp_path / "out") == by_one_process(mixed)
    files = list((tmp_path / "out" / "frames").glob("*.parquet"))
    assert len(files) > 1 if decoded_at_once == 1 else len(files) <= 2


@settings(max_examples=draws(16))
@pytest.mark.exhaustive
@given(
    dropped=st.sets(st.integers(0, 400), max_size=9),
    split=st.sampled_from([2000, 20_000, 1 << 30]),
    samples=st.booleans(),
)
def test_both_runners_make_the_same_tables(
    processes: Runner,
    on_spark: Runner,
    mixed: list[Path],
    dropped: set[int],
    split: int,
    samples: bool,
) -> None:
    """Row by row and column by column, whatever packets are missing and however they are split."""
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "_READ_BYTES", 1)
        patch.setattr(exchange, "_DECODE_BYTES", 1)
        captures = mixed[2:] if samples else []
        for number, packets in enumerate(mixed_packets()):
            kept = [each for at, each in enumerate(packets) if at not in dropped]
            captures = [*captures, Path(made, f"{number}.pcap")]
            captures[-1].write_bytes(pcap(kept))
        segments = [str(each) for each in LOG.glob("*.log")]
        tables = []
        for number, runner in enumerate((processes, on_spark)):
            out = Path(made, f"out-{number}")
            make(runner, out, captures, segments=segments, split_size=split)
            tables.append({name: sorted(map(str, rows_of(out, name))) for name in TABLES})
    assert all(tables[0].values())
    assert tables[0] == tables[1]


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


def test_each_request_on_topics_has_its_rows(rows: Any, out: Path) -> None:
    """As many as the bodies have topics, whatever became of the responses."""
    expected = 0
    for row in rows_of(out, "frames"):
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


def test_problems(rows: Any, out: Path) -> None:
    """Each frame with a problem is one, with its bytes."""
    frames = [row for row in rows_of(out, "frames") if row["problem"] is not None]
    found = rows("problems")
    names = ("capture", "connection", "stream_offset", "problem", "raw")
    assert sorted(str([row[name] for name in names]) for row in found) == sorted(
        str([row[name] for name in names]) for row in frames
    )
    assert any("missing" in row["problem"] or "hole" in row["problem"] for row in found)
    assert all(row["raw"] is not None for row in found)


def test_no_secret_in_any_table(rows: Any, mixed: list[Path]) -> None:
    shown = [json.dumps(record) for record in (
        frame_record(frame, mask=False, raw=True) for frame in read_captures(mixed))]  # fmt: skip
    assert len(set(hidden_in("\n".join(shown)))) >= 8
    for name in TABLES:
        text = "\n".join(json.dumps(row, default=str) for row in rows(name))
        assert not hidden_in(text), name


@pytest.mark.exhaustive
def test_segments_alone(runner: Runner, tmp_path: Path) -> None:
    data = bytearray((LOG / "00000000000000000000.log").read_bytes())
    data[300:340] = bytes(40)
    (tmp_path / "damaged.log").write_bytes(data)
    segments = [*map(str, LOG.iterdir()), str(tmp_path / "damaged.log"), str(tmp_path / "no.log")]
    segments = [each for each in segments if each.endswith((".log", ".checkpoint"))]
    make(runner, tmp_path / "out", [], segments=segments)
    changes = rows_of(tmp_path / "out", "metadata_changes")
    assert len({str(row) for row in changes}) == len(changes)
    found = rows_of(tmp_path / "out", "problems")
    assert {Path(row["capture"]).name for row in found} == {"damaged.log", "no.log"}
    assert rows_of(tmp_path / "out", "frames") == []


def test_nothing_is_opened(runner: Runner, tmp_path: Path) -> None:
    """The tables stay as they were; what is unreadable anyway makes no tables either."""
    missing = str(tmp_path / "no.log")
    for captures in ([], [tmp_path / "text.pcap"]):
        for capture in captures:
            capture.write_text("hello\n")
        with pytest.raises(UnopenedError, match=r"no\.log could not be opened on .*: No such file"):
            make(
                runner,
                tmp_path / "out",
                captures,
                segments=[missing],
                unreadable=map(str, captures),
            )
    assert not list((tmp_path / "out").glob("*/*.parquet"))


@pytest.mark.parametrize("answer", [None, write_response(RESPONSE, 4, 7)], ids=["none", "one"])
def test_audit_of_an_envelope_in_a_request_log(answer: bytes | None, tmp_path: Path) -> None:
    """The request within has its row, with a response or without one."""
    log = tmp_path / "request.log"
    log.write_text(enveloped(write_request(REQUEST, 4, 7), answer))
    make(InThisProcess(), tmp_path / "out", [log])
    (row,) = rows_of(tmp_path / "out", "admin_audit")
    assert (row["topic"], row["principal"]) == ("apples", "User:bob")
    error = None if answer is None else "TOPIC_ALREADY_EXISTS"
    assert (row["answered"], row["error"]) == (answer is not None, error)


def without_tcp(count: int) -> bytes:
    """Packets of UDP and ARP, and one of a link type that is not decoded."""
    datagram = bytes(12) + b"\x08\x00" + b"\x45" + bytes(8) + b"\x11" + bytes(30)
    others = [datagram] * count + [bytes(12) + b"\x08\x06" + bytes(28)]
    return pcap([])[:24] + b"".join(
        struct.pack("<4I", 1_700_000_000, 0, len(each), len(each)) + each for each in others
    )


@pytest.mark.parametrize("split_size", [100, 1 << 20])
@pytest.mark.parametrize("tcp", [False, True])
def test_captures_without_tcp(split_size: int, tcp: bool, tmp_path: Path) -> None:
    """They are named as in decode, as one capture; beside TCP other packets are usual."""
    captures = [tmp_path / "a.pcap", tmp_path / "b.pcap"]
    captures[0].write_bytes(without_tcp(10))
    captures[1].write_bytes(without_tcp(20) + (pcap(conversation(USUAL))[24:] if tcp else b""))
    make(InThisProcess(), tmp_path / "out", captures, split_size=split_size)
    assert frames_in(tmp_path / "out") == by_one_process(captures)
    problems = [row["problem"] for row in rows_of(tmp_path / "out", "problems")]
    assert problems == ([] if tcp else ["no packet has TCP: 30 UDP, 2 ARP"])


@pytest.mark.parametrize("sample", [ADMIN, CONTROLLER], ids=lambda path: path.name)
def test_a_part_of_a_capture_is_lost(sample: Path, tmp_path: Path) -> None:
    """Its frames have the times, latencies, pairs and topic names that decode gives them."""
    whole = gzip.decompress(sample.read_bytes())
    packets = list(records(whole))
    lost = without(len(packets), random.Random(sample.name))
    kept = (each for number, each in enumerate(packets) if number not in lost)
    capture = tmp_path / "part.pcap"
    capture.write_bytes(whole[:24] + b"".join(kept))
    make(InThisProcess(), tmp_path / "out", [capture])
    assert frames_in(tmp_path / "out") == by_one_process([capture])


def test_subscriptions_stand_decoded_in_bodies(tmp_path: Path) -> None:
    subscription = ConsumerProtocolSubscription(["fruit"]).encode(3)
    protocol = JoinGroupRequest.JoinGroupRequestProtocol("range", b"\0\3" + subscription)
    request = JoinGroupRequest("g", protocol_type="consumer", protocols=[protocol])
    capture = tmp_path / "join.pcap"
    capture.write_bytes(pcap(conversation([(True, frame(write_request(request, 9, 1)))])))
    make(InThisProcess(), tmp_path / "out", [capture])
    assert frames_in(tmp_path / "out") == by_one_process([capture])
    (row,) = rows_of(tmp_path / "out", "frames")
    assert json.loads(row["body"])["protocols"][0]["metadata"]["data"]["topics"] == ["fruit"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [ADMIN, CONTROLLER], ids=lambda path: path.name)
def test_samples(runner: Runner, tmp_path: Path, name: Path) -> None:
    make(runner, tmp_path / "out", [name])
    assert frames_in(tmp_path / "out") == by_one_process([name])
    assert rows_of(tmp_path / "out", "problems") == []
    assert all((tmp_path / "out" / each).is_dir() for each in TABLES)
