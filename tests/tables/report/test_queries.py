"""The ready questions: answers that can be told by eye, and by plain Python over random frames."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.upgrade import UpgradeCheck
from kafka_admin_proto.cli.pipeline.report import _records
from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.protocol.releases import BROKER_APIS, releases
from kafka_admin_proto.render.meanings import api_name
from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.tables import queries
from kafka_admin_proto.tables.queries.grouping import records
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.report.people import audit, upgrade
from tests.render.frames import HOSTILE
from tests.tables.report.report_tables import (
    MICROS,
    SECOND,
    START,
    everything,
    request,
    response,
    write_tables,
)

SAMPLES = Path(__file__).parents[3] / "samples"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, StoredTable]:
    # A name that is a pattern elsewhere.
    folder = tmp_path_factory.mktemp("tables") / "of [one] {day} *"
    return queries.read_tables(str(write_tables(folder, everything())))


def rows(answer: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in records(answer.select(names) if names else answer)]


def test_upgrade(tables: Mapping[str, StoredTable]) -> None:
    found = queries.upgrade(tables["frames"], "4.0")
    names = ("traffic", "status", "client_id", "address", "software", "principal", "api",
             "versions", "least", "removed_in", "requests")  # fmt: skip
    gone, all_gone = "version removed", "api removed"
    old = ("client", gone, "old-app", "10.0.0.1", "sarama 1.0", "User:app")
    assert sorted(rows(found, *names), key=str) == sorted(
        [
            (*old, "Produce", [2], 3, "4.0", 3),
            (*old, "Fetch", [2, 3], 4, "4.0", 3),
            (*old, "CreateTopics", [1], 2, "4.0", 1),
            ("client", gone, HOSTILE, "2001:db8::1", None, None, "Fetch", [0], 4, "4.0", 1),
            ("client", gone, None, "10.0.0.3", None, None, "ListOffsets", [0], 1, "4.0", 1),
            ("broker", all_gone, "1", "10.0.0.9", None, None, "UpdateMetadata", [6], None, "4.0",
             2),
            ("broker", all_gone, "1", "10.0.0.9", None, None, "LeaderAndIsr", [4], None, "4.0", 1),
            ("broker", gone, "broker-2-fetcher-0", "10.0.0.8", None, None, "Fetch", [3], 4, "4.0",
             1),
            ("forwarded", gone, "old-app", "10.0.0.8", None, "User:app", "CreateTopics", [0], 2,
             "4.0", 1),
        ],
        key=str,
    )  # fmt: skip
    times = rows(found.filter(pc.field("api") == "Produce"), "first_ts", "last_ts")
    assert times == [(MICROS, MICROS + 20 * SECOND)]


@pytest.mark.exhaustive
@pytest.mark.xdist_group("spark")
def test_upgrade_is_what_the_command_line_says(spark: SparkSession, tmp_path: Path) -> None:
    names = [SAMPLES / "admin42.pcap.gz", SAMPLES / "controller39.pcap.gz"]
    check = UpgradeCheck("4.0")
    for frame in read_captures(names):
        check.add(frame)
    expected = [row for row in check.rows() if row["status"] not in ("fine", "not read")]
    assert expected
    asked = queries.upgrade(stored(spark, tmp_path, names), "4.0")
    assert sorted(map(str, records(asked))) == sorted(map(str, expected))


def test_upgrade_to_a_release_that_only_warns(tables: Mapping[str, StoredTable]) -> None:
    found = queries.upgrade(tables["frames"], "3.9")
    old = found.filter(pc.field("client_id") == "old-app")
    statuses = rows(old, "status", "api", "versions", "least", "removed_in")
    assert sorted(statuses) == [
        ("deprecated", "CreateTopics", [0], 2, None),
        ("deprecated", "CreateTopics", [1], 2, None),
        ("deprecated", "Fetch", [2, 3], 4, None),
        ("deprecated", "Produce", [2], 3, None),
    ]
    assert rows(queries.upgrade(tables["frames"], "3.6")) == []
    with pytest.raises(UnknownReleaseError):
        queries.upgrade(tables["frames"], "5.0")


@pytest.fixture(scope="module")
def random_frames() -> list[Row]:
    chance = random.Random(20260131)
    ranges = {key: each.versions_of(key) for each in releases() for key in each.versions}
    made = []
    for packet_ordinal in range(3000):
        key = chance.choice(list(ranges))
        api, client = api_name(key), f"app-{chance.randrange(5)}"
        of = chance.choice([request, response])
        more = {"latency_us": chance.randrange(1, 10**9)} if of is response else {}
        made.append(
            of(api, chance.randrange(ranges[key].highest + 1), chance.uniform(0, 900),
               client_id=client, client=f"10.0.0.{chance.randrange(4)}:{packet_ordinal}",
               forwarded=chance.random() < 0.2, packet_ordinal=packet_ordinal,
               error_codes=chance.choices(["A", "B", "C"], k=chance.randrange(3)), **more)
        )  # fmt: skip
    return made


@pytest.fixture(scope="module")
def random_table(random_frames: list[Row], tmp_path_factory: pytest.TempPathFactory) -> StoredTable:
    folder = write_tables(tmp_path_factory.mktemp("random"), {"frames": random_frames})
    return queries.read_tables(str(folder))["frames"]


@pytest.mark.parametrize("name", ["3.8", "4.0", "4.4"])
def test_upgrade_of_random_frames(
    random_table: StoredTable, random_frames: list[Row], name: str
) -> None:
    order = [each.name for each in releases()]
    target = releases()[order.index(name)]
    older = releases()[: order.index(name)]
    requests = [row for row in random_frames if row["direction"] == "request"]
    brokers = {
        (row["client_id"], row["client"].partition(":")[0])
        for row in requests
        if row["api"] in BROKER_APIS and not row["forwarded"]
    }
    wanted: Counter[tuple[Any, ...]] = Counter()
    for row in requests:
        key, version = row["api_key"], row["api_version"]
        left = target.versions_of(key)
        if version in left:
            status = "deprecated" if version in target.deprecated_of(key) else ""
        else:
            had = any(version in each.versions_of(key) for each in older)
            status = "" if not had else "api removed" if left.empty else "version removed"
        if not status:
            continue
        client = (row["client_id"], row["client"].partition(":")[0])
        traffic = "forwarded" if row["forwarded"] else "broker" if client in brokers else "client"
        wanted[status, traffic, *client, row["api"]] += 1
    found = queries.upgrade(random_table, name)
    by = ("status", "traffic", "client_id", "address", "api")
    counted = {tuple(row[:-1]): row[-1] for row in rows(found, *by, "requests")}
    assert counted == wanted
    assert wanted


def test_errors_of_random_frames(random_table: StoredTable, random_frames: list[Row]) -> None:
    wanted: Counter[tuple[Any, ...]] = Counter()
    for row in random_frames:
        if row["direction"] == "response":
            client = row["client"].partition(":")[0]
            for code in row["error_codes"]:
                wanted[row["api"], code, row["client_id"], client, row["forwarded"]] += 1
    names = ("api", "error", "client_id", "address", "forwarded", "responses")
    found = rows(queries.errors(random_table), *names)
    assert {row[:-1]: row[-1] for row in found} == wanted
    assert [row[-1] for row in found] == sorted((row[-1] for row in found), reverse=True)


def test_latencies_are_the_nearest_ranks(
    random_table: StoredTable, random_frames: list[Row]
) -> None:
    times = defaultdict(list)
    for row in random_frames:
        if row["direction"] == "response":
            times[row["api"], row["forwarded"]].append(row["latency_us"])
    found = rows(queries.latencies(random_table))
    assert len(found) == len(times)
    for api, forwarded, responses, *values in found:
        ordered = sorted(times[api, forwarded])
        assert responses == len(ordered)
        at = [ordered[ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99)]
        assert values == [*at, ordered[-1]]


@pytest.mark.parametrize("step", [1, 60, 3600])
def test_rates_of_random_frames(
    random_table: StoredTable, random_frames: list[Row], step: int
) -> None:
    wanted: Counter[tuple[Any, ...]] = Counter()
    for row in random_frames:
        if row["direction"] == "request":
            start = row["ts"] // (step * SECOND) * step * SECOND
            wanted[start, row["api"], row["forwarded"]] += 1
    found = rows(queries.rates(random_table, step), "start", "api", "forwarded", "requests")
    assert {row[:-1]: row[-1] for row in found} == wanted


def test_rates_before_1970_and_of_unknown_apis(tmp_path: Path) -> None:
    early = [row | {"ts": -1} for row in everything()["frames"]]
    frames = queries.read_tables(str(write_tables(tmp_path, {"frames": early})))["frames"]
    found = rows(queries.rates(frames, 60))
    assert {row[0] for row in found} == {-60 * SECOND}
    assert ("api key 9999", False, 1) in {row[1:] for row in found}
    assert "none" not in {row[1] for row in found}


def test_audit(tables: Mapping[str, StoredTable]) -> None:
    found = rows(queries.audit(tables["admin_audit"]), "operation", "topic", "outcome", "error")
    assert found == [
        ("delete topic", "orders", "done", None),
        ("delete topic", HOSTILE, "done", None),
        ("delete topic", "lost", "no answer", None),
        ("create topic", "trial", "checked", None),
        ("create topic", "orders", "failed", "TOPIC_ALREADY_EXISTS"),
        ("create topic", "orders", "done", None),
    ]
    totals = rows(queries.audit_totals(tables["admin_audit"]), "operation", "outcome", "forwarded",
                  "operations")  # fmt: skip
    assert sorted(totals) == [
        ("create topic", "checked", False, 1), ("create topic", "done", False, 1),
        ("create topic", "failed", False, 1), ("delete topic", "done", False, 1),
        ("delete topic", "done", True, 1), ("delete topic", "no answer", False, 1),
    ]  # fmt: skip


def test_the_headline_counts_forwarded_operations_once(tables: Mapping[str, StoredTable]) -> None:
    """Those of a capture at the controller alone count too: nothing else has them."""
    found = audit(tables["admin_audit"])
    assert found.headline == "5 operations, 1 failed"
    assert "have 1 forwarded operation: " in found.said[1]
    alone = audit(tables["admin_audit"].where(pc.field("forwarded")))
    assert alone.headline == "1 operation, 0 failed"


def test_leader_changes(tables: Mapping[str, StoredTable]) -> None:
    found = rows(queries.leader_changes(tables["metadata_changes"]), "ts", "topic", "partition",
                 "from_leader", "to_leader")  # fmt: skip
    assert [((ts - MICROS) / SECOND, *rest) for ts, *rest in found] == [
        (7, "orders", 0, 3, 1),
        (4, "orders", 0, -1, 3),
        (3, "logged", 5, 1, 2),
        (3, "orders", 0, 2, -1),
        (2, "orders", 0, 1, 2),
    ]


def test_elections(tables: Mapping[str, StoredTable]) -> None:
    found = rows(queries.elections(tables["quorum_events"]), "epoch", "candidates",
                 "pre_candidates", "granted", "refused", "unanswered", "leader",
                 "resigned")  # fmt: skip
    assert found == [(6, [2], [], 1, 0, 0, None, []), (5, [1, 2], [1], 1, 1, 1, 1, [1])]


def test_clients(tables: Mapping[str, StoredTable]) -> None:
    found = rows(queries.inventory(tables["clients"]), "client_id", "software_name", "principals",
                 "requests", "apis", "first_ts", "last_ts")  # fmt: skip
    last = MICROS + 31 * SECOND
    assert found == [
        (HOSTILE, None, [], 100, ["Fetch 3"], MICROS + 31, last),
        ("app", "java", ["User:30", "User:31"], 12, ["Fetch 4-12"], MICROS + 30, last),
    ]


def test_problems(tables: Mapping[str, StoredTable]) -> None:
    found = rows(queries.problem_kinds(tables["problems"]), "kind", "problems", "problem",
                 "stream_offset", "first_ts")  # fmt: skip
    assert found[0] == ("… bytes missing", 2, "1 bytes missing", 2, MICROS + 2 * SECOND)
    assert {row[2:] for row in found[1:]} == {
        (f'topic "{HOSTILE}" is odd', None, None),
        (HOSTILE, 4, MICROS + 4 * SECOND),
    }


def test_a_part_of_the_time(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "tables", everything())
    some = queries.read_tables(
        str(folder), since=START + timedelta(seconds=10), until=START + timedelta(seconds=31)
    )
    assert sorted(ts for (ts,) in rows(some["frames"].rows(["ts"]))) == [
        MICROS + 10 * SECOND, MICROS + 20 * SECOND,
    ]  # fmt: skip
    assert some["clients"].count() == 2  # from the 31st; that of the 30th is a day too early
    none = queries.read_tables(str(folder), since=datetime(2027, 1, 1, tzinfo=UTC))
    without_a_time = {"problems": 1}  # it may be of any time
    assert {name: table.count() for name, table in none.items()} == (
        dict.fromkeys(everything(), 0) | without_a_time
    )


@pytest.mark.exhaustive
def test_tables_that_are_not_there(tmp_path: Path) -> None:
    assert queries.read_tables(str(tmp_path)) == {}
    write_tables(tmp_path, {"problems": [], "frames": []})
    found = queries.read_tables(str(tmp_path))
    assert list(found) == ["frames", "problems"]
    for name, (table, question) in queries.QUERIES.items():
        if table in found:
            asked = question(found[table], *(["4.0"] if name == "upgrade" else []))
            assert asked.num_rows == 0


def test_nobody_is_ready_without_requests(tmp_path: Path) -> None:
    """Of traffic that is encrypted, for one, no frame is read."""
    frames = queries.read_tables(str(write_tables(tmp_path, everything())))["frames"]
    assert upgrade(frames, "2.8").headline == "ready"
    unread = upgrade(frames.where(pc.field("direction") != "request"), "4.0")
    assert (unread.headline, unread.bad) == ("no clients seen", False)


def test_ready_of_what_was_read(tmp_path: Path) -> None:
    """Connections that are encrypted, or of another port, may be those of any client."""
    unread = {"problem": "encrypted: TLS", "ts": MICROS, "capture": "one.pcap", "forwarded": False}
    strange = [
        unread | {"connection": connection, "direction": "data"} for connection in ("a", "b", "b")
    ]
    known = unread | {"connection": "c", "direction": "request", "api": "Fetch"}
    for name, problems in (("some", [*strange, known]), ("none", [known])):
        write_tables(tmp_path / name, {"frames": everything()["frames"], "problems": problems})
    some, none = (queries.read_tables(str(tmp_path / name)) for name in ("some", "none"))
    ready = upgrade(some["frames"], "2.8", some["problems"])
    assert (ready.headline, ready.bad) == ("ready, as far as could be read", False)
    (said,) = (each for each in ready.said if each.startswith("Nothing is known of"))
    assert said.startswith("Nothing is known of 3 pieces of 2 connections that could not be read")
    broken = upgrade(some["frames"], "4.0", some["problems"])
    assert (broken.headline, said in broken.said) == ("3 clients to change", True)
    whole = upgrade(none["frames"], "2.8", none["problems"])
    assert whole.headline == "ready"
    assert not [each for each in whole.said if each.startswith("Nothing is known")]


def test_times_after_the_year_9999() -> None:
    late = pa.array([288230376151711744, None], pa.timestamp("us", tz="UTC"))
    found = _records(pa.table({"ts": late}))
    assert [each["ts"] for each in found] == ["288230376151711744 µs since 1970", None]


def stored(spark: SparkSession, folder: Path, captures: Sequence[Path]) -> StoredTable:
    """The frames of captures as a stored table, one file for each of Spark's tasks."""
    batches = read_frames(spark, *map(str, captures)).toArrow().to_batches()
    for number, batch in enumerate(batches):
        frames = pa.Table.from_batches([batch])
        frames = frames.append_column("date", frames["ts"].cast(pa.date32()))
        (folder / "frames").mkdir(parents=True, exist_ok=True)
        pq.write_table(frames, folder / "frames" / f"{number}.parquet")
    return queries.read_tables(str(folder))["frames"]


@pytest.mark.exhaustive
@pytest.mark.xdist_group("spark")
def test_the_samples(spark: SparkSession, tmp_path: Path) -> None:
    """A cluster of 3.9 with ZooKeeper and one of 4.2, whose clients are all of their time."""
    names = ("admin42.pcap.gz", "controller39.pcap.gz")
    found = stored(spark, tmp_path, [SAMPLES / name for name in names])
    assert {row[:2] for row in rows(queries.upgrade(found, "4.0"), "traffic", "api", "status")} == {
        ("broker", "UpdateMetadata"), ("broker", "LeaderAndIsr"), ("broker", "StopReplica"),
        ("broker", "ControlledShutdown"),
    }  # fmt: skip
    errors = {(row[0], row[1]) for row in rows(queries.errors(found), "api", "error")}
    assert ("CreateTopics", "TOPIC_ALREADY_EXISTS") in errors
    requests = found.where(pc.field("direction") == "request").count()
    assert pc.sum(queries.rates(found, 10)["requests"]).as_py() == requests
    forwarded = rows(queries.latencies(found).filter(pc.field("forwarded")), "api")
    assert {api for (api,) in forwarded} >= {"CreateTopics", "DeleteTopics"}
