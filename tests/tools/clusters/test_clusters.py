"""When a cluster of real nodes counts as started, and the properties of its listeners."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tools.clusters import HOST, Cluster, ClusterError, Listener, Node, free_ports, sasl_properties
from tools.clusters.listeners import listener_properties
from tools.clusters.processes import start_java
from tools.clusters.started import _CLUSTER_ID, _format
from tools.kafka_releases import NEWEST

#: Logs that it has started, and listens a moment later on the port that is its argument.
_SLOW_LISTENER = """
import socket, sys, time
open("server.log", "a").write("Kafka Server started (kafka.server.KafkaRaftServer)")
time.sleep(0.6)
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    time.sleep(60)
"""
#: Logs that it has started, and ends.
_DEAD = """
open("server.log", "a").write("Kafka Server started (kafka.server.KafkaRaftServer)")
raise SystemExit(3)
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (port,) = free_ports(1)
    found = Cluster(NEWEST, [], {1: Node(1, tmp_path, {"PLAINTEXT": port})})
    yield found
    found.kill()


#: What StorageTool writes, where it runs.
_FORMAT = f"""
import pathlib
pathlib.Path("data").mkdir()
pathlib.Path("data/meta.properties").write_text("#\\nnode.id=1\\ndirectory.id=x\\ncluster.id={_CLUSTER_ID}\\n")
"""


@pytest.mark.parametrize(("scram", "runs"), [((), [1]), (("a", "b"), [1, 1])])
def test_storage_tool_runs_once_for_all_nodes_of_a_release(
    scram: Sequence[str], runs: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_ADMIN_PROTO_CACHE", str(tmp_path / "cache"))
    ran = []

    def python(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
        assert command.count("--add-scram") == len(scram)
        ran.append(int(folder.name))
        return subprocess.Popen([sys.executable, "-c", _FORMAT], cwd=folder)

    monkeypatch.setattr("tools.clusters.started.start_java", python)
    for name in ("one", "other"):
        nodes = {number: Node(number, tmp_path / name / str(number), {}) for number in (1, 2, 3)}
        for node in nodes.values():
            node.folder.mkdir(parents=True)
        _format(Cluster(NEWEST, [], nodes), scram)
        found = [
            dict(
                line.split("=")
                for line in (node.folder / "data" / "meta.properties").read_text().splitlines()[1:]
            )
            for node in nodes.values()
        ]
        assert [each["node.id"] for each in found] == ["1", "2", "3"]
        assert len({each["directory.id"] for each in found}) == 3
        assert {each["cluster.id"] for each in found} == {_CLUSTER_ID}
    assert ran == runs


def start_as(cluster: Cluster, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the cluster with a Python program in the place of its node."""
    port = str(cluster.nodes[1].ports["PLAINTEXT"])

    def python(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", program, port], cwd=folder)

    monkeypatch.setattr("tools.clusters.cluster.start_java", python)
    cluster.start()


def test_a_started_cluster_accepts(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    start_as(cluster, _SLOW_LISTENER, monkeypatch)
    with socket.create_connection((HOST, cluster.ports[0]), timeout=1):
        pass


def test_a_node_that_ends_is_not_waited_for(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClusterError, match=r"did not start|its process ended with 3") as failed:
        start_as(cluster, _DEAD, monkeypatch)
    assert "KafkaRaftServer" in str(failed.value), "its log says why"


def test_a_node_is_started_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its log said of an earlier start does not count."""
    start_as(cluster, _SLOW_LISTENER, monkeypatch)
    cluster.crash(1)
    assert not cluster.nodes[1].running
    cluster.start_again(1)
    with socket.create_connection((HOST, cluster.ports[0]), timeout=1):
        pass


def test_properties_of_listeners() -> None:
    listeners = [
        Listener("SASL", "SASL_PLAINTEXT", sasl_properties(["PLAIN"], {"bob": "secret"})),
        Listener("NOWHERE", advertised="no-such-host.invalid:1"),
    ]
    found = listener_properties(listeners, {"PLAINTEXT": 1001, "SASL": 1002, "NOWHERE": 1003})
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    assert found == {
        "listeners": ("PLAINTEXT://127.0.0.1:1001,SASL://127.0.0.1:1002,NOWHERE://127.0.0.1:1003"),
        "advertised.listeners": (
            "PLAINTEXT://127.0.0.1:1001,SASL://127.0.0.1:1002,NOWHERE://no-such-host.invalid:1"
        ),
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,NOWHERE:PLAINTEXT"
        ),
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": f'{module} required user_bob="secret";',
    }


def test_a_process_outlives_the_thread_that_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "java"  # takes Python's arguments behind Java's own option
    java.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} "$@"\n')
    java.chmod(0o755)
    monkeypatch.setattr("tools.clusters.processes.java", lambda: str(java))
    started: list[subprocess.Popen[bytes]] = []
    program = ["-c", "import time; print('runs', flush=True); time.sleep(60)"]

    def start() -> None:
        started.append(start_java(program, tmp_path))
        while not (tmp_path / "output").read_bytes():
            time.sleep(0.05)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            started[0].wait(0.5)
    finally:
        started[0].kill()
        started[0].wait()
