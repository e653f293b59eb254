"""A reference cluster: topics, configs and records that clients cannot tell from Kafka's.

    from kafka_admin_proto.server import Cluster

    async with Cluster(brokers=3) as cluster:
        cluster.bootstrap_servers

``kap serve`` is the same from a shell. ``docs/server.md`` has the rules and what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

if TYPE_CHECKING:
    from kafka_admin_proto.policies.policies import AlterConfigPolicy as AlterConfigPolicy
    from kafka_admin_proto.policies.policies import (
        AlterConfigRequestMetadata as AlterConfigRequestMetadata,
    )
    from kafka_admin_proto.policies.policies import CreateTopicPolicy as CreateTopicPolicy
    from kafka_admin_proto.policies.policies import PolicyViolation as PolicyViolation
    from kafka_admin_proto.policies.policies import RequestMetadata as RequestMetadata
    from kafka_admin_proto.server.cluster import Cluster as Cluster
    from kafka_admin_proto.server.inspection.stored_groups import StoredGroup as StoredGroup
    from kafka_admin_proto.server.inspection.stored_groups import StoredMember as StoredMember
    from kafka_admin_proto.server.inspection.stored_records import StoredRecord as StoredRecord
    from kafka_admin_proto.server.sync import SyncCluster as SyncCluster
else:
    __getattr__, __dir__ = lazy_names(__name__)
