"""Which node is the active controller, as Kafka's own clients see it, and how to move it."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator

from tests.admin.live.kafka_python import kafka_python_admin
from tests.admin.live.kafka_tools import KafkaTools
from tools.clusters import Cluster

#: Seconds until another node is the controller; sessions of ended brokers last up to 18.
_MOVE_S = 60.0


def active_controller(cluster: Cluster, tools: KafkaTools) -> int:
    """The node id of the active controller. AssertionError if there is none for a minute."""
    deadline = time.monotonic() + _MOVE_S
    while time.monotonic() < deadline:
        found = _with_zookeeper(cluster) if cluster.others else _quorum_leader(cluster, tools)
        if found in cluster.nodes and cluster.nodes[found].running:
            return found
        time.sleep(0.3)
    raise AssertionError("the cluster has no active controller")


@contextlib.contextmanager
def node_ended(cluster: Cluster, node_id: int, *, crash: bool = False) -> Iterator[None]:
    """The node is ended (killed if ``crash``) within the block, and runs again behind it."""
    (cluster.crash if crash else cluster.end)(node_id)
    try:
        yield
    finally:
        if not cluster.nodes[node_id].running:
            cluster.start_again(node_id)


def move_controller(cluster: Cluster, tools: KafkaTools) -> tuple[int, int]:
    """Restart the active controller's node; the ids of the old controller and the new one."""
    old = active_controller(cluster, tools)
    with node_ended(cluster, old):
        new = active_controller(cluster, tools)
    return old, new


def wait_until(happened: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """AssertionError, with ``what``, if it has not happened in time."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} seconds"
        time.sleep(0.2)


def _running(cluster: Cluster) -> str:
    """The addresses of the nodes that run: some clients give up at a refused one."""
    nodes = [node for node in cluster.nodes.values() if node.running]
    return ",".join(f"127.0.0.1:{node.ports['PLAINTEXT']}" for node in nodes)


def _quorum_leader(cluster: Cluster, tools: KafkaTools) -> int:
    outcome = tools.outcome(
        "MetadataQuorumCommand", "--bootstrap-server", _running(cluster), "describe", "--status"
    )
    found = re.search(r"LeaderId:\s+(-?\d+)", outcome.stdout)
    return int(found[1]) if found else -1


def _with_zookeeper(cluster: Cluster) -> int:
    with kafka_python_admin(_running(cluster)) as client:
        return int(client.describe_cluster()["controller_id"])
