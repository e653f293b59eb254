"""``kap produce`` and ``kap consume``: what does not fit or finds nothing is said."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import Result

from kafka_admin_proto.server import SyncCluster
from tests.helpers.kap import ended, run_kap


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(topics={"orders": 2, "empty": 1, "made": 1, "kinds": 1}) as cluster:
        cluster.produce("orders", [{"key": "k", "value": "v", "partition": 0}])
        yield cluster


def run(cluster: SyncCluster, words: str, lines: str | bytes = "") -> Result:
    return run_kap(words, "-b", cluster.bootstrap_servers, data=lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("produce orders --key k --key-delimiter :", "--key is the key of all records: it goes"),
        ("produce orders --key-delimiter ''", "--key-delimiter: expected at least one character"),
        ("produce orders --key-delimiter =", "line 1 has no delimiter of keys: 'line'"),
        ("produce orders --partition 9", "topic 'orders' has no partition 9; its partitions are"),
        ("produce orders --header source", "expected NAME=VALUE"),
        ("produce orders --file /nowhere", "'/nowhere' does not exist"),
        ("produce orders --compression bz2", "'bz2' is not one of 'none', 'gzip'"),
        ("produce orders --timeout 0", "kap produce does not"),
        ("consume orders --timeout 0", "kap consume does not"),
        ("consume orders --offset -1 --since 2026-01-01", "--offset or --since"),
        ("consume orders --offset first", "--offset first: expected earliest, latest, an offset"),
        ("consume orders --since yesterday", "'yesterday' is not a time like"),
        ("consume orders --partitions a", "'a' is not a list of numbers"),
        ("consume orders --count 0", "expected a whole number, 1 or more, not '0'"),
        ("consume orders --format %s --output jsonl", "it goes without --output"),
        ("consume orders --format %q", "nothing is named %q; there are %t"),
        ("consume orders --format ''", "--format is empty"),
        (r"consume orders --format '%s\q'", r"nothing is written as \q; there are \n"),
        (r"consume orders --format '%s\xZZ'", r"nothing is written as \x; there are \n"),
        (r"consume orders --format '%s\'", "nothing is written as \\; there are"),
        ("consume orders --follow --output json", "--follow has none: take jsonl"),
    ],
)
def test_what_has_no_effect_or_does_not_fit(cluster: SyncCluster, words: str, said: str) -> None:
    assert said in " ".join(ended(run(cluster, words, "line\n"), 2).stderr.split())
    assert [each.value for each in cluster.records("orders")] == [b"v"]


@pytest.mark.parametrize("words", ["produce nowhere", "consume nowhere", "consume empty nowhere"])
def test_a_topic_that_is_not_there(cluster: SyncCluster, words: str) -> None:
    result = ended(run(cluster, words, "line\n"), 1)
    assert "nowhere" in result.stderr
    assert "UNKNOWN_TOPIC_OR_PARTITION" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("consume empty", "no records from there to the ends: empty 0 at 0\n"),
        (
            "consume orders --offset 99",
            "from there to the ends: orders 0 at 1, orders 1 at",
        ),
        ("consume orders --offset -0", "from there to the ends: orders 0 at 1, orders 1 at"),
        ("consume orders --since 2099-01-01", "orders 0 at 1, orders 1 at 0\n"),
        ("produce empty", "no lines\n"),
    ],
)
def test_nothing_says_what_there_is(cluster: SyncCluster, words: str, said: str) -> None:
    result = run(cluster, words)
    assert (result.exit_code, result.stdout) == (0, "")
    assert said in result.stderr


@pytest.fixture(scope="module")
def kinds(cluster: SyncCluster) -> SyncCluster:
    """The topic of that name has a record with everything, and one of nulls."""
    headers = {"source": b"a b", "none": None}
    cluster.produce("kinds", [
        {"key": b"\xff", "value": "one\ttwo", "timestamp": 1_700_000_000_123, "headers": headers},
        {"value": None, "timestamp": -1},
    ])  # fmt: skip
    return cluster


_JSON = [
    {
        "topic": "kinds", "partition": 0, "offset": 0, "timestamp_ms": 1_700_000_000_123,
        "key": {"base64": "/w=="}, "value": {"text": "one\ttwo"},
        "headers": [["source", {"text": "a b"}], ["none", None]],
    },
    {
        "topic": "kinds", "partition": 0, "offset": 1, "timestamp_ms": -1, "key": None,
        "value": None, "headers": [],
    },
]  # fmt: skip


def test_records_as_json(kinds: SyncCluster) -> None:
    assert json.loads(run(kinds, "consume kinds --output json").stdout) == {
        "records": _JSON, "errors": [],
    }  # fmt: skip
    lines = run(kinds, "consume kinds --output jsonl").stdout.splitlines()
    assert [json.loads(each) for each in lines] == _JSON


def test_records_in_columns(kinds: SyncCluster) -> None:
    """Tables are for people; the cells of TSV are read by programs."""
    heads, first, second = run(kinds, "consume kinds --output table").stdout.splitlines()
    assert heads.split() == ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]
    assert first.split(maxsplit=6) == [
        "kinds", "0", "0", "2023-11-14T22:13:20.123Z", '{"base64":"/w=="}', "one\\ttwo",
        "source=a b none=",
    ]  # fmt: skip
    assert second.split() == ["kinds", "0", "1"]
    _, second = run(kinds, "consume kinds --output tsv").stdout.splitlines()
    assert second.split("\t") == ["kinds", "0", "1", "-1", "", "", "[]"]


def test_a_template_has_all_of_a_record(kinds: SyncCluster) -> None:
    shown = run(kinds, r"consume kinds --format '%t %p %o %T %K %S %h\n'")
    assert shown.stdout_bytes == (
        b"kinds 0 0 1700000000123 1 7 source=a b,none=\nkinds 0 1 -1 -1 -1 \n"
    )


@pytest.mark.parametrize(
    ("words", "offsets"), [("--count 1", [0]), ("--offset -1", [1]), ("--count 2 --follow", [0, 1])]
)
def test_some_of_the_records(kinds: SyncCluster, words: str, offsets: list[int]) -> None:
    lines = run(kinds, f"consume kinds {words} --output jsonl").stdout.splitlines()
    assert [json.loads(each)["offset"] for each in lines] == offsets


def test_a_partition_that_cannot_be_read_leaves_the_others(kinds: SyncCluster) -> None:
    with kinds.faults.add(api="Fetch", topic="kinds", error="KAFKA_STORAGE_ERROR"):
        shown = run(kinds, "consume kinds orders --output table")
    assert shown.exit_code == 1
    assert [each.split()[0] for each in shown.stdout.splitlines()] == ["topic", "orders"]
    assert "topic kinds partition 0: KAFKA_STORAGE_ERROR: " in shown.stderr


def test_a_format_writes_bytes(cluster: SyncCluster) -> None:
    found = run(cluster, r"consume orders --format '%k\xff%%\\%s\n'")
    assert (found.exit_code, found.stdout_bytes) == (0, b"k\xff%\\v\n")


def test_what_was_produced_before_a_line_without_a_key_is_said(cluster: SyncCluster) -> None:
    """Lines are sent in pieces of a megabyte; a wrong one may come after some are sent."""
    lines = (b"key:" + b"v" * 1000 + b"\n") * 3000 + b"no key\n"
    result = ended(run(cluster, "produce made --key-delimiter :", lines), 2)
    count = len(cluster.records("made"))
    assert 0 < count < 3000
    said = " ".join(result.stderr.split())
    assert "line 3001 has no delimiter of keys: 'no key'" in said
    assert f"{count} records produced from the lines before" in said


def test_what_was_written_or_read_before_a_failure_is_in_the_answer() -> None:
    """Whoever does not know of it writes it twice."""
    with SyncCluster(topics={"orders": 1}, configs={"fetch.max.bytes": 1024}) as cluster:
        cluster.faults.add(api="Produce", throttle_ms=60_000)
        result = run(cluster, "produce orders --timeout 1 --output json", "a\nb\nno end")
        assert result.exit_code == 1
        found = json.loads(result.stdout)
        assert [each["records"] for each in found["partitions"]] == [2]
        assert [each["error"] for each in found["errors"]] == ["RequestTimedOutError"]
        assert [each.value for each in cluster.records("orders")] == [b"a", b"b"]
        cluster.faults.clear()
        cluster.produce("orders", [{"value": "x" * 2000}])
        cluster.faults.add(api="Fetch", throttle_ms=60_000)
        result = run(cluster, "consume orders --timeout 1 --output json")
        assert result.exit_code == 1
        found = json.loads(result.stdout)
        assert [each["value"] for each in found["records"]] == [{"text": "a"}, {"text": "b"}]
        assert [each["error"] for each in found["errors"]] == ["RequestTimedOutError"]
