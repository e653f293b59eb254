"""The example that creates topics from YAML, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.server import SyncCluster

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "create_topics.py"
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
    command = [
        sys.executable,
        str(EXAMPLE),
        str(file),
        "--bootstrap-server",
        cluster.bootstrap_servers,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


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
