"""The example that creates topics from YAML, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.admin.scripted_broker import ScriptedBroker, Topic

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
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as found:
        yield found


def run(broker: ScriptedBroker, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE), str(file), "--bootstrap-server", broker.address]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_what_is_not_there_is_created(broker: ScriptedBroker, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text(TOPICS)
    broker.topics["customers"] = Topic()
    first = run(broker, file)
    assert (first.stdout, first.stderr, first.returncode) == (
        "orders: created, partitions: 6\ncustomers: is there\n",
        "",
        0,
    )
    made = broker.topics["orders"]
    assert (len(made.assignment), len(made.assignment[0])) == (6, 3)
    assert made.configs == {
        "retention.ms": "604800000",
        "unclean.leader.election.enable": "false",
    }


def test_a_file_that_is_not_as_it_should_be(broker: ScriptedBroker, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text("topics:\n  - name: orders\n    partition: 6\n")
    found = run(broker, file)
    assert found.returncode == 1
    assert "unknown field `partition` - at `$.topics[0]`" in found.stderr
