"""Whole clusters, with and without ZooKeeper."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from kafka_admin_proto.topic_ids import random_topic_id, topic_id_to_text
from tools.clusters.cluster import Cluster, Node
from tools.clusters.listeners import Listener, listener_properties
from tools.clusters.processes import (
    HOST,
    START_S,
    ClusterError,
    free_ports,
    log_options,
    start_java,
    wait_for_port,
)
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.jars import cache_folder, fetch_runtime
from tools.oracles.java import make_archive

#: As in the properties that Kafka ships.
_SHIPPED_THREADS = {"num.network.threads": "3", "num.io.threads": "8"}
_CLUSTER_ID = "b25lIG9mIGEga2luZA"
#: What is to last as long as servers on these ports do.
Around = Callable[[list[int]], contextlib.AbstractContextManager[object]]


@contextlib.contextmanager
def kraft(
    folder: Path,
    release: str = NEWEST,
    *,
    nodes: int = 1,
    properties: Mapping[str, str] | None = None,
    listeners: Sequence[Listener] = (),
    racks: Sequence[str] = (),
    scram: Sequence[str] = (),
    classes: Path | None = None,
    around: Around = contextlib.nullcontext,
    as_shipped: bool = False,
) -> Iterator[Cluster]:
    """A cluster without ZooKeeper; ``folder`` is for its files.

    A node whose ``data`` folder is there already (``node1/data``) goes on from it; the others' are
    formatted.
    ``listeners`` stand beside "PLAINTEXT" and "CONTROLLER"; ``racks`` are the nodes' in their
    order; ``scram`` are users as StorageTool's --add-scram takes them; ``classes`` is a folder of
    classes beside Kafka's own. ``around`` is entered with the ports before anything listens on
    them, and left when all has ended. ``as_shipped`` is for figures: the JVM with Kafka's own
    options, Kafka's numbers of threads, and no log of requests.
    """
    names = ["PLAINTEXT", *(each.name for each in listeners), "CONTROLLER"]
    cluster = _planned(folder, release, nodes, names)
    make_archive(cluster.jars, partial(_whole_life, release))
    cluster.classes = [] if classes is None else [classes]
    cluster.as_shipped = as_shipped
    own = {**(_SHIPPED_THREADS if as_shipped else {}), **(properties or {})}
    _write_kraft_properties(cluster, own, listeners, racks)
    _format(cluster, scram)
    with around(cluster.ports), _ended(cluster):
        cluster.start()
        yield cluster


@contextlib.contextmanager
def brokers_alone(
    folder: Path,
    voters: str,
    cluster_id: str,
    release: str = NEWEST,
    *,
    nodes: int = 1,
    properties: Mapping[str, str] | None = None,
) -> Iterator[Cluster]:
    """Brokers that are no controllers, of a cluster whose controllers are somebody else's.

    ``voters`` are these, as in ``controller.quorum.voters``. They have to run: brokers have started
    once they are registered.
    """
    cluster = _planned(folder, release, nodes, ["PLAINTEXT"])
    make_archive(cluster.jars, partial(_whole_life, release))
    alone = {"process.roles": "broker", "controller.quorum.voters": voters}
    alone["listener.security.protocol.map"] = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
    _write_kraft_properties(cluster, {**alone, **(properties or {})})
    _format(cluster, cluster_id=cluster_id)
    with _ended(cluster):
        cluster.start()
        yield cluster


@contextlib.contextmanager
def zookeeper(
    folder: Path,
    release: str = LAST_WITH_ZOOKEEPER,
    *,
    brokers: int = 2,
    ibp: str = "3.0",
    properties: Mapping[str, str] | None = None,
    racks: Sequence[str] = (),
    around: Around = contextlib.nullcontext,
) -> Iterator[Cluster]:
    """A cluster with ZooKeeper, whose brokers talk to each other as release ``ibp`` did."""
    cluster = _planned(folder, release, brokers, ["PLAINTEXT"])
    make_archive(cluster.jars, partial(_whole_life, release))
    (port,) = free_ports(1)
    shared = {
        "zookeeper.connect": f"{HOST}:{port}",
        "inter.broker.protocol.version": ibp,
        **(properties or {}),
    }
    for node in cluster.nodes.values():
        own = {"broker.id": str(node.id), **_rack(node, racks)}
        _write_properties(node, {**own, **_common(brokers), **shared}, ())
    home = folder / "zookeeper"
    home.mkdir(parents=True)
    (home / "zookeeper.properties").write_text(
        f"dataDir={home}\nclientPort={port}\nclientPortAddress={HOST}\nadmin.enableServer=false\n"
    )
    options = [*cluster.java_options(), *log_options(release, home)]
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    with around(cluster.ports), _ended(cluster):
        cluster.others.append(start_java([*options, main, "zookeeper.properties"], home))
        wait_for_port(port, cluster.others[0])
        cluster.start()
        yield cluster


def _whole_life(release: str, options: Sequence[str], folder: Path) -> None:
    """Let a broker start and end: it loads most of the classes that others will."""
    cluster = _planned(folder, release, 1, ["PLAINTEXT", "CONTROLLER"])
    _write_kraft_properties(cluster)
    _format(cluster)
    with _ended(cluster):
        cluster.start(options)
        cluster.end(1)


@contextlib.contextmanager
def _ended(cluster: Cluster) -> Iterator[None]:
    try:
        yield
    finally:
        cluster.kill()


def _planned(folder: Path, release: str, nodes: int, names: Sequence[str]) -> Cluster:
    """A cluster whose nodes have folders and ports, and do not run yet."""
    cluster = Cluster(release, fetch_runtime(release))
    ports = free_ports(nodes * len(names))
    for node_id in range(1, nodes + 1):
        mine = {name: ports.pop() for name in names}
        cluster.nodes[node_id] = Node(node_id, folder / f"node{node_id}", mine)
    return cluster


def _format(cluster: Cluster, scram: Sequence[str] = (), cluster_id: str = _CLUSTER_ID) -> None:
    """Format the folders of all nodes that have none yet.

    What StorageTool writes is the release's but for the users and the ids, so that it runs once for
    each release, and for users once for all nodes.
    """
    nodes = [each for each in cluster.nodes.values() if not (each.folder / "data").exists()]
    if not nodes:
        return
    formatted = cache_folder() / "formatted" / cluster.release
    if scram or not formatted.exists():
        _run_storage_tool(cluster, nodes[0], scram)
        made = nodes[0].folder / "data"
        if scram:
            nodes.pop(0)
            formatted = made
        else:
            _keep(made, formatted)
            shutil.rmtree(made)
    for node in nodes:
        shutil.copytree(formatted, node.folder / "data")
        meta = node.folder / "data" / "meta.properties"
        own = {
            "cluster.id": cluster_id,
            "node.id": str(node.id),
            "directory.id": topic_id_to_text(random_topic_id()),
        }
        lines = (each.partition("=") for each in meta.read_text().splitlines())
        meta.write_text("".join(f"{a}{b}{own.get(a, c)}\n" for a, b, c in lines))


def _run_storage_tool(cluster: Cluster, node: Node, scram: Sequence[str]) -> None:
    options = [option for user in scram for option in ("--add-scram", user)]
    tool = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID]
    command = [*cluster.java_options(), *tool, *options, "-c", "broker.properties"]
    if start_java(command, node.folder).wait(START_S) != 0:
        raise ClusterError(f"StorageTool failed:\n{(node.folder / 'output').read_text()}")


def _keep(made: Path, formatted: Path) -> None:
    """Copy a formatted folder into the cache, where it appears when it is complete."""
    formatted.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=formatted.parent, prefix=".part-") as part:
        copy = shutil.copytree(made, Path(part) / "data")
        with contextlib.suppress(OSError):  # another process was quicker
            copy.rename(formatted)


def _rack(node: Node, racks: Sequence[str]) -> dict[str, str]:
    return {"broker.rack": racks[node.id - 1]} if racks else {}


def _share_groups(brokers: int) -> dict[str, str]:
    """Properties of brokers that have share groups."""
    return {
        "share.coordinator.state.topic.replication.factor": str(min(brokers, 3)),
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "3",
    }


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


def _write_kraft_properties(
    cluster: Cluster,
    properties: Mapping[str, str] | None = None,
    listeners: Sequence[Listener] = (),
    racks: Sequence[str] = (),
) -> None:
    controllers = [each for each in cluster.nodes.values() if "CONTROLLER" in each.ports]
    voters = (f"{each.id}@{HOST}:{each.ports['CONTROLLER']}" for each in controllers)
    nodes = len(cluster.nodes)
    shared = {
        "process.roles": "broker,controller",
        "controller.quorum.voters": ",".join(voters),
        "controller.listener.names": "CONTROLLER",
        **(_share_groups(nodes) if cluster.release >= "4" else {}),
        **(properties or {}),
    }
    for node in cluster.nodes.values():
        own = {"node.id": str(node.id), **_rack(node, racks)}
        _write_properties(node, {**own, **_common(nodes), **shared}, listeners)


def _write_properties(
    node: Node, properties: Mapping[str, str], listeners: Sequence[Listener]
) -> None:
    node.folder.mkdir(parents=True, exist_ok=True)
    rows = {
        "log.dirs": str(node.folder / "data"),
        **listener_properties(listeners, node.ports),
        **properties,
    }
    text = "".join(f"{name}={value}\n" for name, value in rows.items())
    (node.folder / "broker.properties").write_text(text)
