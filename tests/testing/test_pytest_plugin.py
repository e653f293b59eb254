"""The fixtures in runs of pytest of their own: overridden, in workers, with -W error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.testing import pytest_plugin

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


@pytest.mark.exhaustive
def test_clusters_in_a_run(tmp_path: Path) -> None:
    """Without entry points: the plugin by its module's name, and no other one beside it."""
    plugin = "kafka_admin_proto.testing.pytest_plugin"
    run_tests(tmp_path, "-p", plugin, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")


@pytest.mark.exhaustive
def test_clusters_in_workers(tmp_path: Path) -> None:
    """With all plugins that are installed, this package's by its entry point."""
    run_tests(tmp_path, "-n", "2")


def run_tests(folder: Path, *options: str, **environment: str) -> None:
    (folder / "test_mine.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", *options, str(folder)]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", os.devnull],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "4 passed" in run.stdout


def test_wrong_settings_name_the_fixture() -> None:
    with pytest.raises(SettingsError) as refused:
        pytest_plugin._cluster({"brokers": "3"}, {})
    assert "the fixture kafka_cluster_settings" in refused.value.__notes__[0]


def test_the_plugin_costs_no_optional_dependency() -> None:
    program = (
        "import sys, kafka_admin_proto.testing.pytest_plugin\n"
        "assert not {'hypothesis', 'asyncio', 'kafka_admin_proto.server'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
