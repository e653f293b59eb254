"""The ready questions: answers that can be told by eye, and by plain Python over random frames."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.upgrade import UpgradeCheck
from kafka_admin_proto.cli.spark.report import _records
from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.protocol.releases import BROKER_APIS, releases
from kafka_admin_proto.render.meanings import api_name
from kafka_admin_proto.spark import queries
from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.spark.report.answers import in_micros
from kafka_admin_proto.spark.report.people import upgrade
from tests.render.frames import HOSTILE
from tests.spark.report.report_tables import (
    MICROS,
    SECOND,
    START,
    everything,
    request,
    response,
    write_tables,
)

pytestmark = pytest.mark.xdist_group("spark")
SAMPLES = Path(__file__).parents[3] / "samples"
Row = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def few_parts(spark: SparkSession) -> Iterator[None]:
    """These tables are small: Spark's 200 parts of each shuffle would take minutes."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


@pytest.fixture(scope="module")
def tables(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, DataFrame]:
    # A name that is a pattern to Spark, were it not for care.
    folder = tmp_path_factory.mktemp("tables") / "of [one] {day} *"
    return queries.read_tables(spark, str(write_tables(folder, everything())))


def rows(question: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    shown = in_micros(question).select(*names) if names else in_micros(question)
    return [tuple(row) for row in shown.collect()]


def test_upgrade(tables: Mapping[str, DataFrame]) -> None:
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
    times = rows(found.where("api = 'Produce'"), "first_ts", "last_ts")
    assert times == [(MICROS, MICROS + 20 * SECOND)]


@pytest.mark.exhaustive
def test_upgrade_is_what_the_command_line_says(spark: SparkSession) -> None:
    names = [SAMPLES / "admin42.pcap.gz", SAMPLES / "controller39.pcap.gz"]
    check = UpgradeCheck("4.0")
    for frame in read_captures(names):
        check.add(frame)
    expected = [row for row in check.rows() if row["status"] not in ("fine", "not read")]
    assert expected
    frames = read_frames(spark, *map(str, names))
    asked = in_micros(queries.upgrade(frames, "4.0")).collect()
    assert sorted(map(str, (row.asDict() for row in asked))) == sorted(map(str, expected))


def test_upgrade_to_a_release_that_only_warns(tables: Mapping[str, DataFrame]) -> None:
    found = queries.upgrade(tables["frames"], "3.9")
    statuses = rows(found.where("client_id = 'old-app'"), "status", "api", "versions", "least",
                    "removed_in")  # fmt: skip
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
def random_frames(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
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
def random_table(
    spark: SparkSession, random_frames: list[Row], tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    folder = write_tables(tmp_path_factory.mktemp("random"), {"frames": random_frames})
    return queries.read_tables(spark, str(folder))["frames"].cache()


@pytest.mark.parametrize("name", ["3.8", "4.0", "4.4"])
def test_upgrade_of_random_frames(
    random_table: DataFrame, random_frames: list[Row], name: str
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


def test_errors_of_random_frames(random_table: DataFrame, random_frames: list[Row]) -> None:
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


def test_latencies_are_the_nearest_ranks(random_table: DataFrame, random_frames: list[Row]) -> None:
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
    random_table: DataFrame, random_frames: list[Row], step: int
) -> None:
    wanted: Counter[tuple[Any, ...]] = Counter()
    for row in random_frames:
        if row["direction"] == "request":
            start = row["ts"] // (step * SECOND) * step * SECOND
            wanted[start, row["api"], row["forwarded"]] += 1
    found = rows(queries.rates(random_table, step), "start", "api", "forwarded", "requests")
    assert {row[:-1]: row[-1] for row in found} == wanted


def test_rates_before_1970_and_of_unknown_apis(tables: Mapping[str, DataFrame]) -> None:
    early = tables["frames"].withColumn("ts", F.timestamp_micros(F.lit(-1)))
    found = rows(queries.rates(early, 60))
    assert {row[0] for row in found} == {-60 * SECOND}
    assert ("api key 9999", False, 1) in {row[1:] for row in found}
    assert "none" not in {row[1] for row in found}


def test_audit(tables: Mapping[str, DataFrame]) -> None:
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


def test_leader_changes(tables: Mapping[str, DataFrame]) -> None:
    found = rows(queries.leader_changes(tables["metadata_changes"]), "ts", "topic", "partition",
                 "from_leader", "to_leader")  # fmt: skip
    assert [((ts - MICROS) / SECOND, *rest) for ts, *rest in found] == [
        (7, "orders", 0, 3, 1),
        (4, "orders", 0, -1, 3),
        (3, "logged", 5, 1, 2),
        (3, "orders", 0, 2, -1),
        (2, "orders", 0, 1, 2),
    ]


def test_elections(tables: Mapping[str, DataFrame]) -> None:
    found = rows(queries.elections(tables["quorum_events"]), "epoch", "candidates",
                 "pre_candidates", "granted", "refused", "unanswered", "leader",
                 "resigned")  # fmt: skip
    assert found == [(6, [2], [], 1, 0, 0, None, []), (5, [1, 2], [1], 1, 1, 1, 1, [1])]


def test_clients(tables: Mapping[str, DataFrame]) -> None:
    found = rows(queries.inventory(tables["clients"]), "client_id", "software_name", "principals",
                 "requests", "apis", "first_ts", "last_ts")  # fmt: skip
    last = MICROS + 31 * SECOND
    assert found == [
        (HOSTILE, None, [], 100, ["Fetch 3"], MICROS + 31, last),
        ("app", "java", ["User:30", "User:31"], 12, ["Fetch 4-12"], MICROS + 30, last),
    ]


def test_problems(tables: Mapping[str, DataFrame]) -> None:
    found = rows(queries.problem_kinds(tables["problems"]), "kind", "problems", "problem",
                 "stream_offset", "first_ts")  # fmt: skip
    assert found[0] == ("… bytes are missing", 2, "1 bytes are missing", 2, MICROS + 2 * SECOND)
    assert {row[2:] for row in found[1:]} == {
        (f'topic "{HOSTILE}" is odd', None, None),
        (HOSTILE, 4, MICROS + 4 * SECOND),
    }


def test_a_part_of_the_time(
    spark: SparkSession, tables: Mapping[str, DataFrame], tmp_path: Path
) -> None:
    folder = write_tables(tmp_path / "tables", everything())
    some = queries.read_tables(
        spark, str(folder), since=START + timedelta(seconds=10), until=START + timedelta(seconds=31)
    )
    assert [ts for (ts,) in rows(some["frames"].orderBy("ts"), "ts")] == [
        MICROS + 10 * SECOND, MICROS + 20 * SECOND,
    ]  # fmt: skip
    assert some["clients"].count() == 2  # from the 31st; that of the 30th is a day too early
    none = queries.read_tables(spark, str(folder), since=datetime(2027, 1, 1, tzinfo=UTC))
    assert {name: table.count() for name, table in none.items()} == dict.fromkeys(everything(), 0)


@pytest.mark.exhaustive
def test_tables_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    assert queries.read_tables(spark, str(tmp_path)) == {}
    write_tables(tmp_path, {"problems": [], "frames": []})
    found = queries.read_tables(spark, str(tmp_path))
    assert list(found) == ["frames", "problems"]
    for name, (table, question) in queries.QUERIES.items():
        if table in found:
            asked = question(found[table], *(["4.0"] if name == "upgrade" else []))
            assert asked.collect() == []


def test_nobody_is_ready_without_requests(spark: SparkSession, tmp_path: Path) -> None:
    """Of traffic that is encrypted, for one, no frame is read."""
    frames = queries.read_tables(spark, str(write_tables(tmp_path, everything())))["frames"]
    assert upgrade(frames, "2.8").headline == "ready"
    unread = upgrade(frames.where("direction <> 'request'"), "4.0")
    assert (unread.headline, unread.bad) == ("none", False)


def test_ready_of_what_was_read(spark: SparkSession, tmp_path: Path) -> None:
    """Connections that are encrypted, or of another port, may be those of any client."""
    unread = {"problem": "encrypted: TLS", "ts": MICROS, "capture": "one.pcap", "forwarded": False}
    strange = [
        unread | {"connection": connection, "direction": "data"} for connection in ("a", "b", "b")
    ]
    known = unread | {"connection": "c", "direction": "request", "api": "Fetch"}
    for name, problems in (("some", [*strange, known]), ("none", [known])):
        write_tables(tmp_path / name, {"frames": everything()["frames"], "problems": problems})
    some, none = (queries.read_tables(spark, str(tmp_path / name)) for name in ("some", "none"))
    ready = upgrade(some["frames"], "2.8", some["problems"])
    assert (ready.headline, ready.bad) == ("ready, as far as could be read", False)
    (said,) = (each for each in ready.said if each.startswith("Nothing is known of"))
    assert said.startswith("Nothing is known of 3 pieces of 2 connections that could not be read")
    broken = upgrade(some["frames"], "4.0", some["problems"])
    assert (broken.headline, said in broken.said) == ("3 clients to change", True)
    whole = upgrade(none["frames"], "2.8", none["problems"])
    assert whole.headline == "ready"
    assert not [each for each in whole.said if each.startswith("Nothing is known")]


def test_times_after_the_year_9999(spark: SparkSession) -> None:
    found = _records(
        spark.sql("SELECT timestamp_micros(288230376151711744) AS ts UNION ALL SELECT null")
    )
    assert [each["ts"] for each in found] == ["288230376151711744 µs since 1970", None]


def test_views(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    queries.register_views(tables)
    found = spark.sql("select count(*) from frames where client_id = 'new-app'").collect()
    assert found[0][0] == 20


def test_the_samples(spark: SparkSession) -> None:
    """A cluster of 3.9 with ZooKeeper and one of 4.2, whose clients are all of their time."""
    names = ("admin42.pcap.gz", "controller39.pcap.gz")
    found = read_frames(spark, *(str(SAMPLES / name) for name in names)).cache()
    assert {row[:2] for row in rows(queries.upgrade(found, "4.0"), "traffic", "api", "status")} == {
        ("broker", "UpdateMetadata"), ("broker", "LeaderAndIsr"), ("broker", "StopReplica"),
        ("broker", "ControlledShutdown"),
    }  # fmt: skip
    errors = {(row[0], row[1]) for row in rows(queries.errors(found), "api", "error")}
    assert ("CreateTopics", "TOPIC_ALREADY_EXISTS") in errors
    requests = found.where("direction = 'request'").count()
    assert queries.rates(found, 10).agg(F.sum("requests")).collect()[0][0] == requests
    forwarded = rows(queries.latencies(found).where("forwarded"), "api")
    assert {api for (api,) in forwarded} >= {"CreateTopics", "DeleteTopics"}
    found.unpersist()
