"""The examples: what each does, and the sentence that it ends with where something is missing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kafka_admin_proto.admin import (
    BrokerFailure,
    GroupDescription,
    GroupLag,
    GroupListing,
    GroupOffset,
    GroupOffsets,
    ListedGroup,
    ListedOffset,
    PartitionDescription,
    TopicDescription,
)
from kafka_admin_proto.admin.operations.groups.lag import partition_lags
from kafka_admin_proto.server import SyncCluster
from tests.docs.pages import example
from tests.helpers.processes import python

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
#: Nobody listens there.
NOBODY = "127.0.0.1:1"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("create_topics.py /nowhere.yaml --bootstrap-server h:1", 1, "/nowhere.yaml: "),
        (f"create_topics.py FILE --bootstrap-server {NOBODY}", 1, NOBODY),
        ("create_topics.py FILE --bootstrap-server h:1 --command-config /nowhere", 1, "/nowhere"),
        (f"metrics_probe.py {NOBODY}", 2, NOBODY),
        (f"metrics_probe.py {NOBODY} /nowhere.properties", 2, "/nowhere.properties"),
        ("metrics_probe.py", 2, "usage: "),
        (f"threaded_client.py {NOBODY}", 1, f"{NOBODY}: "),
        ("threaded_client.py no-such-host.invalid:9092", 1, "no-such-host.invalid:9092: "),
        ("threaded_client.py localhost:99999", 1, "localhost:99999: "),
        ("threaded_client.py localhost", 2, "'localhost' is not host:port"),
    ],
)
def test_what_is_missing_is_a_sentence(command: str, code: int, said: str, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text("topics: [{name: orders}]")
    script, *arguments = command.replace("FILE", str(file)).split()
    done = python(FOLDER / script, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_every_example_is_tried() -> None:
    """A new one is given a case above."""
    tried = {"create_topics.py", "metrics_probe.py", "threaded_client.py"}
    assert {file.name for file in FOLDER.glob("*.py")} == tried


TOPICS = """\
topics:
  - name: orders
    partitions: 6
    replication_factor: 3
    configs:
      retention.ms: 604800000
      unclean.leader.election.enable: false
  - name: customers
"""


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(3, topics={"customers": 1}) as cluster:
        yield cluster


def run(cluster: SyncCluster, file: Path) -> subprocess.CompletedProcess[str]:
    return python(
        FOLDER / "create_topics.py", file, "--bootstrap-server", cluster.bootstrap_servers
    )


def test_what_is_not_there_is_created(cluster: SyncCluster, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text(TOPICS)
    first = run(cluster, file)
    assert (first.stdout, first.stderr, first.returncode) == (
        "orders: created, partitions: 6\ncustomers: is there\n",
        "",
        0,
    )
    orders = cluster.state.topic("orders")
    assert orders is not None
    assert (len(orders.partitions), len(orders.partitions[0].replicas)) == (6, 3)
    assert cluster.state.cluster.configs[2, "orders"] == {
        "retention.ms": "604800000",
        "unclean.leader.election.enable": "false",
    }


def test_a_file_that_is_not_as_it_should_be(cluster: SyncCluster, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text("topics:\n  - name: orders\n    partition: 6\n")
    found = run(cluster, file)
    assert found.returncode == 1
    assert "unknown field `partition` - at `$.topics[0]`" in found.stderr


SCRIPT = FOLDER / "metrics_probe.py"


@pytest.fixture(scope="module")
def probe() -> ModuleType:
    return example("metrics_probe")


class Probed:
    """In the place of SyncAdminClient, with answers that are put into it."""

    def __init__(self, isr: list[list[int]]) -> None:
        self.partitions = [
            PartitionDescription(
                partition=at,
                leader=own[0] if own else None,
                leader_epoch=1,
                replicas=[1, 2],
                isr=own,
                offline=[],
            )
            for at, own in enumerate(isr)
        ]

    def __enter__(self) -> Probed:
        return self

    def __exit__(self, *of: object) -> None:
        return None

    def brokers(self) -> dict[int, Any]:
        return {1: None, 2: None}

    def describe_topics(self) -> list[TopicDescription]:
        return [TopicDescription(name="t", partitions=self.partitions)]

    def list_groups(self) -> GroupListing:
        rows = [ListedGroup("g", "classic", "consumer", "Empty", 1)]
        rows.append(ListedGroup("s", "share", "share", "Empty", 1))
        return GroupListing(rows, [BrokerFailure(2, "ConnectionFailedError", "no route")])

    def describe_group_lags(self, groups: list[str]) -> list[GroupLag]:
        assert groups == ["g"]
        group = GroupDescription("g")
        rows = [GroupOffset("t", 0, 3), GroupOffset("t", 1, 9), GroupOffset("t", 2, None)]
        ends = {  # the second was cut since the commit
            ("t", at): ListedOffset(topic="t", partition=at, offset=end)
            for at, end in enumerate([10, 8, 5])
        }
        return [GroupLag(group, partition_lags(group, GroupOffsets("g", rows), ends), None, None)]


@pytest.mark.parametrize(
    ("isr", "offline", "under_replicated"),
    [([[1, 2], [2, 1]], 0, 0), ([[1], [2, 1], [1]], 0, 2), ([[], [1], [1, 2]], 1, 2)],
)
def test_what_is_offline_under_replicated_and_behind(
    probe: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    isr: list[list[int]],
    offline: int,
    under_replicated: int,
) -> None:
    monkeypatch.setattr(probe, "SyncAdminClient", lambda *of, **named: Probed(isr))
    assert probe.main("nowhere:9092") == (1 if offline else 0)
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "kafka_brokers 2",
        f"kafka_offline_partitions {offline}",
        f"kafka_under_replicated_partitions {under_replicated}",
        'kafka_group_lag{group="g",topic="t",partition="0"} 7',
        'kafka_group_lag{group="g",topic="t",partition="1"} 0',
    ]
    assert "broker 2: ConnectionFailedError: no route" in printed.err


def test_labels_are_escaped(probe: ModuleType) -> None:
    assert probe.text('a"b\\c\nd') == 'a\\"b\\\\c\\nd'
