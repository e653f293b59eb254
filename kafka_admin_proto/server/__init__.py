"""A reference cluster: topics and configs that clients cannot tell from Kafka's.

    from kafka_admin_proto.server import Cluster

    async with Cluster(brokers=3) as cluster:
        cluster.bootstrap_servers

``kap serve`` is the same from a shell. ``docs/server.md`` has the rules and what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Cluster", "PolicyViolation", "SyncCluster"]

if TYPE_CHECKING:
    from kafka_admin_proto.server.cluster import Cluster
    from kafka_admin_proto.server.sync import SyncCluster
    from kafka_admin_proto.server.topics.policies import PolicyViolation
else:
    from kafka_admin_proto.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {"cluster": ["Cluster"], "topics.policies": ["PolicyViolation"], "sync": ["SyncCluster"]},
    )
