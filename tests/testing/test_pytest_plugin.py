"""The fixtures in runs of pytest of their own: overridden, in workers, with -W error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TESTS = """
import socket, pytest

@pytest.fixture(scope="session")
def kafka_cluster_settings():
    return {"brokers": 2, "configs": {"auto.create.topics.enable": "false"}}

def reach(cluster):
    addresses = cluster.bootstrap_servers.split(",")
    for each in addresses:
        host, port = each.split(":")
        socket.create_connection((host, int(port))).close()
    return addresses

@pytest.mark.parametrize("turn", range(4))
def test_each(turn, kafka_cluster, kafka_session_cluster):
    own, shared = reach(kafka_cluster), reach(kafka_session_cluster)
    assert len({*own, *shared}) == 4
"""


@pytest.mark.parametrize(
    "options",
    [[], pytest.param(["-n", "2"], marks=pytest.mark.exhaustive)],
    ids=["alone", "workers"],
)
def test_clusters_in_a_run(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(_TESTS)
    plugin = "kafka_admin_proto.testing.pytest_plugin"
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", *options, str(tmp_path)]
    run = subprocess.run(
        [*command, "-p", plugin, "-p", "no:cacheprovider", "-c", os.devnull],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        if not options
        else dict(os.environ),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "4 passed" in run.stdout


def test_the_plugin_costs_no_optional_dependency() -> None:
    program = (
        "import sys, kafka_admin_proto.testing.pytest_plugin\n"
        "assert not {'hypothesis', 'asyncio', 'kafka_admin_proto.server'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
