"""The server's side of the connections of a cluster's clients."""

from __future__ import annotations

from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.network.connection import NodeConnection


def connections_of(cluster: SyncCluster) -> list[NodeConnection]:
    """The connections to the first node."""
    return [
        each
        for each in cluster._cluster._parts.nodes[1].connections
        if isinstance(each, NodeConnection)
    ]
