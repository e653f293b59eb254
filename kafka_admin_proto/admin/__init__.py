"""An admin client for Kafka clusters, asynchronous and synchronous.

Asynchronous::

    async with AdminClient("localhost:9092") as admin:
        print(await admin.describe_topics(["orders"]))

and the same without asyncio::

    with SyncAdminClient("localhost:9092") as admin:
        print(admin.describe_topics(["orders"]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

__all__ = [
    "ALL_RECORDS",
    "AdminClient",
    "AdminError",
    "AlteredConfigs",
    "AuthenticationError",
    "Broker",
    "BrokerError",
    "BrokerLogDirs",
    "BrokerVersions",
    "ClientConfig",
    "ClusterDescription",
    "ClusterNode",
    "ConfigChange",
    "ConfigEntry",
    "ConfigResource",
    "ConfigSynonym",
    "ConfigurationError",
    "ConnectionFailedError",
    "ConnectionLostError",
    "CreatedTopic",
    "DeletedRecords",
    "DeletedTopic",
    "FeatureUpdate",
    "Features",
    "ListedOffset",
    "ListedTopic",
    "LogDir",
    "LogDirReplica",
    "MovedReplica",
    "NewTopic",
    "NoSuchBrokerError",
    "PartitionDescription",
    "Quorum",
    "QuorumListener",
    "QuorumNode",
    "QuorumReplica",
    "ReplicaLag",
    "ReplicaMove",
    "Reply",
    "RequestTimedOutError",
    "ResourceConfigs",
    "SyncAdminClient",
    "Target",
    "TlsError",
    "TopicDescription",
    "TraceEvent",
    "UnresolvedError",
    "UpdatedFeature",
    "client_config",
]

if TYPE_CHECKING:
    from kafka_admin_proto.admin.caller import Broker, Reply, Target
    from kafka_admin_proto.admin.client import AdminClient
    from kafka_admin_proto.admin.config import ClientConfig, client_config
    from kafka_admin_proto.admin.errors import (
        AdminError,
        AuthenticationError,
        BrokerError,
        ConfigurationError,
        ConnectionFailedError,
        ConnectionLostError,
        NoSuchBrokerError,
        RequestTimedOutError,
        TlsError,
        UnresolvedError,
    )
    from kafka_admin_proto.admin.network.tracing import TraceEvent
    from kafka_admin_proto.admin.operations.cluster import (
        BrokerVersions,
        ClusterDescription,
        ClusterNode,
        Features,
        FeatureUpdate,
        UpdatedFeature,
    )
    from kafka_admin_proto.admin.operations.configs.altering import (
        AlteredConfigs,
        ConfigChange,
    )
    from kafka_admin_proto.admin.operations.configs.describing import (
        ResourceConfigs,
    )
    from kafka_admin_proto.admin.operations.configs.entries import (
        ConfigEntry,
        ConfigSynonym,
    )
    from kafka_admin_proto.admin.operations.configs.resources import (
        ConfigResource,
    )
    from kafka_admin_proto.admin.operations.log_dirs import (
        BrokerLogDirs,
        LogDir,
        LogDirReplica,
        MovedReplica,
        ReplicaMove,
    )
    from kafka_admin_proto.admin.operations.quorum import (
        Quorum,
        QuorumListener,
        QuorumNode,
        QuorumReplica,
    )
    from kafka_admin_proto.admin.operations.records import (
        ALL_RECORDS,
        DeletedRecords,
        ListedOffset,
    )
    from kafka_admin_proto.admin.operations.topics.creation import (
        CreatedTopic,
        NewTopic,
    )
    from kafka_admin_proto.admin.operations.topics.deletion import (
        DeletedTopic,
    )
    from kafka_admin_proto.admin.operations.topics.descriptions import (
        ListedTopic,
        PartitionDescription,
        TopicDescription,
    )
    from kafka_admin_proto.admin.operations.topics.replica_lag import (
        ReplicaLag,
    )
    from kafka_admin_proto.admin.sync import SyncAdminClient
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "caller": ["Broker", "Reply", "Target"],
            "client": ["AdminClient"],
            "config": ["ClientConfig", "client_config"],
            "errors": [name for name in __all__ if name.endswith("Error")],
            "network.tracing": ["TraceEvent"],
            "operations.cluster": [
                "BrokerVersions",
                "ClusterDescription",
                "ClusterNode",
                "FeatureUpdate",
                "Features",
                "UpdatedFeature",
            ],
            "operations.configs.altering": ["AlteredConfigs", "ConfigChange"],
            "operations.configs.describing": ["ResourceConfigs"],
            "operations.configs.entries": ["ConfigEntry", "ConfigSynonym"],
            "operations.configs.resources": ["ConfigResource"],
            "operations.log_dirs": [
                "BrokerLogDirs",
                "LogDir",
                "LogDirReplica",
                "MovedReplica",
                "ReplicaMove",
            ],
            "operations.quorum": ["Quorum", "QuorumListener", "QuorumNode", "QuorumReplica"],
            "operations.records": ["ALL_RECORDS", "DeletedRecords", "ListedOffset"],
            "operations.topics.creation": ["CreatedTopic", "NewTopic"],
            "operations.topics.deletion": ["DeletedTopic"],
            "operations.topics.descriptions": [
                "ListedTopic",
                "PartitionDescription",
                "TopicDescription",
            ],
            "operations.topics.replica_lag": ["ReplicaLag"],
            "sync": ["SyncAdminClient"],
        },
    )
