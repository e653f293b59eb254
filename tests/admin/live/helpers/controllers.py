"""Which nodes live and which is the active controller, and how to end it or move it.

The brokers are asked one request each over a socket of its own: other clients give up at a broker
that is down, or wait for it.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from kafka_admin_proto import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.values import Message
from tools.clusters import HOST, Cluster, Node

#: Seconds until another node is the controller; sessions of ended brokers last up to 18.
_MOVE_S = 60.0
#: Seconds for one question.
_ASK_S = 5.0
_R = TypeVar("_R", bound=Message)


def active_controller(cluster: Cluster) -> int:
    """The node id of the active controller. AssertionError if there is none for a minute."""
    found = -1

    def there() -> bool:
        nonlocal found
        found = _with_zookeeper(cluster) if cluster.others else _quorum_leader(cluster)
        return found in cluster.nodes and cluster.nodes[found].running

    wait_until(there, "the cluster has an active controller", _MOVE_S)
    return found


def live_brokers(cluster: Cluster) -> set[int]:
    """The brokers that all nodes that run call live."""
    request = MetadataRequest(topics=[])
    answers = [_ask(node, request, 1, MetadataResponse) for node in _running(cluster)]
    seen = [{row.node_id for row in answer.brokers} for answer in answers if answer]
    return set.intersection(*seen) if seen else set()


@contextlib.contextmanager
def node_ended(cluster: Cluster, node_id: int, *, crash: bool = False) -> Iterator[None]:
    """The node is ended (killed if ``crash``) within the block, and is live again behind it."""
    (cluster.crash if crash else cluster.end)(node_id)
    try:
        yield
    finally:
        # With ZooKeeper a broker whose last session still lasts does not start.
        wait_until(lambda: node_id not in live_brokers(cluster), "the node is gone", _MOVE_S)
        cluster.start_again(node_id)
        wait_until(lambda: live_brokers(cluster) == set(cluster.nodes), "all are live", _MOVE_S)


def wait_until(happened: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """AssertionError, with ``what``, if it has not happened in time."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} seconds"
        time.sleep(0.2)


def _running(cluster: Cluster) -> list[Node]:
    return [node for node in cluster.nodes.values() if node.running]


def _quorum_leader(cluster: Cluster) -> int:
    partition = DescribeQuorumRequest.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=[partition])
    request = DescribeQuorumRequest(topics=[topic])
    for node in _running(cluster):
        answer = _ask(node, request, 0, DescribeQuorumResponse)
        if answer and answer.topics:
            return answer.topics[0].partitions[0].leader_id
    return -1


def _with_zookeeper(cluster: Cluster) -> int:
    """The controller that every broker names; -1 while they differ."""
    request = MetadataRequest(topics=[])
    answers = [_ask(node, request, 1, MetadataResponse) for node in _running(cluster)]
    named = {answer.controller_id if answer else -1 for answer in answers}
    return named.pop() if len(named) == 1 else -1


def _ask(node: Node, request: Message, version: int, response: type[_R]) -> _R | None:
    """One broker's answer; None from one that does not answer now."""
    address = (HOST, node.ports["PLAINTEXT"])
    try:
        with socket.create_connection(address, timeout=_ASK_S) as connection:
            connection.sendall(frame(write_request(request, version, 1)))
            with connection.makefile("rb") as stream:
                data = stream.read(int.from_bytes(stream.read(4), "big"))
    except OSError:
        return None
    body = read_response(data, request.api_key or 0, version).body
    return body if isinstance(body, response) else None
