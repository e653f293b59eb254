"""Real brokers from the published jars, on free ports of 127.0.0.1, for as long as a `with` lasts.

    with kraft(folder, "4.3.1", nodes=3) as cluster:
        cluster.bootstrap               # "127.0.0.1:21034,127.0.0.1:22711,127.0.0.1:29120"

KRaft nodes are broker and controller at once; `zookeeper` starts what releases before 4.0 also ran
on. Every process is ended by its pid when the block is left, and the kernel is asked to end it with
this one (`setpriv`, of util-linux). Each broker writes `server.log` and, at DEBUG, `request.log`
(the lines of Kafka's RequestLogger) into its folder.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.jars import ToolMissingError, fetch_runtime

HOST = "127.0.0.1"
NEWEST_BROKER = "4.3.1"
LAST_WITH_ZOOKEEPER = "3.9.2"

#: Seconds: until a broker says that it has started, and until one has ended that was asked to.
_START, _END = 90.0, 30.0
#: Below what Linux gives to clients by itself (from 32768), so that no client takes such a port
#: and a filter by port means servers.
_PORTS = range(20_000, 32_000)
#: Small, and quick to start: they live for a minute.
_JVM_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

_LOG4J2 = """\
status = error
appender.server.type = File
appender.server.name = server
appender.server.fileName = {folder}/server.log
appender.server.layout.type = PatternLayout
appender.server.layout.pattern = [%d] %p %m (%c)%n
appender.requests.type = File
appender.requests.name = requests
appender.requests.fileName = {folder}/request.log
appender.requests.layout.type = PatternLayout
appender.requests.layout.pattern = [%d] %p %m (%c)%n
logger.requests.name = kafka.request.logger
logger.requests.level = debug
logger.requests.additivity = false
logger.requests.appenderRef.requests.ref = requests
rootLogger.level = info
rootLogger.appenderRef.server.ref = server
"""

_LOG4J = """\
log4j.rootLogger=INFO, server
log4j.appender.server=org.apache.log4j.FileAppender
log4j.appender.server.File={folder}/server.log
log4j.appender.server.layout=org.apache.log4j.PatternLayout
log4j.appender.server.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.kafka.request.logger=DEBUG, requests
log4j.additivity.kafka.request.logger=false
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.File={folder}/request.log
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


#: What is to last as long as servers on these ports do.
Around = Callable[[list[int]], contextlib.AbstractContextManager[object]]


class ClusterError(Exception):
    """A broker did not start, or a command of Kafka's failed; the message ends with its log."""


@dataclass(slots=True)
class Node:
    """One process: its folder (properties, logs, data) and its ports by listener."""

    id: int
    folder: Path
    ports: Mapping[str, int]
    process: subprocess.Popen[bytes] | None = None


@dataclass(slots=True)
class Cluster:
    """Running nodes by id, and the jars that they run on, which serve clients as well."""

    release: str
    jars: Sequence[Path]
    nodes: dict[int, Node] = field(default_factory=dict)
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)

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

    def start(self) -> None:
        """Start all nodes at once and wait until each has started and accepts on all its ports.

        A node logs that it has started before its listeners accept: on a busy machine a client
        that connects in between is refused.
        """
        for node in self.nodes.values():
            options = [*_JVM_OPTIONS, *_logging(self.release, node.folder)]
            command = [*options, "-cp", class_path(self.jars), "kafka.Kafka", "broker.properties"]
            node.process = _java(command, node.folder)
        for node in self.nodes.values():
            assert node.process is not None
            _wait_for_line(node.folder / "server.log", "started (kafka.server.", node.process)
            for port in node.ports.values():
                _wait_for_port(port, node.process)

    def end(self, node_id: int) -> None:
        """Let a node end as operators do (SIGTERM), and wait for that."""
        process = self.nodes[node_id].process
        assert process is not None
        process.send_signal(signal.SIGTERM)
        process.wait(_END)

    def kill(self) -> None:
        """End what still runs; nothing of its data is wanted any more."""
        running = [node.process for node in self.nodes.values() if node.process is not None]
        for process in (*running, *self.others):
            process.kill()
            process.wait()

    def request_log(self) -> bytes:
        """The request logs of all nodes, node after node."""
        return b"".join((node.folder / "request.log").read_bytes() for node in self.nodes.values())


@contextlib.contextmanager
def kraft(
    folder: Path,
    release: str = NEWEST_BROKER,
    *,
    nodes: int = 1,
    properties: Mapping[str, str] | None = None,
    sasl_properties: Mapping[str, str] | None = None,
    scram: Sequence[str] = (),
    around: Around = contextlib.nullcontext,
) -> Iterator[Cluster]:
    """A formatted cluster without ZooKeeper; ``folder`` is for its files.

    ``sasl_properties`` (without their "listener.name.sasl.") ask for a listener "SASL" beside
    "PLAINTEXT"; ``scram`` are users as StorageTool's --add-scram takes them. ``around`` is entered
    with the ports before anything listens on them, and left when all has ended.
    """
    names = ["PLAINTEXT", "CONTROLLER", *(["SASL"] if sasl_properties else [])]
    cluster = Cluster(release, fetch_runtime(release))
    ports = free_ports(nodes * len(names))
    for node_id in range(1, nodes + 1):
        mine = {name: ports.pop() for name in names}
        cluster.nodes[node_id] = Node(node_id, folder / f"node{node_id}", mine)
    voters = (f"{each.id}@{HOST}:{each.ports['CONTROLLER']}" for each in cluster.nodes.values())
    shared = {
        "process.roles": "broker,controller",
        "controller.quorum.voters": ",".join(voters),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(
            f"{name}:{'SASL_PLAINTEXT' if name == 'SASL' else 'PLAINTEXT'}" for name in names
        ),
        "inter.broker.listener.name": "PLAINTEXT",
        "share.coordinator.state.topic.replication.factor": str(min(nodes, 3)),
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "3",
        **{f"listener.name.sasl.{name}": value for name, value in (sasl_properties or {}).items()},
        **(properties or {}),
    }
    for node in cluster.nodes.values():
        _write_properties(node, {"node.id": str(node.id), **_common(nodes), **shared})
        options = [option for user in scram for option in ("--add-scram", user)]
        tool = ["kafka.tools.StorageTool", "format", "-t", "b25lIG9mIGEga2luZA"]
        jars = class_path(cluster.jars)
        command = ["-cp", jars, *tool, *options, "-c", "broker.properties"]
        process = _java([*_JVM_OPTIONS, *command], node.folder)
        if process.wait(_START) != 0:
            raise ClusterError(f"StorageTool failed:\n{(node.folder / 'output').read_text()}")
    with around(cluster.ports), _ended(cluster):
        cluster.start()
        yield cluster


@contextlib.contextmanager
def zookeeper(
    folder: Path,
    release: str = LAST_WITH_ZOOKEEPER,
    *,
    brokers: int = 2,
    ibp: str = "3.0",
    around: Around = contextlib.nullcontext,
) -> Iterator[Cluster]:
    """A cluster with ZooKeeper, whose brokers talk to each other as release ``ibp`` did."""
    cluster = Cluster(release, fetch_runtime(release))
    port, *ports = free_ports(brokers + 1)
    for node_id, own in enumerate(ports, 1):
        node = Node(node_id, folder / f"node{node_id}", {"PLAINTEXT": own})
        cluster.nodes[node_id] = node
        mine = {
            "broker.id": str(node_id),
            "zookeeper.connect": f"{HOST}:{port}",
            "inter.broker.protocol.version": ibp,
        }
        _write_properties(node, {**mine, **_common(brokers)})
    home = folder / "zookeeper"
    home.mkdir(parents=True)
    (home / "zookeeper.properties").write_text(
        f"dataDir={home}\nclientPort={port}\nclientPortAddress={HOST}\nadmin.enableServer=false\n"
    )
    options = [*_JVM_OPTIONS, *_logging(release, home), "-cp", class_path(cluster.jars)]
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    with around(cluster.ports), _ended(cluster):
        cluster.others.append(_java([*options, main, "zookeeper.properties"], home))
        _wait_for_port(port, cluster.others[0])
        cluster.start()
        yield cluster


@contextlib.contextmanager
def _ended(cluster: Cluster) -> Iterator[None]:
    try:
        yield
    finally:
        cluster.kill()


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, none of them twice."""
    found: list[int] = []
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise ClusterError(f"{count} free ports are not to be had on {HOST}")


def class_path(jars: Sequence[Path]) -> str:
    """As java's -cp takes it."""
    return os.pathsep.join(map(str, jars))


def java() -> str:
    """The java on the PATH."""
    found = shutil.which("java")
    if found is None:
        raise ToolMissingError("java is not on the PATH; install a JDK 17")
    return found


def _common(brokers: int) -> dict[str, str]:
    """Properties of every broker: small, and at once at work."""
    replicas = str(min(brokers, 3))
    return {
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.num.partitions": "3",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "num.network.threads": "2",
        "num.io.threads": "3",
    }


def _write_properties(node: Node, properties: Mapping[str, str]) -> None:
    node.folder.mkdir(parents=True)
    listeners = ",".join(f"{name}://{HOST}:{port}" for name, port in node.ports.items())
    rows = {**properties, "listeners": listeners, "log.dirs": str(node.folder / "data")}
    text = "".join(f"{name}={value}\n" for name, value in rows.items())
    (node.folder / "broker.properties").write_text(text)


def _logging(release: str, folder: Path) -> list[str]:
    """Java's options for logs in the folder; 4.0 went from log4j to log4j2."""
    new = int(release.split(".")[0]) >= 4
    file = folder / ("log4j2.properties" if new else "log4j.properties")
    file.write_text((_LOG4J2 if new else _LOG4J).format(folder=folder))
    return [f"-Dlog4j2.configurationFile={file}" if new else f"-Dlog4j.configuration=file:{file}"]


def _java(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    """A Java process whose output goes to the folder's file `output`."""
    setpriv = shutil.which("setpriv")
    bound = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(
            [*bound, java(), *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _wait_for_line(log: Path, line: str, process: subprocess.Popen[bytes]) -> None:
    def said() -> bool:
        return log.exists() and line in log.read_text(errors="replace")

    if not _within(_START, said, process):
        raise ClusterError(_failure("did not start", log))


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, port)) == 0

    if not _within(_START, answers, process):
        ended = process.poll()
        why = f"after {_START:.0f} seconds" if ended is None else f"its process ended with {ended}"
        raise ClusterError(f"nobody listens on port {port}: {why}")


def _within(seconds: float, happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if happened():
            return True
        time.sleep(0.2)
    return False


def _failure(what: str, log: Path) -> str:
    output = log.with_name("output")
    texts = [each.read_text(errors="replace")[-2000:] for each in (output, log) if each.exists()]
    return f"{log.parent.name} {what}:\n" + "\n".join(texts)
