"""The nodes of a cluster: started, ended, killed and started again one by one."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.clusters.processes import (
    HOST,
    SHIPPED_JVM_OPTIONS,
    log_options,
    start_java,
    wait_for_line,
    wait_for_port,
)
from tools.oracles.java import class_path, java_options

#: Seconds until a broker has ended that was asked to; one that writes an archive takes longest.
_END_S = 120.0


@dataclass(slots=True)
class Node:
    """One process: its folder (properties, logs, data) and its ports by listener.

    ``log_start`` is the size in bytes that its server.log had when the process was started.
    """

    id: int
    folder: Path
    ports: Mapping[str, int]
    process: subprocess.Popen[bytes] | None = None
    log_start: int = 0

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass(slots=True)
class Cluster:
    """Running nodes by id, and the jars that they run on, which serve clients as well.

    ``classes`` are folders behind the jars. ``as_shipped`` has Kafka's own options of the JVM and
    no log of requests.
    """

    release: str
    jars: Sequence[Path]
    nodes: dict[int, Node] = field(default_factory=dict)
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)
    classes: Sequence[Path] = ()
    as_shipped: bool = False

    def java_options(self) -> list[str]:
        """What Java takes in front of the name of a class."""
        if self.as_shipped:
            return [*SHIPPED_JVM_OPTIONS, "-cp", class_path([*self.jars, *self.classes])]
        return java_options(self.jars, *self.classes)

    @property
    def bootstrap(self) -> str:
        """Where clients without SASL begin."""
        return self.address("PLAINTEXT")

    @property
    def ports(self) -> list[int]:
        """Every port that a broker or controller listens on."""
        return sorted(port for node in self.nodes.values() for port in node.ports.values())

    def address(self, listener: str) -> str:
        """The host:port of each node that has the listener, separated by commas."""
        ports = (node.ports.get(listener) for node in self.nodes.values())
        return ",".join(f"{HOST}:{port}" for port in ports if port)

    def start(self, more: Sequence[str] = ()) -> None:
        """Start all nodes at once and wait until each has started and accepts on all its ports.

        A node logs that it has started before its listeners accept: on a busy machine a client
        that connects in between is refused. ``more`` are options of Java.
        """
        for node in self.nodes.values():
            self._start(node, more)
        for node in self.nodes.values():
            _wait(node)

    def start_again(self, node_id: int) -> None:
        """Start a node that has ended, on its old data and ports, and wait until it accepts."""
        self._start(self.nodes[node_id])
        _wait(self.nodes[node_id])

    def end(self, node_id: int) -> None:
        """Let a node end as operators do (SIGTERM), and wait for that."""
        process = self.nodes[node_id].process
        assert process is not None
        process.send_signal(signal.SIGTERM)
        process.wait(_END_S)

    def crash(self, node_id: int) -> None:
        """End a node without a warning (SIGKILL): the others find out by its silence."""
        process = self.nodes[node_id].process
        assert process is not None
        process.kill()
        process.wait()

    def kill(self) -> None:
        """End what still runs; nothing of its data is wanted any more."""
        running = [node.process for node in self.nodes.values() if node.process is not None]
        for process in (*running, *self.others):
            process.kill()
            process.wait()

    def request_log(self) -> bytes:
        """The request logs of all nodes, node after node."""
        return b"".join((node.folder / "request.log").read_bytes() for node in self.nodes.values())

    def _start(self, node: Node, more: Sequence[str] = ()) -> None:
        log = node.folder / "server.log"
        node.log_start = log.stat().st_size if log.exists() else 0
        logs = log_options(self.release, node.folder, requests=not self.as_shipped)
        command = [*more, *self.java_options(), *logs, "kafka.Kafka", "broker.properties"]
        node.process = start_java(command, node.folder)


def _wait(node: Node) -> None:
    assert node.process is not None
    log = node.folder / "server.log"
    wait_for_line(log, "started (kafka.server.", node.process, after=node.log_start)
    for port in node.ports.values():
        wait_for_port(port, node.process, log)
