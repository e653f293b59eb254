"""``kap produce`` and ``kap consume``: what does not fit or finds nothing is said."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(topics={"orders": 2, "empty": 1, "made": 1}) as cluster:
        cluster.produce("orders", [{"key": "k", "value": "v", "partition": 0}])
        yield cluster


def run(cluster: SyncCluster, words: str, lines: str | bytes = "") -> Result:
    return CliRunner().invoke(
        kap, [*shlex.split(words), "-b", cluster.bootstrap_servers], input=lines
    )


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
    result = run(cluster, words, "line\n")
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())
    assert [each.value for each in cluster.records("orders")] == [b"v"]


@pytest.mark.parametrize("words", ["produce nowhere", "consume nowhere", "consume empty nowhere"])
def test_a_topic_that_is_not_there(cluster: SyncCluster, words: str) -> None:
    result = run(cluster, words, "line\n")
    assert result.exit_code == 1
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


def test_a_format_writes_bytes(cluster: SyncCluster) -> None:
    found = run(cluster, r"consume orders --format '%k\xff%%\\%s\n'")
    assert (found.exit_code, found.stdout_bytes) == (0, b"k\xff%\\v\n")


def test_what_was_produced_before_a_line_without_a_key_is_said(cluster: SyncCluster) -> None:
    """Lines are sent in pieces of a megabyte; a wrong one may come after some are sent."""
    lines = (b"key:" + b"v" * 1000 + b"\n") * 3000 + b"no key\n"
    result = run(cluster, "produce made --key-delimiter :", lines)
    assert result.exit_code == 2
    count = len(cluster.records("made"))
    assert 0 < count < 3000
    said = " ".join(result.stderr.split())
    assert "line 3001 has no delimiter of keys: 'no key'" in said
    assert f"{count} records produced from the lines before" in said
